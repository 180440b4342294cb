#!/usr/bin/env python3
"""Writes strata/nn/testdata/layers.json: initialisers of JAX and layers of Flax NNX on small inputs.

    tools/goldens/layers.py

Inputs come from `numbers`, which strata/nn/golden_test.cc computes to the last bit. Initialisers are stored as the bits of f32
numbers, layers as numbers. Needs jax 0.10.2 and flax 0.12.8; makes build/peers with them when this Python has none.
"""
import json
import pathlib
import platform

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "strata" / "nn" / "testdata" / "layers.json"

try:
    import flax
    import jax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2", "flax==0.12.8", "numpy")

import jax.numpy as jnp
import numpy
from flax import nnx

jax.config.update("jax_default_matmul_precision", "highest")
SEED, SHAPE, STACKED = 3, (8, 25), (3, 8, 9)


def numbers(seed, shape):
    """(seed * 7919 + i * 104729) mod 2003 as numbers in [-1, 1): exact in f32."""
    i = numpy.arange(int(numpy.prod(shape)), dtype=numpy.int64)
    return jnp.asarray((((seed * 7919 + i * 104729) % 2003) - 1001).astype(numpy.float32) / numpy.float32(1024)).reshape(shape)


def bits(x):
    return numpy.asarray(x, numpy.float32).view(numpy.uint32).ravel().tolist()


def values(x):
    return [float(v) for v in numpy.asarray(x, numpy.float32).ravel()]


init = jax.nn.initializers
key = jax.random.key(SEED)
initializers = {
    "zeros": init.zeros(key, SHAPE), "ones": init.ones(key, SHAPE), "constant": init.constant(0.3)(key, SHAPE),
    "uniform": init.uniform(0.7)(key, SHAPE), "normal": init.normal(0.02)(key, SHAPE),
    "truncated_normal": init.truncated_normal(0.5, lower=-1.5, upper=1.0)(key, SHAPE),
    "lecun_normal": init.lecun_normal()(key, SHAPE), "lecun_uniform": init.lecun_uniform()(key, SHAPE),
    "glorot_normal": init.glorot_normal()(key, SHAPE), "glorot_uniform": init.glorot_uniform()(key, SHAPE),
    "he_normal": init.he_normal()(key, SHAPE), "he_uniform": init.he_uniform()(key, SHAPE),
    "fan_out": init.variance_scaling(0.5, "fan_out", "normal")(key, SHAPE),
    "fan_geo_avg": init.variance_scaling(2.0, "fan_geo_avg", "uniform")(key, SHAPE),
    "embedding": init.variance_scaling(1.0, "fan_in", "normal", out_axis=0)(key, SHAPE),
    "stacked": init.lecun_normal(batch_axis=(0,))(key, STACKED),
    "field": init.he_normal(in_axis=1, out_axis=2)(key, STACKED),
}

x = numbers(1, (2, 5, 8))
rngs = nnx.Rngs(0)
linear = nnx.Linear(8, 6, rngs=rngs)
linear.kernel[...], linear.bias[...] = numbers(2, (8, 6)), numbers(3, (6,))
embed = nnx.Embed(10, 8, rngs=rngs)
embed.embedding[...] = numbers(4, (10, 8))
norm = nnx.RMSNorm(8, rngs=rngs)
norm.scale[...] = numbers(5, (8,))
tokens = jnp.asarray([[0, 9, 3], [7, 7, 1]], jnp.int32)
q, k, v = numbers(6, (2, 5, 4, 6)), numbers(7, (2, 5, 2, 6)), numbers(8, (2, 5, 2, 6))
gate, up, down = numbers(9, (8, 12)), numbers(10, (8, 12)), numbers(11, (12, 8))
layers = {
    "linear": linear(x), "embed": embed(tokens), "attend": embed.attend(x), "rms_norm": norm(x),
    "causal_attention": jax.nn.dot_product_attention(q, k, v, is_causal=True),
    "last_query": jax.nn.dot_product_attention(q[:, -1:], k, v),
    "swiglu": (jax.nn.silu(x @ gate) * (x @ up)) @ down,
}
manifest = {"script": "tools/goldens/layers.py", "jax": jax.__version__, "flax": flax.__version__, "numpy": numpy.__version__,
            "python": platform.python_version(), "seed": SEED, "shape": SHAPE, "stacked": STACKED}
OUT.parent.mkdir(exist_ok=True)
with OUT.open("w") as file:
    file.write('{"manifest": ' + json.dumps(manifest) + ',\n "initializers": {\n')
    file.write(",\n".join(f"  {json.dumps(n)}: {json.dumps(bits(a))}" for n, a in initializers.items()))
    file.write('},\n "layers": {\n' + ",\n".join(f"  {json.dumps(n)}: {json.dumps(values(a))}" for n, a in layers.items()) + "}}\n")
print(OUT)
