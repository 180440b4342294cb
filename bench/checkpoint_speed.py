#!/usr/bin/env python3
"""Orbax checkpoints by Strata beside plain files and orbax-checkpoint, on one disk in one run.

    bench/checkpoint_speed.py FOLDER [MIB]      FOLDER lies on the disk that is measured; MIB: the state's size (default 512)

Needs build/bin/checkpoint-speed (ninja -C build bin/checkpoint-speed), and orbax-checkpoint in this Python. Rates are the best of three, in MB/s;
reads are of files that memory holds, for both.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
import numpy as np
import orbax.checkpoint as ocp

ROOT = pathlib.Path(__file__).resolve().parents[1]
folder = pathlib.Path(sys.argv[1]).resolve()
mib = int(sys.argv[2]) if len(sys.argv) > 2 else 512
ARRAYS = 32


def best(f):
    out = 1e300
    for _ in range(3):
        begin = time.monotonic()
        f()
        out = min(out, time.monotonic() - begin)
    return out


ours = json.loads(subprocess.run([ROOT / "build/bin/checkpoint-speed", folder, str(mib)], check=True, capture_output=True, text=True).stdout)
rng = np.random.default_rng(1)
tree = {f"w{n}": rng.standard_normal((mib * (1 << 20) // ARRAYS // 4 // 1024, 1024), np.float32) for n in range(ARRAYS)}
path = folder / "orbax_speed"
checkpointer = ocp.PyTreeCheckpointer()
save = best(lambda: checkpointer.save(path, tree, force=True))
load = best(lambda: checkpointer.restore(path))
shutil.rmtree(path)
mb = ours["mb"]
rows = [("a plain file, synced", ours["file_write"], ours["file_read"]),
        ("Strata, uncompressed", ours["raw_save"], ours["raw_load"]),
        ("Strata, zstd", ours["zstd_save"], ours["zstd_load"]),
        ("orbax-checkpoint, zstd", mb / save, mb / load)]
print(f"| {mb:.0f} MB in {ARRAYS} arrays | save MB/s | of the file | load MB/s | of the file |\n|---|---|---|---|---|")
for name, w, r in rows:
    print(f"| {name} | {w:.0f} | {w / ours['file_write']:.2f} | {r:.0f} | {r / ours['file_read']:.2f} |")
print(f"\nblocked {ours['blocked_ms']} ms by a save; memory above the state: {ours['raw_save_above_mib']:.0f} MiB uncompressed, "
      f"{ours['zstd_save_above_mib']:.0f} MiB zstd")
