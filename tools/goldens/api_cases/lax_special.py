"""jax.lax and jax.scipy.special: incomplete gamma and beta functions."""
import scipy.special as true

from .calls import *

CASES = {}
A, X = uniform(3, 4, low=0.2, high=8), uniform(3, 4, low=0.05, high=12)
P, Q, U = uniform(3, 4, low=0.3, high=6), uniform(3, 4, low=0.3, high=6), uniform(3, 4, low=0.02, high=0.98)
EDGE_A, EDGE_X = np.array([0, 0, 1, 1, 1, -1, 1, np.nan, 2, np.inf], f32), np.array([0, 1, 0, np.inf, -1, 1, np.nan, 1, 300, 1], f32)
H4 = uniform(4, low=0.5, high=3, dtype=f16)
TRUE = {"igamma": true.gammainc, "igammac": true.gammaincc, "igamma_grad_a": None, "random_gamma_grad": None}
for name, truth in TRUE.items():
    edge = [C(EDGE_A[:9], EDGE_X[:9])] if name.startswith("igamma") and name != "igamma_grad_a" else [C(EDGE_A[2:9], EDGE_X[2:9]) if name == "igamma_grad_a" else C(f32([1, 1, 2]), f32([0, -1, 1]))]
    CASES["lax." + name] = calls(C(A, X), C(A[0], X[0]), C(H4, H4[::-1].copy()), C(uniform(4, low=0.5, high=3, dtype=bf16), uniform(4, low=0.5, high=3, dtype=bf16)), C(f32(2), f32(1.5)), C(E03, E03), *edge, C(I3, I3), C(A, X[0]), C(A[0], X[0].astype(f16)), scaled=True, bound=64, truth=truth)
CASES["lax.betainc"] = calls(C(P, Q, U), C(P[0], Q[0], U[0]), C(H4, H4[::-1].copy(), f16([0.1, 0.5, 0.7, 0.9])), C(f32(2), f32(3), f32(0.25)), C(E03, E03, E03), C(f32([0, 1, 0, 2, 2, -1, 1, np.inf, 1, 0]), f32([1, 0, 0, 3, 3, 1, 1, 1, np.inf, 1]), f32([0.5, 0.5, 0.5, 0, 1, 0.5, 1.5, 0.5, 0.5, 0])), C(I3, I3, I3), C(P, Q, U[0]), C(P, Q.astype(f16), U), scaled=True, bound=64, truth=true.betainc)
for name, truth in (("gammainc", true.gammainc), ("gammaincc", true.gammaincc)):
    CASES["scipy.special." + name] = calls(C(A, X), C(A, X[0]), C(A, 2.0), C(2, X), C(np.array([1, 2, 3], i32), f32(1.5)), C(H4, 1.0), C(E03, f32(1)), C(2.0, 1.0), C(C3, f32(1)), scaled=True, bound=64, truth=truth)
CASES["scipy.special.betainc"] = calls(C(P, Q, U), C(P, 2.0, U[0]), C(2, 3, U), C(np.array([1, 2], i32), np.array([2, 3], i32), f32(0.25)), C(H4, 1.0, 0.5), C(E03, f32(1), f32(0.5)), C(2.0, 1.0, 0.5), C(C3, f32(1), f32(1)), scaled=True, bound=64, truth=true.betainc)
