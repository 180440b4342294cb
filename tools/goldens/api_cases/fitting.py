"""Polynomials through points, roots."""
import jax.numpy as jnp
import numpy as np

from .calls import *

CASES = {}
X7, Y7, Y72, W7 = np.linspace(-2, 2, 7, dtype=f32), normal(7), normal(7, 2), uniform(7, low=0.5, high=2.0)
CASES["numpy.polyfit"] = calls(
    C(X7, Y7, deg=2), C(X7, Y72, deg=3), C(X7, Y7, deg=0), C(X7, Y7, deg=6), C(X7, Y7, deg=1, w=W7), C(X7, Y72, deg=2, w=W7), C(X7, Y7, deg=2, rcond=0.5), C(X7, ints(7), deg=2),
    C(ints(7), Y7, deg=2), C(np.arange(7, dtype=i32), Y7, deg=2, rcond=1e-6), C(X7[:1], Y7[:1], deg=0), C(X7, Y7, deg=-1), C(X7, Y7[:5], deg=1), C(X23, Y7, deg=1), C(E03[0:0, 0], E03[0:0, 0], deg=1),
    C(X7, X234, deg=1), C(X7, Y7, deg=1, w=W7[:3]), C(X7, Y7, deg=2, full=True), C(X7, Y72, deg=2, full=True, w=W7), C(X7[:2], Y7[:2], deg=3),
    C(X7, Y7, deg=2, cov=True), C(X7, Y72, deg=2, cov=True), C(X7, Y7, deg=2, cov="unscaled"), C(X7, Y72, deg=1, cov="unscaled", w=W7), C(X7, Y7, deg=6, cov=True),
    call=lambda x, y, deg, w=None, **more: jnp.polyfit(x, y, deg, w=None if w is None else jnp.asarray(w), **more), scaled=True, bound=256)
CASES["numpy.roots"] = calls(
    C(np.array([1, -3, 2], f32)), C(np.array([2, 0, 0, -1, 3], f32)), C(np.array([0, 0, 1, 2, 5], f32)), C(np.array([1, 2, 3], i32)), C(np.array([1, 2, 0, 0], f32)), C(C3), C(np.zeros(3, f32)), C(np.zeros(0, f32)), C(f32(2)), C(np.array([4], f32)),
    C(np.array([0, 1, 2], f32), strip_zeros=False), C(np.array([0, 0, 1, -3, 2], f32), strip_zeros=False), C(np.array([1, -3, 2, 0], f32), strip_zeros=False), C(np.array([0, 1, 2], i32), strip_zeros=False), C(np.zeros(3, f32), strip_zeros=False), C(X23), call=lambda p, **o: jnp.sort(jnp.roots(p, **o)), scaled=True, bound=256)
