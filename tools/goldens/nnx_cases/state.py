"""States: paths, kinds, shapes of whole models; calls on States; update, pop, clone, view."""
import jax.numpy as jnp
import numpy as np
from flax import nnx

from .describe import formula, packed
from .models import MODELS, TEXT
from .record import changed, path_text, state_json


def outline(state):
    """Path elements (tuples as lists), kind, metadata, shape, dtype: no values."""
    rows = []
    for path, v in nnx.to_flat_state(state):
        value = v.get_raw_value() if isinstance(v, nnx.Variable) else v
        row = {"path": [list(p) if isinstance(p, tuple) else p for p in path], "text": path_text(path),
               "kind": type(v).__name__ if isinstance(v, nnx.Variable) else "array",
               "shape": list(value.shape), "dtype": str(value.dtype)}
        known = {"tag": v.tag} if getattr(v, "tag", None) is not None else {}
        rows.append(row | known)
    return rows


def paths(state):
    return [path_text(p) for p, _ in nnx.to_flat_state(state)]


def layers():
    r = lambda: nnx.Rngs(0)
    rnn = lambda: nnx.RNN(nnx.GRUCell(2, 3, rngs=r()))
    yield "rnn", "RNN(GRUCell(2, 3))", rnn()
    yield "bidirectional", "Bidirectional(RNN(GRUCell(2, 3)), RNN(GRUCell(2, 3)))", nnx.Bidirectional(rnn(), rnn())
    yield "lstm", "LSTMCell(2, 3)", nnx.LSTMCell(2, 3, rngs=r())
    yield "optimized_lstm", "OptimizedLSTMCell(2, 3)", nnx.OptimizedLSTMCell(2, 3, rngs=r())
    yield "simple", "SimpleCell(2, 3)", nnx.SimpleCell(2, 3, rngs=r())
    yield "weight_norm", "WeightNorm(Linear(2, 3))", nnx.WeightNorm(nnx.Linear(2, 3, rngs=r()), rngs=r())
    yield "spectral", "SpectralNorm(Conv(2, 3, (2,)))", nnx.SpectralNorm(nnx.Conv(2, 3, (2,), rngs=r()), rngs=r())
    yield "lora", "LoRA(2, 1, 3, base_module=Linear(2, 3))", nnx.LoRA(
        2, 1, 3, base_module=nnx.Linear(2, 3, rngs=r()), rngs=r())
    yield "lora_linear", "LoRALinear(2, 3, lora_rank=1)", nnx.LoRALinear(2, 3, lora_rank=1, rngs=r())
    yield "attention", "MultiHeadAttention(2, 4, normalize_qk, dropout_rate 0.5)", nnx.MultiHeadAttention(
        2, 4, normalize_qk=True, dropout_rate=0.5, rngs=r())
    many = nnx.List([nnx.Linear(1, 1, use_bias=False, rngs=r()) for _ in range(11)])
    yield "eleven", "List of 11 Linear(1, 1, no bias): 10 behind 9", many
    yield "sequential", "Sequential(Linear(2, 2), relu, Linear(2, 2))", nnx.Sequential(
        nnx.Linear(2, 2, rngs=r()), nnx.relu, nnx.Linear(2, 2, rngs=r()))
    yield "metrics", "MultiMetric(loss=Average(), accuracy=Accuracy(), w=Welford())", nnx.MultiMetric(
        loss=nnx.metrics.Average(), accuracy=nnx.metrics.Accuracy(), w=nnx.metrics.Welford())


def outlines():
    for name, make in MODELS.items():
        yield {"name": "outline_" + name, "model": TEXT[name], "outline": outline(nnx.state(make()))}
    for name, text, node in layers():
        yield {"name": "outline_" + name, "model": text, "outline": outline(nnx.state(node))}


def names_of(x):
    return {str(k): names_of(v) for k, v in x.items()} if isinstance(x, dict) else packed(x)


def calls():
    make = MODELS["net"]
    model = make()
    state = nnx.state(model)
    params, stats = nnx.state(model, nnx.Param, nnx.BatchStat)
    one = lambda **said: {"model": TEXT["net"], **said}
    yield one(name="to_pure_dict", pure=names_of(nnx.to_pure_dict(stats)))
    yield one(name="diff", of="all", less="Param", paths=paths(nnx.statelib.diff(state, params)))
    yield one(name="diff_none", of="Param", less="all", paths=paths(nnx.statelib.diff(params, state)))
    yield one(name="merge_state", of=["BatchStat", "Param"], paths=paths(nnx.merge_state(stats, params)))
    kernels, others = nnx.split_state(params, nnx.PathContains("kernel"), ...)
    yield one(name="split_state", of="Param", filters=[{"path_contains": "kernel"}, "..."],
              paths=[paths(kernels), paths(others)])
    biases = nnx.filter_state(params, nnx.PathContains("bias"))
    yield one(name="filter_state", of="Param", filters=[{"path_contains": "bias"}], paths=[paths(biases)])
    doubled = nnx.map_state(lambda path, v: v.replace(v[...] * 2) if path[-1] == "kernel" else v, params)
    yield one(name="map_state", does="doubles every kernel", state=state_json(doubled))
    back = nnx.from_flat_state(dict(nnx.to_flat_state(params)))
    yield one(name="from_flat_state", paths=paths(back))
    yield {"name": "later_wins", **later_wins()}
    texts = {"blocks": {"0": {"linear": {"bias": np.asarray([1, 2, 3], np.float32)}}},
             "head": {"kernel": formula(9, (3, 2))}}
    before = state_json(params)
    nnx.replace_by_pure_dict(params, texts)
    yield one(name="replace_by_pure_dict", of="Param", given=names_of(texts), state=changed(before, state_json(params)))
    restored = nnx.restore_int_paths({"0": {"a": 1, "-1": 2, "1.5": 3, "x1": 4, "007": 5, " 8 ": 6, "1_0": 7}})
    yield {"name": "restore_int_paths", "keys": ["0", "a", "-1", "1.5", "x1", "007", " 8 ", "1_0"],
           "first": list(restored), "second": list(restored[0])}


def later_wins():
    """States that overlap: `merge_state` takes the later value (`merge` of both raises)."""
    linear = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    other = nnx.State({"bias": nnx.Param(jnp.asarray([5.0, 6.0]))})
    merged = nnx.merge_state(nnx.state(linear), other)
    return {"of": "Linear(2, 2, Rngs(0))", "other": {"bias": [5.0, 6.0]}, "state": state_json(merged)}


def nodes():
    model = MODELS["net"]()
    before = state_json(model)
    nnx.update(model, nnx.State({"head": {"kernel": nnx.Param(jnp.ones((3, 2)))}}))
    yield {"name": "update", "model": TEXT["net"], "given": {"head/kernel": "ones"},
           "changed": changed(before, state_json(model))}
    before = state_json(model)
    popped = nnx.pop(model, nnx.BatchStat)
    yield {"name": "pop", "model": TEXT["net"], "filters": [{"of": "BatchStat"}], "popped": paths(popped),
           "left": paths(nnx.state(model))}
    for name in ("net", "attentive"):
        node = MODELS[name]()
        modules = [[path_text(p), type(m).__name__] for p, m in nnx.iter_modules(node)]
        graph = [[path_text(p), type(v).__name__] for p, v in nnx.iter_graph(node) if isinstance(v, (
            nnx.Pytree, nnx.Variable))]
        children = [[str(k), type(m).__name__] for k, m in nnx.iter_children(node)]
        yield {"name": "iter_" + name, "model": TEXT[name], "modules": modules, "graph": graph,
               "children": children}
    tied = nnx.Dict(a=nnx.Linear(2, 2, rngs=nnx.Rngs(0)), b=nnx.Linear(2, 2, rngs=nnx.Rngs(0)))
    tied.b.kernel = tied.a.kernel
    same = [[path_text(p) for p in group] for group in nnx.find_duplicates(tied)]
    yield {"name": "find_duplicates", "model": "Dict(a, b), both Linear(2, 2); b.kernel = a.kernel", "paths": same}
    clone = nnx.clone(model)
    yield {"name": "clone", "paths": paths(nnx.state(clone))}
    cast = MODELS["linear"]()
    cast.kernel[...] = np.full((2, 3), 3, np.int32)
    cast.bias[1] = 7
    yield {"name": "write_casts", "model": TEXT["linear"], "does": "kernel = threes of i32; bias[1] = 7",
           "state": state_json(cast)}


def views():
    model = MODELS["net"]()
    flags = lambda m: {path_text(p): {k: getattr(v, k) for k in ("deterministic", "use_running_average")
                                      if hasattr(v, k)} for p, v in nnx.iter_modules(m)
                       if isinstance(v, (nnx.Dropout, nnx.BatchNorm))}
    yield {"name": "view_start", "model": TEXT["net"], "flags": flags(model)}
    seen = nnx.view(model, deterministic=True, use_running_average=True)
    shared = seen.head.kernel is model.head.kernel
    yield {"name": "view", "settings": {"deterministic": True, "use_running_average": True},
           "flags": flags(seen), "flags_of_model": flags(model), "shares_variables": shared}
    only = nnx.view(model, only=nnx.Dropout, deterministic=True)
    yield {"name": "view_only", "only": {"of": "Dropout"}, "settings": {"deterministic": True}, "flags": flags(only)}
    model.eval()
    yield {"name": "eval", "flags": flags(model)}
    model.train()
    yield {"name": "train", "flags": flags(model)}
    shape = nnx.eval_shape(MODELS["net"])
    yield {"name": "eval_shape", "model": TEXT["net"], "outline": outline(nnx.state(shape))}


def cases():
    yield from outlines()
    yield from calls()
    yield from nodes()
    yield from views()
    names = [[k.__name__, n] for n, k in sorted(nnx.variablelib.VariableTypeCache.items())]
    yield {"name": "linen_names", "kinds": names}


