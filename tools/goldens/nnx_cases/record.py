"""Runs a layer of flax.nnx op by op: stores its inputs, its answers, what it kept."""
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from .describe import Numbers, actual, made_rngs, packed, plain

LOSS = "sum of squares of output 0 in f32"


class Call:
    """One call: the inputs, keyword arguments, the method's name."""

    def __init__(self, *inputs, method="__call__", **kwargs):
        self.inputs, self.method, self.kwargs = inputs, method, kwargs

    def json(self):
        out = {"method": self.method, "inputs": [plain(x) for x in self.inputs]}
        if self.kwargs:
            out["kwargs"] = {k: plain(v) for k, v in self.kwargs.items()}
        return out

    def to(self, dtype):
        """The same call with every input by formula in another dtype."""
        return Call(*[_to(x, dtype) for x in self.inputs], method=self.method, **self.kwargs)


def _to(x, dtype):
    if isinstance(x, Numbers):
        return x.to(dtype)
    return type(x)(_to(i, dtype) for i in x) if isinstance(x, (list, tuple)) else x


def path_text(path):
    """Names and indices joined by `/`; an element that is itself a tuple in brackets, by commas."""
    one = lambda p: "(" + ",".join(map(str, p)) + ")" if isinstance(p, tuple) else str(p)
    return "/".join(one(p) for p in path)


def entry(variable):
    out = {"kind": type(variable).__name__}
    if getattr(variable, "tag", None) is not None:
        out["tag"] = variable.tag
    value = variable.get_raw_value()
    if isinstance(value, tuple):
        return out | {"values": [packed(x) for x in jax.tree.leaves(value)]}
    return out | packed(value)


def state_json(node):
    """Every Variable of a node by its path, in the order of upstream's flat state."""
    flat = nnx.to_flat_state(nnx.state(node) if not isinstance(node, nnx.State) else node)
    out = {}
    for path, v in flat:
        out[path_text(path)] = entry(v) if isinstance(v, nnx.Variable) else {"kind": "array"} | packed(v)
    return out


def changed(before, after):
    return {path: e for path, e in after.items() if before.get(path) != e}


def rngs_json(rngs):
    """Keys and counts of streams by name."""
    return {n: {"key": packed(s.key[...]), "count": packed(s.count[...])} for n, s in rngs.items()}


def set_constants(model, given):
    """Numbers for what `given` names and for each Param of which all elements are the same."""
    said = {}
    for i, (path, v) in enumerate(nnx.to_flat_state(nnx.state(model))):
        text = path_text(path)
        constant = isinstance(v, nnx.Param) and len(np.unique(np.asarray(v[...], np.float32))) == 1
        if text in given:
            said[text] = given[text]
        elif constant:
            said[text] = Numbers(100 + i, v.shape, v.dtype.name)
    _write(model, {k: actual(v) for k, v in said.items()})
    return said


def _write(model, values):
    for path, v in nnx.iter_graph(model):
        if isinstance(v, nnx.Variable) and path_text(path) in values:
            v[...] = values[path_text(path)]
        if isinstance(v, nnx.WeightNorm) and v.scales:
            for name in v.scales:
                v.scales[name] = values.get(path_text((*path, "scales", name)), v.scales[name])


def made(layer, rngs, given, setting):
    rngs = made_rngs(rngs)
    model = layer.build(rngs)
    first, after = state_json(model), rngs_json(rngs)
    said = set_constants(model, given) if setting else {}
    return model, first, after, said


def run(model, call):
    method = getattr(model, call.method)
    return method(*[actual(x) for x in call.inputs], **{k: actual(v) for k, v in call.kwargs.items()})


def is_float(x):
    return jnp.issubdtype(jnp.result_type(x), jnp.floating)


def gradients(model, call):
    """Gradients of LOSS by every Param and every floating-point input."""
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    leaves, shape = jax.tree.flatten([actual(x) for x in call.inputs])
    chosen = [i for i, x in enumerate(leaves) if is_float(x)]

    def loss(params, floats):
        full = list(leaves)
        for i, x in zip(chosen, floats):
            full[i] = x
        node = nnx.merge(graphdef, params, rest, copy=True)
        named = {k: actual(v) for k, v in call.kwargs.items()}
        out = getattr(node, call.method)(*jax.tree.unflatten(shape, full), **named)
        return jnp.sum(jnp.square(jax.tree.leaves(out)[0].astype(jnp.float32)))

    by_params, by_inputs = jax.grad(loss, (0, 1))(params, [leaves[i] for i in chosen])
    inputs = [None] * len(leaves)
    for i, g in zip(chosen, by_inputs):
        inputs[i] = packed(g)
    named = {path_text(p): packed(v[...]) for p, v in nnx.to_flat_state(by_params)}
    return {"loss": LOSS, "params": named, "inputs": inputs}


def case(name, layer, *calls, rngs=0, given=None, setting=True, grads=True, reference=None):
    """Stores a layer and its calls, one after the other on the same layer.

    With `reference`, the same layer in f32, each call also stores what that layer answers.
    """
    model, first, after, said = made(layer, rngs, given or {}, setting)
    out = {"name": name, **layer.json(), "rngs": rngs, "init": first, "rngs_after": after}
    if said:
        out["set"] = {k: plain(v) for k, v in said.items()}
    twin = made(reference, rngs, given or {}, setting)[0] if reference else None
    if grads:
        out["grads"] = gradients(model, calls[0])
    out["calls"] = []
    for call in calls:
        before = state_json(model)
        answer = run(model, call)
        stored = call.json() | {"outputs": [packed(x) for x in jax.tree.leaves(answer)]}
        stored["state"] = changed(before, state_json(model))
        if twin is not None:
            stored["f32"] = [packed(x) for x in jax.tree.leaves(run(twin, call))]
        out["calls"].append(stored)
    return out


def answers(name, f, *calls, grads=False):
    """Stores calls of a function of nnx by its name, with gradients of the first one's inputs."""
    out = {"name": name, "function": f, "calls": []}
    for call in calls:
        named = {k: actual(v) for k, v in call.kwargs.items()}
        answer = getattr(nnx, f)(*[actual(x) for x in call.inputs], **named)
        stored = call.json() | {"outputs": [packed(x) for x in jax.tree.leaves(answer)]}
        del stored["method"]
        out["calls"].append(stored)
    if grads:
        named = {k: actual(v) for k, v in calls[0].kwargs.items()}
        loss = lambda *x: jnp.sum(jnp.square(getattr(nnx, f)(*x, **named).astype(jnp.float32)))
        inputs = [actual(x) for x in calls[0].inputs]
        by_inputs = jax.grad(loss, tuple(range(len(inputs))))(*inputs)
        out["grads"] = {"loss": LOSS, "inputs": [packed(g) for g in by_inputs]}
    return out


def variants(name, layer, *calls, given=None, grads=True, **rest):
    """The layer as it is, then with inputs in bf16, then with dtype bf16 (and f32 beside it)."""
    yield case(name, layer, *calls, given=given, grads=grads, **rest)
    narrow = [c.to("bfloat16") for c in calls]
    yield case(name + "_bf16_input", layer, *narrow, given=given, grads=False, **rest)
    bf16 = layer.with_dtype("bfloat16")
    yield case(name + "_bf16", bf16, *calls, given=given, grads=False, reference=layer, **rest)


def initial(name, layer, rngs=0):
    """What a constructor makes, alone."""
    _, first, after, _ = made(layer, rngs, {}, False)
    return {"name": name, **layer.json(), "rngs": rngs, "init": first, "rngs_after": after, "calls": []}
