"""Gradients within jax.shard_map, with and without check_vma: strata/api/goldens/shard_map_grad.txt.

    build/peers/bin/python tools/goldens/shard_map_grad.py

A line for each case: its name, "vma" or "free", and the numbers of the result; cases that JAX refuses are left out. The mesh is
x=2, y=2; v is [8] cut over (x, y), w a number that all devices have. JAX 0.10.2.
"""
import os
import pathlib

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
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

OUT = pathlib.Path(__file__).resolve().parents[2] / "strata/api/goldens/shard_map_grad.txt"
MESH = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
XY, W = P(("x", "y")), P()
BOTH = ("x", "y")
V = jnp.arange(8.0) / 4 + 1
S = jnp.float32(1.5)


def gather(a, axis="x"):
    return lax.all_gather(a, axis, tiled=True)


def scanned(w, v):
    def body(c, r):
        return c * 0.5 + lax.psum(jnp.sum(v * w) * r, "x"), None

    start = lax.psum(jnp.sum(v), "x") * 0
    return lax.scan(body, start, jnp.arange(1.0, 4.0))[0]


OF_V = {  # gradients by v, of a number
    "local": lambda v: jnp.sum(v * v),
    "psum": lambda v: lax.psum(jnp.sum(v * v), BOTH),
    "psum_x": lambda v: lax.psum(jnp.sum(v * v), "x"),
    "psum_squared": lambda v: lax.psum(jnp.sum(v), BOTH) ** 2,
    "psum_x_squared": lambda v: lax.psum(jnp.sum(v), "x") ** 2,
    "psum_times_local": lambda v: jnp.sum(lax.psum(v, "x") * v),
    "psum_after_psum": lambda v: lax.psum(jnp.sin(lax.psum(jnp.sum(v), "x")) * jnp.sum(v), "y"),
    "pmean": lambda v: lax.pmean(jnp.sum(v * v), BOTH),
    "normalised": lambda v: jnp.sum(v[:1] * v / lax.psum(jnp.sum(v * v), BOTH)),
    "gathered": lambda v: jnp.sum(gather(v) ** 2),
    "gathered_times_psum": lambda v: jnp.sum(gather(v) * lax.psum(v[0], "x")),
    "scattered": lambda v: jnp.sum(lax.psum_scatter(jnp.concatenate([v, v * v]), "x", tiled=True) ** 2),
    "permuted": lambda v: jnp.sum(lax.ppermute(v, "x", [(0, 1), (1, 0)]) * v),
    "exchanged": lambda v: jnp.sum(lax.all_to_all(v, "y", 0, 0, tiled=True) * v**2),
    "remat": lambda v: jax.checkpoint(lambda a: lax.psum(jnp.sum(a**3), BOTH))(v),
}
OF_W = {  # gradients by w, which all have, of a number
    "local": lambda w, v: jnp.sum(v * w),
    "psum": lambda w, v: lax.psum(jnp.sum(v * w), BOTH),
    "psum_x": lambda w, v: lax.psum(jnp.sum(v * w), "x"),
    "pmean": lambda w, v: lax.pmean(jnp.sum(v * w * w), BOTH),
    "twice": lambda w, v: jnp.sum(v * w) * jnp.sin(w),
    "psum_of_same": lambda w, v: lax.psum(jnp.sin(w), "x") * 3,
    "psum_of_same_times": lambda w, v: lax.psum(jnp.sin(w), "x") * jnp.sum(v),
    "scanned": scanned,
    "alone": lambda w, v: jnp.sin(w),
    "by_place": lambda w, v: w * w * (1 + lax.axis_index("y")),
}
LINES = []


def case(name, f, in_specs, out_specs, *args):
    for vma in (True, False):
        try:
            got = jax.shard_map(f, mesh=MESH, in_specs=in_specs, out_specs=out_specs, check_vma=vma)(*args)
        except Exception as e:
            print(name, vma, type(e).__name__, str(e)[:90])
            continue
        numbers = " ".join(f"{x:.9g}" for x in np.ravel(got))
        LINES.append(f"{name} {'vma' if vma else 'free'} {numbers}\n")


for name, f in OF_V.items():
    case(f"v.{name}", jax.grad(f), XY, XY, V)
for name, f in OF_W.items():
    case(f"w.{name}", jax.grad(f), (W, XY), W, S, V)
    case(f"w.{name}.each", lambda w, v, f=f: jnp.reshape(jax.grad(f)(w, v), (1,)) + 0 * v[:1], (W, XY), XY, S, V)
# Weights that are cut, gathered, differentiated as a whole and scattered again.
fsdp = lambda v: lax.psum_scatter(jax.grad(lambda a: jnp.sum(jnp.sin(a) * v[0]))(gather(v)), "x", tiled=True)
case("fsdp", fsdp, XY, XY, V)
case("vjp", lambda w, v: jax.vjp(lambda a: a * v, w)[1](v)[0], (W, XY), W, S, V)
second = lambda w, v: jax.grad(lambda a: jax.grad(lambda c: lax.psum(jnp.sum(jnp.sin(v * c)), BOTH))(a) ** 2)(w)
case("second", second, (W, XY), W, S, V)
case("by_vmap", lambda w, v: jax.vmap(lambda a: jax.grad(lambda c: jnp.sum(jnp.sin(v * c)))(a))(w * jnp.arange(3.0)), (W, XY), W, S, V)
# Outside, of gradients within.
inside = lambda w, v: jax.shard_map(jax.grad(OF_W["twice"]), mesh=MESH, in_specs=(W, XY), out_specs=W)(w, v)
LINES.append("outside vma " + " ".join(f"{x:.9g}" for x in np.ravel(jax.grad(inside, 1)(S, V))) + "\n")
OUT.write_text("".join(LINES))
