"""Arrays as sets, parts of sorted arrays, bits."""
import jax.numpy as jnp
import numpy as np

from .calls import *

CASES = {}
A7, B5 = np.array([3, 1, 2, 3, 1, 9, -4], i32), np.array([2, 9, 9, 5, 3], i32)
F6 = np.array([1.5, np.nan, 0.0, -0.0, np.nan, 1.5], f32)
M43 = np.array([[1, 2, 0], [0, 2, 1], [1, 2, 0], [0, 1, 5]], i32)
CX = np.array([1 + 2j, 1 + 1j, 0, 1 + 2j], np.complex64)
# Where a set is padded, upstream's filler for NaN among complex numbers depends on bits of NaN; left out.
CASES["numpy.unique"] = calls(C(A7), C(F6), C(F6, equal_nan=False), C(M43), C(M43, axis=0), C(M43, axis=1), C(M43, axis=-1), C(H5), C(B23), C(CX), C(E03), C(f32(3)), C(A7, size=7), C(A7, size=3), C(A7, size=7, fill_value=0), C(M43, axis=0, size=5, fill_value=-1), C(np.zeros(0, i32), size=2), C(np.zeros(0, i32), size=2, fill_value=4), C(M43, axis=2), C(E03, axis=0), C(E03, axis=1))
for name in ("unique_values", "unique_counts", "unique_inverse", "unique_all"):
    CASES["numpy." + name] = calls(C(A7), C(F6), C(M43), C(H5), C(B23), C(CX), C(E03), C(f32(3)), C(A7, size=7), C(A7, size=3), C(M43, size=9, fill_value=7))
CASES["numpy.isin"] = calls(C(A7, B5), C(A7, B5, invert=True), C(M43, B5), C(F6, np.array([0, np.nan], f32)), C(H5, H5[:2]), C(A7, V3), C(A7, np.zeros(0, i32)), C(E03, A7), C(CX, CX[:1]), C(A7, B5, method="binary_search"), C(A7, B5, method="sort"), C(A7, B5, method="no"), C(B23, np.array([True])), C(2, A7))
for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d"):
    more = [C(np.array([1, 2, 5], i32), np.array([2, 5, 7], i32), assume_unique=True)] if name != "union1d" else []
    CASES["numpy." + name] = calls(C(A7, B5), C(A7, A7), C(F6, np.array([1.5, 0, 7], f32)), C(A7, np.array([1.0, 2.5], f32)), C(H5, H5[2:]), C(M43, B5), C(np.zeros(0, i32), A7), C(A7, np.zeros(0, i32)), C(CX, CX[:2]), C(A7, B5, size=4), C(A7, B5, size=9), C(A7, B5, size=9, fill_value=7), C(A7, B5, size=1), C(np.array([True]), B5), *more)
CASES["numpy.intersect1d"].cases += [C(A7, B5, return_indices=True), C(A7, B5, return_indices=True, size=2), C(A7, B5, return_indices=True, size=4, fill_value=0), C(np.array([1, 2, 5], i32), np.array([2, 5, 7], i32), assume_unique=True, return_indices=True)]

for name in ("partition", "argpartition"):
    CASES["numpy." + name] = calls(C(A7, kth=2), C(X234, kth=1, axis=1), C(X234, kth=-1), C(H5, kth=0), C(U23, kth=1, axis=0), C(A7, kth=9), C(CX, kth=1), C(np.zeros((2, 1), f32), kth=0), C(G5, kth=3), C(X23, kth=0, axis=2))
CASES["numpy.sort_complex"] = calls(C(A7), C(X23), C(CX), C(H5), C(U23), C(E03), C(F6))
CASES["numpy.packbits"] = calls(C(np.array([1, 0, 1, 1, 0, 0, 0, 1, 1], bool)), C(np.array([1, 0, 7, 1], i32)), C(ints(3, 10, low=0, high=2), axis=1), C(ints(10, 3, low=0, high=2), axis=0), C(ints(9, low=0, high=2, dtype=u8), bitorder="little"), C(B23), C(V3), C(np.zeros(0, bool)), C(B23, bitorder="no"), C(B23, axis=2))
CASES["numpy.unpackbits"] = calls(C(U23), C(U23, axis=1), C(U23, axis=0), C(U23, bitorder="little"), C(U23, count=5), C(U23, axis=1, count=30), C(np.zeros(0, u8)), C(I3), C(u8(7)), C(U23, axis=-1, count=3))
