"""Loops that write a part of an array in each turn, a class of programs of their own: PROGRAMS maps a name to a function that returns (program, arguments).

    STRATA_BUILD=build bench/perf.py --programs bench/loops_in_place.py [NAME...]

Each costs the part in a turn, not the array; of some XLA copies the array (two writes, swaps, a carry beside outputs, gradients).
LOOPS maps a name to the program of a length n, for tools/goldens/loops.py, which writes short ones for the tests.
"""
import jax, jax.numpy as jnp
from jax import lax

LOOPS = {}
def loop(f): LOOPS[f.__name__] = f; return f
def turns(n, body): return lambda x: lax.fori_loop(0, n, body, x)

@loop
def history_of_rows(n): return turns(n - 1, lambda t, x: x.at[t + 1].set(x[t] * 0.5 + 1)), (jnp.zeros((n, 8)),)
@loop
def history_of_columns(n): return turns(n - 1, lambda t, x: x.at[:, t + 1].set(x[:, t] * 0.5 + 1)), (jnp.zeros((8, n)),)
@loop
def wide_rows(n): return turns(n - 1, lambda t, x: x.at[t + 1].set(x[t] * 0.5 + 1)), (jnp.zeros((n, 64)),)
@loop
def cache_of_keys(n):
    def body(t, c): return lax.dynamic_update_slice(c, lax.dynamic_slice(c, (0, t, 0), (4, 1, 16)) + 1, (0, t + 1, 0))
    return turns(n - 1, body), (jnp.zeros((4, n, 16)),)
@loop
def batched(n): return jax.vmap(turns(n - 1, lambda t, x: x.at[t + 1].set(x[t] + 1))), (jnp.zeros((4, n)),)
@loop
def written_in_a_branch(n): return turns(n, lambda t, x: lax.cond(t % 2 == 0, lambda x: x.at[t].add(1.0), lambda x: x, x)), (jnp.zeros(n),)
@loop
def written_or_kept(n): return turns(n, lambda t, x: jnp.where(t % 3 == 0, x.at[t].set(1.0), x)), (jnp.zeros(n),)
@loop
def written_or_kept_in_a_batch(n):
    return jax.vmap(lambda x, k: lax.fori_loop(0, n, lambda t, x: lax.cond((t + k) % 3 == 0, lambda x: x.at[t].set(1.0), lambda x: x, x), x)), \
        (jnp.zeros((4, n)), jnp.arange(4))
@loop
def table(n):
    """Dynamic programming: a row from the row before. Of side n / 20."""
    def body(i, d): return d.at[i].set(jnp.minimum(d[i - 1] + 1, jnp.roll(d[i - 1], 1)))
    return lambda d: lax.fori_loop(1, d.shape[0], body, d), (jnp.ones((n // 20, n // 20)),)
@loop
def two_writes(n): return turns(n // 2, lambda t, x: x.at[2 * t].set(t * 1.0).at[2 * t + 1].set(x[2 * t])), (jnp.ones(n),)
@loop
def swaps(n):
    def body(t, x): return x.at[t].set(x[(t * 7919) % n]).at[(t * 7919) % n].set(x[t])
    return turns(n, body), (jnp.arange(n) * 1.0,)
@loop
def carry_and_outputs(n): return lambda x: lax.scan(lambda c, i: (c.at[i].set(c[i] + 1), c[0]), x, jnp.arange(n) % 7), (jnp.zeros(n),)
@loop
def gradient(n): return jax.grad(lambda x: lax.fori_loop(0, n - 1, lambda t, x: x.at[t + 1].set(jnp.sin(x[t])), x)[-1]), (jnp.ones(n),)
@loop
def solver_that_saves(n):
    """Euler's steps of 16 states, each with its time, until an end that is known only as it runs."""
    def step(s):
        t, y, ts, ys, i = s
        y = y - 0.01 * y
        return t + 0.01, y, ts.at[i].set(t), ys.at[i].set(y), i + 1
    def run(y, end):
        return lax.while_loop(lambda s: s[0] < end, step, (jnp.float32(0), y, jnp.zeros(n), jnp.zeros((n, 16)), 0))[2:4]
    return run, (jnp.ones(16), jnp.float32(n * 0.009))

PROGRAMS = {name: (lambda make=make: make(20000)) for name, make in LOOPS.items()}
KIND = {name: "loops in place" for name in LOOPS}
