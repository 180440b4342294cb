"""Polynomials, convolutions, interpolation, and functions of parts."""
import jax.numpy as jnp
import numpy as np

from .calls import *

CASES = {}
P3, P5, Q4 = normal(3), normal(5), ints(4)
for name in ("convolve", "correlate"):
    CASES["numpy." + name] = calls(C(P5, P3), C(P3, P5), C(P5, P3, mode="same"), C(P3, P5, mode="valid"), C(P5, P3, mode="full"), C(P3, P5, mode="full"), C(Q4, I3), C(H5, H5[:2]), C(G5, P3), C(C3, D3, mode="full"), C(np.zeros(0, f32), P3), C(X23, P3), C(P3, P3, mode="no"), C(P5, normal(4), mode="same"), C(u8([1, 2]), P3), scaled=True, bound=16)
CASES["numpy.poly"] = calls(C(P3), C(I3), C(H5[:2]), C(C3), C(np.zeros(0, f32)), C(f32(2)), C(np.zeros((2, 3), f32)), scaled=True, bound=64)
for name in ("polyadd", "polysub"):
    CASES["numpy." + name] = calls(C(P3, P5), C(P5, P3), C(Q4, I3), C(P3, I3), C(H5, G5), C(C3, P5), C(P3, np.zeros(0, f32)), C(u8([1, 2]), u8([3])))
CASES["numpy.polymul"] = calls(C(P3, P5), C(Q4, I3), C(H5, H5[:2]), C(C3, P3), C(P3, np.zeros(0, f32)), C(np.array([0, 0, 1, 2], f32), P3, trim_leading_zeros=True), C(np.array([0, 0, 1, 2], f32), P3), scaled=True, bound=16)
CASES["numpy.polydiv"] = calls(C(P5, P3), C(P3, P5), C(Q4, np.array([2, 1], i32)), C(np.array([1, 3, 2], f32), np.array([1, 1], f32)), C(np.array([1, 3, 2], f32), np.array([1, 1], f32), trim_leading_zeros=True), C(C3, C3[:2]), C(np.array([2, 4, 6], f16), np.array([2, 1], f16)), scaled=True, bound=64)
CASES["numpy.polyder"] = calls(C(P5), C(P5, m=2), C(P5, m=0), C(P3, m=3), C(I3), C(H5), C(C3), C(P5, m=-1), C(f32(1)))
CASES["numpy.polyint"] = calls(C(P5), C(P5, m=2), C(P5, m=0), C(P3, m=3, k=np.array([1, 2, 3], f32)), C(P3, m=2, k=4.0), C(I3), C(H5), C(C3), C(P5, m=-1), C(P3, m=2, k=np.array([1, 2, 3], f32)))
CASES["numpy.polyval"] = calls(C(P3, P5), C(P3, 2.0), C(I3, np.array([1, 2], i32)), C(I3, P3), C(H5, f16(0.5)), C(normal(4, 3), P3), C(normal(4, 1), P3), C(C3, P3), C(np.zeros(0, f32), P3), C(P3, E03), C(u8([1, 2]), u8([3, 4])), scaled=True, bound=16)

XP, FP = np.array([0, 1, 2.5, 4], f32), normal(4)
XS = np.array([-1, 0, 0.5, 1, 2, 3.9, 4, 7, np.nan], f32)
CASES["numpy.interp"] = calls(C(XS, XP, FP), C(XS, XP, FP, left=-5.0, right=9.0), C(XS, XP, FP, left="extrapolate", right="extrapolate"), C(XS, XP, FP, period=5.0), C(1.5, XP, FP), C(np.array([1, 2, 3], i32), np.array([0, 2, 4], i32), np.array([5, 6, 9], i32)), C(XS.astype(f16), XP.astype(f16), FP.astype(f16)), C(E03, XP, FP), C(XS, XP, FP[:2]), C(X23, XP, FP), C(XS, np.array([0, 1, 1, 2], f32), FP), C(XS, XP, FP, left="no"), C(C3, XP, FP), C(XS, XP, C3[:1]), scaled=True, bound=16)
ANG = np.cumsum(uniform(8, low=-4, high=4)).astype(f32)
CASES["numpy.unwrap"] = calls(C(ANG), C(ANG.reshape(2, 4), axis=0), C(ANG, discont=4.0), C(ANG, period=3.0), C(np.array([0, 5, 11, 12, 1], i32), period=6), C(ANG.astype(f16)), C(E03), C(C3), C(X23, axis=2), C(np.array([1, 4], i32)), scaled=True, bound=16)
CASES["numpy.cross"] = calls(C(X23, Y23), C(V3, X23), C(normal(4, 2), normal(4, 2)), C(normal(4, 2), V3), C(I3, ints(3)), C(normal(3, 2), normal(3, 2), axis=0), C(normal(3, 4), normal(4, 3), axisa=0, axisc=0), C(C3, D3), C(H5[:3], H5[2:]), C(H5, H5), C(np.zeros((0, 3), f32), V3), scaled=True)
CASES["numpy.apply_along_axis"] = calls(C(X234, axis=0), C(X234, axis=1), C(X234, axis=-1), C(I23, axis=0), C(H5, axis=0), C(X23, axis=2), C(np.zeros((0, 3), f32), axis=1), call=lambda x, axis: jnp.apply_along_axis(lambda v: jnp.stack([v[0], v[-1] + 1]), axis, x))
CASES["numpy.apply_over_axes"] = calls(C(X234, axes=(0, 2)), C(X234, axes=(1,)), C(I23, axes=(0,)), C(H5, axes=(0,)), C(E03, axes=(1,)), C(X23, axes=(0, 1)), call=lambda x, axes: jnp.apply_over_axes(jnp.sum, x, axes), scaled=True)
CASES["numpy.fromfunction"] = calls(C(shape=(2, 3)), C(shape=(3, 1), dtype=np.int32), C(shape=(0, 2)), C(shape=(2, 2), dtype=np.float16), call=lambda shape, dtype=float: jnp.fromfunction(lambda i, j: i * 10 + j, shape, dtype=dtype))
CASES["numpy.block"] = calls(C(X23, Y23), C(V3, I3), C(X23, I23), C(H5, G5), C(f32(1), f32(2)), C(X23, V3), C(E03, E03), call=lambda a, b: jnp.block([[a, b], [b, a]]))
CASES["numpy.mgrid"] = calls(C(stop=[3, 2]), C(stop=[3]), C(stop=[1, 2, 2]), C(stop=[0, 2]), C(stop=[1.5, 2.0]), call=lambda stop: jnp.mgrid[tuple(slice(0, s) for s in stop)] if len(stop) > 1 else jnp.mgrid[0 : stop[0]])
CASES["numpy.ogrid"] = calls(C(stop=[3, 2]), C(stop=[3]), C(stop=[1, 2, 2]), C(stop=[0, 2]), C(stop=[1.5, 2.0]), call=lambda stop: jnp.ogrid[tuple(slice(0, s) for s in stop)] if len(stop) > 1 else jnp.ogrid[0 : stop[0]])
CASES["numpy.astype"] = calls(C(X23, dtype=i32), C(I3, dtype=f16), C(SPECIAL, dtype=bf16), C(U23, dtype=bool), C(C3, dtype=np.complex64), C(E03, dtype=i8), C(B23, dtype=f32), C(2.5, dtype=f32), call=lambda x, dtype: jnp.astype(x, dtype))
for name in ("sum", "max", "min", "prod"):
    ids = np.array([0, 2, 0, -1, 5], i32)
    CASES["ops.segment_" + name] = calls(C(normal(5), ids, num_segments=4), C(normal(5, 2), ids, num_segments=3), C(ints(5), np.abs(ids)), C(H5, np.array([0, 0, 1, 1, 2], i32), num_segments=3, indices_are_sorted=True), C(C3, np.array([1, 0, 1], i32), num_segments=2) if name in ("sum", "prod") else [], C(np.zeros((0, 3), f32), np.zeros(0, i32), num_segments=2), C(U23[0], np.array([1, 1, 0], u8), num_segments=2), C(normal(5), ids, num_segments=-1), C(normal(6), np.array([0, 1, 0, 1, 2, 2], i32), num_segments=3, bucket_size=2), C(B23[0], np.array([0, 0, 1], i32), num_segments=2) if name in ("max", "min") else [], scaled=True)
for name in ("convolve", "correlate"):
    CASES["numpy." + name].cases += [C(H5, H5[:3], preferred_element_type=f32), C(I3, I3, preferred_element_type=i32, mode="full"), C(G5, H5, preferred_element_type=f32, mode="same"), C(V3, V3[:2], precision="highest", mode="valid"), C(I3, V3, preferred_element_type=f32)]
