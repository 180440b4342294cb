#!/usr/bin/env python3
"""More random pipelines of Grain 0.2.18 than the repository keeps: the same elements, states and restores here.

    python -m venv V && V/bin/pip install grain==0.2.18
    V/bin/python tools/proofs/grain_soak.py [--rounds N] [--seed N] [--build BUILD]

Each round makes 440 pipelines of another seed (tools/goldens/grain_pipelines.py) and runs the tests of pipelines on them. Grain's interleave without
buffers has no order (two of its threads take elements of one iterator without a lock: docs/grain.md), and may say the wrong state of a data set
12 times in a row: pipelines with one are left out, as is what does not give the same 12 times. States are compared as texts, so each reads the other's. Prints a line a round; exits with 1 at the first that differs, whose file stays.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def races(graph):
    return graph["op"] == "interleave" and graph["buffer"] == 0 or any(races(p) for p in graph.get("in", []))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    for seed in range(args.seed, args.seed + args.rounds):
        file = folder / f"pipelines_{seed}.jsonl"
        subprocess.run([sys.executable, ROOT / "tools/goldens/grain_pipelines.py", "--seed", str(seed), "--count", "400", "--rereads", "12", "--out", file], check=True, stdout=subprocess.DEVNULL)
        file.write_text("".join(line for line in file.open() if not races(json.loads(line)["graph"])))
        done = subprocess.run([args.build / "bin/data_test", "--gtest_filter=GrainPipelines.*"], env={**os.environ, "STRATA_PIPELINES": str(file)}, capture_output=True, text=True)
        print(f"seed {seed}: {'equal' if done.returncode == 0 else 'differs: ' + str(file)}", flush=True)
        if done.returncode != 0:
            sys.exit(done.stdout[-4000:])
        file.unlink()


if __name__ == "__main__":
    main()
