"""Programs whose values are addends on each device, as JAX lowers them in explicit mode, with what each of eight devices holds
on XLA's CPU: strata/partition/testdata/jax/unreduced.

    build/peers/bin/python tools/goldens/unreduced.py

Arguments are filled by the formula of `filled`, which the test repeats. NAME.txt holds a line for each result on each device, in
9 digits.
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
from jax import lax, reshard
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

OUT = pathlib.Path(__file__).resolve().parents[2] / "strata/partition/testdata/jax/unreduced"
MESH = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
PROGRAMS = []


def filled(shape, dtype, number):
    """Entry i of argument `number`: ((i * 7919 + number * 104729) % 1009) / 1009 - 0.5, integers % 7."""
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    n = (i * 7919 + number * 104729) % 1009
    if np.issubdtype(dtype, np.integer):
        return (n % 7).astype(dtype).reshape(shape)
    return (n.astype(np.float32) / np.float32(1009) - np.float32(0.5)).astype(dtype).reshape(shape)


def program(*specs):
    def add(f):
        PROGRAMS.append((f, specs))
        return f
    return add


@program(((8, 8), P("x", "y")), ((8, 6), P("y")))
def product(a, b):
    return jnp.einsum("ab,bc->ac", a, b, out_sharding=P("x", unreduced={"y"}))


@program(((8, 8), P("x", "y")), ((8, 8), P("y")), ((8, 8), P("y")))
def sums(a, b, c):
    first = jnp.einsum("ab,bc->ac", a, b, out_sharding=P("x", unreduced={"y"}))
    both = first + jnp.einsum("ab,bc->ac", a, c, out_sharding=P("x", unreduced={"y"}))
    return reshard(both, P("x")), reshard(both.T, P("y", "x"))


@program(((8, 6), P(("x", "y"))), ((8,), P("y"), np.int32))
def reductions(a, n):
    part = lax.reduce_sum(a, axes=(0,), out_sharding=P(None, unreduced={"x", "y"}))
    return part, lax.reduce_sum(part, axes=(0,)), lax.reduce_sum(n, axes=(0,), out_sharding=P(unreduced={"y"}))


@program(((8, 4), P("x", "y")), ((8,), P()), ((), P()))
def made(a, whole, scalar):
    return (reshard(a, P("x", unreduced={"y"})), reshard(a, P(None, None, unreduced={"x", "y"})),
            reshard(whole, P(unreduced={"y"})), reshard(scalar, P(unreduced={"x"})))


@program(((8, 4), P("x", None, unreduced={"y"})), ((8, 4), P("x", "y")))
def given(a, b):
    return a, reshard(a, P("x", "y")) * b


@program(((8,), P(("x", "y")), np.int32), ((8,), P(("x", "y")), np.int32))
def segments(values, segment):
    return jax.ops.segment_sum(values, segment, num_segments=7, out_sharding=P(unreduced={"x", "y"}))


@program(((3, 8, 4), P(None, "x")), ((4, 4), P(reduced={"x"})))
def accumulated(batches, w):
    def loss(w, batch):
        return jnp.sum(batch @ w)

    def body(total, batch):
        return total + jax.grad(loss)(w, batch), None

    total, _ = lax.scan(body, reshard(jnp.zeros_like(w), P(unreduced={"x"})), batches)
    return reshard(total, P())


@program(((2, 8, 4), P(None, "x")), ((3, 4, 4), P(reduced={"x"})))
def layers(batches, w):
    def loss(w, batch):
        return jnp.sum(lax.scan(lambda x, v: (x @ v, None), batch, w)[0])

    def body(total, batch):
        return total + jax.grad(loss)(w, batch), None

    total, _ = lax.scan(body, reshard(jnp.zeros_like(w), P(unreduced={"x"})), batches)
    return reshard(total, P())


@program(((8, 8), P("x", "y")), ((8, 6), P("y")))
def by_hand(a, b):
    c = jax.shard_map(jnp.matmul, in_specs=(P("x", "y"), P("y")), out_specs=P("x", None, unreduced={"y"}))(a, b)
    return c, reshard(c, P("x"))


@program(((8,), P(None, reduced={"x"})))
def cotangent(a):
    return jax.grad(lambda z: jnp.sum(jnp.sin(reshard(z, P("x")))))(a)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    jax.set_mesh(MESH)
    for f, specs in PROGRAMS:
        arguments = []
        for i, spec in enumerate(specs):
            shape, p, dtype = spec if len(spec) == 3 else (*spec, np.float32)
            arguments.append(reshard(jnp.asarray(filled(shape, dtype, i)), p))
        lowered = jax.jit(f).lower(*arguments)
        (OUT / f"{f.__name__}.mlir").write_text(lowered.as_text())
        lines = []
        for r in jax.tree.leaves(jax.jit(f)(*arguments)):
            for shard in sorted(r.addressable_shards, key=lambda s: s.device.id):
                lines.append(" ".join(f"{v:.9g}" for v in np.asarray(shard.data).ravel().tolist()) + "\n")
        (OUT / f"{f.__name__}.txt").write_text("".join(lines))
        print(f.__name__, len(lines))


main()
