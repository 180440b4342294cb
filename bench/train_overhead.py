#!/usr/bin/env python3
"""What a training run costs beside its bare step, on the demo's model: bench/train_overhead.cc; build/bench/train.md and .json.

    STRATA_BUILD=build bench/train_overhead.py [--rounds N] [--steps N]

The text is this repository's sources, so that nothing needs to be prepared; the model and the batches have the demo's shapes.
"""
import argparse
import json
import subprocess
import sys

from strata_run import PROGRAM, ROOT, save

PERIOD = 180  # the demo's checkpoint_period
MOST = 0.05  # of the bare step's tokens per second may be lost


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=8)
    o = parser.parse_args()
    argv = [PROGRAM.with_name("train-overhead"), ROOT / "configs/demo.yml", f"train_files={ROOT}/strata/**/*.cc", "tokenizer_type=byte", "tokenizer_path=",
            f"--rounds={o.rounds}", f"--steps={o.steps}", "--json"]
    row = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
    demo = row["run_s"] + max(0, row["run_mean_s"] - row["run_s"]) * (o.steps - 2) / PERIOD
    rows = [("median step", row["bare_s"], row["run_s"]), (f"mean, a checkpoint every {o.steps} steps", row["bare_mean_s"], row["run_mean_s"]),
            (f"from both: the demo's checkpoint every {PERIOD} steps", row["bare_s"], demo)]
    lines = [f"`configs/demo.yml`, {row['tokens']} tokens a step, {o.rounds} turns of {o.steps} steps with a checkpoint in each\n",
             "| | bare step ms | `strata train` ms | tokens/s | lost | allowed |", "|---|---|---|---|---|---|"]
    for name, bare, run in rows:
        lines.append(f"| {name} | {bare * 1e3:.1f} | {run * 1e3:.1f} | {row['tokens'] / run:.0f} | {100 * (1 - bare / run):.1f} % | {100 * MOST:.0f} % |")
    lines.append(f"\nA call that takes and gives the step's trees, with next to nothing in their arrays: {row['call_s'] * 1e6:.1f} us, of 50 allowed.")
    print("\n".join(lines), flush=True)
    save("train", lines, row)


if __name__ == "__main__":
    sys.exit(main())
