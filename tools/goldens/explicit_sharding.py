"""How JAX's explicit mode types the result of an operation, or that it refuses.

    build/peers/bin/python tools/goldens/explicit_sharding.py

One case a line: the operation, its operands as sizes and specs, and what came of it: the spec of
the result, or "error" and its kind: strata/api/goldens/explicit_sharding.txt. Mesh: x of 4, y of 2
devices, both Explicit. Made with JAX 0.10.2; nothing is computed, so no seed matters. Not asked:
vmap and ravel of what is unreduced or reduced, where upstream refuses its own spec ("Using *pspec
is dangerous").
"""

import os
import pathlib

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

try:
    import jax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2")
import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from jax.sharding import reshard

OUT = pathlib.Path(__file__).resolve().parents[2] / "strata/api/goldens/explicit_sharding.txt"
N, X, Y, XY, YX = None, "x", "y", ("x", "y"), ("y", "x")

OPS = {
    "add": lambda a, b: a + b,
    "mul_sin": lambda a, b: jnp.sin(a) * b,
    "compare": lambda a, b: a < b,
    "select": lambda a, b, c: jnp.where(a > 0, b, c),
    "neg": lambda a: -a,
    "exp": jnp.exp,
    "add_scalar": lambda a: a + 1.0,
    "cast": lambda a: a.astype(jnp.int32),
    "clip": lambda a: jnp.clip(a, 0.0, 1.0),
    "matmul": jnp.matmul,
    "einsum_bij_bjk": lambda a, b: jnp.einsum("bij,bjk->bik", a, b),
    "einsum_ij_jk_ki": lambda a, b: jnp.einsum("ij,jk->ki", a, b),
    "sum_0": lambda a: a.sum(0),
    "sum_1": lambda a: a.sum(1),
    "sum_all": lambda a: a.sum(),
    "mean_1": lambda a: a.mean(1),
    "max_0": lambda a: a.max(0),
    "prod_1": lambda a: a.prod(1),
    "argmax_0": lambda a: a.argmax(0),
    "argmax_1": lambda a: a.argmax(1),
    "sum_keep": lambda a: a.sum(1, keepdims=True),
    "softmax": lambda a: jax.nn.softmax(a, axis=1),
    "transpose": lambda a: a.T,
    "transpose_201": lambda a: jnp.transpose(a, (2, 0, 1)),
    "expand_0": lambda a: jnp.expand_dims(a, 0),
    "expand_1": lambda a: jnp.expand_dims(a, 1),
    "squeeze_0": lambda a: jnp.squeeze(a, 0),
    "broadcast_to_3_8_16": lambda a: jnp.broadcast_to(a, (3, 8, 16)),
    "ravel": lambda a: a.reshape(-1),
    "reshape_4_2_16": lambda a: a.reshape(4, 2, 16),
    "reshape_2_4_16": lambda a: a.reshape(2, 4, 16),
    "reshape_8_4_4": lambda a: a.reshape(8, 4, 4),
    "reshape_16_8": lambda a: a.reshape(16, 8),
    "reshape_8_1_16": lambda a: a.reshape(8, 1, 16),
    "reshape_32_4": lambda a: a.reshape(32, 4),
    "slice_rows_0_4": lambda a: a[0:4],
    "slice_rows_0_3": lambda a: a[0:3],
    "slice_columns_0_8": lambda a: a[:, 0:8],
    "slice_columns_0_7": lambda a: a[:, 0:7],
    "slice_every_2": lambda a: lax.slice(a, (0, 0), (8, 16), (2, 2)),
    "pad_columns_1_1": lambda a: jnp.pad(a, ((0, 0), (1, 1))),
    "pad_rows_1_0": lambda a: jnp.pad(a, ((1, 0), (0, 0))),
    "flip_0": lambda a: jnp.flip(a, 0),
    "concatenate_0": lambda a, b: jnp.concatenate([a, b], 0),
    "concatenate_1": lambda a, b: jnp.concatenate([a, b], 1),
    "stack": lambda a, b: jnp.stack([a, b]),
    "sort_1": lambda a: lax.sort(a, dimension=1),
    "sort_0": lambda a: lax.sort(a, dimension=0),
    "cumsum_0": lambda a: lax.cumsum(a, 0),
    "cumsum_1": lambda a: lax.cumsum(a, 1),
    "dynamic_slice": lambda a: lax.dynamic_slice(a, (1, 2), (8, 8)),
    "dynamic_slice_rows": lambda a: lax.dynamic_slice(a, (1, 2), (2, 16)),
    "dynamic_update_slice": lambda a, b: lax.dynamic_update_slice(a, b, (0, 0)),
    "take_rows": lambda a, i: a.at[i.astype(jnp.int32)].get(mode="promise_in_bounds"),
    "scatter_rows": lambda a, i, u: a.at[i.astype(jnp.int32)].add(u, mode="promise_in_bounds"),
    "reduce_window": lambda a: lax.reduce_window(a, 0.0, lax.add, (1, 2), (1, 2), "VALID"),
    "scan_carry": lambda a: lax.scan(lambda c, _: (c * 2, c.sum(1)), a, None, length=3)[0],
    "scan_ys": lambda a: lax.scan(lambda c, _: (c * 2, c.sum(1)), a, None, length=3)[1],
    "scan_rows": lambda a: lax.scan(lambda c, r: (c, r * 2), 0.0, a)[1],
    "scan_changes": lambda a: lax.scan(lambda c, _: (c.T, None), a, None, length=2)[0],
    "cond": lambda a, b: lax.cond(True, lambda: a * 2, lambda: b + 1),
    "while": lambda a: lax.while_loop(lambda c: c.sum() < 3, lambda c: c * 2, a),
    "grad_sum_sin": jax.grad(lambda a: jnp.sin(a).sum()),
    "grad_matmul": lambda a, b: jax.grad(lambda a: (a @ b).sum())(a),
    "grad_matmul_right": lambda a, b: jax.grad(lambda b: jnp.sin(a @ b).sum())(b),
    "vmap_sin": jax.vmap(jnp.sin),
    "vmap_sum": jax.vmap(lambda r: r.sum()),
    "vmap_columns": jax.vmap(lambda c: c * 2, in_axes=1, out_axes=1),
    "vmap_matmul": jax.vmap(lambda r, b: r @ b, in_axes=(0, None)),
    # What is unreduced or reduced.
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "maximum": jnp.maximum,
    "sin": jnp.sin,
    "astype_f16": lambda a: a.astype(jnp.float16),
    "mul_scalar": lambda a: a * 2.0,
    "div_scalar": lambda a: a / 2.0,
    "broadcast_to_8_16_3": lambda a: jnp.broadcast_to(a[:, :, None], (8, 16, 3)),
    "where": lambda a, b: jnp.where(jnp.ones((8, 16), bool), a, b),
    "transposed": lambda a: a.T,
    "dynamic_update": lambda a, b: lax.dynamic_update_slice(a, b, (0, 0)),
    "reshard_whole": lambda a: reshard(a, P()),
    "reshard_x": lambda a: reshard(a, P("x", None)),
    "reshard_unreduced_x": lambda a: reshard(a, P(unreduced={"x"})),
    "reshard_reduced_x": lambda a: reshard(a, P(reduced={"x"})),
    "reshard_y_unreduced_x": lambda a: reshard(a, P(None, "y", unreduced={"x"})),
    "grad_reshard_reduced_x": jax.grad(lambda a: jnp.sin(reshard(a, P(reduced={"x"}))).sum()),
    "dot_out_unreduced_x": lambda a, b: jnp.dot(a, b, out_sharding=P(unreduced={"x"})),
    "dot_out_unreduced_xy": lambda a, b: jnp.dot(a, b, out_sharding=P(unreduced={"x", "y"})),
    "dot_out_reduced_x": lambda a, b: jnp.dot(a, b, out_sharding=P(reduced={"x"})),
    "einsum_out_y_unreduced_x": lambda a, b: jnp.einsum(
        "ij,jk->ik", a, b, out_sharding=P(None, "y", unreduced={"x"})),
    "einsum_ki_out_unreduced_x": lambda a, b: jnp.einsum(
        "ij,jk->ki", a, b, out_sharding=P(unreduced={"x"})),
    "sum_0_out_unreduced_x": lambda a: lax.reduce_sum(
        a, (0,), out_sharding=P(unreduced={"x"})),
    "sum_1_out_unreduced_x": lambda a: lax.reduce_sum(
        a, (1,), out_sharding=P(unreduced={"x"})),
    "sum_0_out_whole": lambda a: lax.reduce_sum(a, (0,), out_sharding=P()),
    "reshape_out_unreduced_x": lambda a: jnp.reshape(a, (16, 8), out_sharding=P(unreduced={"x"})),
    "reshape_out_whole": lambda a: jnp.reshape(a, (16, 8), out_sharding=P()),
    "grad_dot_right": lambda a, b: jax.grad(lambda b: jnp.sin(jnp.dot(a, b)).sum())(b),
    "grad_mul_right": lambda a, b: jax.grad(lambda b: jnp.sin(a * b).sum())(b),
    "grad_identity": lambda a: jax.vjp(lambda v: reshard(v, P()), a)[1](
        jnp.ones((8, 16), jnp.float32))[0],
    "scan_adds": lambda a, b: lax.scan(lambda c, _: (c + b, None), a, None, length=3)[0],
    "cond_either": lambda a, b: lax.cond(True, lambda: a, lambda: b),
}

one = [((8, 16), s) for s in [P(X, N), P(N, X), P(X, Y), P(N, N), P(XY, N), P(N, YX)]]
some = [((8, 16), s) for s in [P(X, N), P(N, Y), P(X, Y)]]
pairs = [(P(X, N), P(X, N)), (P(X, N), P(N, N)), (P(X, N), P(N, Y)), (P(X, N), P(Y, N)),
         (P(X, N), P(N, X)), (P(XY, N), P(X, N)), (P(X, Y), P(X, Y))]


def cases():
    for op in ["neg", "add_scalar", "sum_0", "sum_1", "ravel", "reshape_4_2_16", "reshape_2_4_16",
               "reshape_16_8", "transpose"]:
        for o in one:
            yield op, [o]
    for op in ["exp", "cast", "clip", "sum_all", "mean_1", "max_0", "prod_1", "argmax_0",
               "argmax_1", "sum_keep", "softmax", "expand_0", "expand_1", "broadcast_to_3_8_16",
               "reshape_8_4_4", "reshape_8_1_16", "reshape_32_4", "slice_rows_0_4",
               "slice_rows_0_3", "slice_columns_0_8", "slice_columns_0_7", "slice_every_2",
               "pad_columns_1_1", "pad_rows_1_0", "flip_0", "sort_0", "sort_1", "cumsum_0",
               "cumsum_1", "dynamic_slice", "dynamic_slice_rows", "reduce_window", "scan_carry",
               "scan_ys", "scan_rows", "while", "grad_sum_sin", "vmap_sin", "vmap_sum",
               "vmap_columns"]:
        for o in some:
            yield op, [o]
    for op in ["add", "mul_sin", "compare", "concatenate_0", "concatenate_1", "stack", "cond",
               "dynamic_update_slice"]:
        for a, b in pairs:
            yield op, [((8, 16), a), ((8, 16), b)]
    for a, b, c in [(P(X, N), P(X, N), P(X, N)), (P(N, N), P(X, N), P(X, N)),
                    (P(X, N), P(X, N), P(N, N)), (P(X, Y), P(X, Y), P(X, Y))]:
        yield "select", [((8, 16), a), ((8, 16), b), ((8, 16), c)]
    for a, b in [(P(X, N), P(N, N)), (P(X, N), P(N, Y)), (P(N, N), P(N, Y)), (P(N, Y), P(Y, N)),
                 (P(N, Y), P(N, N)), (P(N, Y), P(X, N)), (P(X, Y), P(Y, N)), (P(X, N), P(N, X)),
                 (P(X, N), P(Y, N)), (P(XY, N), P(N, N))]:
        for op in ["matmul", "einsum_ij_jk_ki", "grad_matmul", "grad_matmul_right", "vmap_matmul"]:
            yield op, [((8, 16), a), ((16, 8), b)]
    for a, b in [(P(X, N, N), P(X, N, N)), (P(X, N, N), P(N, N, Y)), (P(X, Y, N), P(X, N, N)),
                 (P(X, N, N), P(Y, N, N)), (P(X, N, Y), P(X, Y, N)), (P(N, X, N), P(N, N, Y))]:
        yield "einsum_bij_bjk", [((4, 8, 16), a), ((4, 16, 8), b)]
    for s in [P(X, N, N), P(N, X, Y), P(X, Y, N)]:
        yield "transpose_201", [((4, 8, 16), s)]
    for s in [P(N, X, N), P(N, X, Y)]:
        yield "squeeze_0", [((1, 8, 16), s)]
    for s in [P(X, N), P(N, X)]:
        yield "scan_changes", [((8, 8), s)]
    for a, i in [(P(N, Y), P(N)), (P(X, N), P(N)), (P(N, N), P(X)), (P(N, Y), P(X))]:
        yield "take_rows", [((8, 16), a), ((4,), i)]
    for a, i, u in [(P(N, Y), P(N), P(N, Y)), (P(X, N), P(N), P(N, N)), (P(N, N), P(X), P(X, N)),
                    (P(N, Y), P(N), P(N, N)), (P(N, N), P(N), P(N, N))]:
        yield "scatter_rows", [((8, 16), a), ((4,), i), ((4, 16), u)]
    U, R, UY = P(unreduced={X}), P(reduced={X}), P(unreduced={Y})
    for op in ["neg", "sin", "astype_f16", "mul_scalar", "div_scalar", "add_scalar", "sum_0",
               "sum_1", "sum_all", "mean_1", "max_0", "argmax_0", "sum_keep", "transposed", "expand_0",
               "reshape_4_2_16", "broadcast_to_3_8_16", "broadcast_to_8_16_3", "slice_rows_0_3",
               "slice_every_2", "pad_columns_1_1", "flip_0", "sort_1", "cumsum_1", "dynamic_slice",
               "reduce_window", "clip", "scan_carry", "grad_sum_sin",
               "reshard_whole", "reshard_x", "reshard_unreduced_x", "reshard_reduced_x",
               "reshard_y_unreduced_x", "grad_reshard_reduced_x", "sum_0_out_unreduced_x",
               "sum_0_out_whole", "reshape_out_unreduced_x", "reshape_out_whole",
               "grad_identity"]:
        for o in [U, R, P(N, Y, unreduced={X}), P(Y, N, reduced={X})]:
            yield op, [((8, 16), o)]
    for op in ["sum_0_out_unreduced_x", "sum_1_out_unreduced_x", "reshard_unreduced_x",
               "reshard_reduced_x", "reshard_y_unreduced_x", "grad_reshard_reduced_x",
               "grad_identity"]:
        for o in [P(), P(X, N), P(N, X), P(Y, N), P(XY, N)]:
            yield op, [((8, 16), o)]
    for op in ["add", "sub", "mul", "div", "maximum", "compare", "where", "concatenate_0", "stack",
               "dynamic_update", "scan_adds", "cond_either", "grad_mul_right"]:
        for a, b in [(U, U), (U, R), (R, U), (R, R), (U, P()), (P(), U), (R, P()), (U, UY),
                     (P(X, N), R), (P(Y, N), R), (P(N, Y, unreduced={X}), P(N, Y, reduced={X})),
                     (P(Y, N, unreduced={X}), P(N, Y, unreduced={X}))]:
            yield op, [((8, 16), a), ((8, 16), b)]
    for op in ["dot_out_unreduced_x", "dot_out_unreduced_xy", "dot_out_reduced_x",
               "einsum_out_y_unreduced_x", "einsum_ki_out_unreduced_x", "matmul",
               "grad_dot_right"]:
        for a, b in [(P(N, X), P(X, N)), (P(Y, X), P(X, N)), (P(N, X), P(X, Y)),
                     (P(N, XY), P(XY, N)), (P(N, X), P()), (P(X, N), R), (P(X, N), P()),
                     (U, P()), (P(X, N), P(N, Y, reduced={X})), (R, R)]:
            if op == "grad_dot_right" and (a, b) == (R, R):
                continue  # refused by a check of the transposed product; ours is whole
            yield op, [((8, 16), a), ((16, 8), b)]


def text(spec, rank):
    entries = [repr(e) for e in list(spec.partitions) + [None] * (rank - len(spec.partitions))]
    sums = [f"{name}={{{', '.join(map(repr, sorted(axes)))}}}"
            for name, axes in (("unreduced", spec.unreduced), ("reduced", spec.reduced)) if axes]
    return "P(" + ", ".join(entries + sums) + ("," if rank == 1 and not sums else "") + ")"


def outcome(op, structs):
    try:
        out = jax.eval_shape(OPS[op], *structs)
        return text(out.sharding.spec, out.ndim)
    except Exception as e:  # what it says is not compared
        return "error " + type(e).__name__


def main():
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    lines = [f"# tools/goldens/explicit_sharding.py, JAX {jax.__version__}; mesh x=4 y=2, Explicit"]
    with jax.set_mesh(mesh):
        for op, operands in cases():
            structs = [jax.ShapeDtypeStruct(s, jnp.float32, sharding=NamedSharding(mesh, p))
                       for s, p in operands]
            given = " ".join(f"f32[{','.join(map(str, s))}]{text(p, len(s))}" for s, p in operands)
            lines.append(f"{op} | {given} | {outcome(op, structs)}")
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
