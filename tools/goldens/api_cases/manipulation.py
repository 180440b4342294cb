"""Shapes and places of elements; creation."""
import numpy as np

from .calls import *


def of_list(name):
    import jax.numpy as jnp

    return lambda *xs, **o: getattr(jnp, name)(list(xs), **o)


CASES = {}
X34 = normal(3, 4)
for name in ("concatenate", "concat"):
    CASES["numpy." + name] = calls(C(X23, Y23), C(X23, Y23, axis=1), C(X23, I23, axis=-1), C(X23, axis=None), C(V3, V3, axis=1), C(E03, X23), C(H5, G5), C(f32(1), f32(2)), C(B23, U23), call=of_list(name))
CASES["numpy.stack"] = calls(C(X23, Y23), C(X23, Y23, axis=-1), C(f32(1), i32(2)), C(V3, I3, axis=1), C(E03, E03), C(X23, V3), C(H5, G5, axis=2), call=of_list("stack"))
for name in ("vstack", "hstack", "dstack", "column_stack"):
    CASES["numpy." + name] = calls(C(X23, Y23), C(V3, I3), C(X234, X234), C(f32(1), f32(2)), C(E03, X23), C(H5), C(X23, V3), call=of_list(name))
CASES["numpy.append"] = calls(C(X23, Y23), C(X23, Y23, axis=0), C(V3, 1.0), C(I3, V3), C(X23, V3, axis=0), C(E03, V3), C(B23, P23, axis=1))
CASES["numpy.split"] = calls(C(X34, 2, axis=1), C(X34, 3), C(X34, 2), C(X34, [1, 3], axis=1), C(normal(0, 3), 2), C(I23, 2))
CASES["numpy.array_split"] = calls(C(X34, 2), C(X34, 3, axis=1), C(X34, [1], axis=-1), C(V3, 5), C(I23, 2), C(H5, 2))
for name, x in (("hsplit", X34), ("vsplit", normal(4, 2)), ("dsplit", normal(2, 2, 4))):
    CASES["numpy." + name] = calls(C(x, 2), C(x, [1]), C(V3, 3), C(x, 3), C(x.astype(f16), 4), C(x.astype(i32), [1, 2]))
CASES["numpy.unstack"] = calls(C(X23), C(X23, axis=-1), C(I23, axis=1), C(V3), C(f32(1)), C(H5))
CASES["numpy.reshape"] = calls(C(X23, shape=(3, 2)), C(X23, shape=-1), C(X234, shape=(4, -1)), C(E03, shape=(3, 0)), C(X23, shape=(4, 2)), C(f32(1), shape=(1, 1)), C(I23, shape=(6,)), C(H5, shape=(5, 1)))
CASES["numpy.ravel"] = calls(C(X23), C(f32(1)), C(E03), C(I23), C(H5), C(2.0))
CASES["numpy.transpose"] = calls(C(X23), C(X234, axes=(2, 0, 1)), C(X234, axes=(-1, 0, 1)), C(f32(1)), C(I23), C(X23, axes=(0, 0)), C(E03))
CASES["numpy.permute_dims"] = calls(C(X234, axes=(2, 0, 1)), C(X23, axes=(1, 0)), C(I23, axes=(0, 1)), C(H5, axes=(0,)), C(X23, axes=(0,)))
CASES["numpy.matrix_transpose"] = calls(C(X23), C(X234), C(V3), C(I23), C(E03), C(G5))
for name in ("swapaxes", "rollaxis"):
    CASES["numpy." + name] = calls(C(X234, 0, 2), C(X234, -1, 0), C(X23, 1, 1), C(I23, 0, 1), C(E03, 1, 0), C(X23, 2, 0), C(H5, 0, 0))
CASES["numpy.moveaxis"] = calls(C(X234, 0, -1), C(X234, 2, 0), C(X234, (0, 1), (-1, 0)), C(I23, 0, 1), C(X23, 3, 0), C(E03, 1, 0), C(X234, (0, 1), (1,)))
CASES["numpy.expand_dims"] = calls(C(X23, axis=0), C(X23, axis=(0, -1)), C(f32(1), axis=0), C(I3, axis=1), C(X23, axis=4), C(E03, axis=-1), C(H5, axis=(1, 2)))
CASES["numpy.squeeze"] = calls(C(normal(1, 3, 1)), C(normal(1, 3, 1), axis=0), C(normal(1, 3, 1), axis=(0, -1)), C(normal(1, 3, 1), axis=1), C(f32(1)), C(np.zeros((1, 0), i32)), C(ints(1, 1)))
CASES["numpy.broadcast_to"] = calls(C(V3, shape=(2, 3)), C(f32(1), shape=(2, 2)), C(I3, shape=(3, 3)), C(X23, shape=(3,)), C(np.zeros((1, 0), f32), shape=(2, 0)), C(2, shape=(3,)), C(H5, shape=(1, 5)))
CASES["numpy.broadcast_arrays"] = calls(C(X23, V3), C(f32(1), I3), C(E03, V3), C(X23, normal(2)), C(H5, 2.0))
CASES["numpy.flip"] = calls(C(X234), C(X234, axis=1), C(X234, axis=(0, -1)), C(I23, axis=0), C(f32(1)), C(X23, axis=2), C(E03))
for name in ("fliplr", "flipud"):
    CASES["numpy." + name] = calls(C(X23), C(I23), C(V3), C(X234), C(E03), C(f32(1)), C(B23))
CASES["numpy.rot90"] = calls(C(X23), C(X23, k=2), C(X23, k=-1), C(X234, axes=(1, 2)), C(I23, k=4), C(V3), C(E03), C(X234, axes=(0, 0)))
CASES["numpy.roll"] = calls(C(X23, 1), C(X23, -2, axis=1), C(X23, (1, 2), axis=(0, 1)), C(X23, 5, axis=0), C(I3, 1), C(E03, 1), C(f32(1), 1), C(X23, 1, axis=2), C(X23, 1, axis=(0, 1)))
CASES["numpy.repeat"] = calls(C(X23, 2), C(X23, 2, axis=1), C(X23, np.array([1, 2], i32), axis=0), C(V3, np.array([1, 0, 2], i32)), C(I3, 0), C(f32(1), 3), C(E03, 2, axis=1), C(X23, 2, axis=2), C(V3, np.array([1, 3, 2], i32), total_repeat_length=4))
CASES["numpy.tile"] = calls(C(X23, reps=2), C(X23, reps=(2, 1)), C(V3, reps=(2, 2)), C(X23, reps=(1, 2, 1)), C(I3, reps=0), C(f32(1), reps=3), C(E03, reps=2), C(V3, reps=-1))
for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    CASES["numpy." + name] = calls(C(f32(1)), C(V3), C(X23), C(X234), C(I3), C(E03), C(2.0))
CASES["numpy.pad"] = calls(*[C(X23, [[1, 2], [0, 3]], mode=m) for m in ("constant", "edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "mean", "linear_ramp", "empty")], C(X23, 1), C(X23, [1, 2]), C(X23, [[1, 0], [2, 1]], constant_values=7.0), C(I3, 2, mode="wrap"), C(V3, 7, mode="reflect"), C(V3, 7, mode="symmetric"), C(E03, [[1, 1], [0, 0]]), C(X23, -1), C(V3, 4, mode="linear_ramp", end_values=5.0))
CASES["numpy.resize"] = calls(C(X23, new_shape=(2, 2)), C(X23, new_shape=(3, 4)), C(I3, new_shape=(7,)), C(E03, new_shape=(2,)), C(V3, new_shape=0), C(f32(1), new_shape=(2, 2)))
CASES["numpy.trim_zeros"] = calls(C(np.array([0, 0, 1, 2, 0, 3, 0], i32)), C(np.array([0, 1.0, 0], f32), trim="f"), C(np.array([0, 1.0, 0], f32), trim="b"), C(np.zeros(3, f32)), C(np.zeros(0, f32)), C(H5))
CASES["numpy.delete"] = calls(C(V3, 1), C(X23, 1, axis=1), C(X34, np.array([0, 2], i32), axis=1), C(I3, -1), C(X23, np.array([0, 0], i32), axis=0), C(X23, 0), C(V3, 5), C(H5, np.array([1, 3], i32)))
CASES["numpy.insert"] = calls(C(V3, 1, 9.0), C(X23, 1, 9.0, axis=1), C(X23, 0, V3, axis=0), C(I3, -1, 7), C(V3, np.array([0, 2], i32), np.array([8, 9], f32)), C(V3, 5, 1.0), C(H5, 0, f16(1)), C(X23, 2, 0.0))
CASES["numpy.diag"] = calls(C(V3), C(V3, k=1), C(X34), C(X34, k=-1), C(I3, k=-2), C(X234), C(f32(1)), C(np.zeros(0, f32)), C(X34, k=9), C(B23))
CASES["numpy.diagflat"] = calls(C(V3), C(X23), C(I3, k=1), C(f32(2)), C(V3, k=-2), C(H5))
CASES["numpy.diagonal"] = calls(C(X34), C(X34, offset=1), C(X34, offset=-1), C(X234, axis1=1, axis2=2), C(X234, axis1=-1, axis2=0), C(I23), C(V3), C(E03), C(X34, offset=9))
CASES["numpy.trace"] = calls(C(X34), C(X34, offset=1), C(X234, axis1=1, axis2=2), C(I23), C(U23), C(H5.reshape(1, 5)), C(X34, dtype=f16), C(V3), C(B23), C(E03), scaled=True)
for name in ("tril", "triu"):
    CASES["numpy." + name] = calls(C(X34), C(X34, k=1), C(X234, k=-1), C(I23), C(B23), C(V3), C(E03), C(X34, k=9))
for name in ("tril_indices", "triu_indices"):
    CASES["numpy." + name] = calls(C(n=3), C(n=3, k=1), C(n=2, m=4), C(n=4, k=-1, m=3), C(n=0), C(n=2, k=5))
for name in ("tril_indices_from", "triu_indices_from"):
    CASES["numpy." + name] = calls(C(X34), C(X34, k=1), C(I23, k=-1), C(V3), C(E03))
CASES["numpy.diag_indices"] = calls(C(n=3), C(n=2, ndim=3), C(n=0), C(n=4, ndim=1))
CASES["numpy.diag_indices_from"] = calls(C(normal(3, 3)), C(X23), C(ints(2, 2)), C(normal(2, 2, 2)), C(V3))
CASES["numpy.fill_diagonal"] = calls(C(normal(3, 3), 1.0), C(X34, 0), C(X34, V3), C(ints(3, 3), 7), C(V3, 1.0), C(normal(2, 2, 2).astype(f16), 2.0), call=lambda x, v: jnp.fill_diagonal(x, v, inplace=False))
# creation
for name in ("zeros", "ones", "empty"):
    CASES["numpy." + name] = calls(C(shape=(2, 3)), C(shape=3), C(shape=()), C(shape=(0, 2), dtype=i32), C(shape=2, dtype=np.bool_), C(shape=2, dtype=bf16), C(shape=-1))
for name in ("zeros_like", "ones_like", "empty_like"):
    CASES["numpy." + name] = calls(C(X23), C(I23), C(X23, dtype=i32), C(V3, shape=(2, 2)), C(2.0), C(E03), C(H5), C(B23))
CASES["numpy.full"] = calls(C(2.0, shape=(2, 3)), C(2, shape=3), C(V3, shape=(2, 3)), C(2, shape=(2,), dtype=f16), C(True, shape=2), C(V3, shape=(2,)), C(f32(1), shape=(0,)), C(1.5, shape=(), dtype=i32), call=lambda v, **o: jnp.full(fill_value=v, **o))
CASES["numpy.full_like"] = calls(C(X23, 2), C(I3, 2.5), C(X23, 2, dtype=i32), C(V3, 1.0, shape=(2, 2)), C(X23, V3), C(2.0, 3), C(H5, 1.0))
CASES["numpy.arange"] = calls(C(start=5), C(start=2, stop=5), C(start=0, stop=10, step=3), C(start=5, stop=0, step=-2), C(start=0.0, stop=1.0, step=0.25), C(start=2.5), C(start=5, dtype=f16), C(start=5, stop=2), C(start=0, stop=3, dtype=f32))
CASES["numpy.linspace"] = calls(C(start=0.0, stop=1.0, num=5), C(start=0, stop=10, num=4, endpoint=False), C(start=1.0, stop=2.0, num=1), C(start=0, stop=9, num=4, dtype=i32), C(start=3.0, stop=-3.0, num=7), C(start=0.0, stop=1.0, num=0), C(start=0.0, stop=1.0, num=5, dtype=f16), C(start=-2, stop=7, num=5, dtype=i32), scaled=True)
CASES["numpy.logspace"] = calls(C(start=0.0, stop=2.0, num=5), C(start=0, stop=3, num=4, base=2.0), C(start=0.0, stop=1.0, num=3, endpoint=False), C(start=1.0, stop=2.0, num=1), C(start=0.0, stop=1.0, num=3, dtype=f16), C(start=0, stop=2, num=3, dtype=i32), bound=32)
CASES["numpy.geomspace"] = calls(C(start=1.0, stop=100.0, num=5), C(start=2, stop=16, num=4), C(start=1.0, stop=8.0, num=3, endpoint=False), C(start=-1.0, stop=-9.0, num=3), C(start=1.0, stop=4.0, num=3, dtype=f16), bound=32)
CASES["numpy.eye"] = calls(C(N=3), C(N=2, M=4), C(N=3, k=1), C(N=3, k=-1, dtype=i32), C(N=0), C(N=2, dtype=np.bool_), C(N=2, k=7))
CASES["numpy.identity"] = calls(C(n=3), C(n=2, dtype=i32), C(n=0), C(n=2, dtype=bf16))
CASES["numpy.tri"] = calls(C(N=3), C(N=2, M=4), C(N=3, k=1), C(N=3, k=-1, dtype=i32), C(N=0), C(N=2, dtype=np.bool_))
CASES["numpy.indices"] = calls(C(dimensions=(2, 3)), C(dimensions=(2, 3), sparse=True), C(dimensions=(2,), dtype=f32), C(dimensions=(0, 2)), C(dimensions=()))
CASES["numpy.meshgrid"] = calls(C(V3, normal(2)), C(V3, normal(2), indexing="ij"), C(V3, normal(2), sparse=True), C(V3, I3, normal(2)), C(V3), C(f32(1), V3), C(X23, V3))
CASES["numpy.vander"] = calls(C(V3), C(V3, N=2), C(V3, N=4, increasing=True), C(I3), C(X23), C(H5, N=2), C(V3, N=0), bound=8)
for name in ("bartlett", "blackman", "hamming", "hanning"):
    CASES["numpy." + name] = calls(C(M=7), C(M=4), C(M=1), C(M=0), scaled=True)
CASES["numpy.kaiser"] = calls(C(M=7, beta=5.0), C(M=4, beta=0.0), C(M=1, beta=2.0), C(M=0, beta=2.0), scaled=True, bound=16)
