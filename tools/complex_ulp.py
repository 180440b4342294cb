#!/usr/bin/env python3
"""Measures functions of complex numbers against MPFR and writes their table into docs/ulp.md.

    tools/complex_ulp.py [--build FOLDER] [--samples N] [--page docs/ulp.md]

Runs `op_test --gtest_filter=ComplexAccuracy.*`, which prints the worst error of each function in each type, with N points for
each (default 6000), and puts the rows between the marks of the page.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--samples", type=int, default=6000)
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs" / "ulp.md")
    options = parser.parse_args()
    done = subprocess.run([options.build.resolve() / "bin" / "op_test", "--gtest_filter=ComplexAccuracy.*"], cwd=options.build, text=True,
                          capture_output=True, env=dict(os.environ, STRATA_SAMPLES=str(options.samples)))
    worst = {}
    for name, dtype, error in re.findall(r"^(\S+) +(c64|c128) +([\d.]+) ulp", done.stdout, re.M):
        name = name.split(".")[1]
        of_type = worst.setdefault(name, {})
        of_type[dtype] = max(of_type.get(dtype, 0), float(error))
    if not worst:
        sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
    rows = [f"| `{name}` | {e.get('c64', 0):.3f} | {e.get('c128', 0):.2f} |" for name, e in worst.items()]
    text = options.page.read_text()
    table = "| operation | complex<f32> | complex<f64> |\n|---|---|---|\n"
    head, found, rest = text.partition(table)
    if not found:
        sys.exit(f"{options.page} has no table of complex numbers")
    rest = re.sub(r"^(?:(?:\||@).*\n)*", "", rest)
    head = re.sub(r"[\d@N]+ points each against MPFR", f"{options.samples} points each against MPFR", head)
    options.page.write_text(head + table + "\n".join(rows) + "\n" + rest)
    print("\n".join(rows))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
