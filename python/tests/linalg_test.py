#!/usr/bin/env python3
"""Factorisations, which JAX computes by its own LAPACK through foreign functions: each holds by its definition."""
import harness

DTYPES = ["f4", "f8", "c8", "c16"]


def matrices(dtype, shape=(5, 5)):
    import numpy as np

    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, *shape))
    if dtype[0] == "c":
        a = a + 1j * rng.standard_normal((3, *shape))
    return a.astype(dtype)


def adjoint(a):
    import numpy as np

    return np.conj(np.swapaxes(a, -1, -2))


def near(a, b, dtype):
    import numpy as np

    bound = 2e-5 if dtype in ("f4", "c8") else 1e-13
    error = np.linalg.norm(np.asarray(a) - np.asarray(b)) / max(1e-30, np.linalg.norm(np.asarray(b)))
    assert error < bound, f"{dtype}: relative error {error:.2e}"


def each(check, shape=(5, 5)):
    import jax

    with jax.enable_x64(True):
        for dtype in DTYPES:
            check(jax.device_put(matrices(dtype, shape), harness.device()), dtype)


def test_cholesky():
    import jax
    import numpy as np

    def check(a, dtype):
        spd = a @ adjoint(a) + 6 * np.eye(5, dtype=dtype)
        l = np.asarray(jax.numpy.linalg.cholesky(spd))
        near(l @ adjoint(l), spd, dtype)
        assert np.all(np.triu(l, 1) == 0)

    each(check)


def test_triangular_solve():
    import jax
    import numpy as np

    def check(a, dtype):
        l = jax.numpy.tril(a) + 4 * np.eye(5, dtype=dtype)
        near(np.asarray(l) @ np.asarray(jax.scipy.linalg.solve_triangular(l, a, lower=True)), a, dtype)

    each(check)


def test_lu_and_solve():
    import jax
    import numpy as np

    def check(a, dtype):
        p, l, u = map(np.asarray, jax.scipy.linalg.lu(a[0]))
        near(p @ l @ u, a[0], dtype)
        near(np.asarray(a) @ np.asarray(jax.numpy.linalg.solve(a, a[..., :2])), a[..., :2], dtype)

    each(check)


def test_qr():
    import jax
    import numpy as np

    def check(a, dtype):
        q, r = map(np.asarray, jax.numpy.linalg.qr(a))
        near(q @ r, a, dtype)
        near(adjoint(q) @ q, np.broadcast_to(np.eye(4), (3, 4, 4)), dtype)
        assert np.all(np.tril(r, -1) == 0)

    each(check, (6, 4))


def test_svd():
    import jax
    import numpy as np

    def check(a, dtype):
        u, s, v = map(np.asarray, jax.numpy.linalg.svd(a, full_matrices=False))
        near((u * s[..., None, :]) @ v, a, dtype)
        assert np.all(np.diff(s) <= 0)

    each(check, (6, 4))


def test_eigh():
    import jax
    import numpy as np

    def check(a, dtype):
        hermitian = np.asarray(a + adjoint(a))
        w, v = map(np.asarray, jax.numpy.linalg.eigh(hermitian))
        near(hermitian @ v, v * w[..., None, :], dtype)

    each(check)


def test_eig():
    import jax
    import numpy as np

    def check(a, dtype):
        w, v = map(np.asarray, jax.numpy.linalg.eig(a))
        near(np.asarray(a) @ v, v * w[..., None, :], dtype)

    each(check)


def test_schur_and_hessenberg():
    import jax
    import numpy as np

    def check(a, dtype):
        t, z = map(np.asarray, jax.scipy.linalg.schur(a[0], output="complex" if dtype[0] == "c" else "real"))
        near(z @ t @ adjoint(z), a[0], dtype)
        h, q = map(np.asarray, jax.scipy.linalg.hessenberg(a[0], calc_q=True))
        near(q @ h @ adjoint(q), a[0], dtype)

    each(check)


def test_pivoted_qr():
    import jax
    import numpy as np

    def check(a, dtype):
        q, r, p = map(np.asarray, jax.scipy.linalg.qr(a[0], pivoting=True))
        near(q @ r, np.asarray(a[0])[:, p], dtype)

    each(check, (6, 4))


def test_tridiagonal_solve():
    import jax
    import numpy as np

    def check(a, dtype):
        low, main, up = a[..., 0], a[..., 1] + 5, a[..., 2]
        low, up = low.at[..., 0].set(0), up.at[..., -1].set(0)
        x = np.asarray(jax.lax.linalg.tridiagonal_solve(low, main, up, a[..., 3:]))
        full = np.stack([np.diag(m) + np.diag(l[1:], -1) + np.diag(u[:-1], 1) for l, m, u in zip(*map(np.asarray, (low, main, up)))])
        near(full @ x, a[..., 3:], dtype)

    each(check)


def test_derivatives_go_through():
    import jax
    import jax.numpy as jnp
    import numpy as np

    spd = lambda a: a @ a.T + 3 * jnp.eye(5)
    loss = lambda a: jnp.sum(jnp.log(jnp.linalg.eigvalsh(spd(a)))) + jnp.linalg.slogdet(spd(a))[1] + jnp.sum(jnp.linalg.cholesky(spd(a)))
    with jax.enable_x64(True):
        a = matrices("f8")[0]
        near(harness.on_strata(jax.grad(loss), a), harness.on_xla(jax.grad(loss), a), "f8")


if __name__ == "__main__":
    harness.run(globals())
