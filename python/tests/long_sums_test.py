#!/usr/bin/env python3
"""Sums, means and products of very many numbers keep their digits, as XLA's do: arrays that lie in memory, and those that a program makes."""
import harness

TERMS = 10**8
CLOSE = 4e-7  # of sums of numbers of one sign: a few units in the last place


def expect(got, exact):
    assert abs(float(got) / exact - 1) < CLOSE, f"{float(got)}, expected {exact}"


def test_equal_numbers():
    import jax
    import jax.numpy as jnp
    import numpy as np

    tenth = float(np.float32(0.1))
    with jax.default_device(harness.device()):
        a = jnp.full(TERMS, 0.1, jnp.float32)
        expect(jnp.mean(a), tenth)
        expect(jnp.sum(a), tenth * TERMS)
        expect(jnp.dot(a, a), tenth * tenth * TERMS)


def test_a_mask():
    import jax
    import jax.numpy as jnp

    def ones(x):
        return jnp.where(jnp.triu(jnp.ones((6000, 6000), bool)), x, 0.0).sum()

    with jax.default_device(harness.device()):
        assert float(jax.jit(ones)(jnp.float32(1))) == 18003000


def test_random_numbers():
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = np.random.default_rng(0).random((1000003, 4), np.float32)
    wide = x.astype(np.float64)
    on = jax.device_put(x, harness.device())
    for got, exact in [
        (jnp.sum(on), wide.sum()),
        *zip(jnp.sum(on, 0), wide.sum(0)),
        *zip((on.T @ on).reshape(-1), (wide.T @ wide).reshape(-1)),
        (jnp.vdot(on, on), (wide * wide).sum()),
    ]:
        expect(got, exact)


if __name__ == "__main__":
    harness.run(globals())
