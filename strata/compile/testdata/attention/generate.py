#!/usr/bin/env python3
"""Attention as it is written with JAX, and near misses: `python generate.py` writes match_*.mlir and miss_*.mlir beside itself.

match_NAME.mlir gives softmax(q kᵀ) v and its gradients for a cotangent of it; miss_NAME.mlir gives what the near miss computes. Two rows of a
batch, eight heads, 128 queries and keys of eight numbers, unless a spelling has its own.
"""
import functools
import pathlib

import jax
import jax.numpy as jnp

B, H, S, D = 2, 8, 128, 8
HEADS_LAST, HEADS_FIRST = (B, S, H, D), (B, H, S, D)
tril = lambda n=S: jnp.tril(jnp.ones((n, n), bool))
scores = lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k) / D**0.5
values = lambda p, v: jnp.einsum("bhqk,bkhd->bqhd", p, v)
MATCHES, MISSES = {}, {}


def spelling(table, shapes=(HEADS_LAST,) * 3, extra=(), dtype=jnp.float32):
    """`shapes` of the queries, keys and values; `extra`: (shape, dtype) of what else is given and has no gradient."""

    def register(f):
        given = [jax.ShapeDtypeStruct(s, dtype) for s in shapes] + [jax.ShapeDtypeStruct(s, t) for s, t in extra]
        table[f.__name__.rstrip("_")] = (f, len(shapes), given)
        return f

    return register


match, miss = functools.partial(spelling, MATCHES), functools.partial(spelling, MISSES)


@match()
def dot_product_attention(q, k, v):
    return jax.nn.dot_product_attention(q, k, v)


@match()
def dot_product_attention_causal(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


@match(extra=[((B, 1, S, S), jnp.float32)])
def dot_product_attention_bias(q, k, v, bias):
    return jax.nn.dot_product_attention(q, k, v, bias=bias)


@match(extra=[((B, 1, S, S), jnp.bool_)])
def dot_product_attention_mask(q, k, v, mask):
    return jax.nn.dot_product_attention(q, k, v, mask=mask)


@match()
def dot_product_attention_window(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True, local_window_size=(16, 0))


@match(shapes=(HEADS_LAST, (B, S, H // 4, D), (B, S, H // 4, D)))
def dot_product_attention_grouped(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


@match(shapes=(HEADS_FIRST,) * 3)
def einsum_heads_first(q, k, v):
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) * D**-0.5), v)


@match()
def einsum_scaled_queries(q, k, v):
    return values(jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q * D**-0.5, k)), v)


@match()
def scaled_on_both_sides(q, k, v):
    return values(jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q * D**-0.25, k * D**-0.25)), v)


@match(shapes=(HEADS_FIRST,) * 3)
def matmul(q, k, v):
    return jax.nn.softmax((q @ k.swapaxes(-1, -2)) / jnp.sqrt(D), axis=-1) @ v


@match(extra=[((S, S), jnp.float32)])
def additive_mask(q, k, v, mask):
    return values(jax.nn.softmax(scores(q, k) + mask), v)


@match()
def causal_by_infinity(q, k, v):
    return values(jax.nn.softmax(jnp.where(tril(), scores(q, k), -jnp.inf)), v)


@match()
def causal_by_least_float(q, k, v):
    i, j = jnp.arange(S)[:, None], jnp.arange(S)[None, :]
    return values(jax.nn.softmax(jnp.where(j > i, jnp.finfo(jnp.float32).min, scores(q, k))), v)


@match()
def causal_by_large_number(q, k, v):
    return values(jax.nn.softmax(jnp.where(tril(), scores(q, k), -1e9)), v)


@match()
def causal_by_arithmetic(q, k, v):
    m = tril().astype(jnp.float32)
    return values(jax.nn.softmax(scores(q, k) * m - 1e10 * (1 - m)), v)


@match()
def causal_before_scale(q, k, v):
    return values(jax.nn.softmax(jnp.where(tril(), jnp.einsum("bqhd,bkhd->bhqk", q, k), -1e30) * D**-0.5), v)


@match()
def causal_softmax_where(q, k, v):
    return values(jax.nn.softmax(scores(q, k), where=tril()), v)


@match()
def banded(q, k, v):
    d = jax.lax.broadcasted_iota(jnp.int32, (S, S), 0) - jax.lax.broadcasted_iota(jnp.int32, (S, S), 1)
    return values(jax.nn.softmax(jnp.where((d >= 0) & (d < 16), scores(q, k), -jnp.inf)), v)


@match(extra=[((B, S), jnp.int32)])
def segments(q, k, v, segment):
    return values(jax.nn.softmax(jnp.where((segment[:, :, None] == segment[:, None, :])[:, None], scores(q, k), -1e9)), v)


@match()
def soft_capped(q, k, v):
    return values(jax.nn.softmax(jnp.where(tril(), 30 * jnp.tanh(scores(q, k) / 30), -jnp.inf)), v)


@match()
def linear_biases(q, k, v):
    slopes = 2.0 ** -jnp.arange(1, H + 1)
    far = (jnp.arange(S)[None, :] - jnp.arange(S)[:, None]).astype(jnp.float32)
    return values(jax.nn.softmax(scores(q, k) + slopes[:, None, None] * far), v)


@match()
def by_hand(q, k, v):
    s = scores(q, k)
    e = jnp.exp(s - jax.lax.stop_gradient(s.max(-1, keepdims=True)))
    return values(e / e.sum(-1, keepdims=True), v)


@match()
def without_maximum(q, k, v):
    e = jnp.exp(scores(q, k))
    return values(e / e.sum(-1, keepdims=True), v)


@match()
def exp_of_log_softmax(q, k, v):
    return values(jnp.exp(jax.nn.log_softmax(scores(q, k))), v)


@match()
def exp_minus_logsumexp(q, k, v):
    s = scores(q, k)
    return values(jnp.exp(s - jax.nn.logsumexp(s, axis=-1, keepdims=True)), v)


@match()
def normalised_last(q, k, v):
    s = jnp.where(tril(), scores(q, k), -jnp.inf)
    e = jnp.exp(s - jax.lax.stop_gradient(s.max(-1, keepdims=True)))
    return values(e, v) / e.sum(-1).transpose(0, 2, 1)[..., None]


@match(dtype=jnp.bfloat16)
def bf16_softmax_in_f32(q, k, v):
    p = jax.nn.softmax(jnp.where(tril(), scores(q, k).astype(jnp.float32), -jnp.inf))
    return values(p.astype(jnp.bfloat16), v)


@match(dtype=jnp.bfloat16)
def bf16_scores_in_f32(q, k, v):
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32) * D**-0.5
    return values(jax.nn.softmax(s).astype(jnp.bfloat16), v)


@match(extra=[((B, H, S, S), jnp.bool_)])
def dropped_out(q, k, v, keep):
    return values(jnp.where(keep, jax.nn.softmax(scores(q, k)) / 0.9, 0), v)


@match(shapes=((16, S, D),) * 3)
def one_head(q, k, v):
    p = jax.nn.softmax(jnp.where(tril(), jnp.einsum("bqd,bkd->bqk", q, k) / D**0.5, -1e9))
    return jnp.einsum("bqk,bkd->bqd", p, v)


@match(shapes=((S, 16, D),) * 3)
def no_batch(q, k, v):
    return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(jnp.einsum("qhd,khd->hqk", q, k)), v)


@match(shapes=((16, S, D),) * 3)
def mapped_over_heads(q, k, v):
    return jax.vmap(lambda q, k, v: jax.nn.softmax(q @ k.T) @ v)(q, k, v)


@match(shapes=(HEADS_LAST, (B, S, H // 2, D), (B, S, H // 2, D)))
def repeated_heads(q, k, v):
    k, v = (jnp.repeat(x, 2, axis=2) for x in (k, v))
    return values(jax.nn.softmax(jnp.where(tril(), scores(q, k), -1e30)), v)


@match(shapes=((4, S, H, D), (4, S, H // 2, D), (4, S, H // 2, D)))
def grouped_heads(q, k, v):
    q = q.reshape(4, S, H // 2, 2, D)
    p = jax.nn.softmax(jnp.where(tril(), jnp.einsum("bqhgd,bkhd->bhgqk", q, k) / D**0.5, -jnp.inf))
    return jnp.einsum("bhgqk,bkhd->bqhgd", p, v).reshape(4, S, H, D)


@match(shapes=((B, S, H * D),) * 3)
def split_heads(q, k, v):
    split = lambda x: x.reshape(B, S, H, D).transpose(0, 2, 1, 3)
    out = jax.nn.softmax(split(q) @ split(k).transpose(0, 1, 3, 2) / D**0.5) @ split(v)
    return out.transpose(0, 2, 1, 3).reshape(B, S, H * D)


@match(shapes=(HEADS_LAST, (B, 2 * S, H, D), (B, 2 * S, H, D)))
def other_length(q, k, v):
    return values(jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((S, 2 * S), bool), S), scores(q, k), -1e30)), v)


@miss()
def scores_returned(q, k, v):
    s = scores(q, k)
    return values(jax.nn.softmax(s), v), s


@miss()
def weights_returned(q, k, v):
    p = jax.nn.softmax(scores(q, k))
    return values(p, v), p


@miss()
def masked_weights_returned(q, k, v):
    p = jax.nn.softmax(scores(q, k))
    return values(jnp.where(tril(), p, 0), v), jnp.where(tril(), p, 0)


@miss()
def softmax_over_queries(q, k, v):
    return values(jax.nn.softmax(scores(q, k), axis=-2), v)


@miss()
def softmax_over_heads(q, k, v):
    return values(jax.nn.softmax(scores(q, k), axis=1), v)


@miss()
def softmax_over_all(q, k, v):
    return values(jax.nn.softmax(scores(q, k), axis=(-2, -1)), v)


@miss()
def values_of_queries(q, k, v):
    return jnp.einsum("bhqk,bqhd->bkhd", jax.nn.softmax(scores(q, k)), v)


@miss()
def greatest_of_all(q, k, v):
    s = scores(q, k)
    e = jnp.exp(s - s.max())
    return values(e / e.sum(-1, keepdims=True), v)


@miss()
def sorted_scores(q, k, v):
    return values(jax.nn.softmax(jnp.sort(scores(q, k), axis=-1)), v)


@miss()
def summed_up(q, k, v):
    return values(jnp.cumsum(jax.nn.softmax(scores(q, k)), axis=-1), v)


@miss()
def heads_mixed(q, k, v):
    return values(jnp.einsum("bhqk,hg->bgqk", jax.nn.softmax(scores(q, k)), jnp.ones((H, H))), v)


@miss()
def read_by_a_loop(q, k, v):
    p = jax.nn.softmax(scores(q, k))
    step = lambda i, x: jnp.einsum("bhqk,bkhd->bqhd", p, jnp.sin(x))
    return jax.lax.fori_loop(0, 3, step, v)


@miss()
def without_sum(q, k, v):
    return values(jnp.exp(scores(q, k)), v)


@miss(extra=[((S,), jnp.int32)])
def keys_picked(q, k, v, order):
    return values(jax.nn.softmax(scores(q, k))[..., order], v)


def with_gradients(f, n):
    def both(cotangent, *given):
        out, pull = jax.vjp(lambda *x: f(*x, *given[n:]), *given[:n])
        return (out, *pull(cotangent))

    return both


def write(name, f, given):
    text = jax.jit(f).lower(*given).as_text()
    (pathlib.Path(__file__).parent / f"{name}.mlir").write_text(text)


if __name__ == "__main__":
    for name, (f, n, given) in MATCHES.items():
        write(f"match_{name}", with_gradients(f, n), [jax.eval_shape(f, *given), *given])
    for name, (f, n, given) in MISSES.items():
        write(f"miss_{name}", f, given)
