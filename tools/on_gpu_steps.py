#!/usr/bin/env python3
"""Steps of bench/programs.py on a device, ours beside JAX's on the same one: rows of a table (tools/on_gpu.sh).

    STRATA_BUILD=build tools/on_gpu_steps.py --device=cuda --out=rows.md [--programs=a,b] [--runs=20]

Each program is lowered by JAX and runs through strata-run with its arguments on the device. JAX's own time is measured where it has
the platform; a row says so where it has not. Exit status 1 where results differ by more than the bench allows, or a program fails.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))


def jax_seconds(f, arguments, device, runs):
    """Median of a call whose arguments are there."""
    import jax

    placed = jax.device_put(arguments, device)
    compiled = jax.jit(f).lower(*placed).compile()
    jax.block_until_ready(compiled(*placed))
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        jax.block_until_ready(compiled(*placed))
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--programs", default="")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=150, help="begin no further program after so long")
    o = parser.parse_args()
    import jax
    import numpy as np
    import strata_run as ours

    try:
        card = jax.devices({"cuda": "gpu"}.get(o.device, o.device))[0]
        missing = ""
    except RuntimeError:
        card, missing = None, f"jax {jax.__version__} has no {o.device}"
    cpu = jax.devices("cpu")[0]
    plain = ours.subprocess.run
    ours.subprocess.run = lambda argv, **k: plain([*argv, f"--device={o.device}"], **k)  # strata_run's one program
    began, rows, failed = time.time(), [], 0
    wanted = [n for n in o.programs.split(",") if n]
    for name, make in ours.programs().items():
        if (wanted and name not in wanted) or (not wanted and time.time() - began > o.seconds):
            continue
        try:
            with jax.default_device(cpu), tempfile.TemporaryDirectory() as folder:
                f, arguments = make()
                leaves, tree = jax.tree.flatten(arguments)
                flat = lambda *x: jax.tree.leaves(f(*jax.tree.unflatten(tree, x)))
                leaves = [np.asarray(x) for x in leaves]
                text = jax.jit(flat, keep_unused=True).lower(*leaves).as_text()
                report, results = ours.strata_run(pathlib.Path(folder), text, leaves, o.runs)
                want = jax.jit(flat, keep_unused=True)(*leaves)
            far = max(ours.distance(results[f"out.{i}"], w) for i, w in enumerate(want))
            line = f"{report['median_s'] * 1e3:.3f} ms"
            if card is not None:
                theirs = jax_seconds(flat, leaves, card, o.runs)
                line += f"; JAX {theirs * 1e3:.3f} ms: {theirs / report['median_s']:.2f} of its speed"
            if far > ours.bound(name):
                failed += 1
                line += f"; FAILED: {far:.2g} from JAX's results"
        except Exception as e:
            failed += 1
            line = f"FAILED: {str(e).strip().splitlines()[-1][:150] if str(e).strip() else type(e).__name__}"
        rows.append(f"| step {name} | {line} |")
        print(rows[-1], flush=True)
    if missing:
        rows.append(f"| beside JAX | not measured: {missing} |")
    o.out.write_text("\n".join(rows) + "\n")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
