#!/usr/bin/env python3
"""Memory of a process stays where it is, however often programs are called and however many are compiled and dropped."""
import gc

import harness


def resident_mb():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096 / 1e6


def test_ten_thousand_calls():
    import jax
    import numpy as np

    f = jax.jit(lambda x, y: (x * 2 + y, y))
    x = jax.device_put(np.ones((64, 64), np.float32), harness.device())
    y = x
    for i in range(10_000):
        x, y = f(y, x) if i % 100 == 0 else f(x * 0 + 1, y)
        if i == 2000:
            jax.block_until_ready((x, y))
            gc.collect()
            before = resident_mb()
    jax.block_until_ready((x, y))
    gc.collect()
    assert resident_mb() - before < 10, f"{before:.0f} MB grew to {resident_mb():.0f}"


def test_a_thousand_programs():
    import jax
    import numpy as np

    x = jax.device_put(np.ones((8, 8), np.float32), harness.device())
    sizes = []
    for i in range(1000):
        jax.jit(lambda x: jax.numpy.tanh(x * (i + 1.5)) @ x + i)(x).block_until_ready()
        if i % 100 == 99:
            jax.clear_caches()
            gc.collect()
            sizes.append(round(resident_mb()))
    assert sizes[-1] - sizes[1] < 10, f"MB after each hundred: {sizes}"


if __name__ == "__main__":
    harness.run(globals(), modes=["drop-in"])
