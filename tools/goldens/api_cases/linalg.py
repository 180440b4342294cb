"""jax.numpy.linalg and jax.lax.linalg. Factors are unique only up to signs or phases: what is compared is what they multiply to and what is unique (their sizes)."""
import jax
import numpy as np

from .calls import *

CASES = {}
nl, ll = jnp.linalg, jax.lax.linalg
H = lambda x: jnp.conj(jnp.swapaxes(x, -1, -2))
SIZES = lambda n: jnp.abs(n)


def square(*batch, n=4, dtype=np.float32):
    """Far from singular."""
    out = complexes(*batch, n, n) if dtype == np.complex64 else normal(*batch, n, n)
    return (out + 6 * np.eye(n)).astype(dtype)


def positive(*batch, n=4, complex_=False):
    x = complexes(*batch, n, n) if complex_ else normal(*batch, n, n)
    return (x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(n)).astype(x.dtype)


S1, S2, S3, S4, SB, SC = square(n=1), square(n=2), square(n=3), square(), square(2, n=3), square(n=3, dtype=np.complex64)
P3, PB, PC = positive(n=3), positive(2, n=3), positive(n=3, complex_=True)
TALL, WIDE, CT = normal(5, 3), normal(2, 3, 5), complexes(4, 2)
E0, E03 = np.zeros((0, 0), f32), np.zeros((0, 3), f32)
SINGULAR = np.array([[1, 2, 3], [2, 4, 6], [1, 0, 1]], f32)
ANY = [C(S1), C(S2), C(S4), C(SB), C(SC), C(TALL), C(WIDE), C(CT), C(V3)]
SQUARE = [C(S1), C(S2), C(S3), C(S4), C(SB), C(SC), C(ints(3, 3)), C(E0), C(TALL), C(V3)]
more = dict(scaled=True, bound=64)

CASES["numpy.linalg.cholesky"] = calls(C(P3), C(PB), C(PC), C(P3, upper=True), C(PC, upper=True), C(S3, symmetrize_input=False), C(S3), C(-P3), C(E0), C(np.array([[4, 2], [2, 5]], i32)), C(TALL), C(V3), **more)
CASES["numpy.linalg.qr"] = calls(*ANY, C(TALL, mode="complete"), C(WIDE, mode="complete"), C(TALL, mode="full"), C(np.zeros((3, 0), f32), mode="complete"), C(ints(3, 2)), C(TALL, mode="economic"),
                                 call=lambda x, **o: (lambda q, r: [q @ r, H(q) @ q, SIZES(q), SIZES(r)])(*nl.qr(x, **o)), **more)
CASES["numpy.linalg.svd"] = calls(*ANY, C(TALL, full_matrices=False), C(WIDE, full_matrices=False), C(SINGULAR, full_matrices=False), C(P3, hermitian=True), C(ints(3, 2), full_matrices=False), C(PC, hermitian=True),
                                  call=lambda x, full_matrices=True, **o: (lambda u, s, v: [s, (u[..., :, :s.shape[-1]] * s[..., None, :]) @ v[..., :s.shape[-1], :], H(u) @ u, v @ H(v)])(*nl.svd(x, full_matrices, **o)), **more)
CASES["numpy.linalg.svdvals"] = calls(*ANY, C(SINGULAR), C(ints(3, 2)), C(np.zeros((0, 3), f32)), C(np.array([[np.nan, 1], [1, 2]], f32)), **more)
sorted_eig = lambda w: jnp.sort(w, axis=-1)
RIGHT = lambda x, w, v: [sorted_eig(w), jnp.astype(x, v.dtype) @ v - v * w[..., None, :] + 1, jnp.linalg.norm(v, axis=-2)]
EIG = [C(c.args[0]) for c in SQUARE if not (c.args[0].shape == (0, 0))]
CASES["numpy.linalg.eig"] = calls(*EIG, C(normal(5, 5)), C(np.array([[0, 1], [-1, 0]], f32)), call=lambda x: RIGHT(x, *nl.eig(x)), scaled=True, bound=256)
CASES["numpy.linalg.eigvals"] = calls(*EIG, C(normal(5, 5)), C(np.array([[0, 1], [-1, 0]], f32)), call=lambda x: sorted_eig(nl.eigvals(x)), scaled=True, bound=256)
CASES["numpy.linalg.eigh"] = calls(*SQUARE, C(P3, UPLO="U"), C(S4, UPLO="U", symmetrize_input=False), C(S4, symmetrize_input=False), C(P3, UPLO="X"), C(PC), C(np.full((2, 2), np.nan, f32)),
                                   call=lambda x, **o: (lambda w, v: [w, (v * w[..., None, :].astype(v.dtype)) @ H(v), H(v) @ v])(*nl.eigh(x, **o)), **more)
CASES["numpy.linalg.eigvalsh"] = calls(*SQUARE, C(P3, UPLO="U"), C(S4, UPLO="U", symmetrize_input=False), C(PC), **more)
CASES["numpy.linalg.solve"] = calls(C(S4, normal(4)), C(S4, normal(4, 2)), C(SB, normal(2, 3, 2)), C(S3, normal(2, 3, 2)), C(SB, normal(3, 2)), C(SB, normal(3)), C(SC, C3), C(S3, complexes(3, 2)), C(ints(3, 3), ints(3)), C(E0, np.zeros((0, 2), f32)),
                                    C(S4, normal(3)), C(TALL, normal(5)), C(SB, normal(2, 3)), C(square(2, 1, n=2), normal(3, 2, 1)), C(S1, f32(1)), **more)
CASES["numpy.linalg.inv"] = calls(*SQUARE, C(PC), **more)
CASES["numpy.linalg.pinv"] = calls(C(S4), C(TALL), C(WIDE), C(CT), C(SINGULAR), C(P3, hermitian=True), C(PC, hermitian=True), C(TALL, rtol=0.5), C(E03), C(ints(3, 2)), C(V3), **more)
CASES["numpy.linalg.lstsq"] = calls(C(TALL, normal(5)), C(TALL, normal(5, 2)), C(WIDE[0], normal(3)), C(SINGULAR, V3), C(CT, complexes(4)), C(S3, V3), C(ints(4, 2), ints(4)), C(TALL, normal(5), rcond=0.5), C(TALL, normal(5), numpy_resid=True),
                                    C(WIDE[0], normal(3), numpy_resid=True), C(E03, np.zeros((0,), f32)), C(TALL, normal(4)), C(WIDE, normal(3)), call=lambda a, b, **o: (lambda x, r, k, s: [x, r + 1, k, s])(*nl.lstsq(a, b, **o)), scaled=True, bound=256)
CASES["numpy.linalg.tensorsolve"] = calls(C(square(n=6).reshape(2, 3, 6), normal(2, 3)), C(square(n=4).reshape(2, 2, 2, 2), normal(2, 2)), C(square(n=6).reshape(2, 3, 6), normal(2, 3), axes=(0,)), C(square(n=4).reshape(2, 2, 2, 2), normal(2, 2), axes=(0, 2)), C(normal(2, 3, 5), normal(2, 3)), C(normal(2, 3), normal(3)), **more)
CASES["numpy.linalg.tensorinv"] = calls(C(square(n=6).reshape(2, 3, 6)), C(square(n=4).reshape(4, 2, 2), ind=1), C(square(n=4).reshape(2, 2, 2, 2)), C(normal(2, 3, 5)), C(S4, ind=0), **more)
CASES["numpy.linalg.det"] = calls(*SQUARE, C(SINGULAR), C(square(2, 2, n=5)), C(np.full((4, 4), 2, f32)), **more)
CASES["numpy.linalg.slogdet"] = calls(*SQUARE, C(-S3), C(S4, method="qr"), C(-SB, method="qr"), C(SC, method="qr"), C(np.full((4, 4), 0, f32)), C(square(n=6, dtype=np.complex64)), C(S4, method="x"), **more)
CASES["numpy.linalg.matrix_rank"] = calls(*ANY, C(SINGULAR), C(SINGULAR, rtol=3.0), C(P3, hermitian=True), C(np.zeros((3, 3), f32)), C(ints(3, 2)), C(f32(2)))
CASES["numpy.linalg.matrix_power"] = calls(*[C(S3, n=n) for n in (0, 1, 2, 3, 5, 8, -1, -3)], C(SB, n=3), C(SC, n=4), C(ints(3, 3), n=5), C(ints(3, 3), n=-2), C(V3, n=2), C(TALL, n=2), C(H5.reshape(1, 5)[:, :1], n=3), **more)
CASES["numpy.linalg.norm"] = calls(C(X23), C(V3), C(X234), C(C3), C(I23), C(H5), C(X234, axis=1), C(X234, axis=(0, 2)), C(X234, axis=(2, 0), keepdims=True), *[C(X234, ord=o, axis=(0, 2)) for o in ("fro", "nuc", 1, -1, 2, -2)],
                                   *[C(X23, ord=o, axis=(1, 0), keepdims=True) for o in ("nuc", 1, -1, 2)], *[C(X23, ord=o, axis=0) for o in (0, 1, 2, 3, -1, 0.5)], C(V3, ord=3), C(C3, ord=1), C(X234, ord=2), C(X23, ord=5, axis=(0, 1)), C(X23, axis=2),
                                   C(V3, ord="fro"), C(E03), C(E03, ord=1, axis=(0, 1)), C(SPECIAL), C(f32(2)), C(CT, ord="nuc"), **more)
CASES["numpy.linalg.matrix_norm"] = calls(C(X23), C(X234), *[C(X234, ord=o) for o in ("nuc", 1, -1, 2, -2)], C(X234, ord=1, keepdims=True), C(CT), C(I23), C(V3), C(X23, ord=3), **more)
CASES["numpy.linalg.vector_norm"] = calls(C(X23), C(X234, axis=1), C(X234, axis=(0, 2), keepdims=True), *[C(X23, ord=o) for o in (0, 1, 3, -1, 0.5)], C(C3), C(C3, ord=1), C(I23), C(I23, ord=1), C(H5), C(E03, axis=0), C(X23, ord="fro"), C(X23, axis=2), **more)
CASES["numpy.linalg.cond"] = calls(C(S4), C(SB), C(SC), C(TALL), *[C(S4, p=p) for p in (1, -1, 2, -2, "fro", "nuc")], C(S3, p="x"), C(ints(3, 3)), C(E0), C(V3), C(TALL, p=1), scaled=True, bound=256)
CASES["numpy.linalg.matmul"] = calls(C(TALL, S3), C(WIDE, TALL), C(V3, S3), C(I23, ints(3, 2)), C(SC, C3), C(TALL, V3), C(f32(1), V3), **more)
CASES["numpy.linalg.matrix_transpose"] = calls(C(X23), C(X234), C(I23), C(E03), C(V3), C(SC))
CASES["numpy.linalg.tensordot"] = calls(C(TALL, TALL), C(WIDE, TALL, axes=1), C(V3, H5, axes=0), C(I23, I23), **more)
CASES["numpy.linalg.vecdot"] = calls(C(X23, X23), C(X23, V3), C(X23, X23, axis=0), C(C3, D3), C(I23, I3), C(X23, H5), **more)
CASES["numpy.linalg.outer"] = calls(C(V3, H5), C(I3, V3), C(C3, V3), C(X23, V3), C(np.zeros(0, f32), V3))
CASES["numpy.linalg.cross"] = calls(C(V3, normal(3)), C(X23, V3), C(I3, I23), C(normal(3, 2), normal(3, 2), axis=0), C(C3, D3), C(H5, H5), C(np.zeros((0, 3), f32), V3), scaled=True)
MULTI = lambda *xs: nl.multi_dot(xs)
CASES["numpy.linalg.multi_dot"] = calls(C(TALL, S3), C(normal(2, 5), TALL, S3, normal(3, 7)), C(V3, S3, S3, V3), C(S3, V3), C(V3, V3), C(ints(2, 3), ints(3, 4), ints(4, 1)), C(V3), C(TALL, S4), C(TALL, WIDE, S3), call=MULTI, **more)
CASES["numpy.linalg.diagonal"] = calls(C(X23), C(X234), C(X234, offset=1), C(X234, offset=-1), C(I23), C(V3), C(E03))
CASES["numpy.linalg.trace"] = calls(C(X23), C(X234), C(X234, offset=1), C(I23), C(I23, dtype=f32), C(H5.reshape(1, 5)), C(V3), C(E03), scaled=True, bound=8)

# lax
CASES["lax.linalg.cholesky"] = calls(C(P3), C(PB), C(PC), C(S3, symmetrize_input=False), C(S3), C(-P3), C(E0), C(ints(3, 3)), C(TALL), **more)
CASES["lax.linalg.cholesky_update"] = calls(C(np.linalg.cholesky(P3).T.copy(), V3), C(np.linalg.cholesky(S1 @ S1.T).T.copy(), f32([2])), C(np.eye(3, dtype=f32), np.array([0, 1, 0], f32)), C(np.eye(3, dtype=f32), normal(4)), C(TALL, V3), **more)
CASES["lax.linalg.eig"] = calls(*[C(c.args[0]) for c in EIG if c.args[0].dtype.kind != "i"], C(S3, compute_left_eigenvectors=False, compute_right_eigenvectors=False), C(ints(2, 2)),
                                call=lambda x, **o: (lambda w, *vs: [sorted_eig(w)] + ([H(vs[0]) @ jnp.astype(x, w.dtype) - w[..., :, None] * H(vs[0]) + 1, jnp.astype(x, w.dtype) @ vs[1] - vs[1] * w[..., None, :] + 1] if vs else []))(*ll.eig(x, **o)), scaled=True, bound=256)
CASES["lax.linalg.eigh"] = calls(*[c for c in SQUARE if c.args[0].dtype.kind != "i"], C(S4, lower=False, symmetrize_input=False), C(S4, symmetrize_input=False), C(PC), C(ints(2, 2)),
                                 call=lambda x, **o: (lambda v, w: [w, (v * w[..., None, :].astype(v.dtype)) @ H(v), H(v) @ v])(*ll.eigh(x, **o)), **more)
CASES["lax.linalg.hessenberg"] = calls(C(S4), C(SB), C(SC), C(S1), C(normal(6, 6)), C(TALL), C(ints(3, 3)), call=lambda x: ll.hessenberg(x), **more)
CASES["lax.linalg.householder_product"] = calls(C(TALL, normal(3)), C(S3, normal(2)), C(CT, complexes(2)), C(normal(2, 3, 2), normal(2, 2)), C(np.zeros((3, 0), f32), np.zeros((0,), f32)), C(normal(2, 3), normal(2)), C(TALL, normal(4)), **more)
CASES["lax.linalg.lu"] = calls(*[c for c in ANY], C(SINGULAR), C(E0), C(np.zeros((2, 2), f32)), C(ints(2, 2)), **more)
CASES["lax.linalg.lu_pivots_to_permutation"] = calls(C(np.array([2, 2, 2], i32), permutation_size=3), C(np.array([1, 3], i32), permutation_size=4), C(np.array([[1, 1], [0, 1]], i32), permutation_size=2), C(np.zeros((0,), i32), permutation_size=3), C(np.array([0, 1, 2], i32), permutation_size=2), C(V3, permutation_size=3))
CASES["lax.linalg.ormqr"] = calls(C(TALL, normal(3), normal(5, 2)), C(TALL, normal(3), normal(2, 5), left=False), C(TALL, normal(3), normal(5, 2), transpose=True), C(TALL, normal(3), normal(2, 5), left=False, transpose=True), C(normal(2, 4, 2), normal(2, 2), normal(2, 4, 3)),
                                  C(TALL, normal(3), normal(3, 2)), **more)
CASES["lax.linalg.qdwh"] = calls(C(S3), C(TALL), C(SC), C(P3, is_hermitian=True), C(S4, max_iterations=2), C(WIDE[0]), scaled=True, bound=256)
CASES["lax.linalg.qr"] = calls(*ANY, C(TALL, full_matrices=False), C(WIDE, full_matrices=False), C(np.zeros((3, 0), f32)), C(ints(3, 3)), C(TALL, pivoting=True), C(WIDE, pivoting=True, full_matrices=False), C(SC, pivoting=True),
                               call=lambda x, **o: (lambda q, r, *p: [q @ r, H(q) @ q, SIZES(r), *p])(*ll.qr(x, **o)), **more)
CASES["lax.linalg.schur"] = calls(C(S4), C(SB), C(SC), C(S1), C(normal(5, 5)), C(np.array([[0, 1], [-1, 0]], f32)), C(TALL), C(ints(3, 3)), C(S3, compute_schur_vectors=False),
                                  call=lambda x, **o: (lambda t, *q: [jnp.linalg.norm(t, axis=(-1, -2))] + ([q[0] @ t @ H(q[0]), H(q[0]) @ q[0]] if q else []))(*ll.schur(x, **o)), scaled=True, bound=256)
CASES["lax.linalg.svd"] = calls(*ANY, C(TALL, full_matrices=False), C(WIDE, full_matrices=False), C(SINGULAR, full_matrices=False), C(ints(3, 3)), C(TALL, compute_uv=False),
                                call=lambda x, compute_uv=True, **o: (lambda u, s, v: [s, (u[..., :, :s.shape[-1]] * s[..., None, :]) @ v[..., :s.shape[-1], :], H(u) @ u, v @ H(v)])(*ll.svd(x, **o)) if compute_uv else ll.svd(x, compute_uv=False, **o), **more)
CASES["lax.linalg.symmetric_product"] = calls(C(S3, P3), C(normal(3, 5), P3, alpha=2.0, beta=0.5), C(normal(3, 5), S3, beta=1.0, symmetrize_output=True), C(normal(2, 3, 2), PB), C(normal(5, 3), P3), C(ints(3, 3), ints(3, 3)), **more)
CASES["lax.linalg.triangular_solve"] = calls(*[C(S3, normal(3, 2) if l else normal(2, 3), left_side=l, lower=lo, transpose_a=t, unit_diagonal=u) for l in (True, False) for lo in (True, False) for t in (True, False) for u in (True, False)],
                                             C(SC, complexes(3, 2), left_side=True, lower=True, transpose_a=True, conjugate_a=True), C(SC, complexes(3, 2), left_side=True, conjugate_a=True), C(S3, normal(3), left_side=True), C(S3, normal(3)), C(SB, normal(2, 3, 1), left_side=True, lower=True),
                                             C(E0, np.zeros((0, 2), f32), left_side=True), C(S3, normal(2, 2), left_side=True), C(TALL, normal(5, 1), left_side=True), C(S3, ints(3, 2), left_side=True), **more)
CASES["lax.linalg.tridiagonal"] = calls(C(P3), C(PB), C(PC), C(P3, lower=False), C(PC, lower=False), C(positive(n=6)), C(positive(n=6), lower=False), C(S1), C(TALL), **more)
CASES["lax.linalg.tridiagonal_solve"] = calls(C(normal(4), uniform(4, low=4, high=6), normal(4), normal(4, 2)), C(normal(2, 3), normal(2, 3), normal(2, 3), normal(2, 3, 1)), C(complexes(3), complexes(3), complexes(3), complexes(3, 2)), C(normal(5), np.zeros(5, f32) + f32(1e-3), normal(5), normal(5, 1)),
                                              C(normal(1), normal(1), normal(1), normal(1, 2)), C(V3, V3, H5, normal(3, 1)), C(V3, V3, V3, normal(4, 1)), **more)
