#!/usr/bin/env python3
"""How many edges of some files a fuzz target's inputs take; prints a row per file and the sum.

    tools/fuzz_coverage.py TARGET.cc CORPUS FILES... [--build FOLDER] [--functions PATTERN]

    tools/fuzz_coverage.py strata/ir/text/parser_fuzz.cc build/fuzz/parser_fuzz.corpus strata/ir/text/*.cc strata/ir/verify.cc

FILES are compiled once more by clang with libFuzzer's counters alone (a sanitizer's own checks would be edges that no input
may take) and linked in front of the libraries of an ordinary build; then the target runs once over CORPUS. Functions are
counted by the file that holds them, inlined ones where they were inlined; tests and targets are left out.
  --functions  only functions whose name matches the regular expression
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["-std=c++20", "-gline-tables-only", "-O1", "-I.", "-ffp-contract=off"]
ROOMS = ["base", "type", "tree", "ir", "loop", "op"]


def compiled(source, folder, sanitize):
    out = folder / (source.replace("/", "_") + ".o")
    if not out.exists() or out.stat().st_mtime < (ROOT / source).stat().st_mtime:
        subprocess.run(["ccache", "clang++-19", *FLAGS, f"-fsanitize={sanitize}", "-c", source, "-o", out], cwd=ROOT, check=True)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--functions", type=re.compile)
    options = parser.parse_args()
    folder = options.build / "fuzz" / "coverage"
    folder.mkdir(parents=True, exist_ok=True)
    files = [f for f in options.files if not re.search(r"_(test|fuzz)\.cc$", f)]
    objects = [compiled(f, folder, "fuzzer-no-link") for f in files]
    room = options.target.split("/")[1]
    objects += [compiled(str(f.relative_to(ROOT)), folder, "fuzzer-no-link") for f in sorted((ROOT / "strata/ir/testing").glob("*.cc"))
                if str(f.relative_to(ROOT)) not in files] if room == "ir" else []
    libraries = [options.build / "lib" / f"libstrata_{r}.a" for r in reversed(ROOMS[: ROOMS.index(room) + 1])]
    program = folder / pathlib.Path(options.target).stem
    subprocess.run(["clang++-19", *FLAGS, "-fsanitize=fuzzer", options.target, *objects, "-Wl,--start-group", *libraries, "-Wl,--end-group",
                    "-Wl,--allow-multiple-definition", "-lfmt", "-lpthread", "-o", program], cwd=ROOT, check=True)
    environment = dict(os.environ, ASAN_SYMBOLIZER_PATH="/usr/bin/llvm-symbolizer-19")
    done = subprocess.run([program, "-runs=0", "-print_coverage=1", options.corpus], cwd=ROOT, env=environment, capture_output=True, text=True,
                          errors="replace")
    taken, all_edges = collections.Counter(), collections.Counter()
    # COVERED_FUNC: hits: 3 edges: 5/7 NAME FILE:LINE
    for line in done.stderr.splitlines():
        m = re.match(r"(UN)?COVERED_FUNC: hits: \d+ edges: (\d+)/(\d+) (.*) (\S+):\d+$", line)
        if not m or (options.functions and not options.functions.search(m[4])):
            continue
        file = re.sub(r"^.*?(strata/)", r"\1", m[5])
        if file in files:
            taken[file] += 0 if m[1] else int(m[2])
            all_edges[file] += int(m[3])
    if not all_edges:
        sys.exit(f"no edges: {done.stderr[-2000:]}")
    print("| file | edges | taken | |\n|---|---|---|---|")
    for f in sorted(all_edges):
        print(f"| `{f}` | {all_edges[f]} | {taken[f]} | {100 * taken[f] / all_edges[f]:.1f} % |")
    total, hit = sum(all_edges.values()), sum(taken.values())
    print(f"| all | {total} | {hit} | {100 * hit / total:.1f} % |")


if __name__ == "__main__":
    main()
