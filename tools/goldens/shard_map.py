"""What jax.shard_map and jax.pmap give on eight devices, with gradients: strata/api/goldens/shard_map.txt.

    build/peers/bin/python tools/goldens/shard_map.py

A line for each array: name of the case, what it is (result i or gradient i), its shape, its elements in 9
digits. Arguments are filled by the formula of `filled`, which the test repeats; gradients are of the sum of the
results' sines. JAX 0.10.2.
"""
import os
import pathlib

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
try:
    import jax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2")
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

OUT = pathlib.Path(__file__).resolve().parents[2] / "strata/api/goldens/shard_map.txt"
MESH = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))


def filled(shape, number):
    """Entry i of argument `number`: ((i * 7919 + number * 104729) % 1009) / 1009 - 0.5."""
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    n = (i * 7919 + number * 104729) % 1009
    return (n.astype(np.float32) / np.float32(1009) - np.float32(0.5)).reshape(shape)


CASES = []


def case(shapes, in_specs, out_specs, **options):
    def add(f):
        mapped = jax.shard_map(f, mesh=MESH, in_specs=in_specs, out_specs=out_specs, **options)
        CASES.append((f.__name__, mapped, shapes))
        return f
    return add


@case([(4, 8), (8, 6)], (P("x", "y"), P("y")), P("x"))
def contraction(x, w):
    return lax.psum(x @ w, "y")


@case([(8, 3)], P(("x", "y")), P(("x", "y")))
def ring(x):
    i = lax.axis_index("y").astype(x.dtype)
    return jnp.sin(lax.ppermute(x, "y", [(j, (j + 1) % 4) for j in range(4)]) * (i + 1) + x)


@case([(4, 4)], P("x", "y"), P("x", "y"))
def shifted(x):
    return lax.ppermute(x, "y", [(0, 1), (1, 2), (3, 0)]) + x * x


@case([(8, 4), (8, 4)], (P("y"), P("y")), P("y"))
def gather_and_scatter(x, w):
    g = lax.all_gather(x, "y", tiled=True)
    return lax.psum_scatter(jnp.tanh(g) * w.sum(), "y", scatter_dimension=0, tiled=True)


@case([(8, 8, 2)], P("y", "x"), P(None, "x"))
def exchanged(x):
    y = lax.all_to_all(x, "y", split_axis=1, concat_axis=0, tiled=True)
    return lax.pmean(jnp.cos(y) * y, "y")


@case([(2, 16)], P("x", "y"), P("x", "y"))
def softmax(x):
    m = lax.pmax(lax.stop_gradient(x).max(1, keepdims=True), "y")
    e = jnp.exp(x - m)
    return e / lax.psum(e.sum(1, keepdims=True), "y")


@case([(8, 4), (3, 4, 4)], (P("x"), P(None, None, "y")), P("x", "y"))
def layers(x, ws):
    def step(c, w):
        return jnp.sin(lax.all_gather(c @ w, "y", axis=1, tiled=True)), None
    c = lax.pcast(x, "y", to="varying")
    y, _ = lax.scan(step, c, ws)
    return lax.dynamic_slice_in_dim(y, lax.axis_index("y"), 1, 1)


@case([(4, 8)], P("x"), P("x"), axis_names={"x"})
def partly(x):
    return x - lax.pmean(x.mean(), "x") * jnp.cumsum(x, 1)


@case([(4, 8)], P("x"), P("x"), axis_names={"x"})
def nested(x):
    inner = jax.shard_map(lambda a: a * lax.psum(jnp.sin(a), ("x", "y")), in_specs=P(None, "y"),
                          out_specs=P(None, "y"), axis_names={"y"})
    return inner(x) + x


@case([(8,), (4,)], (P("y"), P()), (P("y"), P()))
def copies(x, w):
    return x * w[lax.axis_index("y")], lax.pmin(lax.stop_gradient(x), ("x", "y")).sum() + w.sum()


def pmap_cases():
    yield "mapped", jax.pmap(lambda x, w: (x - lax.pmean(x @ w, "i")) * lax.axis_index("i"),
                             axis_name="i", in_axes=(0, None)), [(8, 3, 2), (2, 2)]


def line(name, what, value):
    value = np.asarray(value)
    shape = "x".join(str(n) for n in value.shape) or "-"
    return " ".join([name, what, shape] + ["%.9g" % v for v in value.reshape(-1)])


def main():
    out = []
    for name, f, shapes in CASES + list(pmap_cases()):
        arguments = [filled(s, i) for i, s in enumerate(shapes)]
        results = jax.tree.leaves(f(*arguments))
        loss = lambda *a: sum(jnp.sin(r).sum() for r in jax.tree.leaves(f(*a)))
        out += [line(name, f"result{i}", r) for i, r in enumerate(results)]
        if name == "nested":  # JAX 0.10.2 cannot lower its gradient: an axis would be manual twice
            continue
        gradients = jax.jit(jax.grad(loss, tuple(range(len(arguments)))))(*arguments)
        out += [line(name, f"gradient{i}", g) for i, g in enumerate(gradients)]
    vmapped = jax.vmap(CASES[0][1])(filled((3, 4, 8), 0), filled((3, 8, 6), 1))
    out.append(line("vmapped_contraction", "result0", vmapped))
    OUT.write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
