#!/usr/bin/env python3
"""Kakao's recipe in its short form: every command of it runs, what is said to keep the function keeps it, and kills change no bit.

    strata/cli/kakao_test.py BIN      BIN: the folder of the programs (default build/bin)

The recipe (tools/proofs/kakao.py --short) is killed STRATA_KILLS times (default 2; `make soak` says 30) at random moments, script and
command alike, and begun again each time. What it ends with must be what it has unbroken: weights, optimizers, states of the data,
metrics, models, and all that it tells of them. Prints `ok NAME` or `FAILED NAME` for each fact.
"""
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/bin").resolve()
KILLS = int(os.environ.get("STRATA_KILLS", "2"))
MODELS = 7
failed = 0


def fact(name, problem):
    """Prints one fact; `problem` is empty when it holds."""
    global failed
    failed += bool(problem)
    print(f"{'FAILED' if problem else 'ok     '} {name}", *problem.splitlines(), sep="\n        ", flush=True)


def recipe(work):
    """The short form as a process of a group of its own."""
    return subprocess.Popen([sys.executable, ROOT / "tools/proofs/kakao.py", "--short", "--strata", BIN / "strata", "--work", work],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, start_new_session=True)


def told(work):
    """All that the recipe found, without times."""
    return {k: v for k, v in json.loads((work / "results.json").read_text()).items() if k not in ("date", "minutes", "cpu_minutes")}


def metrics(run):
    lines = [json.loads(line) for line in (run / "metrics/metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if not k.startswith("perf/")} for line in lines]


def first_difference(a, b, where):
    """The first place where two values of JSON differ; empty for equal ones."""
    if type(a) is not type(b) or not isinstance(a, (dict, list)) or len(a) != len(b):
        return "" if a == b else f"{where}: {str(a)[:200]} and {str(b)[:200]}"
    if isinstance(a, dict) and a.keys() != b.keys():
        return f"{where}: {list(a)} and {list(b)}"
    return next(filter(None, (first_difference(a[k], b[k], f"{where}/{k}") for k in (a if isinstance(a, dict) else range(len(a))))), "")


def difference(work, whole):
    """How a finished recipe differs from the unbroken one; empty when it does not."""
    runs = sorted(p.parent.relative_to(whole) for p in whole.glob("*/*/checkpoints"))
    models = sorted(p.relative_to(whole) for p in whole.glob("*/**/model*.safetensors"))
    if len(runs) != 4 + MODELS or len(models) < 1 + MODELS:
        return f"there are {len(runs)} runs and {len(models)} models"
    for run in runs:
        diff = subprocess.run([BIN / "strata", "checkpoint", "diff", work / run, whole / run], capture_output=True, text=True)
        if diff.returncode != 0:
            return f"{run}: {diff.stdout}{diff.stderr}"
        if metrics(work / run) != metrics(whole / run):
            return f"{run}: its metrics differ"
    for model in models:
        if (work / model).read_bytes() != (whole / model).read_bytes():
            return f"{model} differs"
    return first_difference(told(work), told(whole), "results.json")


def killed(base, whole, seconds):
    """KILLS kills, of one recipe after the other where a recipe ends before its kill."""
    moments = random.Random(int(os.environ.get("STRATA_SEED", "1")))
    kills = recipes = 0
    while kills < KILLS:
        work = base / f"killed{recipes}"
        recipes += 1
        before = kills
        while True:
            child = recipe(work)
            moment = moments.uniform(0, seconds / 3) if kills < KILLS else None
            try:
                out, _ = child.communicate(timeout=moment)
                break
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.communicate()
                kills += 1
        problem = difference(work, whole) if child.returncode == 0 else f"exit {child.returncode}\n{out}"
        fact(f"recipe {recipes}, killed {kills - before} times, ends with the same bits", problem)


def main():
    with tempfile.TemporaryDirectory() as name:
        base = pathlib.Path(name).resolve()
        start = time.monotonic()
        unbroken = recipe(base / "whole")
        out, _ = unbroken.communicate()
        print(out)
        fact("the recipe runs, and functions that are to be kept are", "" if unbroken.returncode == 0 else f"exit {unbroken.returncode}")
        fact("it goes on with every model", "" if out.count("seed 0:") == MODELS else out)
        page = base / "whole/kakao.md"
        pictures = re.findall(r"\]\((kakao/\w+\.png)\)", page.read_text()) if page.exists() else []
        fact("it writes a page with its pictures", "" if len(pictures) == 5 and all((base / "whole" / p).stat().st_size for p in pictures) else str(pictures))
        killed(base, base / "whole", time.monotonic() - start)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
