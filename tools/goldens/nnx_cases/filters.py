"""Filters: which Variables of a model each State of `split` holds, in order; 60 pairs and more."""
from flax import nnx

from .models import MODELS, TEXT, Scratch, Special
from .record import path_text

# How a filter is written in JSON beside how it is written in Python.
OF = lambda kind: ({"of": kind.__name__}, kind)
TAG = lambda tag: ({"tag": tag}, tag)
CONTAINS = lambda key, exact=True: ({"path_contains": key, "exact": exact}, nnx.PathContains(key, exact))
ALL = ("...", ...)
NOTHING = ("nothing", None)
HELD = lambda *paths: ({"path_in": [list(p) for p in paths]}, nnx.filterlib.PathIn(*paths))


def any_of(*filters):
    return {"any": [f[0] for f in filters]}, nnx.Any(*[f[1] for f in filters])


def all_of(*filters):
    return {"all": [f[0] for f in filters]}, nnx.All(*[f[1] for f in filters])


def no(f):
    return {"not": f[0]}, nnx.Not(f[1])


def listed(*filters):
    """A Python list of filters means Any."""
    return {"list": [f[0] for f in filters]}, [f[1] for f in filters]


PARAM, STAT, CACHE, STATE = OF(nnx.Param), OF(nnx.BatchStat), OF(nnx.Cache), OF(nnx.RngState)
SPLITS = {
    "everything": [ALL],
    "true": [("true", True)],
    "param": [PARAM, ALL],
    "param_then_its_kind": [PARAM, OF(nnx.LoRAParam), ALL],
    "kind_then_its_parent": [OF(nnx.LoRAParam), OF(Special), PARAM, ALL],
    "four_kinds": [PARAM, STAT, STATE, ALL],
    "keys_and_counts": [OF(nnx.RngKey), OF(nnx.RngCount), ALL],
    "variable": [OF(nnx.Variable), ALL],
    "tags": [TAG("params"), TAG("dropout"), TAG("default"), ALL],
    "tag_and_kind": [all_of(TAG("dropout"), OF(nnx.RngKey)), STATE, ALL],
    "nothing": [NOTHING, ALL],
    "false": [("false", False), PARAM, ALL],
    "list": [listed(STAT, CACHE, TAG("dropout")), ALL],
    "any": [any_of(OF(Scratch), OF(nnx.LoRAParam)), ALL],
    "no_param": [no(PARAM), ALL],
    "no_kernel": [all_of(PARAM, no(CONTAINS("kernel"))), PARAM, ALL],
    "kernel": [CONTAINS("kernel"), ALL],
    "kernel_inexact": [CONTAINS("kernel", False), ALL],
    "index": [CONTAINS(0), CONTAINS(1), ALL],
    "attention": [CONTAINS("attention"), CONTAINS("cell"), ALL],
    "inexact_part": [CONTAINS("ense", False), CONTAINS("norm", False), ALL],
    "paths": [HELD(("head", "kernel"), ("kernel",), ("blocks", 1, "linear", "bias")), ALL],
    "predicate": [("float32 of rank 2", lambda path, v: getattr(v, "ndim", 0) == 2 and v.dtype == "float32"), ALL],
    "nested": [any_of(all_of(PARAM, CONTAINS("bias")), all_of(STAT, no(CONTAINS("var")))), ALL],
    "no_everything": [no(ALL), ALL],
    "empty_all_and_any": [all_of(), ALL],
    "empty_any": [any_of(), ALL],
}
REMAINDERS = {"param": [PARAM], "two": [STAT, CACHE], "tag": [TAG("dropout")], "kernel": [CONTAINS("kernel")]}


def paths(state):
    return [path_text(p) for p, _ in nnx.to_flat_state(state)]


def cases():
    for model, make in MODELS.items():
        node = make()
        for name, filters in SPLITS.items():
            _, *states = nnx.split(node, *[f[1] for f in filters])
            yield {"name": f"{model}_{name}", "model": TEXT[model], "call": "split",
                   "filters": [f[0] for f in filters], "states": [paths(s) for s in states]}
        for name, filters in REMAINDERS.items():
            states = nnx.state(node, *[f[1] for f in filters])
            states = states if isinstance(states, tuple) else (states,)
            yield {"name": f"{model}_state_{name}", "model": TEXT[model], "call": "state",
                   "filters": [f[0] for f in filters], "states": [paths(s) for s in states]}
