#!/usr/bin/env python3
"""The programs of bench/programs.py as JAX writes them: strata-run beside JAX itself, alternating in one run.

    STRATA_BUILD=build bench/perf.py [NAME...] [--programs FILE] [--beside PYTHON]... [--runs N] [--rounds N] [--require]

bench/more_programs.py has others of the same kinds, of which nothing is asked by name.

JAX exports each program as StableHLO; strata-run compiles and times that text on the same arguments. The ratio is JAX's median over
ours (above 1: ours is faster), beside what is asked. With --beside, the JAX of another Python runs the program, too (bench/jax_peer.py), and the
ratio is to the faster one. A result further from JAX's than allowed (relative L2 of each output; share of unequal elements for integers) is a
failure whatever the time; so is a program that one of them cannot run. Rows that memory binds say which share they
reach of the speed at which plain C++ loops copy 64 MB (read them, for those that only read), measured beside them. Temporary bytes are what
a run takes besides arguments and results: ours of the plan, JAX's of memory_analysis(). Tables go to build/bench/perf.md and perf.json, too, or those of
the file's name.
`--require` exits with 1 when a ratio is below what is asked. Run by scripts/bench.sh (make bench).
"""
import argparse
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
from jax import export

from jax_peer import OtherPython, Peer
from strata_run import PROGRAM, PROGRAMS, bound, distance, module, save, strata_run

# class -> the geometric mean that is asked for; name -> the ratio
MEANS = {"training": 3.8, "loops": 1.4, "dense": 1.05, "memory": 6, "irregular": 8}
GOALS = {
    "training": {"llama_train_f32": 3.5, "llama_train_bf16": 5.5, "llama_unrolled_12": 3},
    "loops": {"rnn_grad_T512": 2.5, "pendulum_rk4_grad_1e4": 1.2, "scalar_loop": 1, "loop_matvec3": 1.3, "matmul64_loop1000": 1.7},
    "dense": {"matmul2048_f32": 1, "matmul2048_bf16": 1, "conv3x3_fwd": 1.15, "conv3x3_grad": 1.2, "fft_1024x4096": 1},
    "memory": {"elementwise_16M": 4, "axpb_16M": 8, "sum_all": 1.3, "softmax_rows": 7, "layernorm_rows": 7, "colsum": 2, "argmax_rows": 20,
               "cumsum_rows": 20, "transpose": 8},
    "irregular": {"sort_1M_f32": 50, "argsort_1M_f32": 20, "scatter_add_1M": 1, "gather_rows_1M_x64": 7, "threefry_16M_bits": 30, "normal_4M": 4,
                  "topk_1024x4096_k8": 5},
}
# Bytes read and written by programs that memory binds.
TRAFFIC = {"axpb_16M": 2 << 26, "elementwise_16M": 2 << 26, "softmax_rows": 2 << 26, "layernorm_rows": 2 << 26, "cumsum_rows": 2 << 26, "transpose": 2 << 26,
           "sum_all": 1 << 26, "colsum": 1 << 26, "argmax_rows": 1 << 26}


def speed_of_memory(runs):
    """Bytes a second of a copy and of a read, by plain C++ loops (bench/memory_speed.cc)."""
    done = subprocess.run([PROGRAM.with_name("memory-speed"), str(runs)], capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    return report["copy"], report["read"]


def measure(name, make, pythons, folder, o):
    """One row; 'why' says what is wrong with it."""
    function, arguments = make()
    mine = Peer(function, arguments)
    exported = export.export(jax.jit(function), platforms=["cpu"])(*arguments)
    text, leaves = str(exported.mlir_module()), jax.tree.leaves(arguments)
    read = [leaves[i] for i in exported.module_kept_var_idx]
    runs = max(o.runs, min(60, int(o.seconds / statistics.median(mine.seconds(2)))))
    ours, compiled, why = [], [], ""

    def run_peers():
        for version, peer in peers.items():
            theirs[version].append(statistics.median(peer.seconds(runs)))

    try:
        peers = {jax.__version__: mine} | {python.version: python.program(o.programs, name) for python in pythons}
        theirs = {version: [] for version in peers}
        for _ in range(o.rounds):
            run_peers()
            report, results = strata_run(folder, text, read, runs)
            ours.append(report["median_s"])
            compiled.append(report["compile_s"])  # of the first round: later ones find their code in the folder
            run_peers()
    except RuntimeError as e:
        return {"name": name, "why": str(e)}
    far = max(distance(results[f"out.{i}"], w) for i, w in enumerate(mine.results))
    if far > bound(name):
        why = f"an output is {far:.3g} away, {bound(name):g} allowed"
    times = {version: statistics.median(seconds) * 1e3 for version, seconds in theirs.items()}
    row = {"name": name, "ms": statistics.median(ours) * 1e3, "jax": times, "jax_ms": min(times.values()), "compile_s": compiled[0],
           "jax_compile_s": min(p.compile_s for p in peers.values()), "temporary_bytes": report["temporary_bytes"],
           "jax_temporary_bytes": min(p.temporary_bytes for p in peers.values()), "distance": far, "why": why}
    row["ratio"] = row["jax_ms"] / row["ms"]
    if name in TRAFFIC:
        copy, read = speed_of_memory(runs)
        row["of_memory"] = TRAFFIC[name] / (row["ms"] / 1e3) / (read if TRAFFIC[name] == 1 << 26 else copy)
    return row


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--programs", type=pathlib.Path, default=PROGRAMS, help="another file than bench/programs.py")
    parser.add_argument("--beside", metavar="PYTHON", action="append", default=[], help="its JAX, of another version, is a peer, too")
    parser.add_argument("--runs", type=int, default=5, help="runs of each in a row, at least")
    parser.add_argument("--seconds", type=float, default=0.5, help="as many runs as JAX makes in that time, up to 60")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--require", action="store_true")
    o = parser.parse_args()
    goals = {name: (kind, goal) for kind, rows in GOALS.items() for name, goal in rows.items()}
    chosen = module(o.programs)
    kinds = getattr(chosen, "KIND", {})
    lines, rows = [], []

    def say(line):
        lines.append(line)
        print(line, flush=True)

    pythons = [OtherPython(python) for python in o.beside]
    versions = [jax.__version__] + [python.version for python in pythons]
    say(f"JAX {' and '.join(versions)}, {platform.processor() or platform.machine()}, {os.cpu_count()} threads\n")
    say(f"| class | program | Strata ms | {' | '.join(f'JAX {v} ms' for v in versions)} | ratio | asked | of memory's speed | compile s | JAX's s | temporary MB | JAX's MB |\n|---|---|---|{'---|' * len(versions)}---|---|---|---|---|---|---|")
    for name, make in chosen.PROGRAMS.items():
        if o.names and name not in o.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            row = measure(name, make, pythons, pathlib.Path(folder), o)
        row["class"], row["asked"] = goals.get(name, (kinds.get(name, ""), 0))
        rows.append(row)
        if "ms" in row:
            share = f"{100 * row['of_memory']:.0f} %" if "of_memory" in row else ""
            say(f"| {row['class']} | {name} | {row['ms']:.3f} | {' | '.join(f'{ms:.3f}' for ms in row['jax'].values())} | {row['ratio']:.2f} | {row['asked'] or ''} | {share} "
                f"| {row['compile_s']:.2f} | {row['jax_compile_s']:.2f} | {row['temporary_bytes'] / 1e6:.1f} | {row['jax_temporary_bytes'] / 1e6:.1f} |")
    good = [r for r in rows if "ratio" in r and not r["why"]]
    say("\n| class | geometric mean | asked | least |\n|---|---|---|---|")
    for kind, asked in MEANS.items():
        if ratios := [(r["ratio"], r["name"]) for r in good if r["class"] == kind]:
            say(f"| {kind} | {mean([r for r, _ in ratios]):.2f} | {asked:g} | {min(ratios)[0]:.2f} {min(ratios)[1]} |")
    for r in rows:
        if r["why"]:
            say(f"FAILED {r['name']}: {r['why']}")
    slow = [r for r in good if r["ratio"] < r["asked"]]
    say(f"\n{len(good) - len(slow)} of {len(rows)} reach what is asked, {len(rows) - len(good)} failed")
    save("perf" if o.programs == PROGRAMS else o.programs.stem, lines, rows)
    return 1 if len(good) < len(rows) or (o.require and slow) else 0


if __name__ == "__main__":
    sys.exit(main())
