"""Losses over a vocabulary with their gradients, as JAX writes them: what row_chunks_test.cc reads.

  python generate.py        writes match_*.mlir (chunked by rows) and miss_*.mlir (not) beside this file
"""
import pathlib

import jax
import jax.numpy as jnp

BATCH, TOKENS, WIDTH, WORDS = 4, 32, 16, 96


def logits(x, w):
    return (x @ w).astype(jnp.float32)


def at(l, y):
    return jnp.take_along_axis(l, y[..., None], -1)[..., 0]


def rows(l, y):
    return jax.nn.logsumexp(l, -1) - at(l, y)


def one_hot(l, y):
    return jax.nn.one_hot(y, l.shape[-1])


def optax(x, w, y):
    l = logits(x, w)
    l = l - jax.lax.stop_gradient(jnp.max(l, -1, keepdims=True))
    return jnp.mean(jnp.log(jnp.sum(jnp.exp(l), -1)) - at(l, y))


def masked(x, w, y):
    keep = (y != 0).astype(jnp.float32)
    return jnp.sum(rows(logits(x, w), y) * keep) / jnp.sum(keep)


def smooth(x, w, y):
    l = logits(x, w)
    return -jnp.mean(jnp.sum((one_hot(l, y) * 0.9 + 0.1 / WORDS) * jax.nn.log_softmax(l), -1))


def z_loss(x, w, y):
    l = logits(x, w)
    s = jax.nn.logsumexp(l, -1)
    return jnp.mean(s - at(l, y) + 1e-4 * s * s)


def each(x, w, y):
    def one(h, t):
        l = logits(h, w)
        return jax.nn.logsumexp(l) - l[t]
    return jnp.mean(jax.vmap(jax.vmap(one))(x, y))


def accuracy(x, w, y):
    l = logits(x, w)
    return jnp.mean(rows(l, y) + 0 * (jnp.argmax(l, -1) == y))


def flat(x, y):
    return x.reshape(-1, x.shape[-1]), y.reshape(-1)


def flat_rows(x, w, y):
    x, y = flat(x, y)
    return jnp.mean(rows(logits(x, w), y))


def indexed(x, w, y):
    x, y = flat(x, y)
    return -jnp.mean(jax.nn.log_softmax(logits(x, w))[jnp.arange(y.size), y])


def in_three(x, w, y):
    b, s = y.shape
    return -jnp.mean(jax.nn.log_softmax(logits(x, w))[jnp.arange(b)[:, None], jnp.arange(s), y])


def learned_bias(x, w, y, b):
    return jnp.mean(rows((x @ w + b).astype(jnp.float32), y))


def temperature(x, w, y, t):
    return jnp.mean(rows(logits(x, w) * jnp.exp(t.astype(jnp.float32)), y))


def focal(x, w, y):
    logp = at(jax.nn.log_softmax(logits(x, w)), y)
    return jnp.mean(-((1 - jnp.exp(logp)) ** 2) * logp)


def distilled(x, w, y, teacher):
    t, s = jax.nn.softmax(logits(x, teacher) / 2), logits(x, w)
    return jnp.mean(rows(s, y) + optax_kl(jax.nn.log_softmax(s / 2), t))


def optax_kl(logp, targets):
    return jnp.sum(targets * (jnp.where(targets == 0, 0, jnp.log(targets)) - logp), -1)


def padded_words(x, w, y):
    l = logits(x, w)
    return jnp.mean(rows(jnp.where(jnp.arange(l.shape[-1]) < 90, l, -jnp.inf), y % 90))


def contrastive(x, w, y):
    x = x.reshape(-1, x.shape[-1])
    l = logits(x, w)[:, :x.shape[0]]
    i = jnp.arange(x.shape[0])
    return jnp.mean(jax.nn.logsumexp(l, -1) - l[i, i % l.shape[1]])


def columns(x, w, y):
    x, y = flat(x, y)
    l = (w.T @ x.T).astype(jnp.float32)
    return jnp.mean(jax.nn.logsumexp(l, 0) - l[y, jnp.arange(y.size)])


def top_five(x, w, y):
    l = logits(x, w)
    found = jnp.any(jax.lax.top_k(l, 5)[1] == y[..., None], -1)
    return jnp.mean(rows(l, y)), jnp.mean(found)


def all_at_once(x, w, y):
    keep = (y != 0)[..., None]
    return -jnp.sum(jnp.where(keep, one_hot(logits(x, w), y) * jax.nn.log_softmax(logits(x, w)), 0)) / jnp.sum(keep)


def with_logits(x, w, y):
    l = logits(x, w)
    return jnp.mean(rows(l, y)), l


def gram(x, w, y):
    x, y = flat(x, y)
    l = logits(x, w)
    return jnp.mean(rows(l, y)) + jnp.sum(l @ l.T) * 1e-6


MATCH = {
    'logsumexp': lambda x, w, y: jnp.mean(rows(logits(x, w), y)),
    'log_softmax': lambda x, w, y: -jnp.mean(at(jax.nn.log_softmax(logits(x, w)), y)),
    'one_hot': lambda x, w, y: -jnp.mean(jnp.sum(one_hot(x @ w, y) * jax.nn.log_softmax(logits(x, w)), -1)),
    'optax': optax,
    'smooth': smooth,
    'masked': masked,
    'z_loss': z_loss,
    'soft_cap': lambda x, w, y: jnp.mean(rows(30 * jnp.tanh(logits(x, w) / 30), y)),
    'flat': flat_rows,
    'shifted': lambda x, w, y: jnp.mean(rows(logits(x, w)[:, :-1], y[:, 1:])),
    'tied': lambda x, w, y: jnp.mean(rows(jnp.einsum('bsd,vd->bsv', x, w.T).astype(jnp.float32), y)),
    'bias': lambda x, w, y: jnp.mean(rows(logits(x, w) + jnp.arange(WORDS) * 1e-3, y)),
    'each': each,
    'accuracy': accuracy,
    'indexed': indexed,
    'in_three': in_three,
    'summed_at_once': lambda x, w, y: -jnp.sum(one_hot(x @ w, y) * jax.nn.log_softmax(logits(x, w))) / y.size,
    'all_at_once': all_at_once,
    'learned_bias': learned_bias,
    'temperature': temperature,
    'focal': focal,
    'distilled': distilled,
    'padded_words': padded_words,
    'contrastive': contrastive,
    'again': lambda x, w, y: jnp.mean(jax.checkpoint(lambda x, w: rows(logits(x, w), y))(x, w)),
    'top_five': top_five,
    'sorted': lambda x, w, y: jnp.mean(rows(logits(x, w), y) + jnp.sort(logits(x, w))[..., 0]),
}
MISS = {
    'returned': with_logits,
    'over_rows': lambda x, w, y: jnp.mean(rows(jax.nn.softmax(logits(x, w), 0), y)),
    'columns': columns,
    'squared': lambda x, w, y: jnp.mean(rows(logits(x, w), y)) ** 2,
    'centred': lambda x, w, y: jnp.mean(rows(logits(x, w) - jnp.mean(logits(x, w), (0, 1)), y)),
    'turned': lambda x, w, y: jnp.mean(rows(logits(x, w)[::-1], y)),
    'gram': gram,
    'summed_up': lambda x, w, y: jnp.mean(rows(jnp.cumsum(logits(x, w), 0), y)),
}


# A sum goes on from chunk to chunk where a chunk of it ends (op/reduce/reduce_order.h): after 256 rows, or 4096 numbers of several rows.
SIZES = {'summed_at_once': (4, 32, 128), 'all_at_once': (4, 32, 128), 'learned_bias': (8, 64, 96), 'temperature': (8, 16, 128)}


def write(kind, name, loss, dtype):
    batch, tokens, words = SIZES.get(name, (BATCH, TOKENS, WORDS))
    more = {'learned_bias': [(words,)], 'temperature': [()], 'distilled': [(WIDTH, words)]}.get(name, [])
    has_aux = name in ('returned', 'top_five')
    step = jax.value_and_grad(loss, argnums=(0, 1, 3) if more and name != 'distilled' else (0, 1), has_aux=has_aux)
    arguments = [jax.ShapeDtypeStruct(s, d) for s, d in
                 [((batch, tokens, WIDTH), dtype), ((WIDTH, words), dtype), ((batch, tokens), 'int32')] + [(s, dtype) for s in more]]
    text = jax.jit(step).lower(*arguments).as_text()
    suffix = {'float32': 'f32', 'bfloat16': 'bf16'}[dtype]
    (pathlib.Path(__file__).parent / f'{kind}_{name}_{suffix}.mlir').write_text(text)


for name, loss in MATCH.items():
    for dtype in 'float32', 'bfloat16':
        write('match', name, loss, dtype)
for name, loss in MISS.items():
    write('miss', name, loss, 'float32')
