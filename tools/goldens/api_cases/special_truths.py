"""jax.scipy.special: functions of which JAX's own results are further from the truth than ours; the truth stands for all floats.

At 0, expi is -inf, from both sides; JAX says NaN.
"""
import numpy as np
import scipy.special as true

from .calls import *

CASES = {}
X = uniform(2, 3, low=-3.0, high=3.0)
P = uniform(2, 3, low=0.1, high=9.0)
WIDE = np.array([0.01, 1.9, 2.1, 3.3, 4.5, 6.3, 8.1, 12.5, 20, 33, 50, 70], f32)
EDGES = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], f32)
TO3 = np.array([1, 2, 3], i32)


def special(name, *cases, truth=None, **more):
    CASES["scipy.special." + name] = calls(*cases, truth=truth or getattr(true, name), everywhere=True, bound=2, **more)


special("bessel_jn", C(X, v=3), C(WIDE[:9], v=5), C(P.astype(f16), v=2), C(X.astype(bf16), v=1), C(E03, v=2), C(f32(0.5), v=0), C(TO3, v=2),
        C(EDGES[:4], v=4), C(X, v=1, n_iter=30), C(C3, v=1), truth=lambda z, v, n_iter=50: np.stack([true.jv(k, z) for k in range(v + 1)]))
special("comb", C(np.array([5, 10, 3, 0, 20], f32), np.array([2, 5, 4, 0, 10], f32)), C(f32(6), np.arange(7, dtype=f32)), C(ints(4, low=0, high=12), 2),
        C(np.array([10, 3], f16), np.array([3, 2], f16)), C(np.array([10, 3], jnp.bfloat16), np.array([3, 2], jnp.bfloat16)), C(E03, f32(2)), C(5, 2), C(np.array([-1, 4], f32), f32(2)),
        C(np.array([5, 10, 0], f32), np.array([2, 0, 0], f32), repetition=True), C(4, 3, repetition=True), C(C3, 2),
        C(normal(2), normal(3)), truth=lambda n, k, repetition=False: true.comb(n, k, repetition=repetition))
special("expi", C(X), C(WIDE), C(-WIDE), C(P.astype(f16)), C(X.astype(bf16)), C(E03), C(f32(0.5)), C(TO3), C(EDGES), C(0.5), C(C3))
special("expn", C(np.array([0, 1, 2], f32), P), C(f32(3), WIDE), C(TO3, np.array([0.5, 1.5, 2.5], f32)), C(np.array([0, 1, 2, 5], f32), f32(0)), C(2, TO3),
        C(f16(2), P.astype(f16)), C(np.array([1, 2, 3], jnp.bfloat16), P.astype(bf16)), C(f32(1), E03), C(f32(6000), P), C(f32(2), EDGES[2:]), C(1, C3))
special("owens_t", C(X, P), C(WIDE, f32(0.7)), C(f32(0.3), WIDE), C(X.astype(f16), f16(0.5)), C(X.astype(bf16), P.astype(bf16)), C(E03, f32(1)), C(1, 2),
        C(TO3, f32(0.5)), C(EDGES[[0, 2, 3, 6]], f32(1)), C(f32(0), EDGES[[0, 2, 3]]), C(f32(0.5), EDGES[:4]))
special("sici", C(P), C(WIDE), C(-WIDE), C(P.astype(f16)), C(X.astype(bf16)), C(E03), C(f32(0.5)), C(TO3), C(np.array([1e9, 2e9, 3e5], f32)), C(EDGES), C(0.5), C(C3))
