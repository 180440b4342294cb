#!/usr/bin/env python3
"""Writes strata/data/testdata/megatron/maxtext_windows.json: the windows that MaxText makes of the tokens of a.bin and b.bin.

    tools/goldens/maxtext_windows.py      # after megatron_samples.py, which wrote the two files

By MaxText's own pipeline with grain_packing_type=concat_then_split and without a token that begins: Grain's
ConcatThenSplitIterDataset, Rekey, batches, ShiftData. Needs maxtext, grain (see VERSIONS); no megatron-core.
"""
import importlib.metadata
import json
import pathlib
import struct
import sys

sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]

import grain  # noqa: E402
import numpy as np  # noqa: E402
from maxtext.input_pipeline import input_pipeline_utils as utils  # noqa: E402

DATA = pathlib.Path(__file__).resolve().parents[2] / "strata" / "data" / "testdata" / "megatron"
VERSIONS = {"maxtext": "0.2.5", "grain": "0.2.18"}
LENGTH, END = 16, 0  # of a window; the token that ends a document (add_eos)


def documents(name):
    """The documents of a Megatron file of u16."""
    index = (DATA / f"{name}.idx").read_bytes()
    assert index[:9] == b"MMIDIDX\0\0" and index[17] == 8
    count = struct.unpack_from("<Q", index, 18)[0]
    lengths = np.frombuffer(index, np.int32, count, 34)
    tokens = np.fromfile(DATA / f"{name}.bin", np.uint16).astype(np.int32)
    return np.split(tokens, np.cumsum(lengths)[:-1])


def windows(name):
    ended = [np.append(d, END).astype(np.int32) for d in documents(name)]
    source = grain.MapDataset.source([{"inputs": d, "targets": d} for d in ended]).to_iter_dataset()
    packed = grain.experimental.ConcatThenSplitIterDataset(source, length_struct={"inputs": LENGTH, "targets": LENGTH})
    packed = packed.map(utils.Rekey({"targets_segmentation": "targets_segment_ids", "inputs_segmentation": "inputs_segment_ids",
                                     "targets_position": "targets_positions", "inputs_position": "inputs_positions"}))
    shifted = packed.batch(1).map(utils.ShiftData(ignored_ids=[-1], axis=1))
    out = []
    for row in shifted:
        out.append({"inputs": row["inputs"][0].tolist(), "targets": row["targets"][0].tolist(),
                    "counts": (row["targets_segmentation"][0] > 0).astype(int).tolist(),
                    "filled": int((row["inputs_segmentation"][0] > 0).sum())})
    return out


def main():
    for name, version in VERSIONS.items():
        if importlib.metadata.version(name) != version:
            raise SystemExit(f"goldens are of {VERSIONS}, this Python has {name} {importlib.metadata.version(name)}")
    golden = {"versions": VERSIONS, "length": LENGTH, "files": {name: windows(name) for name in ("a", "b")}}
    (DATA / "maxtext_windows.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    print({name: (len(rows), rows[-1]["filled"]) for name, rows in golden["files"].items()})


if __name__ == "__main__":
    main()
