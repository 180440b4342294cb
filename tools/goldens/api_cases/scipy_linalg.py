"""jax.scipy.linalg. Factors as in linalg.py: what they multiply to, and sizes."""
import jax.scipy.linalg as sl
import numpy as np

from .calls import *

CASES = {}
H = lambda x: jnp.conj(jnp.swapaxes(x, -1, -2))
more = dict(scaled=True, bound=64)
S3 = (normal(3, 3) + 6 * np.eye(3)).astype(f32)
SC = (complexes(3, 3) + 6 * np.eye(3)).astype(np.complex64)
SB = (normal(2, 3, 3) + 6 * np.eye(3)).astype(f32)
P3, TALL, WIDE, I33 = S3 @ S3.T, normal(4, 3), normal(2, 3), ints(3, 3)
PC = (SC @ H(SC)).astype(np.complex64)
for name in ("cholesky",):
    CASES["scipy.linalg." + name] = calls(C(P3), C(P3, lower=True), C(PC), C(-P3), C(np.eye(3, dtype=i32)), C(TALL), **more)
CASES["scipy.linalg.cho_factor"] = calls(C(P3), C(P3, lower=True), C(PC), C(np.eye(3, dtype=i32)), C(TALL), call=lambda x, **o: sl.cho_factor(x, **o)[0], **more)
CASES["scipy.linalg.cho_solve"] = calls(C(P3, V3), C(P3, normal(3, 2), lower=True), C(PC, C3), C(P3, I3), C(P3, normal(2, 3, 1)), C(P3, normal(4)), call=lambda a, b, lower=False: sl.cho_solve(sl.cho_factor(a, lower), b), **more)
for name in ("det", "inv"):
    CASES["scipy.linalg." + name] = calls(C(S3), C(SC), C(I33), C(TALL), C(V3), **more)
CASES["scipy.linalg.eigh"] = calls(C(P3), C(PC), C(P3, lower=False), C(np.eye(2, dtype=i32)), C(TALL), call=lambda x, **o: (lambda w, v: [w, (v * w[..., None, :].astype(v.dtype)) @ H(v)])(*sl.eigh(x, **o)), **more)
CASES["scipy.linalg.hessenberg"] = calls(C(S3), C(SC), C(normal(5, 5)), C(TALL), call=lambda x: (lambda h, q: [h, q])(*sl.hessenberg(x, calc_q=True)), **more)
CASES["scipy.linalg.lu"] = calls(C(S3), C(SC), C(TALL), C(WIDE), C(I33), C(S3, permute_l=True), C(V3), **more)
CASES["scipy.linalg.lu_factor"] = calls(C(S3), C(SC), C(I33), C(TALL), C(V3), **more)
CASES["scipy.linalg.lu_solve"] = calls(C(S3, V3), C(S3, normal(3, 2), trans=1), C(SC, C3, trans=2), C(SC, C3, trans=1), C(I33 + 9 * np.eye(3, dtype=i32), I3), C(S3, V3, trans=3), C(S3, normal(4)), call=lambda a, b, **o: sl.lu_solve(sl.lu_factor(a), b, **o), **more)
CASES["scipy.linalg.qr"] = calls(C(TALL), C(WIDE), C(SC), C(I33), C(TALL, mode="economic"), C(TALL, mode="x"), C(V3), call=lambda x, **o: (lambda q, r: [q @ r, H(q) @ q, jnp.abs(r)])(*sl.qr(x, **o)), **more)
CASES["scipy.linalg.svd"] = calls(C(TALL), C(WIDE), C(SC), C(I33), C(TALL, full_matrices=False), C(V3), call=lambda x, full_matrices=True: (lambda u, s, v: [s, (u[..., :, :s.shape[-1]] * s[..., None, :]) @ v[..., :s.shape[-1], :], H(u) @ u])(*sl.svd(x, full_matrices)), **more)
CASES["scipy.linalg.solve"] = calls(C(S3, V3), C(S3, normal(3, 2)), C(SC, C3), C(I33 + 9 * np.eye(3, dtype=i32), I3), C(P3, V3, assume_a="pos"), C(P3, normal(3, 2), assume_a="pos", lower=True), C(P3, V3, assume_a="sym"), C(S3, V3, assume_a="x"), C(S3, normal(4)), **more)
CASES["scipy.linalg.solve_triangular"] = calls(*[C(S3, V3, trans=t, lower=l, unit_diagonal=u) for t in (0, 1) for l in (True, False) for u in (True, False)], C(SC, complexes(3, 2), trans=2), C(SB, normal(2, 3, 1)), C(S3, normal(2, 3, 2)), C(SB, V3), C(S3, I3), C(S3, V3, trans=4), C(S3, normal(4)), **more)
CASES["scipy.linalg.expm"] = calls(C(normal(3, 3)), C(normal(3, 3) * f32(8)), C(SC), C(normal(2, 2, 2)), C(np.zeros((2, 2), f32)), C(np.triu(normal(3, 3)), upper_triangular=True), C(ints(2, 2, low=-2, high=3)), C(S3 * f32(1e6)), C(S3 * f32(20), max_squarings=3), C(TALL), C(V3), scaled=True, bound=1024)
CASES["scipy.linalg.block_diag"] = calls(C(S3, TALL), C(V3, f32(2), I33), C(I33, I3), C(C3, V3), C(E03, V3), C(X234), C(H5))
CASES["scipy.linalg.toeplitz"] = calls(C(V3), C(V3, H5), C(I3), C(I3, ints(2)), C(C3), C(f32(2)), C(np.zeros((0,), f32)))
CASES["scipy.linalg.hankel"] = calls(C(V3), C(V3, normal(5)), C(I3), C(C3, D3), C(f32(2)), C(np.zeros((0,), f32)))
CASES["scipy.linalg.circulant"] = calls(C(V3), C(I3), C(C3), C(H5), C(f32(2)), C(np.zeros((0,), f32)))
CASES["scipy.linalg.companion"] = calls(C(V3), C(I3 + i32(20)), C(C3), C(normal(2)), C(normal(1)))
CASES["scipy.linalg.fiedler"] = calls(C(V3), C(I3), C(H5), C(f32(2)), C(np.zeros((0,), f32)))
CASES["scipy.linalg.leslie"] = calls(C(V3, normal(2)), C(I3, ints(2)), C(V3, ints(2)), C(V3, V3), C(f32(1), f32(1)))
CASES["scipy.linalg.hilbert"] = calls(C(n=3), C(n=1), C(n=0), C(n=6))
CASES["scipy.linalg.hadamard"] = calls(C(n=1), C(n=4), C(n=8, dtype=f32), C(n=2, dtype=np.int8), C(n=3), C(n=0))
CASES["scipy.linalg.helmert"] = calls(C(n=1), C(n=4), C(n=3, full=True), C(n=0))
CASES["scipy.linalg.dft"] = calls(C(n=4), C(n=3, scale="sqrtn"), C(n=5, scale="n"), C(n=1), C(n=3, scale="x"), C(n=2, dtype=f32), scaled=True, bound=32)
