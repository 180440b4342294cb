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
        if i % 100 == 0:  # calls that wait hold their arrays, on a busy machine thousands of them
            jax.block_until_ready((x, y))
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


def test_missing_memory_is_told_with_its_numbers():
    import jax
    import numpy as np

    full = jax.jit(lambda x: jax.numpy.broadcast_to(x, (1024, 1024)))
    held = [full(jax.device_put(np.float32(i), harness.device())).block_until_ready() for i in range(3)]
    huge = jax.jit(lambda x: jax.numpy.broadcast_to(x, (1 << 22, 1 << 22)))
    try:
        huge(jax.device_put(np.float32(1), harness.device())).block_until_ready()
    except Exception as e:  # noqa: BLE001
        said = str(e)
    else:
        raise AssertionError("64 TiB were there")
    assert "RESOURCE_EXHAUSTED: out of memory: 70368744177664 bytes (64 TiB) requested, " in said, said
    assert " available; in use: " in said and "largest buffers: " in said, said
    assert f"{len(held)} x f32[1024,1024] of 4194304 bytes (4 MiB)" in said, said


if __name__ == "__main__":
    harness.run(globals(), modes=["drop-in"])
