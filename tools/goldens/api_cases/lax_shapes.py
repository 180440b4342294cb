"""jax.lax: shapes, places of elements, slices, gather and scatter. Nothing is promoted."""
import jax

from .calls import *

CASES = {}
ROW, CUBE, IC, GC, CC = X23, X234, ints(2, 3, 4), normal(2, 3, dtype=bf16), complexes(2, 3)


def listed(name):
    """A function of a list of arrays."""
    return lambda *xs, **options: getattr(jax.lax, name)(list(xs), **options)


CASES["lax.reshape"] = calls(C(CUBE, new_sizes=(4, 6)), C(I23, new_sizes=(3, 2), dimensions=(1, 0)), C(GC, new_sizes=(6,)), C(f32(2), new_sizes=(1, 1)), C(2.5, new_sizes=()), C(E03, new_sizes=(3, 0)), C(B23, new_sizes=(3, 2)), C(X23, new_sizes=(-1,)), C(X23, new_sizes=(4,)), C(X23, new_sizes=(6,), dimensions=(0, 0)))
CASES["lax.transpose"] = calls(C(CUBE, permutation=(2, 0, 1)), C(I23, permutation=(1, 0)), C(GC, permutation=(0, 1)), C(f32(1), permutation=()), C(E03, permutation=(1, 0)), C(X23, permutation=(0,)), C(X23, permutation=(0, 0)), C(X23, permutation=(0, -1)), C(CC, permutation=(1, 0)))
CASES["lax.expand_dims"] = calls(C(CUBE, dimensions=(0, 2)), C(I23, dimensions=(-1,)), C(G5, dimensions=(1, 0)), C(f32(1), dimensions=(0, 1)), C(2, dimensions=(0,)), C(E03, dimensions=(1,)), C(X23, dimensions=()), C(X23, dimensions=(4,)), C(X23, dimensions=(0, 0)), C(B23, dimensions=(-4, 1)))
ONES = normal(1, 3, 1)
CASES["lax.squeeze"] = calls(C(ONES, dimensions=(0,)), C(ONES, dimensions=(-1, 0)), C(ONES.astype(i32), dimensions=(2,)), C(ONES.astype(bf16), dimensions=()), C(ONES, dimensions=(1,)), C(ONES, dimensions=(3,)), C(ONES, dimensions=(0, 0)), C(f32(1), dimensions=()), C(np.zeros((1, 0), f32), dimensions=(0,)))
CASES["lax.collapse"] = calls(C(CUBE, start_dimension=0, stop_dimension=2), C(CUBE, start_dimension=1), C(IC, start_dimension=-2), C(CUBE, start_dimension=1, stop_dimension=1), C(CUBE, start_dimension=2, stop_dimension=1), C(GC, start_dimension=0, stop_dimension=9), C(f32(2), start_dimension=0), C(E03, start_dimension=0), C(X23, start_dimension=0, stop_dimension=-1))
CASES["lax.tile"] = calls(C(X23, reps=(2, 1)), C(I23, reps=(1, 3)), C(G5, reps=(2,)), C(X23, reps=(2,)), C(X23, reps=(0, 1)), C(E03, reps=(2, 2)), C(f32(1), reps=()), C(B23, reps=(2, 2)), C(X23, reps=(1, 1)), C(X23, reps=(-1, 1)))
CASES["lax.concatenate"] = calls(C(X23, Y23, dimension=0), C(X23, Y23, dimension=1), C(I23, J23, I23, dimension=1), C(X23, V3, dimension=0), C(X23, I23, dimension=0), C(X23, Y23, dimension=2), C(X23, Y23, dimension=-1), C(E03, X23, dimension=0), C(G5, G5, dimension=0), C(X23, dimension=0), C(B23, P23, dimension=0), C(f32(1), f32(2), dimension=0), call=listed("concatenate"))
CASES["lax.stack"] = calls(C(X23, Y23), C(X23, Y23, axis=1), C(I23, J23, axis=-1), C(f32(1), f32(2)), C(1.0, 2.0), C(G5, G5, axis=1), C(X23, V3), C(X23, I23), C(E03, E03), C(X23, axis=0), C(X23, Y23, axis=3), call=listed("stack"))
CASES["lax.split"] = calls(C(X23, sizes=(1, 1)), C(CUBE, sizes=(1, 0, 2), axis=1), C(I23, sizes=(2, 1), axis=-1), C(X23, sizes=(1,)), C(G5, sizes=(5,)), C(E03, sizes=(0, 0)), C(X23, sizes=(1, 1), axis=2), C(X23, sizes=(3, -1)), C(CC, sizes=(1, 2), axis=1))
CASES["lax.unstack"] = calls(C(X23), C(CUBE, axis=1), C(I23, axis=-1), C(G5), C(E03), C(E03, axis=1), C(X23, axis=2), C(f32(1)))
CASES["lax.broadcast"] = calls(C(X23, sizes=(2, 1)), C(I3, sizes=()), C(f32(2), sizes=(3,)), C(2.0, sizes=(2,)), C(G5, sizes=(0,)), C(E03, sizes=(2,)), C(X23, sizes=(-1,)), C(B23, sizes=(2,)))
CASES["lax.broadcast_like"] = calls(C(V3, X23), C(I3, X23), C(f32(1), CUBE), C(2.0, X23), C(X23, V3), C(normal(2, 1), Y23), C(G5, G5), C(normal(1, 3), E03), C(normal(2), X23))
CASES["lax.broadcast_to_rank"] = calls(C(X23, rank=4), C(I3, rank=1), C(f32(1), rank=2), C(2.0, rank=0), C(E03, rank=3), C(G5, rank=2), C(B23, rank=3))
CASES["lax.broadcast_shapes"] = calls(C(shapes=((2, 3), (3,))), C(shapes=((2, 1), (1, 3))), C(shapes=((), (4,))), C(shapes=((0,), (1,))), C(shapes=((2,), (3,))), C(shapes=((5, 1, 2), (3, 1), (2,))), call=lambda shapes: jnp.asarray(jax.lax.broadcast_shapes(*shapes), jnp.int32))
CASES["lax.full"] = calls(C(fill_value=2.5, shape=(2, 3)), C(fill_value=2, shape=()), C(fill_value=2, shape=(3,), dtype=bf16), C(fill_value=2.7, shape=(2,), dtype=i32), C(fill_value=True, shape=(2,)), C(fill_value=1, shape=(0, 2)), C(fill_value=1, shape=(-1,)), C(fill_value=V3, shape=(3,)))
CASES["lax.full_like"] = calls(C(X23, fill_value=2), C(I23, fill_value=2.7), C(G5, fill_value=1.5), C(X23, fill_value=1, dtype=i32), C(X23, fill_value=1, shape=(2,)), C(2.0, fill_value=3), C(E03, fill_value=1), C(B23, fill_value=1), C(CC, fill_value=2), C(f32(1), fill_value=7))
CASES["lax.empty"] = calls(C(shape=(0,), dtype=f32), C(shape=(2, 0), dtype=i32), C(shape=(0, 3), dtype=bf16))
CASES["lax.shape_as_value"] = calls(C(shape=(2, 3)), C(shape=()), C(shape=(0,)))
CASES["lax.index_in_dim"] = calls(C(X23, index=1), C(X23, index=-1, axis=1), C(I23, index=0, axis=-1, keepdims=False), C(X23, index=2), C(X23, index=-3), C(X23, index=0, axis=2), C(G5, index=4, keepdims=False), C(E03, index=0, axis=1), C(E03, index=0), C(CC, index=1, axis=1))
CASES["lax.index_take"] = calls(C(CUBE, np.array([0, 1, 1], i32), axes=(0,)), C(CUBE, np.array([0, 2], i32), np.array([3, 1], i32), axes=(1, 2)), C(IC, np.array([-1, 5], i32), axes=(1,)), C(GC, np.array([1], i32), np.array([2], i32), axes=(0, 1)), C(X23, np.zeros(0, i32), axes=(0,)), C(B23, np.array([1, 0], i32), axes=(0,)), call=lambda x, *i, axes: jax.lax.index_take(x, i, axes))
WHICH = ints(2, 3, low=0, high=3)
CASES["lax.select_n"] = calls(C(B23, X23, Y23), C(WHICH, X23, Y23, X23), C(i32(1), X23, Y23), C(np.bool_(True), I23, J23), C(WHICH, X23), C(X23, X23, Y23), C(B23, X23, Y23, X23), C(B23, X23, V3), C(V3 > 0, X23, Y23), C(B23, X23, I23), C(np.array([-1, 0, 1, 2, 9], i32), ints(5), ints(5), ints(5)), C(B23, B23, P23), C(B23, CC, CC))
CASES["lax.select"] = calls(C(B23, X23, Y23), C(np.bool_(True), I23, J23), C(X23, X23, Y23), C(B23, X23, V3), C(V3 > 0, X23, Y23), C(B23, X23, I23), C(E03 > 0, E03, E03), C(B23, GC, GC), C(np.bool_(False), 1.0, 2.0), C(i32(1), X23, Y23))
CASES["lax.clamp"] = calls(C(f32(-1), X23, f32(1)), C(-1.0, X23, 1.0), C(-np.abs(Y23), X23, np.abs(Y23)), C(i32(0), I23, i32(5)), C(0, I23, 5), C(V3, X23, V3), C(f32(-1), SPECIAL, f32(1)), C(f32(-1), E03, f32(1)), C(f16(-1), H5, f16(1)), C(i32(0), X23, i32(1)), C(f32(1), X23, f32(-1)), C(0.0, 2.5, 1.0), C(B23, B23, B23), C(u8(10), U23, u8(90)))
CASES["lax.slice"] = calls(C(CUBE, start_indices=(0, 1, 1), limit_indices=(2, 3, 4)), C(CUBE, start_indices=(0, 0, 0), limit_indices=(2, 3, 4), strides=(1, 2, 3)), C(I23, start_indices=(0, 0), limit_indices=(2, 3)), C(G5, start_indices=(2,), limit_indices=(2,)), C(X23, start_indices=(0, 2), limit_indices=(2, 1)), C(X23, start_indices=(0, 0), limit_indices=(2, 4)), C(X23, start_indices=(-1, 0), limit_indices=(2, 3)), C(X23, start_indices=(0,), limit_indices=(2,)), C(E03, start_indices=(0, 1), limit_indices=(0, 3)), C(f32(1), start_indices=(), limit_indices=()), C(X23, start_indices=(0, 0), limit_indices=(2, 3), strides=(1, 0)))
CASES["lax.slice_in_dim"] = calls(C(CUBE, start_index=1, limit_index=3, axis=1), C(CUBE, start_index=-3, limit_index=-1, axis=2), C(I23, start_index=0, limit_index=3, stride=2, axis=-1), C(X23, start_index=0, limit_index=5), C(X23, start_index=0, limit_index=1, axis=2), C(G5, start_index=None, limit_index=None, stride=2), C(E03, start_index=0, limit_index=0))
CASES["lax.pad"] = calls(C(X23, f32(7), padding_config=((1, 2, 0), (0, 1, 2))), C(I23, i32(-1), padding_config=((0, 0, 0), (-1, 0, 0))), C(G5, bf16(0), padding_config=((-2, 3, 1),)), C(X23, 1.5, padding_config=((0, 0, 1), (0, 0, 1))), C(X23, i32(1), padding_config=((0, 0, 0), (0, 0, 0))), C(X23, f32(1), padding_config=((0, 0, 0),)), C(X23, f32(1), padding_config=((0, 0, -1), (0, 0, 0))), C(X23, f32(1), padding_config=((-3, 0, 0), (0, 0, 0))), C(E03, f32(1), padding_config=((1, 0, 0), (0, 0, 0))), C(f32(1), f32(2), padding_config=()), C(X23, V3, padding_config=((1, 2, 0), (0, 1, 2))), C(B23, np.bool_(True), padding_config=((1, 0, 0), (0, 0, 0))))
CASES["lax.broadcast_in_dim"] = calls(C(V3, shape=(2, 3), broadcast_dimensions=(1,)), C(I3, shape=(3, 2), broadcast_dimensions=(0,)), C(f32(1), shape=(2,), broadcast_dimensions=()), C(normal(1, 3, dtype=bf16), shape=(2, 3), broadcast_dimensions=(0, 1)), C(V3, shape=(2, 4), broadcast_dimensions=(1,)), C(V3, shape=(2, 3), broadcast_dimensions=(2,)), C(X23, shape=(3, 2), broadcast_dimensions=(1, 0)), C(2.0, shape=(2,), broadcast_dimensions=()), C(E03, shape=(2, 0, 3), broadcast_dimensions=(1, 2)), C(V3, shape=(2, 3), broadcast_dimensions=()))
CASES["lax.iota"] = calls(C(dtype=i32, size=4), C(dtype=f32, size=3), C(dtype=bf16, size=2), C(dtype=u8, size=0), C(dtype=i32, size=-1), C(dtype=np.bool_, size=2), C(dtype=np.complex64, size=2))
CASES["lax.broadcasted_iota"] = calls(C(dtype=i32, shape=(2, 3), dimension=1), C(dtype=f32, shape=(2, 3), dimension=0), C(dtype=u8, shape=(0, 3), dimension=1), C(dtype=bf16, shape=(3,), dimension=0), C(dtype=i32, shape=(2, 3), dimension=2), C(dtype=i32, shape=(2, -1), dimension=0))
CASES["lax.rev"] = calls(C(X23, dimensions=(0,)), C(CUBE, dimensions=(2, 0)), C(I23, dimensions=(1,)), C(G5, dimensions=(0,)), C(X23, dimensions=()), C(X23, dimensions=(0, 0)), C(X23, dimensions=(2,)), C(E03, dimensions=(0, 1)), C(f32(1), dimensions=()), C(CC, dimensions=(1,)))
CASES["lax.convert_element_type"] = calls(C(X23, new_dtype=i32), C(I23, new_dtype=f32), C(SPECIAL[:7], new_dtype=bf16), C(X23, new_dtype=np.bool_), C(B23, new_dtype=f16), C(1.5, new_dtype=f32), C(E03, new_dtype=u8), C(I23, new_dtype=np.complex64), C(f32(2.9), new_dtype=i8), C(I23, new_dtype=u8))
CASES["lax.bitcast_convert_type"] = calls(C(X23, new_dtype=i32), C(I23, new_dtype=f32), C(X23, new_dtype=np.uint16), C(ints(3, 2, dtype=i16), new_dtype=f32), C(H5, new_dtype=i16), C(E03, new_dtype=u32), C(ints(3, 3, dtype=i16), new_dtype=f32), C(f32(1), new_dtype=u8), C(X23, new_dtype=f32))
CASES["lax.dynamic_slice"] = calls(C(CUBE, i32(0), i32(1), i32(2), slice_sizes=(1, 2, 2)), C(X23, i32(5), i32(-1), slice_sizes=(1, 2)), C(I23, 1, 1, slice_sizes=(1, 1)), C(GC, i32(0), i32(1), slice_sizes=(2, 2)), C(X23, i32(0), slice_sizes=(1, 1)), C(X23, f32(0), f32(0), slice_sizes=(1, 1)), C(X23, i32(0), i32(0), slice_sizes=(3, 1)), C(f32(1), slice_sizes=()), C(E03, i32(0), i32(1), slice_sizes=(0, 2)), C(X23, i32(-9), i32(0), slice_sizes=(1, 2)), call=lambda x, *starts, slice_sizes: jax.lax.dynamic_slice(x, starts, slice_sizes))
CASES["lax.dynamic_slice_in_dim"] = calls(C(CUBE, i32(1), slice_size=2, axis=1), C(I23, i32(-1), slice_size=1, axis=-1), C(GC, 7, slice_size=2), C(X23, i32(0), slice_size=3), C(X23, i32(0), slice_size=1, axis=2), C(E03, i32(0), slice_size=0))
CASES["lax.dynamic_index_in_dim"] = calls(C(CUBE, i32(1), axis=1), C(I23, i32(-1), axis=-1, keepdims=False), C(GC, 7), C(X23, i32(0), axis=2), C(B23, i32(1), keepdims=False))
CASES["lax.dynamic_update_slice"] = calls(C(X23, normal(1, 2), i32(1), i32(1)), C(I23, ints(1, 3), i32(-1), i32(0)), C(GC, normal(2, 1, dtype=bf16), 0, 9), C(X23, I23, i32(0), i32(0)), C(X23, normal(3, 1), i32(0), i32(0)), C(X23, V3, i32(0), i32(0)), C(X23, normal(1, 1), i32(0)), C(E03, E03, i32(0), i32(0)), C(f32(1), f32(2)), call=lambda x, u, *starts: jax.lax.dynamic_update_slice(x, u, starts))
CASES["lax.dynamic_update_slice_in_dim"] = calls(C(X23, normal(2, 1), i32(1), axis=1), C(I23, ints(1, 3), i32(-1), axis=0), C(GC, normal(1, 3, dtype=bf16), 9, axis=-2), C(X23, V3, i32(0), axis=0), C(X23, normal(2, 1), i32(0), axis=2))
CASES["lax.dynamic_update_index_in_dim"] = calls(C(X23, V3, i32(1), axis=0), C(X23, normal(2), i32(-1), axis=1), C(I23, ints(1, 3), 0, axis=0), C(GC, normal(3, dtype=bf16), 9, axis=-2), C(X23, f32(2), i32(0), axis=0), C(X23, normal(2), i32(0), axis=0), C(CUBE, normal(2, 4), i32(2), axis=1))
CASES["lax.stop_gradient"] = calls(C(X23), C(I23), C(E03), C(f32(2)), C(CC), C(GC))
CASES["lax.stage"] = calls(C(X23), C(I23), C(E03), C(GC), C(f32(2)))
CASES["lax.optimization_barrier"] = calls(C(X23), C(X23, I23), C(E03, GC), C(f32(1)), call=lambda *xs: jax.lax.optimization_barrier(xs))
CASES["lax.dtype"] = calls(C(X23), C(I23), C(GC), C(U23), C(CC), C(f32(1)), call=lambda x: jnp.zeros((), jax.lax.dtype(x)))

# gather and scatter
MODES = ("clip", "fill", "promise_in_bounds")


def gathered(x, i, mode=None, fill_value=None, slice_sizes=None, indices_are_sorted=False, unique_indices=False, **dims):
    return jax.lax.gather(x, i, jax.lax.GatherDimensionNumbers(**dims), slice_sizes, mode=mode, fill_value=fill_value, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)


FAR = np.array([[0], [1], [2], [-1], [7]], i32)
ROWS = dict(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), slice_sizes=(1, 3))
PAIRS = dict(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0, 1), slice_sizes=(1, 2))
CASES["lax.gather"] = calls(
    *[C(x, FAR, mode=m, **ROWS) for x in (X23, I23, GC, U23, B23) for m in ("clip", "fill")], C(X23, FAR[:2], **ROWS), C(X23, FAR[:2], mode="promise_in_bounds", **ROWS), C(X23, FAR, mode="fill", fill_value=9.0, **ROWS),
    C(X23, np.array([[1, 1], [0, 2], [1, 0]], i32), mode="fill", **PAIRS), C(X23, np.array([[1, 1], [0, 2], [1, 0]], i32), mode="clip", **PAIRS), C(X23, np.zeros((0, 1), i32), **ROWS), C(X23, FAR[0], **ROWS), C(X23, X23, **ROWS),
    C(X23, np.array([[[2], [0]], [[1], [9]]], i32), offset_dims=(), collapsed_slice_dims=(1,), start_index_map=(1,), operand_batching_dims=(0,), start_indices_batching_dims=(0,), slice_sizes=(1, 1), mode="fill"),
    C(X23, FAR, indices_are_sorted=False, unique_indices=True, mode="clip", **ROWS), C(CC, FAR, mode="fill", **ROWS), C(X23, i32(0), **ROWS), C(X23, FAR, offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), slice_sizes=(3, 3)), call=gathered)
INTO = dict(update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
WINDOW = dict(update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0, 1))


def scattered(name):
    def call(x, i, u, mode=None, indices_are_sorted=False, unique_indices=False, **dims):
        return getattr(jax.lax, name)(x, i, u, jax.lax.ScatterDimensionNumbers(**dims), mode=mode, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)

    return call


for name in ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"):
    once = name == "scatter"  # the order of writes is the implementation's
    at = np.array([[1], [5]], i32) if once else np.array([[1], [1], [0], [-1], [5]], i32)
    n = len(at)
    CASES["lax." + name] = calls(
        C(X23, at, normal(n, 3), **INTO), *[C(X23, at[:2] if once else at, normal(n, 3), mode=m, **INTO) for m in ("drop", "clip")], C(I23, at, ints(n, 3), **INTO), C(GC, at, normal(n, 3, dtype=bf16), **INTO), C(X23, at, ints(n, 3), **INTO),
        C(X23, np.array([[0, 1], [1, 2]], i32), normal(2, 2), **WINDOW), C(X23, np.array([[0, 1], [1, 2]], i32), normal(2, 2), mode="clip", **WINDOW), C(X23, np.zeros((0, 1), i32), np.zeros((0, 3), f32), **INTO), C(X23, at, normal(n, 2), **INTO), C(X23, at, normal(3), **INTO),
        C(X23, X23, normal(2, 3), **INTO), C(CC, at, complexes(n, 3), **INTO) if name not in ("scatter_min", "scatter_max") else [], C(B23, at[:1], bools(1, 3), **INTO), scaled=True, call=scattered(name))


def applied(x, i, update_shape=(), mode=None, indices_are_sorted=False, unique_indices=False, **dims):
    return jax.lax.scatter_apply(x, i, lambda v: v * v + v, jax.lax.ScatterDimensionNumbers(**dims), update_shape=update_shape, mode=mode, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)


POINTS = dict(update_window_dims=(), inserted_window_dims=(0, 1), scatter_dims_to_operand_dims=(0, 1))
CASES["lax.scatter_apply"] = calls(C(X23, np.array([[0, 1], [1, 2], [1, 2]], i32), update_shape=(3,), **POINTS), C(I23, np.array([[0, 1], [5, 2]], i32), update_shape=(2,), **POINTS), C(I23, np.array([[0, 1], [5, 2]], i32), update_shape=(2,), mode="clip", **POINTS), C(X23, at[:2], update_shape=(2, 3), **INTO), C(G5, np.array([[4]], i32), update_shape=(1,), update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)), C(X23, np.zeros((0, 2), i32), update_shape=(0,), **POINTS), call=applied)
