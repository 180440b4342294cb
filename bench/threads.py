#!/usr/bin/env python3
"""Bits do not depend on threads: the programs of bench/programs.py on 1, 2, 3, 8 and 16 of them; build/bench/threads.md and .json.

    STRATA_BUILD=build bench/threads.py [NAME...] [--threads 1,2,3,8,16]

JAX exports each program as StableHLO; strata-run runs it once for each number of threads, more than the machine has among them, and the
files of results must be equal to the byte. Fails where one differs.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
from jax import export

from strata_run import PROGRAM, programs, read_safetensors, save, write_safetensors


def results(folder, threads):
    """The bytes of each result."""
    out = folder / f"out.{threads}.safetensors"
    argv = [PROGRAM, folder / "program.mlir", f"--args={folder}/in.safetensors", f"--out={out}", f"--threads={threads}"]
    done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, "STRATA_CACHE_DIR": str(folder / "cache")})
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-200:])
    return {name: value.tobytes() for name, value in read_safetensors(out).items()}


def differing(make, threads):
    """How many results a program has, and where they differ from those of the first number of threads."""
    function, arguments = make()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "program.mlir").write_text(str(export.export(jax.jit(function), platforms=["cpu"])(*arguments).mlir_module()))
        write_safetensors(folder / "in.safetensors", {f"in.{i}": a for i, a in enumerate(jax.tree.leaves(arguments))})
        del arguments
        first = results(folder, threads[0])
        return len(first), [f"{name} on {n}" for n in threads[1:] for name, value in results(folder, n).items() if value != first[name]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--programs", type=pathlib.Path, help="another file than bench/programs.py")
    parser.add_argument("--threads", default="1,2,3,8,16")
    o = parser.parse_args()
    threads = [int(n) for n in o.threads.split(",")]
    chosen = programs(o.programs) if o.programs else programs()
    lines = [f"Threads {o.threads} of a machine with {os.cpu_count()}\n", "| program | results | bits |", "|---|---|---|"]
    print("\n".join(lines), flush=True)
    rows = {}
    for name in o.names or chosen:
        count, rows[name] = differing(chosen[name], threads)
        lines.append(f"| {name} | {count} | {'equal' if not rows[name] else 'DIFFER: ' + ', '.join(rows[name])} |")
        print(lines[-1], flush=True)
    save("threads", lines, rows)
    return 1 if any(rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
