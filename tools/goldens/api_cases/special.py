"""jax.scipy.special: integrals, sequences, hypergeometric functions, and functions about the normal distribution."""
import numpy as np
import scipy.special as true

from .calls import *

CASES = {}
X = uniform(2, 3, low=-3.0, high=3.0)
P = uniform(2, 3, low=0.1, high=9.0)
EDGES = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], f32)
WIDE = np.array([0.01, 1.9, 2.1, 3.3, 4.5, 6.3, 8.1, 12.5, 20, 33, 50, 70], f32)


for name, x in {"erfcx": X, "dawsn": X, "exp1": P}.items():
    CASES["scipy.special." + name] = calls(C(x), C(WIDE), C(-WIDE) if name != "erfcx" else [], C(x.astype(f16)), C(x.astype(bf16)), C(E03), C(f32(0.5)), C(np.array([1, 2, 3], i32)), C(EDGES[:4] if name == "exp1" else EDGES), C(C3) if name != "erfcx" else [], truth=getattr(true, name), bound=2)
CASES["scipy.special.erfcx"].cases.append(C(C3))
for name in ("fresnel",):
    CASES["scipy.special." + name] = calls(C(X), C(WIDE), C(x.astype(f16)), C(x.astype(bf16)), C(E03), C(f32(0.5)), C(np.array([1, 2, 3], i32)), C(EDGES), C(C3), bound=64, scaled=True)
CASES["scipy.special.spence"] = calls(C(P), C(uniform(8, low=0.0, high=3.0)), C(E03), C(f32(0.5)), C(P.astype(f16)), C(I3), C(np.array([0, 1, 2, 0.5, -1], f32)), truth=true.spence, bound=2)
CASES["scipy.special.ndtri"] = calls(C(uniform(3, 5)), C(np.array([0, 1, 0.5, 1e-30, 1e-10, 0.13, 0.14, 0.87, 0.9999], f32)), C(E03), C(f32(0.25)), C(H5), C(I3), truth=true.ndtri, bound=2)
CASES["scipy.special.wofz"] = calls(C(C3), C(D3), C(X), C(E03), C(np.complex64(1 + 2j)), C(f32(0.5)), C(np.array([1, 2], i32)), C(X.astype(f16)), bound=32, scaled=True)
CASES["scipy.special.bernoulli"] = calls(C(n=0), C(n=1), C(n=2), C(n=3), C(n=10), C(n=21), C(n=-1), bound=16)
ANGLES = np.array([0.2, 1.1, 2.9, 1.5], f32), np.array([0.1, 3.3, 5.5, 0], f32)
CASES["scipy.special.sph_harm_y"] = calls(C(np.array([0, 1, 3, 5], i32), np.array([0, -1, 2, -4], i32), *ANGLES), C(np.array([4, 4, 2, 1], i32), np.array([4, 0, 1, 1], i32), *ANGLES, n_max=6), C(np.array([2], i32), np.array([1], i32), ANGLES[0][:1], ANGLES[1][:1]), C(np.array([2, 3, 2, 3], i32), np.array([0, 1, -2, -3], i32), *ANGLES, n_max=3), bound=64, scaled=True)
A4, B4, S4 = np.array([0.5, 1, 2, 3], f32), np.array([1.5, 2.5, 4, 3], f32), np.array([0.3, -1, 2, 0.5], f32)
CASES["scipy.special.hyp1f1"] = calls(C(A4, B4, S4), C(A4, f32(2), f32(0.5)), C(np.array([0, 1, 2, 0.5], f32), np.array([1, 0, 2, 2], f32), f32(1)), C(A4[:2].astype(f16), f16(2), f16(0.5)), C(E03, f32(1), f32(2)), C(f32(1), f32(2), 0.5), C(np.array([1, 2], i32), 2, 3), C(C3, C3, C3), truth=true.hyp1f1, bound=2)
CASES["scipy.special.hyp2f1"] = calls(C(A4, B4, B4 + f32(0.7), np.array([0.3, -0.5, 0.8, 0.5], f32)), C(f32(-2), B4, f32(1.5), f32(0.4)), C(f32(1), f32(1), f32(2), f32(0.95)), C(f32(1), f32(2), f32(4), f32(0.97)), C(f32(0.5), f32(0.25), f32(2), f32(1)), C(f32(1), f32(2), f32(3), f32(0)), C(np.array([0, 1], f32), f32(2), np.array([1, 2], f32), f32(0.5)), C(f32(2), f32(3), f32(1.5), f32(0.5)), C(f16(0.5), f16(1), f16(2), f16(0.5)), C(E03, f32(1), f32(2), f32(0.5)), C(f32(1), f32(2), f32(3), 0.5), C(C3, C3, C3, C3), truth=true.hyp2f1, bound=4)
