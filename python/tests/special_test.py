#!/usr/bin/env python3
"""Functions that jaxlib would write out in simpler ones reach Strata whole, and have its accuracy."""
import harness


def on_strata(function, *args):
    import jax
    import numpy as np

    return np.asarray(jax.jit(function)(*jax.device_put(args, harness.device())))


def test_near_zeros_and_branch_points():
    import jax
    import jax.numpy as jnp
    import numpy as np

    gamma = on_strata(jax.scipy.special.gammaln, np.float32([1, 2, 1 + 2**-23, 2 - 2**-23]))
    assert (gamma[:2] == 0).all()
    np.testing.assert_allclose(gamma[2:], [-6.8809459e-08, -5.0399816e-08], rtol=2e-7)
    np.testing.assert_allclose(on_strata(jnp.arctan, np.complex64(2.7105054e-20 + 1j)).imag, 22.873857, rtol=2e-7)
    np.testing.assert_allclose(on_strata(jnp.log1p, np.complex64(-1 + 4.7019774e-38j)).real, -85.950250, rtol=2e-7)


def test_equal_to_xla():
    import jax
    import jax.numpy as jnp
    import numpy as np

    special = jax.scipy.special
    x = np.linspace(0.1, 0.9, 50, dtype=np.float32)
    z = (np.linspace(-2, 2, 50) + 1j * np.linspace(1, 3, 50)).astype(np.complex64)
    for function, *args in (
        (special.gammaln, x), (special.digamma, x), (special.erfinv, x), (special.erfc, x), (special.i1e, x), (jnp.arctan, x),
        (lambda a: special.zeta(a + 1.5, a), x), (lambda a: special.polygamma(2, a), x), (jnp.square, z), (jnp.arctan, z), (jnp.log1p, z),
        (jnp.log1p, x),
    ):  # fmt: skip
        np.testing.assert_allclose(on_strata(function, *args), harness.on_xla(function, *args), rtol=2e-4, atol=1e-6)
    assert on_strata(jnp.nextafter, x, np.float32(1)).tolist() == np.nextafter(x, np.float32(1)).tolist()


def test_derivatives_batches_and_loops():
    import jax
    import numpy as np

    x = np.linspace(0.5, 4, 12, dtype=np.float32).reshape(3, 4)

    def f(a):
        return jax.lax.fori_loop(0, 3, lambda i, c: c + jax.scipy.special.gammaln(c), a).sum()

    g = jax.vmap(jax.grad(f))
    np.testing.assert_allclose(on_strata(g, x), harness.on_xla(g, x), rtol=1e-3, atol=1e-4)


def test_top_k_has_the_total_order():
    import jax
    import ml_dtypes
    import numpy as np

    numbers = [np.nan, -np.nan, 0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, -np.nan, -0.0, 2]
    for dtype in (np.float32, np.float16, ml_dtypes.bfloat16):
        x = np.array(numbers, np.float32).astype(dtype)
        for rows in (1, 16, 300):
            many = np.stack([np.roll(x, i) for i in range(rows)])
            for k in (1, 5, len(numbers)):
                (values, places), (want, there) = (on(lambda a: jax.lax.top_k(a, k), many) for on in (both_on_strata, harness.on_xla))
                assert (places == there).all() and values.tobytes() == want.tobytes(), (dtype, rows, k)


def both_on_strata(function, *args):
    import jax
    import numpy as np

    return jax.tree.map(np.asarray, jax.jit(function)(*jax.device_put(args, harness.device())))


def test_they_are_in_the_program():
    import jax
    import numpy as np

    text = jax.jit(jax.scipy.special.digamma).lower(np.float32([1])).as_text()
    assert 'stablehlo.composite "chlo.digamma"' in text, text


if __name__ == "__main__":
    harness.run(globals())
