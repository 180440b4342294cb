"""Elements chosen by conditions and numbers; how often values occur."""
import jax.numpy as jnp
import numpy as np

from .calls import *

CASES = {}
N24 = np.array([[0, 3, 0, -1], [5, 0, 0, 2]], i32)
NF, NH = np.array([0, -0.0, 1.5, np.nan, np.inf, 0], f32), np.array([[0, 1], [2, 0]], f16)
for name in ("nonzero", "flatnonzero", "argwhere"):
    CASES["numpy." + name] = calls(C(N24), C(NF), C(NH), C(B23), C(C3), C(E03), C(np.zeros(4, i32)), C(f32(2)), C(N24, size=6), C(N24, size=2), C(N24, size=6, fill_value=-1), C(B23, size=0), C(NF, size=5, fill_value=9), C(E03, size=2))
X34 = normal(3, 4)
CASES["numpy.compress"] = calls(C(np.array([True, False, True]), X34, axis=0), C(np.array([0, 1], i32), X34, axis=1), C(np.array([True, False, True]), X34), C(np.array([True, False, True]), ints(3)), C(np.array([1.0, 0.0], f32), H5, axis=-1),
                                C(np.array([False] * 4), X34, axis=1), C(np.array([False, True, True]), X34, axis=0, size=3), C(np.array([False, True, True]), X34, axis=0, size=1), C(np.array([True, False]), V3, size=2, fill_value=9), C(B23, X34), C(np.array([True] * 9), V3), C(np.array([True]), V3, size=2))
CASES["numpy.extract"] = calls(C(B23, X23), C(I23, U23), C(np.array([0.0, 1.0, 2.0], f32), H5[:3]), C(B23, X23, size=4), C(B23, I23, size=5, fill_value=-1), C(np.zeros(0, bool), np.zeros(0, f32)), C(f32(1), f32(2)))
CASES["numpy.mask_indices"] = calls(C(n=3), C(n=3, k=1), C(n=2, k=-1), C(n=3, size=8), C(n=0), call=lambda n, k=0, size=None: jnp.mask_indices(n, jnp.triu, k, size=size))

CASES["numpy.choose"] = calls(*[C(i, *c, mode=m) for i, c, m in ((np.array([0, 1, 1], i32), (V3, X23), "raise"), (np.array([2, -1, 5], i32), (V3, I3, f32(7)), "wrap"), (np.array([2, -1, 5], i32), (I3, ints(3)), "clip"), (np.array([2], i32), (I3, I3), "raise"), (V3, (V3, V3), "raise"), (np.array([1, 0], np.uint8), (H5[:2], H5[2:4]), "raise"), (np.zeros(0, i32), (f32(1), f32(2)), "clip"), (np.array([0], i32), (I3, I3), "no"))],
                              call=lambda x, *c, mode: jnp.choose(x, list(c), mode=mode))
CASES["numpy.select"] = calls(C(X23 > 1, X23 < 0, X23, Y23), C(X23 > 1, X23 < 0, I23, X23, default=9), C(B23, I23, default=0.5), C(B23, U23), C(np.array([True, False, True]), X23, default=1), C(B23, P23, H5[:1], V3), C(np.zeros((0, 3), bool), V3), C(np.zeros(2, bool), V3), C(I23, I23),
                              call=lambda *xs, **o: jnp.select(list(xs[: len(xs) // 2]), list(xs[len(xs) // 2 :]), **o))
CASES["numpy.piecewise"] = calls(C(X23, X23 < 0, X23 > 1), C(X23, X23 < 0), C(I23, I23 < 0, I23 > 1), C(H5, H5 < 0, H5 < 1), C(E03, E03 < 0), C(f32(2), np.array(True)), C(SPECIAL, SPECIAL < 0, SPECIAL > 2),
                                 call=lambda x, *c: jnp.piecewise(x, list(c), [-1, lambda v: v * v, 3][: len(c) + 1]))
for name in ("put_along_axis",):
    CASES["numpy." + name] = calls(C(X23, np.array([[1], [0]], i32), 9.0, axis=1), C(X23, np.array([[1, -1, 0]], i32), V3, axis=0), C(I23, np.array([[0, 2], [1, -3]], i32), np.array([[1, 2], [3, 4]], i32), axis=-1), C(X23, np.array([5, 0], i32), np.array([7, 8], f32), axis=None), C(H5, np.array([9, 1], i32), f16(2), axis=0), C(X23, np.array([0], i32), 1.0, axis=1), C(X23, X23, 1.0, axis=1), C(X23, np.array([[1], [0]], i32), X23, axis=1),
                                   call=lambda x, i, v, axis: jnp.put_along_axis(x, i, v, axis, inplace=False))
MI = (np.array([0, 1, 2], i32), np.array([3, 0, 1], i32))
CASES["numpy.ravel_multi_index"] = calls(C(*MI, dims=(3, 4)), C(*MI, dims=(3, 4), order="F"), C(*MI, dims=(2, 2), mode="wrap"), C(*MI, dims=(2, 2), mode="clip"), C(*MI, dims=(2, 2)), C(i32(1), i32(2), dims=(3, 3)), C(MI[0].astype(np.uint8), MI[1], dims=(3, 4), dtype=np.int16), C(np.zeros(0, i32), np.zeros(0, i32), dims=(2, 2)), C(V3, dims=(3,)), C(*MI, dims=(3, 4), mode="none"), C(MI[0], dims=(300,), dtype=np.int8), C(*MI, dims=(2, 2), mode="ignore"),
                                         call=lambda *xs, dims, **o: jnp.ravel_multi_index(tuple(xs), dims, **o))
CASES["numpy.unravel_index"] = calls(C(np.array([0, 5, 11], i32), shape=(3, 4)), C(np.array([-1, -12, 99, -99], i32), shape=(3, 4)), C(i32(7), shape=(2, 2, 2)), C(np.array([3, 200], np.uint8), shape=(4, 5)), C(np.zeros(0, i32), shape=(2, 2)), C(np.array([1, 2], i16), shape=(5,)))
CASES["numpy.ix_"] = calls(C(I3, ints(2)), C(I3), C(V3, I3, np.array([1], i8)), C(np.zeros(0, f32), I3), C(X23), C(np.array([True, False])))

CASES["numpy.bincount"] = calls(C(np.array([1, 3, 1, 0, -2], i32)), C(np.array([1, 3, 1], np.uint8), minlength=6), C(np.array([1, 3, 1], i32), weights=V3), C(np.array([1, 3, 1], i32), length=2), C(np.array([1, 0], i32), length=4), C(np.array([True, False, True])), C(np.zeros(0, i32)), C(np.zeros(0, i32), minlength=3), C(V3), C(I23), C(np.array([1, 3, 1], i16), weights=H5[:3]), C(np.array([1, 3, 1], i32), weights=I3), C(np.array([1, 3], i32), weights=V3))
S8 = normal(8)
CASES["numpy.histogram_bin_edges"] = calls(C(S8), C(S8, bins=4), C(S8, bins=3, range=[0.0, 2.0]), C(ints(6), bins=4), C(S8, bins=np.array([0, 1, 3], f32)), C(np.ones(3, f32), bins=2), C(H5, bins=2), C(f32(2), bins=2), C(X23, bins=1), scaled=True)
CASES["numpy.histogram"] = calls(C(S8), C(S8, bins=4), C(S8, bins=3, range=[0.0, 2.0]), C(ints(6), bins=4), C(S8, bins=np.array([-1, 0, 1, 3], f32)), C(np.ones(3, f32), bins=2), C(H5, bins=2), C(X23, bins=2, density=True), C(S8, bins=3, weights=normal(8)), C(S8, bins=3, weights=V3), C(np.array([0, 1, np.nan, 2], f32), bins=2, range=[0.0, 2.0]), scaled=True)
P82 = normal(8, 2)
CASES["numpy.histogramdd"] = calls(C(P82, bins=2), C(P82, bins=[2, 3]), C(P82, bins=3, density=True), C(normal(5, 3), bins=2), C(P82, bins=2, weights=normal(8)), C(ints(6, 2), bins=2), C(P82, bins=[2, 3, 4]), C(V3, bins=2), C(normal(6, 2, dtype=f16), bins=2), scaled=True)
CASES["numpy.histogram2d"] = calls(C(S8, normal(8), bins=3), C(S8, normal(8), bins=[2, 4]), C(ints(6), ints(6), bins=2), C(S8, normal(8), bins=2, density=True), C(S8, V3, bins=2), C(X23, X23, bins=2), C(S8.astype(f16), S8, bins=2), scaled=True)
