#!/usr/bin/env python3
"""A checkpoint's tensors as Python's safetensors package reads them are those that `strata checkpoint show` tells of.

    strata/cli/safetensors_test.py BIN      BIN: the folder of the programs (default build/bin)

Needs the package, in this Python or in build/peers; without it, skipped (status 77). What the package reads and writes is also
recorded in strata/checkpoint/testdata, which checkpoint_test compares without it.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/bin").resolve()
NAMES = {"F32": "f32", "BF16": "bf16", "I32": "i32", "U32": "ui32"}
MODEL = ("base_emb_dim=16 base_num_query_heads=2 base_num_kv_heads=1 head_dim=8 base_mlp_dim=24 base_num_decoder_layers=1 "
         "max_target_length=16 per_device_batch_size=2").split()

sys.path.insert(0, str(ROOT / "tests"))
import peers

try:
    import safetensors
except ImportError:
    peers.run_again("safetensors", BIN)


def norm(t):
    """The root of the sum of squares of the elements, as double precision adds them."""
    data = bytes(t["data"])
    if t["dtype"] == "BF16":
        values = [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]
    else:
        code = {"F32": "f", "I32": "i", "U32": "I"}[t["dtype"]]
        values = struct.unpack(f"<{len(data) // 4}{code}", data)
    return sum(float(v) * v for v in values) ** 0.5


def problem(t, shown):
    """How what the package read differs from what we show."""
    if [NAMES[t["dtype"]], t["shape"], len(t["data"])] != [shown["dtype"], shown["shape"], shown["bytes"]]:
        return f"{t['dtype']} {t['shape']}, shown {shown}"
    return "" if abs(norm(t) - shown["l2"]) <= 1e-12 * (1 + norm(t)) else f"norm {norm(t)}, shown {shown['l2']}"


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "text.txt").write_text("a little book\n" * 100)
        strata = lambda *arguments: subprocess.run([BIN / "strata", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout
        strata("train", "train_files=text.txt", "base_output_directory=.", "run_name=run", "steps=2", *MODEL)
        shown = json.loads(strata("checkpoint", "show", "run", "--json"))
        for part, tensors in shown["parts"].items():
            read = dict(safetensors.deserialize(pathlib.Path(folder, shown["folder"], part + ".safetensors").read_bytes()))
            wrong = [f"{name}: {p}" for name in tensors if (p := problem(read[name], tensors[name]))] if read.keys() == tensors.keys() else [str(read.keys())]
            failed += bool(wrong)
            print("FAILED" if wrong else "ok", f"{part}: {len(read)} tensors as safetensors {safetensors.__version__} reads them")
            print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
