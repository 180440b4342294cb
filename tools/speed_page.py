#!/usr/bin/env python3
"""Writes docs/speed.md from what the last `make bench` left in build/bench: the machine, the command, the tables.

    tools/speed_page.py [--build FOLDER]
    tools/speed_page.py --summary      prints the means by class that the page holds, for README

What stands behind the line `<!-- by hand -->` of the page stays.
"""
import argparse
import itertools
import os
import pathlib
import platform
import re
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BY_HAND = "<!-- by hand -->"
# file of build/bench -> its heading and what it shows
TABLES = {
    "perf": ("Beside JAX", "`strata-run` on programs as JAX writes them, beside XLA's CPU in the same run, alternating, medians: [bench/perf.py](../bench/perf.py)."),
    "more_programs": ("Beside JAX, other programs", "The same of programs of the same kinds of which nothing is asked by name: `bench/perf.py --programs` "
                      "[bench/more_programs.py](../bench/more_programs.py)."),
    "torch": ("Beside PyTorch", "The Llama step as one writes it in PyTorch, alternating with ours in the same run: [bench/torch_step.py](../bench/torch_step.py)."),
    "train": ("A training run", "`strata train` beside its bare step on batches that lie ready: [bench/train_overhead.py](../bench/train_overhead.py)."),
    "threads": ("Threads", "Results on different numbers of threads, byte for byte: [bench/threads.py](../bench/threads.py)."),
    "dispatch": ("A call", "What a call of next to nothing costs: [bench/dispatch.py](../bench/dispatch.py)."),
    "eager": ("Outside of jit", "Small operations one after the other: [bench/eager.py](../bench/eager.py)."),
    "linalg": ("Linear algebra", "Batches of small matrices and single large ones, beside JAX in the same run, alternating, medians: [bench/linalg.py](../bench/linalg.py)."),
    "roofline": ("Where the Llama step's time goes", "Each launch beside what the same run measured this machine to give, predicted by the longest of arithmetic, memory and call: "
                 "[bench/roofline.py](../bench/roofline.py), [roofline.h](../strata/compile/plan/roofline.h). What is left to gain stands behind `predicted`: the time that all launches would take at these peaks, and what they took."),
}


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", info)
    flags = set(re.search(r"flags\s*: (.*)", info)[1].split())
    has = [name for flag, name in (("avx2", "AVX2"), ("avx512f", "AVX-512"), ("avx512_bf16", "AVX512-BF16"), ("amx_bf16", "AMX")) if flag in flags]
    memory = int(re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) / (1 << 20)
    return f"{model[1] if model else platform.machine()}, {os.cpu_count()} threads, {', '.join(has)}, {memory:.0f} GiB"


def page(bench, by_hand):
    out = ["# Speed\n", f"The last tables of `make bench`, written by `tools/speed_page.py` on {time.strftime('%d %B %Y', time.gmtime())}.\n", f"Machine: {machine()}.\n"]
    for name, (heading, what) in TABLES.items():
        table = bench / f"{name}.md"
        if table.exists():
            out += [f"## {heading}\n", what + "\n", table.read_text().rstrip() + "\n"]
    return "\n".join(out) + f"\n{BY_HAND}\n{by_hand}"


def rows_under(text, head):
    """The cells of the table whose first line begins with `head`."""
    lines = text[text.index(head):].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in itertools.takewhile(lambda line: line.startswith("|"), lines)]


def summary(text):
    """One row for each class of programs, from the page, so that README says what it says."""
    date = re.search(r"written by `tools/speed_page.py` on (.*?)\.", text)[1]
    machine_line = re.search(r"^Machine: (.*)\.$", text, re.M)[1]
    releases = re.search(r"^(JAX [^,]*),", text, re.M)[1]
    ratios = {}
    for row in rows_under(text, "| class | program |"):
        ratios.setdefault(row[0], []).append((float(row[5]), row[1]))
    out = [f"{releases}, {date}; {machine_line}.", "", "| programs | how many | geometric mean | least | most |", "|---|---|---|---|---|"]
    for name, mean, *_ in rows_under(text, "| class | geometric mean |"):
        (least, slow), (most, fast) = min(ratios[name]), max(ratios[name])
        out.append(f"| {name} | {len(ratios[name])} | {mean} | {least:.2f} `{slow}` | {most:.2f} `{fast}` |")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--summary", action="store_true", help="print one row a class from the page as it is")
    o = parser.parse_args()
    target = ROOT / "docs" / "speed.md"
    before = target.read_text() if target.exists() else ""
    if o.summary:
        print(summary(before))
        return
    target.write_text(page(o.build / "bench", before.partition(BY_HAND + "\n")[2]))


if __name__ == "__main__":
    main()
