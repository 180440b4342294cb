#!/usr/bin/env python3
"""How much of some files the inputs of fuzz targets take; prints a row per file and the sum.

    tools/fuzz_coverage.py FILES... --run TARGET.cc CORPUS... [--run TARGET.cc CORPUS...] [--build FOLDER] [--show FILE]

    tools/fuzz_coverage.py strata/ir/text/*.cc strata/ir/verify.cc --run strata/ir/text/parser_fuzz.cc strata/ir/text/testdata/corpus \\
        --run strata/op/evaluate_fuzz.cc strata/ir/text/testdata/corpus

Two units, each of all runs together. `branches`: of each condition in the source, true and false are one each, as clang's source-based
coverage counts them; `regions`: the pieces of source between them. `edges`: what libFuzzer counts, edges of the compiled code; some no
input may take, those of unwinding above all. FILES are compiled once more by clang without optimisation (which would make edges of
what the library's headers hold) and linked in front of the libraries of an ordinary build; a target runs once over its inputs, files
or folders. Tests and targets are left out.
  --show  writes the source with its counts there, by llvm-cov
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["-std=c++20", "-gline-tables-only", "-O0", "-I.", "-ffp-contract=off"]
COUNTED = ["-fprofile-instr-generate", "-fcoverage-mapping", "-fsanitize=fuzzer-no-link"]
ROOMS = ["base", "type", "tree", "ir", "loop", "op"]


def compiled(source, folder):
    out = folder / (source.replace("/", "_") + ".o")
    newest = max(f.stat().st_mtime for f in [ROOT / source, *(ROOT / "strata").rglob("*.h")])
    if not out.exists() or out.stat().st_mtime < newest:
        subprocess.run(["ccache", "clang++-19", *FLAGS, *COUNTED, "-c", source, "-o", out], cwd=ROOT, check=True)
    return out


def linked(target, objects, folder, build):
    room = target.split("/")[1]
    libraries = [build / "lib" / f"libstrata_{r}.a" for r in reversed(ROOMS[: ROOMS.index(room) + 1])]
    program = folder / pathlib.Path(target).stem
    subprocess.run(["clang++-19", *FLAGS, "-fsanitize=fuzzer", "-fprofile-instr-generate", target, *objects, "-Wl,--start-group", *libraries, "-Wl,--end-group",
                    "-Wl,--allow-multiple-definition", "-lfmt", "-lpthread", "-lz", "-lopenblas", "-o", program], cwd=ROOT, check=True)
    return program


def run(program, inputs):
    """Writes the program's counts for the source; returns those of the edges."""
    environment = dict(os.environ, ASAN_SYMBOLIZER_PATH="/usr/bin/llvm-symbolizer-19", LLVM_PROFILE_FILE=f"{program}.profraw")
    with tempfile.TemporaryDirectory() as found:
        done = subprocess.run([program, "-runs=0", "-print_coverage=1", found, *inputs], cwd=ROOT, env=environment, capture_output=True, text=True,
                              errors="replace")
    if done.returncode != 0:
        sys.exit(f"{program.name} failed:\n{done.stderr[-2000:]}")
    return edges_of(done.stderr)


def edges_of(output):
    """From each function to how many edges it has and the lines of those not taken; None: not entered."""
    out, missed = {}, None
    for line in output.splitlines():
        if m := re.match(r"(UN)?COVERED_FUNC: hits: \d+ edges: \d+/(\d+) (.*) (\S+:\d+)$", line):
            missed = None if m[1] else collections.Counter()
            out[m[3], re.sub(r"^.*?(strata/)", r"\1", m[4])] = (int(m[2]), missed)
        elif m := re.match(r"\s*UNCOVERED_PC: (.*)$", line):
            missed[m[1]] += 1
    return out


def merged(runs):
    """Not taken is what no run took; of several on one line, the fewest: at least as many as there are."""
    out = {}
    for edges in runs:
        for function, (count, missed) in edges.items():
            _, known = out.get(function, (count, None))
            out[function] = (count, known if missed is None else missed if known is None else known & missed)
    return out


def source_counts(programs, folder, files, show):
    """From each file to what it has and what was taken of it, for branches and regions."""
    profile = folder / "profile"
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", *[f"{p}.profraw" for p in programs], "-o", profile], check=True)
    objects = [str(programs[0]), *[a for p in programs[1:] for a in ("-object", str(p))]]
    common = [*objects, f"-instr-profile={profile}", *files]
    if show:
        with show.open("w") as out:
            subprocess.run(["llvm-cov-19", "show", "-show-branches=count", "-show-instantiations=false", *common], cwd=ROOT, stdout=out, check=True)
    done = subprocess.run(["llvm-cov-19", "export", "-summary-only", *common], cwd=ROOT, capture_output=True, text=True, check=True)
    out = {}
    for f in json.loads(done.stdout)["data"][0]["files"]:
        name = re.sub(r"^.*?(strata/)", r"\1", f["filename"])
        out[name] = {unit: (f["summary"][unit]["count"], f["summary"][unit]["covered"]) for unit in ("branches", "regions")}
    return out


def print_table(counts, files):
    def cells(numbers):
        return " | ".join(f"{taken} of {count} | {100 * taken / max(count, 1):.1f} %" for count, taken in numbers)

    units = ["branches", "regions", "edges"]
    print("| file | branches | | regions | | edges | |\n|---|---|---|---|---|---|---|")
    total = {u: [0, 0] for u in units}
    for f in files:
        row = [counts[f].get(u, (0, 0)) for u in units]
        for u, (count, taken) in zip(units, row):
            total[u][0] += count
            total[u][1] += taken
        print(f"| `{f}` | {cells(row)} |")
    print(f"| all | {cells([total[u] for u in units])} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--run", nargs="+", action="append", required=True, metavar=("TARGET", "CORPUS"))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--show", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.build / "fuzz" / "coverage"
    folder.mkdir(parents=True, exist_ok=True)
    files = [f for f in options.files if not re.search(r"_(test|fuzz)\.cc$", f)]
    objects = [compiled(f, folder) for f in files]
    programs = [linked(target, objects, folder, options.build) for target, *_ in options.run]
    edges = merged(run(program, inputs) for program, (_, *inputs) in zip(programs, options.run))
    counts = source_counts(programs, folder, files, options.show)
    by_file = collections.defaultdict(lambda: (0, 0))
    for (_, place), (count, missed) in edges.items():
        file = place.rsplit(":", 1)[0]
        all_edges, taken = by_file[file]
        by_file[file] = (all_edges + count, taken + (0 if missed is None else count - missed.total()))
    for f in files:
        counts.setdefault(f, {})["edges"] = by_file[f]
    print_table(counts, files)
    missed = [line for (_, place), (_, lines) in edges.items() if place.rsplit(":", 1)[0] in files for line in (lines or collections.Counter()).elements()]
    print(f"Of the edges not taken in functions that were entered, {sum(line.endswith(':0') for line in missed)} of {len(missed)} belong to no line: the compiler's.")


if __name__ == "__main__":
    main()
