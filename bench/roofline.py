#!/usr/bin/env python3
"""Where the time of the Llama steps goes: strata-run's table of launches beside what the machine could do; build/bench/roofline.md and .json.

    STRATA_BUILD=build bench/roofline.py [NAME...] [--runs N]

Programs are those of bench/programs.py, exported by JAX. Fails where less than 95 % of a step's time is accounted for.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
from jax import export

from strata_run import PROGRAM, programs, save, write_safetensors

DEFAULT = ["llama_train_f32", "llama_train_bf16"]
LEAST = 95


def table(name, runs):
    """The lines that strata-run prints of a program's launches."""
    function, arguments = programs()[name]()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "program.mlir").write_text(str(export.export(jax.jit(function), platforms=["cpu"])(*arguments).mlir_module()))
        write_safetensors(folder / "in.safetensors", {f"in.{i}": a for i, a in enumerate(jax.tree.leaves(arguments))})
        argv = [PROGRAM, folder / "program.mlir", f"--args={folder}/in.safetensors", "--explain", f"--time={runs}"]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    return lines[next(i for i, line in enumerate(lines) if line.startswith("peaks of")) :]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=DEFAULT)
    parser.add_argument("--runs", type=int, default=7)
    o = parser.parse_args()
    text, shares = [], {}
    for name in o.names or DEFAULT:
        lines = table(name, o.runs)
        shares[name] = float(re.match(r"([\d.]+) % of the measured time", lines[-1])[1])
        text += [f"{name}:\n", "```", *lines, "```\n"]
        print("\n".join([name, *lines]), flush=True)
    save("roofline", text, shares)
    return 1 if min(shares.values()) < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
