"""jax.scipy.linalg: Schur's form, functions of matrices, equations, and matrices of a pattern. Of factors that are not unique, what they multiply to."""
import jax.scipy.linalg as sl
import numpy as np
import scipy.linalg as true

from .calls import *

CASES = {}
H = lambda x: jnp.conj(jnp.swapaxes(x, -1, -2))
more = dict(scaled=True, bound=256)
S1, S3, S5 = normal(1, 1), normal(3, 3), normal(5, 5)
SC, SB = complexes(3, 3), normal(2, 3, 3)
P3 = (S3 @ S3.T + np.eye(3)).astype(f32)
TURN, TALL, WIDE, I33 = np.array([[0, 1], [-1, 0]], f32), normal(4, 3), normal(2, 3), ints(3, 3)
E00 = np.zeros((0, 0), f32)
ND = np.array([[np.nan, 1], [2, 3]], f32)

whole = lambda t, z: [z @ t @ H(z), H(z) @ z]
CASES["scipy.linalg.schur"] = calls(C(S3), C(S5), C(SB), C(SC), C(S1), C(TURN), C(TURN, output="complex"), C(S5, output="complex"), C(S3, output="x"), C(TALL), C(V3), C(I33), C(I33, output="complex"),
                                    call=lambda x, **o: (lambda t, z: whole(t, z) + [jnp.tril(t, -2), jnp.tril(t, -1) if jnp.iscomplexobj(t) else jnp.zeros_like(t)])(*sl.schur(x, **o)), **more)
forms = lambda x: [np.asarray(i) for i in true.schur(x)]
CASES["scipy.linalg.rsf2csf"] = calls(C(*forms(S3)), C(*forms(S5)), C(*forms(TURN)), C(*forms(S1)), C(np.stack([forms(S3)[0]] * 2), np.eye(3, dtype=f32)), C(S3, S5), C(TALL, TALL), C(np.triu(I33), I33),
                                      call=lambda t, z: (lambda a, b: whole(a, b) + [jnp.tril(a, -1)])(*sl.rsf2csf(t, z)), **more)
CASES["scipy.linalg.sqrtm"] = calls(C(P3), C(S5 + 9 * np.eye(5, dtype=f32)), C(SC), C(S1 + f32(9)), C(TURN), C(np.zeros((3, 3), f32)), C(I33 + 30 * np.eye(3, dtype=i32)), C(ND), C(TALL), C(V3), C(SB), **more)
FUNCTIONS = {"exp": jnp.exp, "sin": jnp.sin, "square": jnp.square}
CASES["scipy.linalg.funm"] = calls(C(S3, func="exp"), C(SC, func="sin"), C(S5, func="square"), C(S1, func="exp"), C(TURN, func="exp"), C(TALL, func="exp"), C(V3, func="exp"), C(SB, func="exp"), C(P3, func="sin"),
                                   call=lambda x, func: sl.funm(x, FUNCTIONS[func]), **more)
sum_ = S3 + 9 * np.eye(3, dtype=f32)
CASES["scipy.linalg.solve_sylvester"] = calls(C(sum_, S5, normal(3, 5)), C(sum_, S5, normal(3, 5), method="eigen"), C(SC, complexes(2, 2), complexes(3, 2)), C(SB, S1 + f32(9), normal(3, 1)), C(sum_, ints(2, 2), ints(3, 2)),
                                              C(SC, S5, normal(3, 5), method="eigen"), C(TURN, -TURN, normal(2, 2)), C(S3, S3, normal(3, 2)), C(S3, S3, S3, method="x"), C(S3, S3, V3), C(S1, S1, S1, tol=1e9), C(SC, SC, SC, tol=1e9), **more)
CASES["scipy.linalg.expm_frechet"] = calls(C(S3, normal(3, 3)), C(SC, complexes(3, 3)), C(S1, S1), C(S3, normal(3, 3), compute_expm=False), C(P3 * f32(3), S3), C(S3, S5), C(TALL, TALL), C(I33, I33), C(V3, V3), scaled=True, bound=1024)
CASES["scipy.linalg.polar"] = calls(C(S3, method="svd"), C(TALL, method="svd"), C(S3), C(TALL), C(SC), C(WIDE, side="left"), C(WIDE), C(S3, side="left"), C(WIDE, method="svd"), C(SC, side="left", method="svd"), C(SB), C(SB, method="svd"),
                                    C(S3, side="x"), C(S3, method="x"), C(V3), C(I33, method="svd"), C(S1), **more)


def multiplied(a, c, **o):
    """Sizes of elements, which do not depend on the signs of Q's columns where c Q is asked for, or where c picks columns."""
    out = sl.qr_multiply(a, c, **o)
    return [jnp.abs(out[0]), jnp.abs(out[1]), *out[2:]]


CASES["scipy.linalg.qr_multiply"] = calls(C(TALL, normal(2, 4)), C(TALL, normal(4)), C(TALL, np.eye(3, dtype=f32), mode="left"), C(WIDE, np.eye(2, dtype=f32), mode="left"), C(TALL, np.array([1, 0, 0], f32), mode="left"), C(SC, complexes(3, 3)),
                                          C(SC, complexes(3, 3), conjugate=True), C(SC, np.eye(3, dtype=np.complex64), mode="left", conjugate=True), C(TALL, normal(2, 4), pivoting=True), C(SB, normal(2, 3)), C(I33, I33), C(TALL, normal(2, 3)),
                                          C(TALL, np.eye(4, dtype=f32), mode="left"), C(TALL, normal(2, 4), mode="x"), call=multiplied, **more)


def tridiagonal(d, e, eigvals_only=False, **o):
    if eigvals_only:
        return sl.eigh_tridiagonal(d, e, eigvals_only=True, **o)
    w, v = sl.eigh_tridiagonal(d, e, **o)
    return [w, (v * w) @ H(v), H(v) @ v]


CASES["scipy.linalg.eigh_tridiagonal"] = calls(C(normal(5), normal(4), eigvals_only=True), C(complexes(4), complexes(3), eigvals_only=True), C(normal(1), np.zeros(0, f32), eigvals_only=True), C(normal(6), normal(5), eigvals_only=True, select="i", select_range=(1, 3)),
                                               C(normal(20), normal(19), eigvals_only=True), C(np.ones(3, f32), np.zeros(2, f32), eigvals_only=True), C(normal(5), normal(4), eigvals_only=True, tol=0.1), C(np.zeros(0, f32), np.zeros(0, f32), eigvals_only=True),
                                               C(normal(5), normal(4)), C(normal(4), normal(3), select="i", select_range=(0, 1)), C(normal(1), np.zeros(0, f32)), C(complexes(3), complexes(2)), C(normal(3), normal(2), select="v", eigvals_only=True),
                                               C(normal(3), normal(2), select="i", eigvals_only=True), C(normal(3), normal(2), select="i", select_range=(2, 1), eigvals_only=True), C(I3, ints(2), eigvals_only=True), C(normal(3), normal(2, dtype=f16), eigvals_only=True),
                                               call=tridiagonal, scaled=True, bound=512)
CASES["scipy.linalg.fiedler_companion"] = calls(C(V3), C(normal(6)), C(I3 + i32(20)), C(C3), C(normal(2)), C(normal(1)), C(normal(2, 4)), C(np.zeros(0, f32)), C(H5), C(normal(9)))
CASES["scipy.linalg.convolution_matrix"] = calls(C(V3, n=4), C(V3, n=4, mode="same"), C(V3, n=2, mode="same"), C(V3, n=5, mode="valid"), C(normal(5), n=2, mode="valid"), C(I3, n=3), C(C3, n=2), C(H5, n=1), C(normal(2, 3), n=2), C(V3, n=0),
                                                 C(f32(1), n=2), C(np.zeros(0, f32), n=2), C(V3, n=2, mode="x"))
kinds = [C(n=n, kind=k) for n in (1, 4, 7) for k in ("symmetric", "lower", "upper")]
CASES["scipy.linalg.pascal"] = calls(C(n=4), C(n=0), kinds, C(n=3, kind="x"), truth=lambda n, kind="symmetric": true.pascal(n, kind, exact=False), bound=1)
CASES["scipy.linalg.invpascal"] = calls(C(n=4), C(n=0), kinds, C(n=3, kind="x"), truth=lambda n, kind="symmetric": np.asarray(true.invpascal(n, kind), np.float64) if n else np.zeros((0, 0)), bound=1)
CASES["scipy.linalg.invhilbert"] = calls(C(n=1), C(n=3), C(n=6), C(n=0), truth=lambda n: np.asarray(true.invhilbert(n), np.float64) if n else np.zeros((0, 0)), bound=1)
