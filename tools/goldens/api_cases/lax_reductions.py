"""jax.lax: reductions, running ones, reductions over windows, sorting."""
import jax

from .calls import *

CASES = {}
CUBE, GC, CC, W34 = X234, normal(2, 3, dtype=bf16), complexes(2, 3), normal(3, 4)
MANY = normal(3, 40)
TIED = np.array([1 + 2j, 3 - 1j, 3 + 0.5j, -1 + 0j, -1 - 1j], np.complex64)

for name in "reduce_sum reduce_prod reduce_max reduce_min".split():
    CASES["lax." + name] = calls(C(CUBE, axes=(1,)), C(CUBE, axes=(2, 0)), C(CUBE, axes=(0, 1, 2)), C(CUBE, axes=()), C(I23, axes=(0,)), C(U23, axes=(1,)), C(G5, axes=(0,)), C(H5, axes=(0,)), C(SPECIAL, axes=(0,)), C(E03, axes=(0,)), C(E03, axes=(1,)), C(f32(2), axes=()),
                                 C(X23, axes=(2,)), C(X23, axes=(-1,)), C(X23, axes=(0, 0)), C(MANY, axes=(1,)), C(B23, axes=(0,)), C(np.zeros((0, 2), i32), axes=(0,)), C(CC, axes=(1,)), C(CC, axes=(0, 1)), C(CC, axes=()), C(TIED, axes=(0,)), C(CC[:0], axes=(0,)), C(np.complex64(2 + 1j), axes=()), scaled=True)
for name in "reduce_and reduce_or reduce_xor".split():
    CASES["lax." + name] = calls(C(I23, axes=(0,)), C(U23, axes=(0, 1)), C(B23, axes=(1,)), C(I23, axes=()), C(np.zeros((0, 3), i32), axes=(0,)), C(np.zeros((0, 3), bool), axes=(0,)), C(X23, axes=(0,)), C(I23, axes=(2,)), C(i32(5), axes=()), C(ints(2, 3, dtype=i8), axes=(1,)))
for name in "argmax argmin".split():
    CASES["lax." + name] = calls(C(TIED, axis=0, index_dtype=i32), C(CUBE, axis=1, index_dtype=i32), C(I23, axis=0, index_dtype=i32), C(GC, axis=1, index_dtype=u32), C(SPECIAL, axis=0, index_dtype=i32), C(U23, axis=1, index_dtype=u8), C(X23, axis=0, index_dtype=f32), C(E03, axis=0, index_dtype=i32), C(E03, axis=1, index_dtype=i32),
                                 C(X23, axis=2, index_dtype=i32), C(B23, axis=1, index_dtype=i32), C(np.array([3, 1, 3, 1], i32), axis=0, index_dtype=i32), C(f32(1), axis=0, index_dtype=i32))
for name in "cumsum cumprod cummax cummin cumlogsumexp".split():
    CASES["lax." + name] = calls(C(CUBE), C(CUBE, axis=1), C(CUBE, axis=2, reverse=True), C(G5), C(H5, reverse=True), C(np.array([1, np.inf, 2, np.nan, 3], f32)), C(np.array([-np.inf, -np.inf, 2], f32)), C(E03), C(E03, axis=1), C(X23, axis=2), C(X23, axis=-1), C(f32(1)), C(MANY, axis=1), C(MANY, axis=1, reverse=True),
                                 C(I23) if name != "cumlogsumexp" else C(f32([[1], [2]])), C(U23, axis=1), C(B23), C(complexes(4)) if name in ("cumsum", "cumprod") else [C(CC, axis=1), C(TIED, reverse=True)] if name != "cumlogsumexp" else [], scaled=True, bound=16)

# Functions by name: calls in C++ have the same.
FUNCTIONS = {"add": jax.lax.add, "mul": jax.lax.mul, "max": jax.lax.max, "min": jax.lax.min, "or": jax.lax.bitwise_or, "norm": lambda x, y: jax.lax.sqrt(x * x + y * y), "logaddexp": jnp.logaddexp}


def reduced(x, init, function, dimensions):
    return jax.lax.reduce(x, init, FUNCTIONS[function], dimensions)


CASES["lax.reduce"] = calls(C(CUBE, f32(0), function="add", dimensions=(1,)), C(CUBE, f32(1.5), function="add", dimensions=(0, 2)), C(I23, i32(1), function="mul", dimensions=(0,)), C(X23, f32(-np.inf), function="max", dimensions=(1,)), C(X23, f32(0), function="min", dimensions=(0, 1)), C(CUBE, f32(0), function="norm", dimensions=(2,)),
                            C(G5, bf16(0), function="add", dimensions=(0,)), C(E03, f32(3), function="add", dimensions=(0,)), C(I23, i32(0), function="or", dimensions=(1,)), C(X23, i32(3), function="norm", dimensions=(0,)), C(X23, V3, function="add", dimensions=(0,)), C(X23, f32(0), function="add", dimensions=(2,)), C(f32(2), f32(0), function="add", dimensions=()),
                            C(np.abs(CUBE), f32(-np.inf), function="logaddexp", dimensions=(1, 0)), scaled=True, call=reduced)


def windowed(x, init, function, window_dimensions, **options):
    return jax.lax.reduce_window(x, init, FUNCTIONS[function], window_dimensions, **options)


CASES["lax.reduce_window"] = calls(C(W34, f32(0), function="add", window_dimensions=(2, 2)), C(W34, f32(0), function="add", window_dimensions=(2, 2), window_strides=(2, 1), padding="SAME"), C(W34, f32(-np.inf), function="max", window_dimensions=(1, 3), window_strides=(1, 2), padding="same"),
                                   C(W34, f32(np.inf), function="min", window_dimensions=(3, 1), window_strides=(1, 1), padding="SAME_LOWER"), C(ints(6), i32(1), function="mul", window_dimensions=(3,), padding=((1, 2),)), C(W34, f32(0), function="norm", window_dimensions=(2, 3)), C(W34, f32(0), function="max", window_dimensions=(2, 2), padding=((1, 0), (0, 1))),
                                   C(W34, f32(0), function="add", window_dimensions=(2, 2), window_dilation=(2, 3)), C(W34, f32(0), function="add", window_dimensions=(2, 2), base_dilation=(2, 1), padding=((0, 0), (1, 1))), C(G5, bf16(0), function="add", window_dimensions=(2,)), C(E03, f32(0), function="add", window_dimensions=(1, 2)),
                                   C(W34, f32(0), function="add", window_dimensions=(5, 1)), C(W34, f32(0), function="add", window_dimensions=(2,)), C(W34, f32(0), function="add", window_dimensions=(0, 1)), C(W34, i32(3), function="norm", window_dimensions=(1, 1)), C(W34, f32(0), function="add", window_dimensions=(1, 1), padding="FULL"), scaled=True, call=windowed)
CASES["lax.padtype_to_pads"] = calls(*[C(in_shape=(7, 4, 0), window_shape=(3, 2, 2), window_strides=s, padding=p) for s in ((1, 1, 1), (2, 3, 1)) for p in ("SAME", "SAME_LOWER", "VALID", "same")], C(in_shape=(3,), window_shape=(2,), window_strides=(1,), padding="FULL"),
                                     call=lambda in_shape, window_shape, window_strides, padding: jnp.asarray(jax.lax.padtype_to_pads(np.array(in_shape), np.array(window_shape), np.array(window_strides), padding), jnp.int32))
CASES["lax.reduce_window_shape_tuple"] = calls(C(operand_shape=(7, 4), window_dimensions=(3, 2), window_strides=(1, 1), padding=((0, 0), (1, 0))), C(operand_shape=(7, 4), window_dimensions=(3, 2), window_strides=(2, 3), padding=((0, 0), (0, 0)), base_dilation=(2, 1), window_dilation=(1, 2)), C(operand_shape=(2,), window_dimensions=(3,), window_strides=(1,), padding=((0, 0),)), C(operand_shape=(), window_dimensions=(), window_strides=(), padding=()),
                                               call=lambda **o: jnp.asarray(jax.lax.reduce_window_shape_tuple(**o), jnp.int32))

TIES = np.array([[3, 1, 3, 2, 1], [0, 0, -1, 5, 0]], i32)
CASES["lax.sort"] = calls(C(X23), C(CUBE, dimension=0), C(I23, dimension=-2), C(SPECIAL), C(G5), C(U23, dimension=1, is_stable=False), C(B23), C(E03), C(CC), C(X23, dimension=2), C(f32(1), dimension=0))


def sorted_together(*xs, **options):
    return jax.lax.sort(xs, **options)


CASES["lax.sort"].cases += [C(TIES, ints(2, 5), **o) for o in ({}, {"dimension": 0}, {"num_keys": 2})] + [C(TIES, TIES[::-1].copy(), normal(2, 5), num_keys=2), C(SPECIAL, np.arange(10, dtype=i32)), C(X23, I23, num_keys=3), C(X23, V3), C(CC, I23), C(E03, E03)]
CASES["lax.sort"].call = lambda *xs, **options: jax.lax.sort(xs[0], **options) if len(xs) == 1 else sorted_together(*xs, **options)
CASES["lax.sort_key_val"] = calls(C(TIES, ints(2, 5)), C(TIES, normal(2, 5), dimension=0), C(SPECIAL, np.arange(10, dtype=i32)), C(G5, H5), C(X23, V3), C(E03, E03), C(U23, B23, dimension=-1), C(X23, Y23, dimension=2))
CASES["lax.top_k"] = calls(C(X23, k=2), C(TIES, k=3), C(CUBE, k=1, axis=1), C(CUBE, k=2, axis=0), C(np.array([1, np.inf, np.nan, -np.inf, 2], f32), k=5), C(G5, k=3), C(U23, k=0), C(X23, k=4), C(X23, k=-1), C(np.zeros((0, 3), f32), k=2), C(f32(1), k=1), C(CC, k=1), C(X23, k=1, axis=2), C(I23, k=2, axis=-2))
for name in ("approx_max_k", "approx_min_k"):
    CASES["lax." + name] = calls(C(X23, k=2), C(CUBE, k=1, reduction_dimension=1), C(MANY, k=5, recall_target=0.9), C(G5, k=3), C(H5, k=5), C(X23, k=0), C(X23, k=4), C(I23, k=1), C(f32(1), k=1), C(CUBE, k=2, reduction_dimension=0, reduction_input_size_override=8))


def scanned(*xs, function, **options):
    if len(xs) == 1:
        return jax.lax.associative_scan(FUNCTIONS[function], xs[0], **options)
    return jax.lax.associative_scan(lambda x, y: (x[0] * y[0], x[1] * y[0] + y[1]), xs, **options)


CASES["lax.associative_scan"] = calls(*[C(normal(n), function="add") for n in (1, 2, 3, 4, 5, 8, 13)], C(CUBE, function="max", axis=1), C(CUBE, function="add", axis=-1), C(CUBE, function="add", axis=2, reverse=True), C(ints(7), function="mul"), C(normal(6, dtype=bf16), function="max"), C(E03, function="add"), C(normal(7), normal(7), function="affine"), C(normal(7), normal(7), function="affine", reverse=True),
                                      C(normal(7), normal(6), function="affine"), C(f32(1), function="add"), C(X23, function="add", axis=2), scaled=True, call=scanned)
