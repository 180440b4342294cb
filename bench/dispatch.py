#!/usr/bin/env python3
"""What a call of x + 1 costs beside its arithmetic: our C++ (bench/dispatch.cc) beside JAX, alternating; build/bench/dispatch.md and .json.

    STRATA_BUILD=build bench/dispatch.py [--rounds N]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import numpy as np

from strata_run import PROGRAM, save

ASKED_NS = {"jit": 500, "handle": 150}


def jax_ns(calls=3000):
    """Of one call, the fastest of a few rounds."""
    f, x, best = jax.jit(lambda x: x + 1), np.float32(0), float("inf")
    for _ in range(10):
        start = time.perf_counter()
        for _ in range(calls):
            x = f(x)
        jax.block_until_ready(x)
        best = min(best, (time.perf_counter() - start) / calls * 1e9)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    o = parser.parse_args()
    rounds = []
    for _ in range(o.rounds):
        ours = json.loads(subprocess.run([PROGRAM.with_name("dispatch")], capture_output=True, text=True, check=True).stdout)
        rounds.append({**ours, "jax": jax_ns()})
    row = {name: statistics.median(r[name] for r in rounds) for name in rounds[0]}
    lines = [f"A call of x + 1, one f32; JAX {jax.__version__}\n", "| by | ns | asked |", "|---|---|---|"]
    lines += [f"| {name} | {row[name]:.0f} | {ASKED_NS.get(name, '')} |" for name in ("jit", "handle", "jax")]
    print("\n".join(lines), flush=True)
    save("dispatch", lines, row)


if __name__ == "__main__":
    sys.exit(main())
