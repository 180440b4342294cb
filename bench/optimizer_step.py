#!/usr/bin/env python3
"""A step of an optimizer over 50 M f32 parameters in 200 leaves: ours (bench/optimizer_step.cc) beside Optax under XLA:CPU and, where it is installed, PyTorch's fused AdamW,
alternating in one run; build/bench/optimizer_step.md and .json.

    STRATA_BUILD=build bench/optimizer_step.py [--rounds N] [--steps N] [--leaves N] [--millions M]

`of copy` is the speed of our step, each array that it must read or write counted once, over that of a copy made between the steps. Above 1, `Optax / ours` says that ours is faster.
Compile times are those of one call without a cache, for 10 leaves and for all.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np

from strata_run import PROGRAM, save

try:
    import optax
except ImportError:
    print("Optax is not installed; scripts/peers.sh optax brings it")
    sys.exit(0)

RULES = {
    "adamw": lambda: optax.adamw(1e-3),
    "lion": lambda: optax.lion(1e-4),
    "adafactor": lambda: optax.adafactor(1e-3),
    "muon": lambda: optax.chain(optax.trace(0.95, nesterov=True), optax.add_decayed_weights(1e-4), optax.scale_by_learning_rate(1e-3)),
    "adamw_clipped": lambda: optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3)),
}
ASKED = {"share": 0.85, "ratio": 2.0, "torch": 1.3}


def leaves_of(leaves, millions, scale):
    side = int(math.sqrt(1e6 * millions / leaves))
    place = np.arange(side * side, dtype=np.float32)
    return {f"leaf_{i:05}": jnp.asarray((np.sin((place + i) * 12.9898) * scale).reshape(side, side)) for i in range(leaves)}


class Optax:
    """The step as one writes it."""

    def __init__(self, rule, o):
        tx = RULES[rule]()
        self.params, self.grads = leaves_of(o.leaves, o.millions, 0.1), leaves_of(o.leaves, o.millions, 0.01)
        self.state = tx.init(self.params)

        def step(params, state, grads):
            updates, state = tx.update(grads, state, params)
            return optax.apply_updates(params, updates), state

        start = time.perf_counter()
        self.call = jax.jit(step, donate_argnums=(0, 1)).lower(self.params, self.state, self.grads).compile()
        self.compile_s = time.perf_counter() - start
        self.seconds(1)

    def seconds(self, steps):
        out = []
        for _ in range(steps):
            start = time.perf_counter()
            self.params, self.state = jax.block_until_ready(self.call(self.params, self.state, self.grads))
            out.append(time.perf_counter() - start)
        return out


class Torch:
    """PyTorch's fused AdamW."""

    def __init__(self, o):
        import torch

        torch.set_num_threads(os.cpu_count())
        side = int(math.sqrt(1e6 * o.millions / o.leaves))
        self.params = [torch.full((side, side), 0.1).requires_grad_() for _ in range(o.leaves)]
        for p in self.params:
            p.grad = torch.full_like(p, 0.01)
        self.optimizer = torch.optim.AdamW(self.params, lr=1e-3, fused=True)
        self.seconds(1)

    def seconds(self, steps):
        out = []
        for _ in range(steps):
            start = time.perf_counter()
            self.optimizer.step()
            out.append(time.perf_counter() - start)
        return out


def ours(rule, o, leaves, runs):
    with tempfile.TemporaryDirectory() as cache:
        argv = [PROGRAM.with_name("optimizer-step"), rule, "--leaves", str(leaves), "--millions", str(o.millions), "--runs", str(runs), "--json"]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, env={**os.environ, "STRATA_CACHE_DIR": cache})
    return json.loads(done.stdout)


def torch_or_none(o):
    try:
        return Torch(o)
    except ImportError:
        return None


def race(rule, o):
    optax_step, torch_step = Optax(rule, o), torch_or_none(o) if rule == "adamw" else None
    rounds, theirs, torches = [], [], []
    for _ in range(o.rounds):
        rounds.append(ours(rule, o, o.leaves, o.steps))
        theirs += optax_step.seconds(o.steps)
        if torch_step:
            torches += torch_step.seconds(o.steps)
    del optax_step, torch_step
    of = lambda name: statistics.median(r[name] for r in rounds)
    row = {name: of(name) for name in ("step_s", "bytes", "copy_bytes_s", "share", "trace_s", "compile_s")}
    row["compile_10_leaves_s"] = ours(rule, o, 10, 1)["compile_s"]
    row["optax_s"] = statistics.median(theirs)
    row["ratio"] = row["optax_s"] / row["step_s"]
    row["torch_s"] = statistics.median(torches) if torches else None
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--leaves", type=int, default=200)
    parser.add_argument("--millions", type=int, default=50)
    parser.add_argument("rules", nargs="*", default=list(RULES))
    o = parser.parse_args()
    lines = [
        f"A step over {o.millions} M f32 parameters in {o.leaves} leaves; Optax {optax.__version__}, JAX {jax.__version__}\n",
        f"Asked: {ASKED['share']:.0%} of a copy's speed, {ASKED['ratio']} times Optax, {ASKED['torch']} times PyTorch\n",
        "| rule | ms | of copy | Optax ms | Optax / ours | PyTorch ms | compiled, 10 leaves | all |",
        "|---|---|---|---|---|---|---|---|",
    ]
    data = {}
    for rule in o.rules:
        row = data[rule] = race(rule, o)
        torch_ms = f"{1e3 * row['torch_s']:.1f}" if row["torch_s"] else "-"
        lines.append(
            f"| {rule} | {1e3 * row['step_s']:.1f} | {row['share']:.0%} | {1e3 * row['optax_s']:.1f} | {row['ratio']:.2f} | {torch_ms} "
            f"| {row['compile_10_leaves_s']:.3f} s | {row['compile_s']:.3f} s |"
        )
        print(lines[-1], flush=True)
    print("\n".join(lines))
    save("optimizer_step", lines, data)


if __name__ == "__main__":
    sys.exit(main())
