#!/usr/bin/env python3
"""Writes strata/optim/testdata/curves.json: the loss of 100 steps in closed loop under Optax 0.2.8's main rules.

    tools/goldens/optax_curves.py

Two problems: Rosenbrock's valley in four dimensions, and a network of one hidden layer that learns given numbers. The
losses of every tenth step are stored. Needs jax 0.10.2 and optax 0.2.8; makes build/peers with them when this Python has none.
"""
import json
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "strata" / "optim" / "testdata" / "curves.json"
STEPS, EVERY = 100, 10

try:
    import jax
    import optax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2", "optax==0.2.8", "numpy")

import jax.numpy as jnp
import numpy as np

jax.config.update("jax_default_matmul_precision", "highest")


def numbers(seed, *shape):
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    return jnp.asarray(((((seed * 7919 + i * 104729) % 2003) - 1001).astype(np.float32) / np.float32(1024)).reshape(shape))


def valley(p):
    x = p["x"]
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def network(p):
    h = jnp.tanh(numbers(21, 16, 4) @ p["hidden"]["kernel"] + p["hidden"]["bias"])
    return jnp.mean((h @ p["out"]["kernel"] - numbers(22, 16, 2)) ** 2)


PROBLEMS = {
    "valley": (valley, lambda: {"x": numbers(5, 4)}),
    "network": (network, lambda: {"hidden": {"bias": numbers(1, 8), "kernel": numbers(2, 4, 8)}, "out": {"kernel": numbers(3, 8, 2)}}),
}
# A rule, its options, and the problems that it is for.
BOTH, NETWORK = ("valley", "network"), ("network",)
RULES = [
    ("sgd", {"learning_rate": 1e-3}, BOTH),
    ("sgd", {"learning_rate": 5e-4, "momentum": 0.9, "nesterov": True}, BOTH),
    ("adam", {"learning_rate": 0.01}, BOTH),
    ("nadam", {"learning_rate": 0.01}, BOTH),
    ("adamw", {"learning_rate": 0.01, "weight_decay": 0.01}, BOTH),
    ("adamax", {"learning_rate": 0.01}, BOTH),
    ("amsgrad", {"learning_rate": 0.01}, BOTH),
    ("adabelief", {"learning_rate": 0.01}, BOTH),
    ("yogi", {"learning_rate": 0.01}, BOTH),
    ("radam", {"learning_rate": 0.001}, BOTH),
    ("adan", {"learning_rate": 0.01}, BOTH),
    ("lion", {"learning_rate": 0.003}, BOTH),
    ("adagrad", {"learning_rate": 0.05}, BOTH),
    ("adadelta", {"learning_rate": 1.0}, BOTH),
    ("rmsprop", {"learning_rate": 0.002}, BOTH),
    ("adafactor", {"learning_rate": 0.01, "min_dim_size_to_factor": 2}, BOTH),
    ("lamb", {"learning_rate": 0.01}, BOTH),
    ("lars", {"learning_rate": 0.5}, BOTH),
    ("novograd", {"learning_rate": 0.005}, BOTH),
    ("sm3", {"learning_rate": 0.02}, BOTH),
    ("lbfgs", {}, BOTH),
    ("contrib.muon", {"learning_rate": 0.01}, NETWORK),
    ("contrib.prodigy", {"learning_rate": 1.0}, NETWORK),
    ("contrib.schedule_free_adamw", {"learning_rate": 0.01}, NETWORK),
    ("contrib.ademamix", {"learning_rate": 0.005}, NETWORK),
    ("contrib.dog", {"learning_rate": 1.0}, NETWORK),
]

# Steps after which rounding decides what a line search finds.
SETTLED = {("lbfgs", "network"): 40}


def curve(name, options, problem):
    loss, start = PROBLEMS[problem]
    made = optax
    for part in name.split("."):
        made = getattr(made, part)
    rule, params = optax.with_extra_args_support(made(**options)), start()
    state, losses = rule.init(params), []

    @jax.jit
    def step(params, state):
        value, grad = jax.value_and_grad(loss)(params)
        updates, state = rule.update(grad, state, params, value=value, grad=grad, value_fn=loss)
        return optax.apply_updates(params, updates), state

    for i in range(STEPS + 1):
        if i % EVERY == 0:
            losses.append(float(f"{float(loss(params)):.9g}"))
        params, state = step(params, state)
    if (name, problem) in SETTLED:
        del losses[SETTLED[name, problem] // EVERY + 1 :]
    return {"rule": name, "options": options, "problem": problem, "losses": losses}


def main():
    curves = [curve(name, options, problem) for name, options, problems in RULES for problem in problems]
    manifest = {"optax": optax.__version__, "jax": jax.__version__, "script": "tools/goldens/optax_curves.py", "every": EVERY}
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in curves)
    OUT.write_text('{"manifest": ' + json.dumps(manifest) + ',\n "curves": [\n' + lines + "\n]}\n")
    print(f"{len(curves)} curves, {OUT.stat().st_size / 1e3:.1f} kB  {OUT.relative_to(ROOT)}")
    for c in curves:
        print(c["rule"], c["problem"], *(f"{x:.4g}" for x in c["losses"][:: STEPS // EVERY // 2]))


if __name__ == "__main__":
    main()
