#!/usr/bin/env python3
"""Random loops that write parts of arrays give the values that they have on XLA's own CPU.

STRATA_RANDOM_LOOPS sets how many (default 3, others each day where STRATA_SAMPLE is set); `make soak` runs 200.
"""
import os
import random

import harness

SIZE = 300


def loop(seed):
    """A function of three arrays, with a loop of a few turns that reads, writes, masks, branches and moves them."""
    import jax.numpy as jnp
    from jax import lax

    draw = random.Random(seed)
    steps = [(draw.randrange(11), draw.randrange(7), draw.randrange(7), draw.randrange(11)) for _ in range(draw.randrange(3, 9))]
    turns, by_scan = draw.randrange(1, 9), draw.random() < 0.4
    first, second = draw.randrange(4), draw.randrange(4)

    def body(t, a, b, c):
        arrays, places, rows = [a, b, c], [t], [a[t]]
        for kind, i, j, k in steps:
            x, at, row = arrays[-1 - i % len(arrays)], places[k % len(places)], rows[-1 - j % len(rows)]
            match kind:
                case 0 | 1: rows.append(x[at])
                case 2: rows.append(jnp.sin(row) + rows[0])
                case 3 | 4: arrays.append(x.at[at].set(row))
                case 5: arrays.append(x.at[(at + 7) % SIZE].add(row))
                case 6: places.append((at * (1 + i) + j) % SIZE)
                case 7: arrays.append(jnp.where(at % 2 == 0, x.at[at].set(row), x))
                case 8: arrays.append(lax.cond((at + j) % 3 == 0, lambda x, r, at: x.at[at].multiply(0.5), lambda x, r, at: x.at[at].min(r), x, row, at))
                case 9: arrays.append(lax.fori_loop(0, 3, lambda s, x: x.at[(at + s + 1) % SIZE].set(x[(at + s) % SIZE] + row), x))
                case _: arrays.append(x * 0.75 + arrays[j % len(arrays)])
        return arrays[-1 - first % len(arrays)], arrays[-1 - second % len(arrays)], rows[-1]

    def program(a, b, c):
        if by_scan:
            def turn(carry, t):
                a, b, row = body(t, *carry, c)
                return (a, b), row
            return lax.scan(turn, (a, b), jnp.arange(turns, dtype=jnp.int32))
        return lax.fori_loop(0, turns, lambda t, s: body(t, *s[:2], c), (a, b, a[0]))

    return program


def cases():
    count, day = int(os.environ.get("STRATA_RANDOM_LOOPS", "3")), int(os.environ.get("STRATA_SAMPLE") or "0")
    return range(day * count, (day + 1) * count)


def same(make):
    import jax
    import numpy as np

    for seed in cases():
        numbers = np.random.default_rng(seed)
        program, arguments = make(seed, [numbers.uniform(-1, 1, (SIZE, 8)).astype("float32") for _ in range(3)])
        ours, theirs = harness.on_strata(program, *arguments), harness.on_xla(program, *arguments)
        for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5, err_msg=f"seed {seed}")


def test_loops():
    same(lambda seed, arguments: (loop(seed), arguments))


def test_loops_of_a_batch():
    import jax

    def make(seed, arguments):
        import numpy as np
        return jax.vmap(loop(seed)), [np.stack([a, -a, a * 0.5]) for a in arguments]

    same(make)


def test_gradients_of_loops():
    import jax

    def make(seed, arguments):
        program = loop(seed)
        return jax.grad(lambda *a: sum(x.sum() for x in jax.tree.leaves(program(*a))), argnums=(0, 1)), arguments

    same(make)


if __name__ == "__main__":
    harness.run(globals())
