#!/usr/bin/env python3
"""Programs as JAX writes them, in strata-run beside JAX itself, alternating in one run.

    STRATA_BUILD=build bench/perf.py [NAME...] [--runs N] [--require]

JAX exports each program as StableHLO; strata-run compiles and times that text on the same arguments. The ratio is JAX's
median over ours (above 1: ours is faster) next to what is required. A result further from JAX's than the program's
tolerance (relative L2; share of unequal elements for integers) is a failure whatever the time.
`--require` exits with 1 when a ratio is below what is asked, too. Run by scripts/bench.sh (make bench).
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax import export

from strata_run import distance, strata

ROOT = pathlib.Path(__file__).resolve().parents[1]


def normal(*shape):
    return jax.random.normal(jax.random.key(sum(shape)), shape)


def scalar_loop(n):
    return lax.fori_loop(0, n, lambda i, c: (c * 1.0000001 + 0.5) % 3.0, jnp.float32(0))


# name -> (function, arguments, required ratio, tolerance)
PROGRAMS = {
    "axpb_16M": (lambda x: x * 2 + 1, lambda: [jnp.linspace(0, 1, 1 << 24, dtype=jnp.float32)], 6.4, 1e-6),
    "softmax_rows": (lambda x: jax.nn.softmax(x, -1), lambda: [normal(4096, 4096)], 5.6, 1e-5),
    "colsum": (lambda x: x.sum(0), lambda: [normal(4096, 4096)], 1.6, 1e-5),
    "argmax_rows": (lambda x: jnp.argmax(x, -1), lambda: [normal(4096, 4096)], 16.0, 0.0),
    "matmul2048_f32": (lambda a: a @ a, lambda: [normal(2048, 2048)], 0.8, 1e-5),
    "matmul2048_bf16": (lambda a: a @ a, lambda: [normal(2048, 2048).astype(jnp.bfloat16)], 0.8, 1e-2),
    "scalar_loop": (scalar_loop, lambda: [jnp.int32(100000)], 0.8, 1e-4),
}

def jax_seconds(compiled, arguments, runs):
    jax.block_until_ready(compiled(*arguments))
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        jax.block_until_ready(compiled(*arguments))
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def compare(name, program, runs):
    """Prints a row; 'failed', 'slow' or 'reached'."""
    function, make, required, tolerance = PROGRAMS[name]
    arguments = make()
    jitted = jax.jit(function)
    start = time.perf_counter()
    compiled = jitted.lower(*arguments).compile()
    jax_compile = time.perf_counter() - start
    text = str(export.export(jitted, platforms=["cpu"])(*arguments).mlir_module())
    before = jax_seconds(compiled, arguments, runs)
    with tempfile.TemporaryDirectory() as folder:
        try:
            ours, compile_s, results = strata(program, pathlib.Path(folder), text, arguments, runs)
        except RuntimeError as e:
            print(f"{name:18} FAILED: {e}", flush=True)
            return "failed"
    theirs = min(before, jax_seconds(compiled, arguments, runs))
    far = max(distance(results[f"out.{i}"], np.asarray(w)) for i, w in enumerate(jax.tree.leaves(compiled(*arguments))))
    verdict = "failed" if far > tolerance else "reached" if theirs / ours >= required else "slow"
    print(f"{name:18} {ours * 1e3:10.3f} {theirs * 1e3:10.3f} {theirs / ours:7.2f} {required:9.1f} {verdict:>8} {far:10.1e} {compile_s:10.3f} {jax_compile:10.3f}", flush=True)
    return verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[], help=f"of {', '.join(PROGRAMS)}")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--require", action="store_true")
    options = parser.parse_args()
    program = pathlib.Path(os.environ.get("STRATA_BUILD", ROOT / "build")) / "bin/strata-run"
    print(f"{'':18} {'ours ms':>10} {'JAX ms':>10} {'ratio':>7} {'required':>9} {'':8} {'distance':>10} {'compile s':>10} {'JAX':>10}")
    verdicts = [compare(name, program, options.runs) for name in options.names or PROGRAMS]
    print(f"{verdicts.count('reached')} of {len(verdicts)} reached, {verdicts.count('failed')} failed")
    return 1 if "failed" in verdicts or (options.require and "slow" in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
