#!/usr/bin/env python3
"""Compiles the steps of docs/at-scale.md for 256 chips of v5e, and writes its tables.

    tools/proofs/at_scale.py                       # all, one after the other: some minutes each on two free cores
    tools/proofs/at_scale.py --only experts-13.4b  # one; the others' rows are those of --work
    tools/proofs/at_scale.py --no-write            # prints the tables

A step is compiled by libtpu's compiler (build/peers-tpu, or TPU_LIBRARY_PATH) from a YAML file of configs/; without it
the rows have what Strata's own partitioner says. What the command printed is kept in --work (build/at-scale) as
NAME.json, NAME.err, and read again where a step is not compiled now.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "at-scale.md"
BEGIN, END = "<!-- tables of: tools/proofs/at_scale.py -->", "<!-- end of tables -->"
# name -> (configuration, keys beside it, what it is)
STEPS = {
    "dense-2.1b": ("configs/kakao/dense-2.1b.yml", [], "2.1B dense, FSDP"),
    "experts-13.4b": ("configs/kakao/experts-13.4b.yml", [], "13.4B, 64 experts, 8 active (2.3B), FSDP"),
    "deeper-9.8b": ("configs/kakao/deeper-9.8b.yml", [], "9.8B up-scaled, FSDP"),
    "tensor-data-7b": ("configs/cohere/tensor-data-7b.yml", [], "6.9B, tensor × data as FAX"),
}


def human(number, unit="B"):
    for power, name in ((12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if number >= 10**power:
            return f"{number / 10**power:.3g} {name}{unit}"
    return f"{number:.0f} {unit}"


def library():
    if os.environ.get("TPU_LIBRARY_PATH"):
        return os.environ["TPU_LIBRARY_PATH"]
    found = sorted(ROOT.glob("build/peers-tpu/lib/python3*/site-packages/libtpu/libtpu.so"))
    return str(found[0]) if found else None


def compiled(strata, work, name):
    config, keys, _ = STEPS[name]
    env = {**os.environ, **({"TPU_LIBRARY_PATH": library()} if library() else {})}
    done = subprocess.run([strata, "train-compile", config, *keys, "--json"], capture_output=True, text=True, cwd=ROOT, env=env)
    (work / f"{name}.json").write_text(done.stdout.splitlines()[-1] + "\n" if done.stdout.strip() else "")
    (work / f"{name}.err").write_text("\n".join(l for l in done.stderr.splitlines() if "hugepage" not in l) + "\n")


def read(work, name):
    try:
        return json.loads((work / f"{name}.json").read_text()), (work / f"{name}.err").read_text()
    except (OSError, ValueError):
        return None, ""


def moved(kinds):
    """kinds: name -> (times, bytes)."""
    return "; ".join(f"{k.replace('_', '-')} {t}, {human(b)}"
                     for k, (t, b) in sorted(kinds.items(), key=lambda x: -x[1][1]) if b >= 1e6) or "none"


def seconds(t):
    return f"{t['overlapped']:.2f} ({t['bound']}) … {t['apart']:.2f}" if t else ""


def tables(work):
    by_libtpu = ["| step | weights | tokens of a step | memory of a chip, of 16.9 GB | of it state | collectives of a step: times, bytes of the whole arrays | predicted seconds | compiled in |",
                 "|---|---|---|---|---|---|---|---|"]
    by_strata = ["| step | mesh | state of a chip | arithmetic of a chip | collectives of a step: times, bytes that a chip receives | predicted seconds |",
                 "|---|---|---|---|---|---|"]
    words = []
    for name, (config, keys, what) in STEPS.items():
        told, err = read(work, name)
        if not told:
            continue
        shown = f"[{what}](../{config})" + (f" `{' '.join(keys)}`" if keys else "")
        c = told.get("compiled")
        if c:
            kinds = {k: (c["collectives"][k], c["collective_bytes"][k]) for k in c["collectives"]}
            by_libtpu.append(f"| {shown} | {told['parameters'] / 1e9:.2f} B | {told['tokens_per_step']:,} | {human(c['hbm_bytes_per_chip'])} | {human(told['state_bytes_per_chip'])} | {moved(kinds)} | {seconds(told.get('predicted_step_s'))} | {c['compile_s']:.0f} s |")
        elif "does not fit" in err or "not compiled" not in err and "strata:" in err:
            by_libtpu.append(f"| {shown} | {told['parameters'] / 1e9:.2f} B | {told['tokens_per_step']:,} | does not fit | {human(told['state_bytes_per_chip'])} | | | |")
        if "does not fit" in err:
            lines = [re.sub(r"^(.{400}).*", r"\1 …", l) for l in err.splitlines() if l and not l.startswith(("rc ", "E1", "W1", "I1"))]
            words += [f"\n{what}, `{' '.join(keys)}`, is told so:\n", "```", *lines[:12], "```"]
        kinds = {k: (v["times"], v["bytes"]) for k, v in told["collectives_by_strata"].items()}
        by_strata.append(f"| {what} | {told['mesh']} | {human(told['state_bytes_per_chip'])} | {human(told['flops_per_chip'], 'FLOP')} | {moved(kinds)} | {'' if c else seconds(told.get('predicted_step_s'))} |")
    return "\n".join(["By libtpu's compiler:", "", *by_libtpu, *words, "", "By Strata's own partitioner, of the same programs:", "", *by_strata])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", default=str(ROOT / "build/bin/strata"))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/at-scale")
    parser.add_argument("--only", action="append", choices=STEPS, help="compile this alone; may be said often")
    parser.add_argument("--none", action="store_true", help="compile nothing: the tables of what --work has")
    parser.add_argument("--no-write", action="store_true")
    o = parser.parse_args()
    o.work.mkdir(parents=True, exist_ok=True)
    for name in [] if o.none else o.only or STEPS:
        compiled(o.strata, o.work, name)
    text = f"{BEGIN}\n{datetime.datetime.now(datetime.timezone.utc):%-d %B %Y}. {tables(o.work)}\n{END}"
    print(text)
    if not o.no_write:
        page = PAGE.read_text()
        PAGE.write_text(page[:page.index(BEGIN)] + text + page[page.index(END) + len(END):])


if __name__ == "__main__":
    main()
