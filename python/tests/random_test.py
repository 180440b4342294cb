#!/usr/bin/env python3
"""jax.random draws the bits that it draws on XLA's own CPU."""
import harness

IMPLEMENTATIONS = ["threefry2x32", "rbg", "unsafe_rbg"]


def equal(draw):
    """The same bits for each generator of keys."""
    import jax
    import numpy as np

    for implementation in IMPLEMENTATIONS:
        f = lambda seed: draw(jax.random.key(seed, impl=implementation))
        for seed in (0, 17, 2**31 + 5):
            ours, theirs = harness.on_strata(f, np.uint32(seed)), harness.on_xla(f, np.uint32(seed))
            for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
                assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), f"{implementation}, seed {seed}: {a} and {b}"


def test_bits():
    import jax

    for dtype in ("uint8", "uint16", "uint32"):
        for shape in [(), (1,), (5,), (3, 7), (1001,)]:
            equal(lambda key: jax.random.bits(key, shape, dtype))


def test_bits_of_64():
    import jax

    with jax.enable_x64(True):
        equal(lambda key: jax.random.bits(key, (5, 3), "uint64"))


def test_split_and_fold_in():
    import jax

    equal(lambda key: [jax.random.key_data(k) for k in (jax.random.split(key, 7), jax.random.split(key, (2, 3)), jax.random.fold_in(key, 9))])


def test_uniform():
    import jax

    equal(lambda key: [jax.random.uniform(key, (1000,), d) for d in ("float32", "bfloat16", "float16")])


def test_randint_and_permutation():
    import jax

    equal(lambda key: [jax.random.randint(key, (500,), -3, 1000), jax.random.permutation(key, 100), jax.random.bernoulli(key, 0.3, (500,))])


def test_under_vmap():
    import jax

    equal(lambda key: jax.vmap(lambda k: jax.random.bits(k, (6,)))(jax.random.split(key, 5)))


def test_normal_within_some_ulp():
    """erf_inv is computed by either's own functions."""
    import jax
    import numpy as np

    f = lambda seed: jax.random.normal(jax.random.key(seed), (10000,))
    ours, theirs = harness.on_strata(f, np.uint32(1)), harness.on_xla(f, np.uint32(1))
    ulp = np.abs(ours.view(np.int32).astype(np.int64) - theirs.view(np.int32))
    assert ulp.max() <= 8 and (ulp == 0).mean() >= 0.9, f"{ulp.max()} ulp, {100 * (ulp == 0).mean():.1f} % equal"


if __name__ == "__main__":
    harness.run(globals())
