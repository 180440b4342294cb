#!/usr/bin/env python3
"""Writes strata/train/testdata/llama_step.json: what JAX's training step of a small Llama computes.

    tools/goldens/llama_step.py            # rewrites the file (about three minutes on two cores)
    tools/goldens/llama_step.py --steps 2  # a shorter loss curve, to look at

Weights and tokens come from a formula that both sides compute to the last bit (`hashed`, `uniform`), so the file holds
only what JAX made of them: losses, per-tensor norms and sampled entries. strata/train/llama_golden_test.cc reads it.

Shapes: V vocabulary, D width, L layers, H query heads, K key heads, d head width, F mlp width, B batch, S positions.
Needs jax 0.10.2; makes build/peers with it when this Python has none.
"""
import argparse
import json
import pathlib
import platform
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


try:
    import jax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2", "numpy")

import jax.numpy as jnp
import jaxlib
import numpy as np
from jax import lax

V, D, L, H, K, d, F, B, S = 8192, 256, 6, 8, 4, 32, 768, 8, 256
LEARNING_RATE, B1, B2, EPS, DECAY = 3e-4, 0.9, 0.95, 1e-8, 0.1
SAMPLES = 64
TOKENS_SEED, SAMPLES_SEED = 1000, 2000

# name -> (shape, seed, exponent): uniform in [-1, 1) times 2^exponent; norms add 1 to that.
WEIGHTS = {
    "token_embedder": ((V, D), 0, -6),
    "layers.attention_norm": ((L, D), 1, -3),
    "layers.query": ((L, D, H * d), 2, -3),
    "layers.key": ((L, D, K * d), 3, -3),
    "layers.value": ((L, D, K * d), 4, -3),
    "layers.out": ((L, H * d, D), 5, -3),
    "layers.mlp_norm": ((L, D), 6, -3),
    "layers.gate": ((L, D, F), 7, -3),
    "layers.up": ((L, D, F), 8, -3),
    "layers.down": ((L, F, D), 9, -4),
    "decoder_norm": ((D,), 10, -3),
    "logits_dense": ((D, V), 11, -3),
}


# -- inputs --------------------------------------------------------------------------------------------------------


def hashed(seed, count):
    """count words of 64 bits: SplitMix64's output function at seed * 2^40 + 0, 1, ..."""
    x = np.arange(count, dtype=np.uint64) + np.uint64(seed << 40)
    x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def uniform(seed, count, exponent):
    """f32 in [-1, 1) * 2^exponent: 24 of the bits, each step exact."""
    bits = (hashed(seed, count) >> np.uint64(40)).astype(np.int64) - (1 << 23)
    return bits.astype(np.float32) * np.float32(2.0 ** (exponent - 23))


def initial_weights():
    made = {}
    for name, (shape, seed, exponent) in WEIGHTS.items():
        values = uniform(seed, int(np.prod(shape)), exponent)
        made[name] = jnp.asarray((values + np.float32(1) if name.endswith("norm") else values).reshape(shape))
    return made


def text():
    """tokens and targets, (B, S) each: one row of S + 1 tokens, shifted."""
    tokens = (hashed(TOKENS_SEED, B * (S + 1)) % np.uint64(V)).astype(np.int32).reshape(B, S + 1)
    return tokens[:, :-1], tokens[:, 1:]


def positions(name):
    """Flat positions of the sampled entries; those of the embedding lie in rows that the tokens use."""
    shape, seed, _ = WEIGHTS[name]
    words = hashed(SAMPLES_SEED + seed, SAMPLES)
    if name != "token_embedder":
        return (words % np.uint64(np.prod(shape))).astype(np.int64)
    tokens = text()[0].ravel().astype(np.int64)
    return tokens[(words % np.uint64(tokens.size)).astype(np.int64)] * D + ((words >> np.uint64(32)) % np.uint64(D)).astype(np.int64)


# -- the model -----------------------------------------------------------------------------------------------------


def rms_norm(x, weight):
    wide = x.astype(jnp.float32)
    return (wide * lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)).astype(x.dtype) * weight


def rotate(x):
    """Rotary positions: pairs (i, i + d/2) of x (B, S, heads, d)."""
    frequency = 10000.0 ** (-jnp.arange(0, d, 2) / d)
    angle = jnp.arange(S)[:, None] * frequency[None]
    c, s = jnp.cos(angle)[None, :, None], jnp.sin(angle)[None, :, None]
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return jnp.concatenate([a * c - b * s, b * c + a * s], -1).astype(x.dtype)


def attention(q, k, v):
    """Causal; query head h reads key head h // (H / K)."""
    k, v = jnp.repeat(k, H // K, 2), jnp.repeat(v, H // K, 2)
    scores = jnp.einsum("bshd,bthd->bhst", q, k).astype(jnp.float32) * d**-0.5
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((S, S), bool)), scores, -1e30), -1).astype(q.dtype)
    return jnp.einsum("bhst,bthd->bshd", weights, v)


def block(x, w):
    h = rms_norm(x, w["attention_norm"])
    q = rotate((h @ w["query"]).reshape(B, S, H, d))
    k = rotate((h @ w["key"]).reshape(B, S, K, d))
    x = x + attention(q, k, (h @ w["value"]).reshape(B, S, K, d)).reshape(B, S, H * d) @ w["out"]
    h = rms_norm(x, w["mlp_norm"])
    return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], None


def loss_of(weights, tokens, targets, dtype):
    w = {name: value.astype(dtype) for name, value in weights.items()}
    layers = {name.split(".")[1]: value for name, value in w.items() if name.startswith("layers.")}
    x, _ = lax.scan(block, w["token_embedder"][tokens], layers)
    logits = (rms_norm(x, w["decoder_norm"]) @ w["logits_dense"]).astype(jnp.float32)
    of_target = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - of_target)


def adamw(p, g, m, v, t):
    t = t + 1
    m = jax.tree.map(lambda m, g: B1 * m + (1 - B1) * g, m, g)
    v = jax.tree.map(lambda v, g: B2 * v + (1 - B2) * jnp.square(g), v, g)
    p = jax.tree.map(lambda p, m, v: p - LEARNING_RATE * (m / (1 - B1**t) / (jnp.sqrt(v / (1 - B2**t)) + EPS) + DECAY * p), p, m, v)
    return p, m, v, t


def step_of(dtype):
    def step(p, m, v, t, tokens, targets):
        value, grads = jax.value_and_grad(loss_of)(p, tokens, targets, dtype)
        return (value, *adamw(p, grads, m, v, t))

    return jax.jit(step, donate_argnums=(0, 1, 2))


# -- the file ------------------------------------------------------------------------------------------------------


def norm(x):
    return float(np.linalg.norm(np.asarray(x, np.float64).ravel()))


def short(x):
    """Nine digits, which name one f32."""
    return float(f"{float(x):.9g}")


def summary(tensors):
    return {n: {"norm": norm(x), "samples": [short(e) for e in np.asarray(x).ravel()[positions(n)]]} for n, x in tensors.items()}


def compact(value):
    """JSON of one line per tensor."""
    return re.sub(r"\[[^\[\]{}]*\]|\{[^{}]*\}", lambda m: " ".join(m[0].split()), json.dumps(value, indent=1)) + "\n"


def rounding_distance(got, want):
    """Per tensor, ||got - want|| over all entries."""
    return {n: norm(np.asarray(got[n], np.float64) - np.asarray(want[n], np.float64)) for n in want}


def curve(dtype, steps, x, y):
    """The losses of `steps` steps on one batch, and the weights after the first."""
    p = initial_weights()
    state = (p, jax.tree.map(jnp.zeros_like, p), jax.tree.map(jnp.zeros_like, p), jnp.float32(0))
    step, losses, first = step_of(dtype), [], None
    for _ in range(steps):
        value, *state = step(*state, x, y)
        losses.append(short(value))
        first = first or {n: np.array(w) for n, w in state[0].items()}
    return losses, first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "strata/train/testdata/llama_step.json")
    options = parser.parse_args()
    p, (x, y) = initial_weights(), text()
    gradient = jax.jit(jax.value_and_grad(loss_of), static_argnums=3)
    loss32, grads32 = gradient(p, x, y, jnp.float32)
    loss16, grads16 = gradient(p, x, y, jnp.bfloat16)
    losses, after_first = curve(jnp.float32, options.steps, x, y)
    golden = {
        "made_by": {"script": "tools/goldens/llama_step.py", "jax": jax.__version__, "jaxlib": jaxlib.__version__, "numpy": np.__version__, "python": platform.python_version()},
        "shape": {"vocab_size": V, "emb_dim": D, "layers": L, "query_heads": H, "kv_heads": K, "head_dim": d, "mlp_dim": F, "batch": B, "length": S},
        "adamw": {"learning_rate": LEARNING_RATE, "b1": B1, "b2": B2, "eps": EPS, "weight_decay": DECAY},
        "seeds": {"tokens": TOKENS_SEED, "samples": SAMPLES_SEED, "weights": {n: {"seed": s, "exponent": e} for n, (_, s, e) in WEIGHTS.items()}},
        "input_sums": {"weights": {n: float(np.sum(np.asarray(w, np.float64))) for n, w in p.items()}, "tokens": int(np.sum(x))},
        "f32": {"loss": short(loss32), "losses": losses, "gradients": summary(grads32), "weights_after_first_step": summary(after_first)},
        "bf16": {"loss": short(loss16), "distance_to_f32": rounding_distance(grads16, grads32)},
    }
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(compact(golden))
    print(f"{options.out}: {options.out.stat().st_size} bytes, loss {losses[0]} -> {losses[-1]} in {len(losses)} steps, bf16 loss {golden['bf16']['loss']}")


if __name__ == "__main__":
    main()
