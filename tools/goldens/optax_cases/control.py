"""Loops and branches of jax.lax as Python's, where what they ask is known: each operation is its own.

jax.disable_jit would do that too, but takes integer powers by repeated products, which moves 1 - 0.999^t
by 6e-6 of itself.
"""
import contextlib

import jax
import jax.numpy as jnp

COND, WHILE, FORI = jax.lax.cond, jax.lax.while_loop, jax.lax.fori_loop


def known(*values):
    return not any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(values))


def cond(pred, true_fun, false_fun, *operands, **more):
    if not known(pred):
        return COND(pred, true_fun, false_fun, *operands, **more)
    return (true_fun if pred else false_fun)(*operands, *more.values())


def while_loop(cond_fun, body_fun, init_val):
    if not known(init_val):
        return WHILE(cond_fun, body_fun, init_val)
    value = jax.tree.map(jnp.asarray, init_val)
    while cond_fun(value):
        value = body_fun(value)
    return value


def fori_loop(lower, upper, body_fun, init_val, **more):
    if not known(lower, upper, init_val):
        return FORI(lower, upper, body_fun, init_val, **more)
    value = jax.tree.map(jnp.asarray, init_val)
    for i in range(int(lower), int(upper)):
        value = body_fun(jnp.int32(i), value)
    return value


@contextlib.contextmanager
def op_by_op():
    jax.lax.cond, jax.lax.while_loop, jax.lax.fori_loop = cond, while_loop, fori_loop
    try:
        yield
    finally:
        jax.lax.cond, jax.lax.while_loop, jax.lax.fori_loop = COND, WHILE, FORI
