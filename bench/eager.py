#!/usr/bin/env python3
"""Thirty small operations one after the other outside of jit: our C++ (bench/eager.cc) beside JAX and NumPy, alternating; build/bench/eager.md and .json.

    STRATA_BUILD=build bench/eager.py [--rounds N]
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
import jax.numpy as jnp
import numpy as np

from strata_run import PROGRAM, save

ASKED_US = 10


def chain_us(np_, chains=300):
    """Of ten times tanh(x * 1.01 + 0.5) on 16 floats, the fastest."""
    start, best = np_.arange(16, dtype=np_.float32) * np_.float32(0.1), float("inf")
    scale, shift = np_.float32(1.01), np_.float32(0.5)
    for _ in range(chains):
        began = time.perf_counter()
        x = start
        for _ in range(10):
            x = np_.tanh(x * scale + shift)
        jax.block_until_ready(x)
        best = min(best, (time.perf_counter() - began) * 1e6)
    return best, float(x[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    o = parser.parse_args()
    rounds = []
    for _ in range(o.rounds):
        ours = json.loads(subprocess.run([PROGRAM.with_name("eager")], capture_output=True, text=True, check=True).stdout)
        by_jax, x = chain_us(jnp)
        if abs(x - ours["check"]) > 1e-5:
            sys.exit(f"results differ: {ours['check']} and JAX's {x}")
        rounds.append({"strata": ours["eager"] / 1e3, "jax": by_jax, "numpy": chain_us(np)[0]})
    row = {name: statistics.median(r[name] for r in rounds) for name in rounds[0]}
    lines = [f"Thirty operations on 16 floats outside of jit; JAX {jax.__version__}, NumPy {np.__version__}\n", "| by | us | asked |", "|---|---|---|"]
    lines += [f"| {name} | {us:.1f} | {ASKED_US if name == 'strata' else ''} |" for name, us in row.items()]
    print("\n".join(lines), flush=True)
    save("eager", lines, row)


if __name__ == "__main__":
    sys.exit(main())
