"""Which functions jax.shard_map accepts under check_vma: strata/api/goldens/shard_map_varying.txt.

    build/peers/bin/python tools/goldens/shard_map_varying.py

A line for each case: its name, and "accepted", or "refused" and the kind of the error. Nothing is computed.
The mesh is x=2, y=4; each function takes [8] cut over x (or whole, "_whole") and gives what its spec says. JAX 0.10.2.
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

OUT = pathlib.Path(__file__).resolve().parents[2] / "strata/api/goldens/shard_map_varying.txt"
MESH = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
CASES = []
X, W, XY = P("x"), P(), P(("x", "y"))


def case(name, in_spec, out_spec, f):
    CASES.append((name, in_spec, out_spec, f))


def scan_to(c, f, n=2):
    return lax.scan(lambda c, _: (f(c), None), c, None, length=n)[0]


case("same", X, X, lambda a: a)
case("dropped", X, W, lambda a: a)
case("wider", X, XY, lambda a: a)
case("whole_out_cut", W, X, lambda a: a)
case("whole", W, W, lambda a: a * 2)
case("psum", X, W, lambda a: lax.psum(a, "x"))
case("psum_other", X, X, lambda a: lax.psum(a, "y"))
case("psum_whole", W, W, lambda a: lax.psum(a, "x"))
case("psum_one_of_two", XY, W, lambda a: lax.psum(a, "x"))
case("psum_one_of_two_named", XY, P("y"), lambda a: lax.psum(a, "x"))
case("psum_both", XY, W, lambda a: lax.psum(a, ("x", "y")))
case("psum_both_of_one", X, W, lambda a: lax.psum(a, ("x", "y")))
case("psum_twice", X, W, lambda a: lax.psum(lax.psum(a, "x"), "x"))
case("pmean", X, W, lambda a: lax.pmean(a, "x"))
case("pmax", X, W, lambda a: lax.pmax(a, "x"))
case("pmin", X, W, lambda a: lax.pmin(a, "x"))
case("pmax_whole", W, W, lambda a: lax.pmax(a, "x"))
case("all_gather", X, W, lambda a: lax.all_gather(a, "x", tiled=True))
case("all_gather_named", X, X, lambda a: lax.all_gather(a, "x", tiled=True))
case("all_gather_invarying", X, W, lambda a: lax.all_gather(a, "x", tiled=True, to="invarying"))
case("all_gather_whole", W, W, lambda a: lax.all_gather(a, "x", tiled=True))
case("all_gather_whole_named", W, X, lambda a: lax.all_gather(a, "x", tiled=True))
case("psum_scatter", X, X, lambda a: lax.psum_scatter(a, "x", tiled=True))
case("psum_scatter_dropped", X, W, lambda a: lax.psum_scatter(a, "x", tiled=True))
case("psum_scatter_whole", W, X, lambda a: lax.psum_scatter(a, "x", tiled=True))
case("all_to_all", X, X, lambda a: lax.all_to_all(a, "x", 0, 0, tiled=True))
case("all_to_all_dropped", X, W, lambda a: lax.all_to_all(a, "x", 0, 0, tiled=True))
case("ppermute", X, X, lambda a: lax.ppermute(a, "x", [(0, 1), (1, 0)]))
case("ppermute_dropped", X, W, lambda a: lax.ppermute(a, "x", [(0, 1), (1, 0)]))
case("ppermute_whole", W, X, lambda a: lax.ppermute(a, "x", [(0, 1), (1, 0)]))
case("axis_index", W, X, lambda a: a * lax.axis_index("x"))
case("axis_index_dropped", W, W, lambda a: a * lax.axis_index("x"))
case("axis_size", W, W, lambda a: a * lax.axis_size("x"))
case("mixed_sum", X, X, lambda a: a + jnp.ones(4))
case("mixed_sum_dropped", X, W, lambda a: a + jnp.ones(4))
case("constant", X, W, lambda a: jnp.ones(4))
case("constant_named", X, X, lambda a: jnp.ones(4))
case("pvary", W, X, lambda a: lax.pcast(a, "x", to="varying"))
case("pvary_dropped", W, W, lambda a: lax.pcast(a, "x", to="varying"))
case("pvary_varying", X, X, lambda a: lax.pcast(a, "x", to="varying"))
case("pvary_other", X, XY, lambda a: lax.pcast(a, "y", to="varying"))
case("pvary_both", W, XY, lambda a: lax.pcast(a, ("x", "y"), to="varying"))
case("pvary_both_of_one", X, XY, lambda a: lax.pcast(a, ("x", "y"), to="varying"))
case("pvary_then_psum", W, W, lambda a: lax.psum(lax.pcast(a, "x", to="varying"), "x"))
case("pcast_invarying", X, W, lambda a: lax.pcast(a, "x", to="invarying"))
case("pcast_nonsense", X, W, lambda a: lax.pcast(a, "x", to="somehow"))
case("pcast_no_axes", W, W, lambda a: lax.pcast(a, (), to="varying"))
case("pcast_unknown_axis", W, W, lambda a: lax.pcast(a, "z", to="varying"))
case("scan_same", X, X, lambda a: scan_to(a, lambda c: c * 2))
case("scan_becomes_varying", W, X, lambda a: scan_to(a, lambda c: c * lax.axis_index("x")))
case("scan_cast_before", W, X,
     lambda a: scan_to(lax.pcast(a, "x", to="varying"), lambda c: c * lax.axis_index("x")))
case("scan_becomes_invarying", X, X, lambda a: scan_to(a, lambda c: lax.psum(c, "x")))
case("scan_cast_within", X, X,
     lambda a: scan_to(a, lambda c: lax.pcast(lax.psum(c, "x"), "x", to="varying")))
case("scan_zero_carry", X, X,
     lambda a: lax.scan(lambda c, r: (c + r, None), jnp.zeros(()), a)[0] + a)
case("scan_ys", X, X, lambda a: lax.scan(lambda c, r: (c, r * 2), 0.0, a)[1])
case("scan_ys_dropped", X, W, lambda a: lax.scan(lambda c, r: (c, r * 2), 0.0, a)[1])
case("fori_becomes_varying", W, X, lambda a: lax.fori_loop(0, 2, lambda i, c: c + lax.axis_index("x"), a))
case("while_same", W, W, lambda a: lax.while_loop(lambda c: c.sum() < 9, lambda c: c * 2, a))
case("while_becomes_varying", W, X,
     lambda a: lax.while_loop(lambda c: c.sum() < 9, lambda c: c * lax.axis_index("x") + 1, a))
case("while_varying_predicate", X, X, lambda a: lax.while_loop(lambda c: c.sum() < 9, lambda c: c * 2, a))
case("cond_same", X, X, lambda a: lax.cond(True, lambda: a, lambda: a * 2))
case("cond_mixed", X, X, lambda a: lax.cond(True, lambda: a, lambda: jnp.ones(4)))
case("cond_cast", X, X, lambda a: lax.cond(True, lambda: a, lambda: lax.pcast(jnp.ones(4), "x", to="varying")))
case("cond_varying_predicate", W, W,
     lambda a: lax.cond(lax.axis_index("x") > 0, lambda: a, lambda: a * 2))
case("cond_varying_predicate_named", W, X,
     lambda a: lax.cond(lax.axis_index("x") > 0, lambda: a, lambda: a * 2))
case("select", X, X, lambda a: jnp.where(a > 0, a, 0.0))
case("sorted", X, X, lambda a: jnp.sort(a))
case("sliced", X, X, lambda a: lax.dynamic_slice(a, (lax.axis_index("y") * 0,), (2,)))
case("matmul_psum", X, W, lambda a: lax.psum(a @ a, "x")[None])
case("grad_of_psum", X, X, lambda a: jax.grad(lambda v: lax.psum(jnp.sin(v).sum(), "x"))(a))
case("grad_whole", W, W, lambda a: jax.grad(lambda v: jnp.sin(v).sum())(a))
case("grad_of_whole_times_varying", W, W,
     lambda a: jax.grad(lambda v: lax.psum((v * lax.axis_index("x")).sum(), "x"))(a))
case("vmap_psum", X, W, lambda a: jax.vmap(lambda v: lax.psum(v, "x"))(a))
case("vmap_dropped", X, W, lambda a: jax.vmap(lambda v: v * 2)(a))
case("remat_psum", X, W, lambda a: jax.checkpoint(lambda v: lax.psum(jnp.sin(v), "x"))(a))
case("remat_dropped", X, W, lambda a: jax.checkpoint(jnp.sin)(a))


def outcome(in_spec, out_spec, f):
    mapped = jax.shard_map(f, mesh=MESH, in_specs=in_spec, out_specs=out_spec)
    try:
        jax.eval_shape(mapped, jax.ShapeDtypeStruct((8,), jnp.float32))
        return "accepted"
    except Exception as e:  # what it says is not compared
        return "refused " + type(e).__name__


def main():
    lines = [f"{name} | {outcome(i, o, f)}" for name, i, o, f in CASES]
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
