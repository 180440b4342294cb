#!/usr/bin/env python3
"""The programs of bench/programs.py in JAX on Strata and on XLA's own CPU, in one process, alternating.

    bench/jax_plugin.py [NAME...] [--runs N] [--seconds S] [--rounds N] [--strata-run] [--markdown] [--require]

The ratio is XLA's median over Strata's (above 1: Strata is faster); each side makes N runs in a row, or as many as XLA
makes in `--seconds` (up to 100), by turns. A result further
from XLA's than allowed (relative L2 of each output; share of unequal elements for integers) is a failure whatever the time.
`--strata-run` times the same program by build/bin/strata-run in each round, too: what the plugin costs beside the bare program.
`--require` exits with 1 for a ratio below 0.8 and for a call that costs more than 1.2 of the built-in's, too. Needs JAX; the
plugin is that of build/lib unless STRATA_PJRT_LIBRARY names another.
"""
import argparse
import math
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("STRATA_PJRT_LIBRARY", str(pathlib.Path(os.environ.get("STRATA_BUILD", ROOT / "build")) / "lib" / "libstrata_pjrt.so"))
os.environ.setdefault("STRATA_JAX_DEVICES", "1")

import strata_jax

strata_jax.drop_in()
import jax
import numpy as np
from jax import export

from strata_run import bound, distance, programs, strata_run


class Compiled:
    """A program on one device: its arguments there, and how long it took to compile."""

    def __init__(self, function, arguments, device):
        self.arguments = jax.device_put(arguments, device, may_alias=False)  # the device's own memory, as another program's results are
        start = time.perf_counter()
        self.jitted = jax.jit(function)
        self.call = self.jitted.lower(*self.arguments).compile()
        self.compile_s = time.perf_counter() - start
        self.result = jax.block_until_ready(self.call(*self.arguments))

    def seconds(self, runs):
        """Of each of `runs` calls in a row, after as many that are not counted: a cache of hundreds of megabytes, which others use too,
        comes to hold a program's arrays only after dozens of calls."""
        out = []
        for _ in range(2 * runs):
            start = time.perf_counter()
            jax.block_until_ready(self.call(*self.arguments))
            out.append(time.perf_counter() - start)
        return out[runs:]

    def bare(self, runs):
        """The median of the same program and arguments in strata-run."""
        text = str(export.export(self.jitted, platforms=["cpu"])(*self.arguments).mlir_module())
        with tempfile.TemporaryDirectory() as folder:
            return strata_run(pathlib.Path(folder), text, jax.tree.leaves(self.arguments), 2 * runs)[0]["median_s"]


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


def measure(make, ours, theirs, o):
    """Medians of both sides and of strata-run (None where not asked for), both compiled, and how far the results are apart."""
    with jax.default_device(theirs):
        function, arguments = make()
        arguments = jax.tree.map(np.asarray, arguments)
    a, b = Compiled(function, arguments, ours), Compiled(function, arguments, theirs)
    far = max(map(distance, jax.tree.leaves(a.result), jax.tree.leaves(b.result)))
    mine, other, bare = [], [], []
    runs = max(o.runs, min(100, int(o.seconds / statistics.median(b.seconds(2)))))
    for _ in range(o.rounds):
        other += b.seconds(runs)
        mine += a.seconds(runs)
        if o.strata_run:
            bare.append(b.bare(runs))
    return statistics.median(mine), statistics.median(other), statistics.median(bare) if bare else None, a.compile_s, b.compile_s, far


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--strata-run", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--require", action="store_true")
    o = parser.parse_args()
    ours, theirs = jax.devices()[0], strata_jax.xla_cpu()[0]
    assert strata_jax.is_strata(ours) and not strata_jax.is_strata(theirs)
    row = lambda *cells: print(("| " + " | ".join(cells) + " |") if o.markdown else "{:24}".format(cells[0]) + "".join(f"{c:>14}" for c in cells[1:]), flush=True)
    more = ["strata-run ms", "its ratio"] if o.strata_run else []
    row("program", "Strata ms", "XLA ms", "ratio", "compile s", "XLA's s", *more)
    if o.markdown:
        print("|---" * (6 + len(more)) + "|")
    ratios, wrong, beside = [], [], []
    for name, make in programs().items():
        if o.names and name not in o.names:
            continue
        mine, other, bare, compiled, other_compiled, far = measure(make, ours, theirs, o)
        more = [f"{bare * 1e3:.3f}", f"{other / bare:.2f}"] if bare else []
        row(name, f"{mine * 1e3:.3f}", f"{other * 1e3:.3f}", f"{other / mine:.2f}", f"{compiled:.2f}", f"{other_compiled:.2f}", *more)
        if bare:
            beside.append((mine / bare, name))
        if far <= bound(name):
            ratios.append((other / mine, name))
        else:
            wrong.append(f"{name}: an output is {far:.3g} away")
    mine, other = [], []
    for _ in range(5):
        mine.append(dispatch_us(ours))
        other.append(dispatch_us(theirs))
    mine, other = statistics.median(mine), statistics.median(other)
    row("a call of x + 1", f"{mine / 1e3:.4f}", f"{other / 1e3:.4f}", f"{other / mine:.2f}", "", "", *[""] * len(more))
    for line in wrong:
        print(f"FAILED {line}")
    if ratios:
        mean = math.exp(sum(math.log(r) for r, _ in ratios) / len(ratios))
        print(f"geometric mean {mean:.2f}, least {min(ratios)[0]:.2f} ({min(ratios)[1]}), {len(ratios)} programs")
    if beside:
        mean = math.exp(sum(math.log(r) for r, _ in beside) / len(beside))
        print(f"time through the plugin over strata-run's: geometric mean {mean:.3f}, {min(beside)[0]:.2f} ({min(beside)[1]}) to {max(beside)[0]:.2f} ({max(beside)[1]})")
    slow = [f"{name}: {r:.2f}" for r, name in ratios if r < 0.8] + (["a call"] if mine > 1.2 * other else [])
    return 1 if wrong or (o.require and slow) else 0


sys.exit(main())
