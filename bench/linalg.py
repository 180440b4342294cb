#!/usr/bin/env python3
"""Linear algebra in f32 under jit: our C++ (bench/linalg.cc) beside JAX on the same matrices, alternating, medians; build/bench/linalg.md and .json.

    STRATA_BUILD=build bench/linalg.py [--rounds N] [--runs N] [--require]

The first rows are vmapped over 4096 small systems. Factors are compared by the sum of the sizes of their elements. `--require` exits with 1
when a ratio (JAX's time over ours) is below what is asked.
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

from strata_run import PROGRAM

ASKED = {"cholesky_8x8_x4096": 2, "solve_4x4_x4096": 2, "eigh_16x16_x2000": 1, "cholesky_1000": 1, "inv_500": 1}


def even(*shape):
    """The numbers of bench/linalg.cc."""
    return jnp.asarray((np.fmod(np.arange(np.prod(shape)) * 0.6180339887498949, 1) - 0.5).astype(np.float32).reshape(shape))


def positive(*shape):
    g = even(*shape)
    return g @ jnp.swapaxes(g, -1, -2) / shape[-1] + jnp.eye(shape[-1], dtype=jnp.float32)


def dominant(*shape):
    return even(*shape) + jnp.eye(shape[-1], dtype=jnp.float32) * (shape[-1] / 4)


def cholesky(a):
    return jnp.linalg.cholesky(a, symmetrize_input=False)


def symmetric(*shape):
    u = jax.random.uniform(jax.random.key(0), shape)
    return u + jnp.swapaxes(u, -1, -2)


def composed_again(a):
    values, vectors = jnp.linalg.eigh(a)
    return (vectors * values) @ vectors.T


ROWS = {
    "cholesky_8x8_x4096": (jax.vmap(cholesky), lambda: (positive(4096, 8, 8),)),
    "solve_4x4_x4096": (jax.vmap(jnp.linalg.solve), lambda: (dominant(4096, 4, 4), even(4096, 4))),
    "solve_16x16_one_matrix_x4096": (jax.vmap(jnp.linalg.solve, (None, 0)), lambda: (dominant(16, 16), even(4096, 16))),
    "eigh_16x16_x2000": (jax.vmap(composed_again), lambda: (symmetric(2000, 16, 16),)),
    "cholesky_512": (cholesky, lambda: (positive(512, 512),)),
    "cholesky_1000": (cholesky, lambda: (positive(1000, 1000),)),
    "cholesky_1024": (cholesky, lambda: (positive(1024, 1024),)),
    "solve_512": (jnp.linalg.solve, lambda: (dominant(512, 512), even(512, 8))),
    "inv_500": (jnp.linalg.inv, lambda: (dominant(500, 500),)),
    "inv_512": (jnp.linalg.inv, lambda: (dominant(512, 512),)),
    "qr_512": (lambda a: jnp.linalg.qr(a).R, lambda: (dominant(512, 512),)),
    "eigh_256": (lambda a: jnp.linalg.eigh(a).eigenvalues, lambda: (positive(256, 256),)),
    "svd_256": (lambda a: jnp.linalg.svd(a).S, lambda: (dominant(256, 256),)),
    "eig_256": (lambda a: jnp.linalg.eig(a).eigenvalues, lambda: (dominant(256, 256),)),
    "eigvals_256": (jnp.linalg.eigvals, lambda: (dominant(256, 256),)),
    "schur_256": (lambda a: jnp.diagonal(jax.scipy.linalg.schur(a)[0]), lambda: (dominant(256, 256),)),
    "qr_pivoted_512": (lambda a: jax.lax.linalg.qr(a, pivoting=True)[1], lambda: (dominant(512, 512),)),
}


def median_ms(f, arguments, runs):
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        jax.block_until_ready(f(*arguments))
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times)


def by_jax(runs):
    out = {}
    for name, (f, make) in ROWS.items():
        f, arguments = jax.jit(f), make()
        check = float(np.abs(np.asarray(f(*arguments))).sum(dtype=np.float64))
        out[name] = {"ms": median_ms(f, arguments, runs if "_x" in name else max(1, runs // 5)), "check": check}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--require", action="store_true")
    o = parser.parse_args()
    rounds = []
    for _ in range(o.rounds):
        theirs = by_jax(o.runs)
        ours = json.loads(subprocess.run([PROGRAM.with_name("linalg"), str(o.runs)], capture_output=True, text=True, check=True).stdout)
        for name in ROWS:
            if abs(ours[name]["check"] - theirs[name]["check"]) > 1e-3 * theirs[name]["check"]:
                sys.exit(f"{name}: results differ: {ours[name]['check']} and JAX's {theirs[name]['check']}")
        rounds.append((ours, theirs))
    rows = []
    for name in ROWS:
        ours, theirs = (statistics.median(r[i][name]["ms"] for r in rounds) for i in (0, 1))
        rows.append({"name": name, "ms": ours, "jax_ms": theirs, "ratio": theirs / ours, "asked": ASKED.get(name)})
    lines = [f"JAX {jax.__version__}, f32, {os.cpu_count()} threads\n", "| what | Strata ms | JAX ms | ratio | asked |", "|---|---|---|---|---|"]
    lines += [f"| {r['name']} | {r['ms']:.3f} | {r['jax_ms']:.3f} | {r['ratio']:.2f} | {r['asked'] or ''} |" for r in rows]
    print("\n".join(lines), flush=True)
    folder = PROGRAM.parents[1] / "bench"
    folder.mkdir(exist_ok=True)
    (folder / "linalg.md").write_text("\n".join(lines) + "\n")
    (folder / "linalg.json").write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if o.require and any(r["asked"] and r["ratio"] < r["asked"] for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
