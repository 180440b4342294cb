#!/usr/bin/env python3
"""TensorBoard's own reader finds in a run's event file what stands in its JSON lines.

    strata/train/tensorboard_test.py [BIN]      BIN: the folder of the programs (default build/bin)

Needs the package tensorboard, in this Python or in build/peers (pip install tensorboard); without it the test is skipped.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/bin").resolve()

sys.path.insert(0, str(ROOT / "tests"))
import peers

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    peers.run_again("tensorboard", BIN)


def train(folder, *more):
    keys = ["base_emb_dim=16", "base_num_query_heads=2", "base_num_kv_heads=1", "head_dim=8", "base_mlp_dim=24", "base_num_decoder_layers=1"]
    keys += ["max_target_length=16", "per_device_batch_size=2", "eval_interval=4", "eval_steps=2", "run_name=run", f"base_output_directory={folder}"]
    subprocess.run([BIN / "strata", "train", f"train_files={folder}/text.txt", *keys, *more], check=True, capture_output=True)


with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "text.txt").write_text("".join(f"Verse {i} of a little book.\n" for i in range(400)))
    train(folder, "steps=8", "learning_rate_schedule_steps=12")
    train(folder, "steps=12", "learning_rate_schedule_steps=12")  # goes on
    lines = [json.loads(line) for line in pathlib.Path(folder, "run/metrics/metrics.jsonl").read_text().splitlines()]
    events = EventAccumulator(f"{folder}/run/tensorboard", size_guidance={"scalars": 0})
    events.Reload()
    names = {name for line in lines for name in line if name != "step"}
    wrong = []
    if set(events.Tags()["scalars"]) != names:
        wrong.append(f"names: {sorted(events.Tags()['scalars'])}, expected {sorted(names)}")
    for name in sorted(names & set(events.Tags()["scalars"])):
        got = [(e.step, e.value) for e in events.Scalars(name)]
        want = [(line["step"], line[name]) for line in lines if name in line]
        # JSON has the shortest digits of an f32, TensorBoard its value.
        if [s for s, _ in got] != [s for s, _ in want] or any(abs(a - b) > 1e-6 * abs(b) for (_, a), (_, b) in zip(got, want)):
            wrong.append(f"{name}: {got}, expected {want}")
    steps = [line["step"] for line in lines if "learning/loss" in line]
    if steps != list(range(1, 13)):
        wrong.append(f"steps: {steps}")
    print("FAILED" if wrong else "ok", "TensorBoard reads what the run recorded")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)
