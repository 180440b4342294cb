"""Programs over eight devices as JAX lowers them, with what JAX computes: strata/partition/testdata/jax.

    build/peers/bin/python tools/goldens/sharded.py

Each program is written as text (NAME.mlir) by Shardy's notation; arguments are filled by the formula of
`filled`, which the test repeats; NAME.txt holds the results, a line each, in 9 digits.
"""
import os
import pathlib

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
try:
    import flatbuffers  # what jax.export serialises with
    import jax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2", "flatbuffers")
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

OUT = pathlib.Path(__file__).resolve().parents[2] / "strata/partition/testdata/jax"
MESH = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))


def filled(shape, dtype, number):
    """Entry i of argument `number`: ((i * 7919 + number * 104729) % 1009) / 1009 - 0.5, integers % 7."""
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    n = (i * 7919 + number * 104729) % 1009
    if np.issubdtype(dtype, np.integer):
        return (n % 7).astype(dtype).reshape(shape)
    return (n.astype(np.float32) / np.float32(1009) - np.float32(0.5)).astype(dtype).reshape(shape)


PROGRAMS = []


def program(*specs):
    """specs: (shape, PartitionSpec) or (shape, PartitionSpec, dtype) of each argument."""
    def add(f):
        PROGRAMS.append((f.__name__, f, specs))
        return f
    return add


def constrained(x, *spec):
    return lax.with_sharding_constraint(x, NamedSharding(MESH, P(*spec)))


@program(((8, 16), P("x")), ((16, 32), P(None, "y")), ((32, 16), P("y", None)))
def tensor_parallel(x, w, v):
    return jnp.tanh(x @ w) @ v


@program(((8, 16), P(("x", "y"))), ((16, 32), P(("x", "y"), None)), ((32, 16), P(("x", "y"), None)))
def fsdp_step(x, w, v):
    def loss(p):
        h = jax.nn.relu(x @ p[0])
        return jnp.mean((h @ p[1] - 1) ** 2)
    l, g = jax.value_and_grad(loss)((w, v))
    return l, w - 0.1 * g[0], v - 0.1 * g[1]


@program(((8, 4, 16), P("x", "y")), ((16, 48), P(None, "y")), ((16, 16), P("y")))
def attention(x, w, o):
    b, t, d = x.shape
    q, k, v = jnp.split((x @ w).reshape(b, t, 3, 4, 4), 3, axis=2)
    q, k, v = (constrained(z[:, :, 0], "x", None, "y", None) for z in (q, k, v))
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2
    s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e9)
    y = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s, axis=-1), v)
    return constrained(y.reshape(b, t, d), "x", None, "y") @ o


@program(((8, 16), P("x", "y")), ((4, 16, 16), P(None, None, "y")))
def scanned_layers(x, w):
    return lax.scan(lambda c, m: (jnp.sin(c @ m), c.sum()), x, w)


@program(((8, 8), P("x", "y")))
def while_loop(x):
    return lax.while_loop(lambda c: c[1].sum() < 20, lambda c: (c[0] + 1, c[1] + c[1].T * 0.5 + 1), (0, x))


@program(((8, 8), P("x", "y")), ((), P(), np.int32))
def branches(x, n):
    return lax.switch(n % 3, [lambda z: z.T, lambda z: z - z.mean(0), lambda z: jnp.sort(z, 0)], x)


@program(((32, 16), P(("x", "y"))), ((8, 4), P("x"), np.int32))
def embedding(table, tokens):
    e = constrained(table[tokens], "x", None, "y")
    return e, jnp.zeros_like(table).at[tokens].add(e * 2)


@program(((8, 12), P("x", "y")))
def reshards(x):
    a = constrained(x, "y", "x")
    b = constrained(a * 2, None, ("y", "x"))
    c = constrained(b.reshape(4, 2, 12), "y", "x", None)
    return c + 1, a.T, constrained(x, ("x", "y"), None)


@program(((10, 6), P()), ((6, 7), P()))
def uneven(x, w):
    y = constrained(x, "y", "x") @ constrained(w, "x", None)
    z = constrained(y, ("x", "y"), None)
    return z.sum(), z.max(0), jnp.concatenate([z, x], 1)[1:, ::2], jnp.cumsum(z, 0)


@program(((8, 8), P("x", "y")))
def shard_map_all(x):
    def body(z):
        i = lax.axis_index("y")
        s = lax.psum(z, "x")
        g = lax.all_gather(z, "y", axis=1, tiled=True)
        p = lax.ppermute(z, "y", [(j, (j + 1) % 4) for j in range(4)])
        r = lax.psum_scatter(g, "y", scatter_dimension=1, tiled=True)
        return s + i, g.sum(1, keepdims=True) + p, r, lax.pmax(z, ("x", "y"))
    return jax.shard_map(body, mesh=MESH, in_specs=P("x", "y"),
                         out_specs=(P(None, "y"), P("x", "y"), P("x", "y"), P()))(x)


@program(((8, 8), P("x", "y")), ((8, 8), P("y")))
def shard_map_partial(x, w):
    def body(z, v):
        return lax.psum(z @ v, "y")
    return jax.shard_map(body, mesh=MESH, in_specs=(P(None, "y"), P("y", None)), out_specs=P(),
                         axis_names={"y"})(x * 2, w) + 1


@program(((16,), P(("x", "y"))), ((2,), P(), np.uint32))
def random_numbers(x, key):
    k = jax.random.wrap_key_data(key, impl="threefry2x32")
    return x + jax.random.uniform(k, (16,)), constrained(jnp.arange(32) * 3, "y")


@program(((8, 6, 6, 4), P(("x", "y"))), ((3, 3, 4, 8), P(None, None, None, "y")))
def convolution_step(x, w):
    def loss(w):
        y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.mean(jax.nn.relu(y) ** 2)
    l, g = jax.value_and_grad(loss)(w)
    return l, constrained(w - g, None, None, None, "y")


def main():
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # file names alone
    OUT.mkdir(parents=True, exist_ok=True)
    gspmd = [("gspmd_" + name, f, specs) for name, f, specs in PROGRAMS if name in ("attention", "reshards", "uneven")]
    for name, f, specs in PROGRAMS + gspmd:
        jax.config.update("jax_use_shardy_partitioner", not name.startswith("gspmd_"))
        arguments, shardings = [], []
        for i, spec in enumerate(specs):
            shape, p, dtype = spec if len(spec) == 3 else (*spec, np.float32)
            shardings.append(NamedSharding(MESH, p))
            arguments.append(filled(shape, dtype, i))
        lowered = jax.jit(lambda *a: f(*a), in_shardings=tuple(shardings)).lower(*arguments)
        (OUT / f"{name}.mlir").write_text(lowered.as_text())
        if name == "tensor_parallel":
            step = jax.jit(lambda *a: f(*a), in_shardings=tuple(shardings))
            (OUT / f"{name}.jax").write_bytes(export.export(step)(*arguments).serialize())
        results = jax.tree.leaves(jax.jit(f, in_shardings=tuple(shardings))(*[jax.device_put(a, s) for a, s in zip(arguments, shardings)]))
        (OUT / f"{name}.txt").write_text("".join(" ".join(f"{v:.9g}" for v in np.asarray(r).ravel().tolist()) + "\n" for r in results))
        print(name, len(results))


main()
