"""State through transforms, in upstream's tree mode (graph=False): a counter, BatchNorm, Dropout.

A case holds what the model held before and behind the call; a twin without the transform where one
exists. `program` says what was run.
"""
import jax
import jax.numpy as jnp
from flax import nnx

from .describe import Numbers, packed
from .record import path_text, state_json

TREE = {"graph": False, "graph_updates": False}


class Count(nnx.Variable):
    """A user's kind that is a Variable."""


class Counting(nnx.Module):
    """Counts its calls, in i32, and sums its inputs, in f32."""

    def __init__(self):
        self.count = Count(jnp.int32(0))
        self.total = Count(jnp.float32(0))
        self.weight = nnx.Param(jnp.float32(1.5))

    def __call__(self, x):
        self.count[...] += 1
        self.total[...] += jnp.sum(x)
        return x * self.weight


class Normal(nnx.Module):
    """linear = Linear(3, 3), norm = BatchNorm(3, momentum=0.9), drop = Dropout(0.5)."""

    def __init__(self, rngs):
        self.linear = nnx.Linear(3, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, momentum=0.9, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        return self.drop(self.norm(self.linear(x)))


COUNTING = "Counting: count = 0 (i32), total = 0 (f32), kind Count; weight = 1.5, a Param. " \
    "Call: count += 1; total += sum(x); answer x * weight"
NORMAL = "Normal(Rngs(0)): linear = Linear(3, 3), norm = BatchNorm(3, momentum=0.9), drop = Dropout(0.5). " \
    "Call: drop(norm(linear(x)))"
MODELS = {"counting": (COUNTING, Counting), "normal": (NORMAL, lambda: Normal(nnx.Rngs(0)))}
X = {"counting": Numbers(1, (4,)), "normal": Numbers(1, (4, 3))}


def leaves(x):
    return [packed(leaf) for leaf in jax.tree.leaves(x)]


def grads_json(g):
    return {path_text(p): packed(v[...] if isinstance(v, nnx.Variable) else v)
            for p, v in nnx.to_flat_state(nnx.state(g) if not isinstance(g, nnx.State) else g)}


def through(name, kind, program, run, model=None, inputs=None, **more):
    """Runs `run(model, x)` on a fresh model."""
    text, make = MODELS[kind]
    model, x = model or make(), inputs or X[kind]
    first = state_json(model)
    out = run(model, x.array())
    out, extra = out if isinstance(out, tuple) and isinstance(out[1], dict) else (out, {})
    return {"name": f"{kind}_{name}", "model": text, "program": program, "inputs": [x.json()], "init": first,
            "outputs": leaves(out), "state": state_json(model)} | extra | more


def call(m, x):
    return m(x)


def twice(m, x):
    return m(m(x))


def square(m, x):
    return jnp.sum(jnp.square(m(x)))


def by_gradient(m, x):
    def loss(params, rest):
        model = nnx.merge(graphdef, params, rest, copy=True)
        value = square(model, x)
        return value, nnx.state(model, nnx.Not(nnx.Param))

    graphdef, params, rest = nnx.split(m, nnx.Param, ...)
    (value, kept), grads = jax.value_and_grad(loss, has_aux=True)(params, rest)
    nnx.update(m, kept)
    return value, {"grads": grads_json(grads)}


def one_level():
    for kind in MODELS:
        yield through("plain", kind, "m(x)", call)
        yield through("plain_twice", kind, "m(m(x))", twice)
        yield through("jit", kind, "jit(m(x))", nnx.jit(call, **TREE))
        yield through("jit_twice", kind, "jit(m(m(x))), called twice", lambda m, x: [
            nnx.jit(twice, **TREE)(m, x) for _ in range(2)])
        yield through("remat", kind, "remat(m(x))", nnx.remat(call, **TREE))
        yield through("grad", kind, "gradient of sum of squares of m(x) by Params; updates kept", by_gradient)
        yield through("grad_remat", kind, "gradient of sum of squares of remat(m(x)) by Params; updates kept",
                      lambda m, x: by_gradient_of_remat(m, x))
        yield through("eval_shape", kind, "eval_shape(m(x)): nothing is kept", lambda m, x: (
            [], {"shapes": [[list(s.shape), str(s.dtype)] for s in jax.tree.leaves(
                nnx.eval_shape(call, m, x, **TREE))]}))
        for flag in (True, False):
            yield through(f"cond_{str(flag).lower()}", kind, f"cond({flag}, m(x), 2 x)", lambda m, x: nnx.cond(
                flag, call, lambda m, x: 2 * x, m, x, **TREE))
        for index in (0, 1, 2):
            yield through(f"switch_{index}", kind, f"switch({index}, [m(x), m(m(x)), x])", lambda m, x: nnx.switch(
                index, [call, twice, lambda m, x: x], m, x, **TREE))
        yield through("fori", kind, "fori_loop(0, 3, x = m(x))", lambda m, x: nnx.fori_loop(
            0, 3, lambda i, c: (c[0], c[0](c[1])), (m, x), **TREE)[1])
        yield through("while", kind, "while_loop(i < 3: i + 1, x = m(x))", lambda m, x: nnx.while_loop(
            lambda c: c[2] < 3, lambda c: (c[0], c[0](c[1]), c[2] + 1), (m, x, 0), **TREE)[1])
        yield through("scan_carry", kind, "scan over 3 steps, model as Carry: x = m(x), output sum(x)", carried)


def by_gradient_of_remat(m, x):
    def loss(params, rest):
        model = nnx.merge(graphdef, params, rest, copy=True)
        value = jnp.sum(jnp.square(nnx.remat(call, **TREE)(model, x)))
        return value, nnx.state(model, nnx.Not(nnx.Param))

    graphdef, params, rest = nnx.split(m, nnx.Param, ...)
    (value, kept), grads = jax.value_and_grad(loss, has_aux=True)(params, rest)
    nnx.update(m, kept)
    return value, {"grads": grads_json(grads)}


def carried(m, x):
    def step(carry, _):
        model, x = carry
        x = model(x)
        return (model, x), jnp.sum(x)

    run = nnx.scan(step, length=3, in_axes=(nnx.Carry, None), out_axes=(nnx.Carry, 0), **TREE)
    (_, x), sums = run((m, x), None)
    return [x, sums]


def simple_grad():
    """nnx.grad of a whole model: every Variable is differentiated, so all must be floats."""
    class Floats(nnx.Module):
        def __init__(self):
            self.weight, self.total = nnx.Param(jnp.float32(1.5)), Count(jnp.float32(2.0))

        def __call__(self, x):
            self.total[...] += jnp.sum(x)
            return x * self.weight + self.total

    text = "Floats: weight = 1.5, a Param; total = 2.0, a Count. Call: total += sum(x); x * weight + total"
    m, x = Floats(), Numbers(1, (4,))
    first = state_json(m)
    value, grads = nnx.value_and_grad(square, **TREE)(m, x.array())
    yield {"name": "floats_value_and_grad", "model": text, "inputs": [x.json()], "init": first,
           "program": "value_and_grad(sum of squares of m(x)) by the model", "outputs": leaves(value),
           "grads": grads_json(grads), "grads_type": type(grads).__name__, "state": state_json(m)}
    m = Floats()
    out, pull = nnx.vjp(square, m, x.array(), **TREE)
    by_model, by_x = pull(jnp.float32(2.0))
    yield {"name": "floats_vjp", "model": text, "inputs": [x.json()], "init": first,
           "program": "vjp(sum of squares of m(x)), pulled back from 2", "outputs": leaves(out),
           "grads": grads_json(by_model), "by_input": packed(by_x), "state": state_json(m)}


def streams(n):
    return nnx.split_rngs(nnx.Rngs(0), splits=n, **TREE)


def make_stack(n):
    return nnx.vmap(Normal, in_axes=0, out_axes=0, **TREE)(streams(n))


def at(model, i):
    graphdef, state = nnx.split(model)
    return nnx.merge(graphdef, jax.tree.map(lambda v: v[i], state))


def stacked(models):
    graphdef, _ = nnx.split(models[0])
    return jax.tree.map(lambda *v: jnp.stack(v), *[nnx.split(m)[1] for m in models])


def over_axes():
    text = NORMAL + ". A stack of 3: vmap of the constructor over split_rngs(Rngs(0), 3)"
    x, rows = Numbers(1, (4, 3)), Numbers(2, (3, 4, 3))
    model = make_stack(3)
    first = state_json(model)
    said = {"model": text, "init": first}
    out = nnx.vmap(call, in_axes=(0, 0), out_axes=0, **TREE)(model, rows.array())
    yield {"name": "stack_vmap", **said, "program": "vmap(m(x)), axes 0 and 0", "inputs": [rows.json()],
           "outputs": leaves(out), "state": state_json(model)}
    model = make_stack(3)
    out = nnx.vmap(call, in_axes=(0, None), out_axes=1, **TREE)(model, x.array())
    yield {"name": "stack_vmap_one_input", **said, "program": "vmap(m(x)), axes 0 and none; output axis 1",
           "inputs": [x.json()], "outputs": leaves(out), "state": state_json(model)}
    model = make_stack(3)
    step = lambda carry, m: (m(carry), jnp.sum(carry))
    run = nnx.scan(step, in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0), **TREE)
    y, sums = run(x.array(), model)
    yield {"name": "stack_scan", **said, "program": "scan over the layers: x = m(x), output sum of the carry before",
           "inputs": [x.json()], "outputs": leaves([y, sums]), "state": state_json(model)}
    loop = [at(make_stack(3), i) for i in range(3)]
    z, sums = x.array(), []
    for m in loop:
        sums.append(jnp.sum(z))
        z = m(z)
    yield {"name": "stack_loop", **said, "program": "the same layers in a loop, their state stacked",
           "inputs": [x.json()], "outputs": leaves([z, jnp.stack(sums)]), "state": state_json(stacked(loop))}
    model = make_stack(3)
    run = nnx.scan(step, in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0), reverse=True, **TREE)
    y, sums = run(x.array(), model)
    yield {"name": "stack_scan_reverse", **said, "program": "stack_scan in reverse", "inputs": [x.json()],
           "outputs": leaves([y, sums]), "state": state_json(model)}
    model = make_stack(3)
    inner = nnx.remat(lambda carry, m: m(carry), **TREE)
    run = nnx.scan(lambda carry, m: inner(carry, m), in_axes=(nnx.Carry, 0), out_axes=nnx.Carry, **TREE)
    y = run(x.array(), model)
    yield {"name": "stack_scan_remat", **said, "program": "scan over the layers: x = remat(m(x))",
           "inputs": [x.json()], "outputs": leaves(y), "state": state_json(model)}
    yield from gradient_of_stack(said, x)


def gradient_of_stack(said, x):
    model = make_stack(3)
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)

    def loss(params, rest):
        m = nnx.merge(graphdef, params, rest, copy=True)
        run = nnx.scan(lambda carry, m: m(carry), in_axes=(nnx.Carry, 0), out_axes=nnx.Carry, **TREE)
        return jnp.sum(jnp.square(run(x.array(), m))), nnx.state(m, nnx.Not(nnx.Param))

    (value, kept), grads = jax.value_and_grad(loss, has_aux=True)(params, rest)
    nnx.update(model, kept)
    yield {"name": "stack_scan_grad", **said, "program": "gradient of sum of squares of the scan; updates kept",
           "inputs": [x.json()], "outputs": leaves(value), "grads": grads_json(grads), "state": state_json(model)}


def broadcast_model():
    """One counter beside mapped inputs; one norm whose means go through a named axis."""
    rows = Numbers(2, (3, 4))
    m = Counting()
    graphdef, state = nnx.split(m)

    def step(carry, x):
        carry(x)
        return carry, jnp.sum(x)

    first = state_json(m)
    run = nnx.scan(step, in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0), **TREE)
    _, sums = run(m, rows.array())
    yield {"name": "counting_scan_rows", "model": COUNTING, "program": "scan over rows of x, model as Carry",
           "inputs": [rows.json()], "init": first, "outputs": leaves(sums), "state": state_json(m)}
    m = nnx.BatchNorm(3, axis_name="data", momentum=0.9, rngs=nnx.Rngs(0))
    x = Numbers(3, (2, 4, 3))
    first = state_json(m)
    out = nnx.vmap(call, in_axes=(None, 0), out_axes=0, axis_name="data", **TREE)(m, x.array())
    yield {"name": "norm_vmap_axis_name", "model": "BatchNorm(3, axis_name='data', momentum=0.9)",
           "program": "vmap(m(x)), axes none and 0, axis name data: the statistics do not depend on the axis",
           "inputs": [x.json()], "init": first, "outputs": leaves(out), "state": state_json(m)}


def cases():
    yield from one_level()
    yield from simple_grad()
    yield from over_axes()
    yield from broadcast_model()
