#!/usr/bin/env python3
"""Writes strata/optim/typed/optimizers.json: what released Optax makes of every schedule and transformation over 20 steps.

    tools/goldens/optimizers.py

Parameters and gradients come from `numbers`, which strata/optim/optimizer_golden_test.cc computes to the last bit; the file holds what
Optax made of them. Needs jax 0.10.2 and optax 0.2.8; makes build/peers with them when this Python has none.
"""
import json
import pathlib
import platform

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "strata" / "optim" / "typed" / "optimizers.json"
STEPS = 20
SHAPES = {"bias": (3,), "kernel": (2, 3)}

try:
    import jax
    import optax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2", "optax==0.2.8", "numpy")

import jax.numpy as jnp
import numpy


def numbers(seed, count):
    """(seed * 7919 + i * 104729) mod 2003 as numbers in [-1, 1): exact in f32."""
    i = numpy.arange(count, dtype=numpy.int64)
    return ((((seed * 7919 + i * 104729) % 2003) - 1001).astype(numpy.float32) / numpy.float32(1024)).astype(numpy.float32)


def tree(seed):
    return {name: jnp.asarray(numbers(seed + 100 * k, int(numpy.prod(shape))).reshape(shape)) for k, (name, shape) in enumerate(SHAPES.items())}


def run(optimizer):
    """Parameters after each of STEPS updates."""
    params = tree(1)
    state = optimizer.init(params)
    out = []
    for step in range(STEPS):
        updates, state = optimizer.update(tree(10 + step), state, params)
        params = optax.apply_updates(params, updates)
        out.append({name: [float(v) for v in numpy.asarray(params[name]).ravel()] for name in SHAPES})
    return out


def rates(schedule):
    return [float(schedule(jnp.int32(step))) for step in range(STEPS)]


warmup = optax.warmup_cosine_decay_schedule(0.0, 0.3, 4, 16, 0.03)
matrices = lambda params: jax.tree.map(lambda p: p.ndim >= 2, params)
schedules = {
    "constant": optax.constant_schedule(0.25),
    "linear": optax.linear_schedule(0.1, 0.7, 12),
    "linear_down": optax.linear_schedule(0.7, 0.1, 7),
    "cosine_decay": optax.cosine_decay_schedule(0.5, 15, 0.1),
    "join": optax.join_schedules([optax.linear_schedule(0.0, 0.4, 5), optax.constant_schedule(0.4), optax.cosine_decay_schedule(0.4, 6)], [5, 11]),
    "warmup_cosine_decay": warmup,
}
transformations = {
    "scale": optax.scale(-0.1),
    "scale_by_schedule": optax.scale_by_schedule(lambda count: -warmup(count)),
    "scale_by_learning_rate": optax.scale_by_learning_rate(warmup),
    "clip_by_global_norm": optax.chain(optax.clip_by_global_norm(0.5), optax.scale(-0.1)),
    "clip_by_global_norm_wide": optax.chain(optax.clip_by_global_norm(50.0), optax.scale(-0.1)),
    "add_decayed_weights": optax.chain(optax.add_decayed_weights(0.2), optax.scale(-0.1)),
    "add_decayed_weights_matrices": optax.chain(optax.add_decayed_weights(0.2, matrices), optax.scale(-0.1)),
    "scale_by_adam": optax.chain(optax.scale_by_adam(0.9, 0.95, 1e-8), optax.scale(-0.01)),
    "trace": optax.chain(optax.trace(0.9), optax.scale(-0.01)),
    "trace_nesterov": optax.chain(optax.trace(0.9, nesterov=True), optax.scale(-0.01)),
    "sgd": optax.sgd(0.05),
    "sgd_momentum": optax.sgd(warmup, momentum=0.9),
    "sgd_nesterov": optax.sgd(0.05, momentum=0.8, nesterov=True),
    "adam": optax.adam(0.02),
    "adamw": optax.adamw(warmup, b1=0.9, b2=0.95, eps=1e-8, weight_decay=0.1),
    "adamw_clipped": optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmup, b1=0.9, b2=0.95, weight_decay=0.1, mask=matrices)),
}
manifest = {"script": "tools/goldens/optimizers.py", "jax": jax.__version__, "optax": optax.__version__, "numpy": numpy.__version__,
            "python": platform.python_version(), "steps": STEPS, "seeds": "parameters 1, gradients 10 + step, 100 more for each further leaf"}
OUT.parent.mkdir(exist_ok=True)
with OUT.open("w") as file:
    file.write('{"manifest": ' + json.dumps(manifest) + ',\n "schedules": {\n')
    file.write(",\n".join(f"  {json.dumps(k)}: {json.dumps(rates(s))}" for k, s in schedules.items()))
    file.write('},\n "transformations": {\n')
    file.write(",\n".join(f"  {json.dumps(k)}: [\n   " + ",\n   ".join(json.dumps(p) for p in run(t)) + "]" for k, t in transformations.items()))
    file.write("}}\n")
print(OUT)
