#!/usr/bin/env python3
"""The programs of bench/programs.py in JAX on Strata and on XLA's own CPU, in one process, alternating.

    bench/jax_plugin.py [NAME...] [--runs N] [--markdown] [--require]

The ratio is XLA's median over Strata's (above 1: Strata is faster). A result further from XLA's than allowed (relative L2 of each output;
share of unequal elements for integers) is a failure whatever the time. `--require` exits with 1 for a ratio below 0.8 and for a call
that costs more than 1.2 of the built-in's, too. Needs JAX; the plugin is that of build/lib unless STRATA_PJRT_LIBRARY names another.
"""
import argparse
import importlib.util
import math
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("STRATA_PJRT_LIBRARY", str(pathlib.Path(os.environ.get("STRATA_BUILD", ROOT / "build")) / "lib" / "libstrata_pjrt.so"))
os.environ.setdefault("STRATA_JAX_DEVICES", "1")

import strata_jax

strata_jax.drop_in()
import jax
import numpy as np


def programs():
    spec = importlib.util.spec_from_file_location("programs", ROOT / "bench" / "programs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PROGRAMS


def distance(got, want):
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return math.inf
    if want.dtype.kind in "iub":
        return float(np.mean(got != want)) if want.size else 0.0
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    g, w = got.astype(wide).ravel(), want.astype(wide).ravel()
    return float(np.linalg.norm(g - w) / max(float(np.linalg.norm(w)), 1e-30))


class Compiled:
    """A program on one device: its arguments there, and how long it took to compile."""

    def __init__(self, function, arguments, device):
        self.arguments = jax.device_put(arguments, device)
        start = time.perf_counter()
        self.call = jax.jit(function).lower(*self.arguments).compile()
        self.compile_s = time.perf_counter() - start
        self.result = jax.block_until_ready(self.call(*self.arguments))

    def median(self, runs):
        seconds = []
        for _ in range(runs):
            start = time.perf_counter()
            jax.block_until_ready(self.call(*self.arguments))
            seconds.append(time.perf_counter() - start)
        return seconds


def dispatch_us(device, calls=2000):
    """What one call of a program of next to nothing costs."""
    f = jax.jit(lambda x: x + 1)
    x = jax.device_put(np.float32(0), device)
    for _ in range(50):
        x = f(x)
    jax.block_until_ready(x)
    start = time.perf_counter()
    for _ in range(calls):
        x = f(x)
    jax.block_until_ready(x)
    return (time.perf_counter() - start) / calls * 1e6


def measure(name, make, ours, theirs, rounds):
    with jax.default_device(theirs):
        function, arguments = make()
        arguments = jax.tree.map(np.asarray, arguments)
    a, b = Compiled(function, arguments, ours), Compiled(function, arguments, theirs)
    far = max(map(distance, jax.tree.leaves(a.result), jax.tree.leaves(b.result)))
    bound = 6e-2 if "bf16" in name else 1e-4
    mine, other = [], []
    for _ in range(rounds):
        mine += a.median(2)
        other += b.median(2)
    return statistics.median(mine), statistics.median(other), a.compile_s, b.compile_s, far, far <= bound


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--require", action="store_true")
    o = parser.parse_args()
    ours, theirs = jax.devices()[0], strata_jax.xla_cpu()[0]
    assert strata_jax.is_strata(ours) and not strata_jax.is_strata(theirs)
    row = "| {} | {} | {} | {} | {} | {} |" if o.markdown else "{:24} {:>10} {:>10} {:>7} {:>13} {:>13}"
    print(row.format("program", "Strata ms", "XLA ms", "ratio", "compile s", "XLA's s"))
    if o.markdown:
        print("|---" * 6 + "|")
    ratios, wrong = [], []
    for name, make in programs().items():
        if o.names and name not in o.names:
            continue
        mine, other, compiled, other_compiled, far, ok = measure(name, make, ours, theirs, o.runs)
        print(row.format(name, f"{mine * 1e3:.3f}", f"{other * 1e3:.3f}", f"{other / mine:.2f}", f"{compiled:.2f}", f"{other_compiled:.2f}"), flush=True)
        if ok:
            ratios.append((other / mine, name))
        else:
            wrong.append(f"{name}: an output is {far:.3g} away")
    mine, other = [], []
    for _ in range(5):
        mine.append(dispatch_us(ours))
        other.append(dispatch_us(theirs))
    mine, other = statistics.median(mine), statistics.median(other)
    print(row.format("a call of x + 1", f"{mine / 1e3:.4f}", f"{other / 1e3:.4f}", f"{other / mine:.2f}", "", ""))
    for line in wrong:
        print(f"FAILED {line}")
    if ratios:
        mean = math.exp(sum(math.log(r) for r, _ in ratios) / len(ratios))
        print(f"geometric mean {mean:.2f}, least {min(ratios)[0]:.2f} ({min(ratios)[1]}), {len(ratios)} programs")
    slow = [f"{name}: {r:.2f}" for r, name in ratios if r < 0.8] + (["a call"] if mine > 1.2 * other else [])
    return 1 if wrong or (o.require and slow) else 0


sys.exit(main())
