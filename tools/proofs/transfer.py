#!/usr/bin/env python3
"""The best learning rate across widths and depths, with optimizer.transfer and without; writes docs/transfer.md's tables.

    tools/proofs/transfer.py               # some minutes on two cores
    tools/proofs/transfer.py --no-write    # prints them

Tiny Llamas on this repository's pages and sources, as bytes: every width (heads of 16, feed-forward layers of four times
the width) and depth with every rate of a grid of factors of two, the same batches and seed, a constant rate after a short
warm-up. A run's loss is the mean of its last ten steps.
"""
import argparse
import datetime
import json
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "transfer.md"
BEGIN, END = "<!-- tables of: tools/proofs/transfer.py -->", "<!-- end of tables -->"
TEXTS = f"{ROOT}/docs/*.md,{ROOT}/tutorial/*.md;{ROOT}/strata/*/*.cc"
WIDTHS, DEPTHS = [32, 64, 128], [2, 4, 8]
BASE_WIDTH, BASE_DEPTH = WIDTHS[0], DEPTHS[0]
POWERS = range(-9, -3)


def loss_of(o, width, depth, power, transfer):
    name = f"w{width}d{depth}p{power}{'t' if transfer else ''}"
    kept = o.work / f"{name}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    words = [f"train_files={TEXTS}", f"base_output_directory={o.work}", f"run_name={name}", f"base_emb_dim={width}",
             f"base_mlp_dim={4 * width}", f"base_num_query_heads={width // 16}", f"base_num_kv_heads={width // 16}", "head_dim=16",
             f"base_num_decoder_layers={depth}", "max_target_length=64", "per_device_batch_size=8", f"steps={o.steps}",
             f"lr_pieces=[linear 0 -> {2.0**power} over {o.steps // 10}, constant {o.steps}]", "enable_checkpointing=false",
             "adam_weight_decay=0.1", "log_period=1", "eval_fraction=0.01"]
    if transfer:
        words.append(f"optimizer.transfer={{base_emb_dim: {BASE_WIDTH}, base_num_decoder_layers: {BASE_DEPTH}}}")
    done = subprocess.run([o.strata, "train", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{name}: exit {done.returncode}\n{done.stderr[-1500:]}")
    losses = []
    for line in (o.work / name / "metrics" / "metrics.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "learning/loss" in row:
            losses.append(row["learning/loss"])
    shutil.rmtree(o.work / name)
    mean = sum(losses[-10:]) / 10
    kept.write_text(json.dumps(mean))
    return mean


def table(o, sizes, what, transfer):
    rows = [f"| {what} | " + " | ".join(f"2^{p}" for p in POWERS) + " | best |", "|---" * (len(POWERS) + 2) + "|"]
    best = []
    for size in sizes:
        losses = {p: loss_of(o, size if what == "width" else BASE_WIDTH, size if what == "layers" else BASE_DEPTH, p, transfer) for p in POWERS}
        best.append(min(losses, key=losses.get))
        rows.append(f"| {size} | " + " | ".join((f"**{l:.3f}**" if p == best[-1] else f"{l:.3f}") for p, l in losses.items()) + f" | 2^{best[-1]} |")
    return "\n".join(rows), best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", default=str(ROOT / "build/bin/strata"))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/transfer")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--no-write", action="store_true")
    o = parser.parse_args()
    o.work.mkdir(parents=True, exist_ok=True)
    text = [BEGIN, f"{datetime.datetime.now(datetime.timezone.utc):%-d %B %Y}, {o.steps} steps of 512 tokens each."]
    for sizes, what in ((WIDTHS, "width"), (DEPTHS, "layers")):
        for transfer in (True, False):
            made, best = table(o, sizes, what, transfer)
            text += ["", f"By {what}, {'with' if transfer else 'without'} `optimizer.transfer` (the best rate moves by factors of {' and '.join(f'{2.0**(b - best[0]):g}' for b in best[1:])}):", "", made]
    page = "\n".join([*text, END])
    print(page)
    if not o.no_write:
        old = PAGE.read_text()
        PAGE.write_text(old[:old.index(BEGIN)] + page + old[old.index(END) + len(END):])


if __name__ == "__main__":
    main()
