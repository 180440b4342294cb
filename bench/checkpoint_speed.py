#!/usr/bin/env python3
"""Orbax checkpoints by Strata beside plain files and orbax-checkpoint, on one disk, in turn.

    bench/checkpoint_speed.py FOLDER [MIB] [ROUNDS]      FOLDER lies on the disk that is measured; MIB: the state's size (default 256)

Needs build/bin/checkpoint-speed (ninja -C build bin/checkpoint-speed), and orbax-checkpoint in this Python. In each of ROUNDS (default 5) rounds a plain file is
written and synced, then Strata saves, then Orbax saves, and the same of loads: shares are taken within a round, since the disk's rate changes from one to the next,
and the median of the shares is printed. Reads are of files that memory holds, for all.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
import numpy as np
import orbax.checkpoint as ocp

ROOT = pathlib.Path(__file__).resolve().parents[1]
folder = pathlib.Path(sys.argv[1]).resolve()
mib = int(sys.argv[2]) if len(sys.argv) > 2 else 256
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
ARRAYS = 32
rng = np.random.default_rng(1)
tree = {f"w{n}": rng.standard_normal((mib * (1 << 20) // ARRAYS // 4 // 1024, 1024), np.float32) for n in range(ARRAYS)}
path = folder / "orbax_speed"
checkpointer = ocp.PyTreeCheckpointer()
runs = []


def rate(f):
    begin = time.monotonic()
    f()
    return mib * 1.048576 / (time.monotonic() - begin)


for _ in range(rounds):
    ours = json.loads(subprocess.run([ROOT / "build/bin/checkpoint-speed", folder, str(mib), "1"], check=True, capture_output=True, text=True).stdout)
    run = {name: value[0] for name, value in ours.items() if isinstance(value, list)}
    run["orbax_save"] = rate(lambda: checkpointer.save(path, tree, force=True))
    run["orbax_load"] = rate(lambda: checkpointer.restore(path))
    runs.append({**run, **{k: v for k, v in ours.items() if not isinstance(v, list)}})
shutil.rmtree(path)
median = lambda f: statistics.median(map(f, runs))
print(f"| {mib * 1.048576:.0f} MB in {ARRAYS} arrays | save MB/s | of the file | of Orbax | load MB/s | of the file | of Orbax |\n|---|---|---|---|---|---|---|")
for name, save, load in [("a plain file, synced", "file_write", "file_read"), ("Strata, uncompressed", "raw_save", "raw_load"), ("Strata, zstd", "zstd_save", "zstd_load"),
                         ("orbax-checkpoint, zstd", "orbax_save", "orbax_load")]:
    cells = [name]
    for kind, file, orbax in [(save, "file_write", "orbax_save"), (load, "file_read", "orbax_load")]:
        cells += [f"{median(lambda r: r[kind]):.0f}", f"{median(lambda r: r[kind] / r[file]):.2f}", f"{median(lambda r: r[kind] / r[orbax]):.2f}"]
    print("| " + " | ".join(cells) + " |")
few, many = (median(lambda r: r["blocked_us"][n]) for n in (str(ARRAYS), "2000"))
print(f"\nA save blocks its caller for {few:.0f} us with {ARRAYS} arrays and {many:.0f} us with 2000; memory above the state: "
      f"{max(r['raw_save_above_mib'] for r in runs):.0f} MiB uncompressed, {max(r['zstd_save_above_mib'] for r in runs):.0f} MiB zstd.")
