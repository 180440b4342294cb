#!/usr/bin/env python3
"""A training step of a small Llama (8.9 M parameters, 8 x 256 tokens, AdamW): ours beside JAX's, alternating in one run.

    STRATA_BUILD=build bench/llama_step.py [--rounds N] [--steps N] [--require]

Both sides run `--steps` steps by turns, `--rounds` times; a row compares the medians of all steps. `first call` is trace,
compile and one step: ours with an empty cache folder (cold) and with what that left (warm), JAX's without a cache.
`--require` exits with 1 when a ratio is below what is asked. Run by scripts/bench.sh (make bench).
"""
import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
ROOT = pathlib.Path(__file__).resolve().parents[1]
REQUIRED = {"f32": 1.5, "bf16": 2.0}  # times JAX's tokens per second


def model():
    """The model of the goldens: one JAX program serves the proof and the race."""
    spec = importlib.util.spec_from_file_location("golden", ROOT / "tools/goldens/llama_step.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Jax:
    """Steps of JAX; the first one is timed by itself, in this process, nothing cached."""

    def __init__(self, golden, dtype):
        import jax
        import jax.numpy as jnp

        self.jax = jax
        p = golden.initial_weights()
        self.state = (p, jax.tree.map(jnp.zeros_like, p), jax.tree.map(jnp.zeros_like, p), jnp.float32(0))
        self.text = [jnp.asarray(t) for t in golden.text()]
        self.step = golden.step_of(jnp.float32 if dtype == "f32" else jnp.bfloat16)
        self.first_s = self.run(1)[0]

    def run(self, steps):
        seconds = []
        for _ in range(steps):
            start = time.perf_counter()
            value, *self.state = self.step(*self.state, *self.text)
            self.jax.block_until_ready((value, self.state))
            seconds.append(time.perf_counter() - start)
        return seconds


def ours(program, dtype, steps, cache):
    """What the program says of its steps: median_s, min_s, first_s, loss."""
    done = subprocess.run([program, dtype, "--steps", str(steps), "--json"], capture_output=True, text=True, env={**os.environ, "STRATA_CACHE_DIR": cache})
    if done.returncode != 0:
        sys.exit(f"{program} {dtype}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(golden, program, dtype, rounds, steps):
    tokens = golden.B * golden.S
    with tempfile.TemporaryDirectory() as cache:
        cold = ours(program, dtype, 1, cache)["first_s"]
        peer = Jax(golden, dtype)
        warm, us, them = [], [], []
        for _ in range(rounds):
            them += peer.run(steps)
            told = ours(program, dtype, steps, cache)
            us.append(told["median_s"])
            warm.append(told["first_s"])
    us, them = statistics.median(us), statistics.median(them)
    ratio = them / us
    print(f"{dtype:5} {tokens / us:9.0f} {tokens / them:9.0f} {ratio:7.2f} {REQUIRED[dtype]:9.1f} {cold:10.2f} {min(warm):10.2f} {peer.first_s:10.2f}", flush=True)
    return ratio >= REQUIRED[dtype]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--require", action="store_true")
    options = parser.parse_args()
    program = pathlib.Path(os.environ.get("STRATA_BUILD", ROOT / "build")) / "bin/llama-step"
    golden = model()
    print(f"{'':5} {'tokens/s':>9} {'JAX':>9} {'ratio':>7} {'required':>9} {'first cold':>10} {'warm':>10} {'JAX':>10}")
    reached = [compare(golden, program, dtype, options.rounds, options.steps) for dtype in REQUIRED]
    return 1 if options.require and not all(reached) else 0


if __name__ == "__main__":
    sys.exit(main())
