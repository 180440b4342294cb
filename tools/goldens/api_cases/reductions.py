"""Reductions, running sums, statistics."""
import numpy as np

from .calls import *

CASES = {}
NANS = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, -2.0]], f32)
for name in ("sum", "prod", "mean", "max", "min", "amax", "amin", "any", "all", "var", "std", "nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "ptp"):
    more = dict(scaled=True, bound=16) if name not in ("any", "all") else {}
    CASES["numpy." + name] = calls(reduction_calls(complex_=name not in ("nanmax", "nanmin", "ptp")), C(NANS, axis=1), C(NANS), **more)
for name in ("sum", "prod", "nansum", "nanprod"):
    CASES["numpy." + name].cases += [C(X23, dtype=f16), C(I23, dtype=f32), C(B23, dtype=np.int8), C(X23, initial=2.0), C(I23, axis=0, initial=3), C(X23, axis=1, where=B23), C(2), C(2.5), C(G5, dtype=f32)]
for name in ("max", "min", "amax", "amin", "nanmax", "nanmin"):
    CASES["numpy." + name].cases += [C(X23, axis=0, initial=0.5), C(E03, initial=1.0), C(X23, initial=-9.0, where=B23), C(2)]
# Complex numbers in the order of their real parts, then of their imaginary ones.
TIED = np.array([[1 + 2j, 1 - 3j, -2 + 9j], [1 + 5j, -2 - 1j, 0]], np.complex64)
for name in ("max", "min", "amax", "amin"):
    CASES["numpy." + name].cases += [C(TIED), C(TIED, axis=0), C(TIED, axis=1, keepdims=True), C(TIED, axis=1, initial=1.0)]
for name in ("mean", "nanmean"):
    CASES["numpy." + name].cases += [C(X23, dtype=f16), C(I23, dtype=f32), C(X23, axis=1, where=B23), C(2), C(G5)]
for name in ("var", "std", "nanvar", "nanstd"):
    CASES["numpy." + name].cases += [C(X23, axis=1, ddof=1), C(X23, ddof=2, keepdims=True), C(X234, axis=(0, 1), where=X234[:, :, :1] > 0), C(2)]
for name in ("any", "all"):
    CASES["numpy." + name].cases += [C(X23, axis=1, where=B23), C(np.zeros((2, 2), bool)), C(True)]
CASES["numpy.count_nonzero"] = calls(reduction_calls())
for name in ("argmax", "argmin", "nanargmax", "nanargmin"):
    CASES["numpy." + name] = calls(C(X234), C(X234, axis=1), C(X234, axis=-1, keepdims=True), C(np.array([1, 3, 3, 1], f32)), C(H5), C(I23, axis=0), C(B23, axis=1), C(U23), C(f32(2)), C(E03, axis=1), C(E03, axis=0), C(E03), C(X23, axis=2),
                              C(NANS[:1], axis=1), C(NANS), C(np.array([-np.inf, np.inf, 0.0], f32)), C(G5, keepdims=True))
CASES["numpy.nanargmax"].cases += [C(NANS, axis=0)]
for name in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
    CASES["numpy." + name] = calls(C(X234), C(X234, axis=1), C(X234, axis=-1), C(V3), C(H5), C(G5, axis=0), C(I23, axis=0), C(U23), C(B23, axis=1), C(f32(2)), C(E03, axis=0), C(E03, axis=1), C(E03), C(X23, axis=2), C(NANS, axis=1), C(X23, dtype=f16), C(I3, dtype=f32), C(C3), scaled=True, bound=16)
for name in ("cumulative_sum", "cumulative_prod"):
    CASES["numpy." + name] = calls(C(V3), C(X23, axis=1), C(X23, axis=0, include_initial=True), C(V3, include_initial=True), C(I3), C(X23), C(H5), C(U23, axis=-1), C(E03, axis=0), C(B23, axis=0), C(I3, dtype=f32), scaled=True, bound=16)
CASES["numpy.average"] = calls(C(X234), C(X234, axis=1), C(X23, axis=1, weights=np.array([1, 2, 3], f32)), C(X23, weights=np.abs(Y23)), C(X23, axis=0, weights=np.array([1, 2], i32), keepdims=True), C(I23, axis=0), C(H5), C(G5), C(E03, axis=0), C(X23, weights=V3), scaled=True, bound=16)
for name in ("median", "nanmedian"):
    CASES["numpy." + name] = calls(C(X234), C(X234, axis=1), C(X234, axis=(0, -1)), C(X23, axis=1, keepdims=True), C(V3), C(normal(4)), C(I23), C(H5), C(G5), C(NANS, axis=1), C(f32(2)), C(B23), scaled=True)
for name in ("quantile", "percentile", "nanquantile", "nanpercentile"):
    k = 100 if "percentile" in name else 1
    q = [0.0, 0.3, 1.0]
    CASES["numpy." + name] = calls(C(X23, f32(0.25 * k)), C(X23, np.array(q, f32) * f32(k)), C(X23, np.array(q, f32) * f32(k), axis=1), C(X234, 0.5 * k, axis=(0, 2)), C(X234, 0.5 * k, axis=-1, keepdims=True), C(I23, 0.7 * k, axis=0), C(H5, f16(0.5 * k)), C(NANS, 0.5 * k, axis=1),
                              *[C(normal(7), np.array([0.1, 0.5, 0.77], f32) * f32(k), method=m) for m in ("lower", "higher", "nearest", "midpoint", "linear")], C(V3, 1.0 * k), scaled=True, bound=16)
CASES["numpy.cov"] = calls(C(X23), C(V3), C(X23, rowvar=False), C(normal(3, 6), bias=True), C(normal(3, 6), ddof=2), C(V3, normal(3)), C(I23), C(normal(3, 6), fweights=np.array([1, 2, 3, 1, 1, 2], i32)), C(normal(3, 6), aweights=np.array([1, 2, 3, 1, 1, 2], f32)), C(G5), C(X234), scaled=True, bound=32)
CASES["numpy.corrcoef"] = calls(C(normal(3, 6)), C(V3), C(normal(6, 2), rowvar=False), C(V3, normal(3)), C(I23), C(normal(5, dtype=f16)), scaled=True, bound=32)
CASES["numpy.diff"] = calls(C(V3), C(X234, axis=0), C(X234, n=2), C(X23, n=0), C(X23, n=4), C(I23), C(U23), C(B23), C(V3, prepend=1.0), C(X23, axis=0, append=np.zeros((1, 3), f32)), C(H5), C(E03, axis=1), C(f32(1)), C(C3))
CASES["numpy.ediff1d"] = calls(C(V3), C(X23), C(I23), C(V3, to_end=f32(9)), C(V3, to_begin=np.array([1, 2], f32)), C(H5), C(f32(1)), C(U23))
CASES["numpy.gradient"] = calls(C(normal(6)), C(normal(3, 4), axis=1), C(normal(3, 4)), C(normal(5), 2.0), C(ints(5)), C(normal(5, dtype=f16)), scaled=True, bound=16)
CASES["numpy.trapezoid"] = calls(C(normal(6)), C(X234, axis=1), C(X23, dx=0.5), C(V3, x=np.array([0, 1, 3], f32)), C(I23), C(H5), C(E03, axis=1), scaled=True, bound=16)
CASES["numpy.digitize"] = calls(C(X23, np.array([-1, 0, 1], f32)), C(X23, np.array([1, 0, -1], f32)), C(I3, np.array([-2, 0, 2], i32), right=True), C(SPECIAL, np.array([-1, 0, 1], f32)), C(E03, V3 * 0 + np.array([1, 2, 3], f32)), C(H5, np.array([0, 1], f16)))
CASES["numpy.searchsorted"] = calls(C(np.array([1, 2, 2, 3], f32), np.array([0, 2, 2.5, 9, np.nan], f32)), C(np.array([1, 2, 2, 3], f32), 2.0, side="right"), C(np.array([1, 3, 5], i32), I23), C(np.array([1, 2, np.nan], f32), SPECIAL), C(np.zeros((0,), f32), V3), C(np.array([3, 1, 2], f32), V3, sorter=np.array([1, 2, 0], i32)), C(np.array([1, 3], f16), H5), C(X23, V3), C(np.array([1, 2], i32), X23))
TIES = np.array([[3, 1, 1, 2], [0, -0.0, 5, 3]], f32)
NAN = np.nan
PAIRS = np.array([3 + 1j, 1, 2 - 1j, 1 - 2j, complex(1, NAN), complex(NAN, 0), 1, complex(NAN, -1)], np.complex64)  # equal real parts, equal numbers, NaN in either part
for name in ("sort", "argsort"):
    CASES["numpy." + name] = calls(C(X234), C(X234, axis=0), C(X234, axis=None), C(TIES), C(SPECIAL), C(I23, axis=0), C(U23), C(B23), C(H5), C(G5), C(E03), C(E03, axis=0), C(f32(1)), C(X23, axis=2), C(TIES, descending=True), C(I23, descending=True, axis=0), C(SPECIAL, descending=True),
                                   C(PAIRS), C(PAIRS, descending=True), C(PAIRS.reshape(2, 4), axis=0), C(PAIRS.reshape(2, 4), axis=None), C(PAIRS[:0]))
CASES["numpy.lexsort"] = calls(C(TIES[0], V3[[0, 1, 2, 0]]), C(np.array([1, 1, 0, 0], i32), np.array([2, 1, 2, 1], i32)), C(I23, J23), C(I23, J23, axis=0), C(H5), C(V3, normal(4)), C(PAIRS, np.array([0, 1, 0, 1, 0, 1, 0, 1], i32)), C(PAIRS), call=lambda *k, **o: jnp.lexsort(k, **o))
