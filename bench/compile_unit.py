#!/usr/bin/env python3
"""How long one translation unit takes to compile: a model of ten layers, a loss, an optimizer chosen at run time.

    bench/compile_unit.py [--compiler CXX] [--runs N] [--trace]

Compiles bench/ten_layers.cc at -O2, and a file that only includes strata/core.h, without precompiled headers; prints the
median processor seconds of both. The aim is 6 s, alone on the machine. --trace (clang) prints what is dear: headers, templates,
functions. No result of the compiler is kept.
"""
import argparse
import collections
import json
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FLAGS = ["-std=c++20", "-O2", "-fPIE", "-ffp-contract=off", "-DFMT_SHARED", f"-I{ROOT}"]
AIM_S = 6.0


def seconds(compiler, unit, folder, *more):
    """Processor seconds of one compilation."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([compiler, *FLAGS, *more, "-c", str(unit), "-o", str(folder / "unit.o")], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def print_trace(compiler, unit, folder):
    """The dearest of each kind of event that clang's -ftime-trace tells of."""
    trace = folder / "trace.json"
    seconds(compiler, unit, folder, f"-ftime-trace={trace}", "-ftime-trace-granularity=200")
    events = [e for e in json.loads(trace.read_text())["traceEvents"] if "dur" in e]
    for kind in ("Total ExecuteCompiler", "Total Frontend", "Total Backend", "Total InstantiateFunction", "Total InstantiateClass"):
        print(f"{sum(e['dur'] for e in events if e['name'] == kind) / 1e6:8.2f} s  {kind}")
    for kind in ("Source", "InstantiateFunction", "OptFunction"):
        by_detail = collections.Counter()
        for e in events:
            if e["name"] == kind:
                by_detail[e.get("args", {}).get("detail", "")] += e["dur"]
        print(kind)
        for detail, micros in by_detail.most_common(15):
            print(f"{micros / 1e6:8.3f} s  {detail[:160]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default=shutil.which("clang++-19") or shutil.which("clang++") or "g++")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        headers = folder / "headers.cc"
        headers.write_text('#include "strata/core.h"\n')
        units = {"bench/ten_layers.cc": ROOT / "bench" / "ten_layers.cc", "strata/core.h alone": headers}
        for what, unit in units.items():
            took = statistics.median(seconds(options.compiler, unit, folder) for _ in range(options.runs))
            print(f"{what:24} {took:6.2f} s" + (f"   aim {AIM_S:.0f} s" if what.endswith(".cc") else ""))
        if options.trace:
            print_trace(options.compiler, units["bench/ten_layers.cc"], folder)


if __name__ == "__main__":
    sys.exit(main())
