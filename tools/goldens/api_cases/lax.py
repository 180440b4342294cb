"""jax.lax and jax.scipy.special: elementwise operations that promote nothing, and special functions."""
import numpy as np
import scipy.special as true

from .calls import *

CASES = {}
X, H, G = uniform(2, 3, low=0.1, high=0.9), uniform(4, low=0.1, high=0.9, dtype=f16), uniform(4, low=0.1, high=0.9, dtype=bf16)
for name in "acos acosh asin asinh atan atanh cbrt cos cosh exp exp2 expm1 log log1p logistic reciprocal rsqrt sin sinh sqrt tan tanh".split():
    x = X + f32(1) if name == "acosh" else X
    CASES["lax." + name] = calls(C(x), C(x.astype(f16)), C(x.astype(bf16)), C(SPECIAL), C(E03), C(f32(1)), C(I3), C(B23), C(1.5), C(C3) if name in ("cos", "sin", "exp", "log", "tanh", "sqrt") else [])
for name in "bessel_i0e bessel_i1e ceil digamma erf erf_inv erfc floor is_finite lgamma".split():
    CASES["lax." + name] = calls(C(X), C(H), C(G), C(SPECIAL), C(E03), C(f32(0.5)), C(I3), C(C3), C(0.25), bound=16)
for name in "abs neg sign square".split():
    CASES["lax." + name] = calls(C(X23), C(H5), C(I3), C(U23), C(SPECIAL), C(E03), C(B23), C(-2), C(C3) if name != "sign" else [])
for name in "add sub mul div max min rem pow atan2 nextafter eq ne lt le gt ge".split():
    pair = (np.abs(X23), Y23) if name == "pow" else (X23, Y23)
    CASES["lax." + name] = calls(C(*pair), C(X23, 2.0), C(2.0, np.abs(X23)), C(X23, V3), C(X23, I23), C(I3, np.array([2, -3, 4], i32)), C(I3, 2), C(SPECIAL, SPECIAL[::-1].copy()), C(E03, E03), C(np.abs(H5), np.abs(H5)), C(f32(1), f32(2)), C(B23, P23), C(U23, U23 + u8(1)), C(X23, 3))
CASES["lax.lgamma"].scaled = True
CASES["lax.polygamma"] = calls(C(np.array([1, 2, 3], f32), uniform(3, low=1, high=4)), C(f32(1), f32(2)), C(np.ones(4, f16), H + f16(1)), C(I3, I3), C(E03, E03), bound=64)
CASES["lax.zeta"] = calls(C(np.array([2, 3, 4], f32), uniform(3, low=1, high=4)), C(f32(2), f32(1)), C(I3, I3), C(E03, E03), C(H + f16(1.5), H), bound=64)
for name in "bitwise_and bitwise_or bitwise_xor shift_left shift_right_arithmetic shift_right_logical".split():
    CASES["lax." + name] = calls(C(I23, np.abs(J23)), C(U23, U23 % u8(8)), C(I3, 3), C(B23, P23), C(X23, X23), C(np.zeros(0, i32), np.zeros(0, i32)), C(I3, np.array([0, 31, 32], i32)), C(I3, U23))
for name in "bitwise_not clz population_count".split():
    CASES["lax." + name] = calls(C(I23), C(U23), C(EXTREME), C(B23), C(X23), C(np.zeros(0, i32)), C(ints(3, dtype=i16)), C(i32(5)))
CASES["lax.complex"] = calls(C(X23, Y23), C(f32(1), f32(2)), C(E03, E03), C(X23, V3), C(I3, I3), C(H5, H5))
for name in "real imag conj".split():
    CASES["lax." + name] = calls(C(C3), C(X23), C(I3), C(np.complex64(1 + 2j)), C(np.zeros((0, 2), np.complex64)))
CASES["lax.integer_pow"] = calls(C(X23, y=3), C(X23, y=-2), C(I3, y=2), C(X23, y=0), C(H5, y=2), C(I3, y=-1), C(E03, y=2), C(C3, y=3))

# special
P = uniform(2, 3, low=0.2, high=4)
SPECIALS = {"gammaln": P, "loggamma": P, "digamma": P, "erf": X23, "erfc": X23, "erfinv": X, "expit": X23, "logit": X, "entr": P, "i0": X23, "i0e": X23, "i1": X23, "i1e": X23, "ndtr": X23, "log_ndtr": X23, "gamma": P, "gammasgn": P, "factorial": P}
for name, x in SPECIALS.items():
    CASES["scipy.special." + name] = calls(C(x), C(x.astype(f16)), C(SPECIAL) if name not in ("gamma", "log_ndtr", "factorial", "gammasgn") else [], C(E03), C(np.array([1, 2, 3], i32)), C(f32(0.5)), C(0.5), truth=getattr(true, name, None), bound=16)
for name in ("gammaln", "loggamma", "digamma", "logit", "log_ndtr", "gamma", "factorial"):
    CASES["scipy.special." + name].bound, CASES["scipy.special." + name].scaled = 64, True
for name in ("xlogy", "xlog1py", "rel_entr", "kl_div", "beta", "betaln", "poch", "boxcox", "boxcox1p"):
    CASES["scipy.special." + name] = calls(C(P, P[0]), C(P[0], f32(2)), C(P[0].astype(f16), f16(1)), C(np.array([1, 2], i32), np.array([2, 3], i32)), C(E03, P[0]), C(P[0], 2.0), C(1.0, 2.0), scaled=True, bound=64)
for name in ("xlogy", "xlog1py", "rel_entr", "kl_div"):
    CASES["scipy.special." + name].cases.append(C(np.array([0, 0, 1, 2], f32), np.array([0, np.nan, 0, 1], f32)))
CASES["scipy.special.multigammaln"] = calls(C(P + f32(2), d=3), C(P + f32(2), d=1), C(f32(4), d=2), C(E03, d=2), C(np.array([3, 4], i32), d=2), scaled=True, bound=64)
for name in ("softmax", "log_softmax", "logsumexp"):
    CASES["scipy.special." + name] = calls(C(X23), C(X23, axis=1), C(X234, axis=(0, 2)), C(H5), C(I3), C(np.array([np.inf, 1], f32)), C(E03, axis=1), C(X23, axis=2), scaled=True, bound=16)
CASES["scipy.special.polygamma"] = calls(C(np.array([1, 2, 3], f32), uniform(3, low=1, high=4)), C(1, P), C(i32(2), P), C(E03, P[0]), bound=64)
CASES["scipy.special.zeta"] = calls(C(np.array([2, 3, 4], f32), uniform(3, low=1, high=4)), C(P + f32(1), 1.0), C(2, P), C(E03, P[0]), bound=64)
