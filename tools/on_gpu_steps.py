#!/usr/bin/env python3
"""Steps of bench/programs.py on a device, ours beside JAX's on the same one: rows of a table (tools/on_gpu.sh).

    STRATA_BUILD=build tools/on_gpu_steps.py --device=cuda --out=rows.md [--programs=a,b] [--runs=20]

Each program is lowered by JAX and runs through strata-run with its arguments on the device. JAX's own time is measured where it has
the platform, or loads the library of --device=plugin:/path/x.so; a row says so where it has not. Each side makes as many calls as JAX
does in two seconds, --runs at most, and programs that --seconds leave no time for are named. Exit status 1 where results differ by more than the bench allows, or a program fails.
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


OTHER = "other"  # what JAX calls a plugin that has a path


def jax_call(f, arguments, device, seconds, most):
    """Median of calls whose arguments are there, how many they were, what a call takes beside arguments and results, and the results. As
    many calls as `seconds` allow, three at least and `most` at most."""
    import jax

    placed = jax.device_put(arguments, device)
    compiled = jax.jit(f, keep_unused=True).lower(*placed).compile()
    results = jax.block_until_ready(compiled(*placed))
    times = []
    while len(times) < min(3, most) or (len(times) < most and sum(times) < seconds):
        began = time.perf_counter()
        jax.block_until_ready(compiled(*placed))
        times.append(time.perf_counter() - began)
    memory = compiled.memory_analysis()
    return statistics.median(times), len(times), memory.temp_size_in_bytes if memory else None, results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--programs", default="")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=150, help="begin no further program after so long")
    o = parser.parse_args()
    platform = {"cuda": "gpu"}.get(o.device, o.device)
    if o.device.startswith("plugin:"):  # the same library in JAX
        platform = OTHER
        os.environ["PJRT_NAMES_AND_LIBRARY_PATHS"] = f"{OTHER}:{o.device.removeprefix('plugin:')}"
    import jax
    import numpy as np
    import strata_run as ours

    try:
        card, missing = jax.devices(platform)[0], ""
    except RuntimeError as e:
        card, missing = None, f"jax {jax.__version__} has no {o.device}: {(str(e).strip().splitlines() or ['?'])[-1][:120]}"
    cpu = jax.devices("cpu")[0]
    plain = ours.subprocess.run
    ours.subprocess.run = lambda argv, **k: plain([*argv, f"--device={o.device}"], **k)  # strata_run's one program
    began, rows, failed, speeds, late = time.time(), [], 0, [], []
    wanted = [n for n in o.programs.split(",") if n]
    for name, make in ours.programs().items():
        if wanted and name not in wanted:
            continue
        if time.time() - began > o.seconds:
            late.append(name)
            continue
        try:
            with jax.default_device(cpu), tempfile.TemporaryDirectory() as folder:
                f, arguments = make()
                leaves, tree = jax.tree.flatten(arguments)
                flat = lambda *x: jax.tree.leaves(f(*jax.tree.unflatten(tree, x)))
                leaves = [np.asarray(x) for x in leaves]
                text = jax.jit(flat, keep_unused=True).lower(*leaves).as_text()
                # Results are those of JAX on the same device: a card multiplies f32 by TensorFloat-32 for both.
                theirs, runs, temporary, want = jax_call(flat, leaves, card or cpu, 2, o.runs)
                report, results = ours.strata_run(pathlib.Path(folder), text, leaves, runs)
            far = max(ours.distance(results[f"out.{i}"], w) for i, w in enumerate(want))
            line = f"{report['median_s'] * 1e3:.3f} ms"
            if report["temporary_bytes"]:
                line += f", {report['temporary_bytes'] / 1e6:.1f} MB beside arguments and results"
            if report.get("device_peak_bytes"):
                line += f", peak {report['device_peak_bytes'] / 1e6:.0f} MB"
            if card is not None:
                speeds.append(theirs / report["median_s"])
                line += f"; JAX {theirs * 1e3:.3f} ms" + (f", {temporary / 1e6:.1f} MB" if temporary else "") + f": {speeds[-1]:.2f} of its speed"
            if far > (ours.bound(name) if card is not None or o.device.startswith("plugin:") else max(ours.bound(name), 5e-3)):
                failed += 1
                line += f"; FAILED: {far:.2g} from JAX's results"
        except Exception as e:
            failed += 1
            line = f"FAILED: {str(e).strip().splitlines()[-1][:150] if str(e).strip() else type(e).__name__}"
        rows.append(f"| step {name} | {line} |")
        o.out.write_text("\n".join(rows) + "\n")  # what is there if the time is over before the end
        print(rows[-1], flush=True)
    if speeds:
        rows.append(f"| steps beside JAX | the median of {len(speeds)} is {statistics.median(speeds):.2f} of its speed, the least {min(speeds):.2f} |")
    if late:
        rows.append(f"| steps that were not tried: {o.seconds:.0f} s were over | {', '.join(late)} |")
    if missing:
        rows.append(f"| beside JAX | not measured: {missing} |")
    o.out.write_text("\n".join(rows) + "\n")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
