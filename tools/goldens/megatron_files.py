#!/usr/bin/env python3
"""Indexed datasets between megatron-core and Strata, both ways: equal values and equal bytes.

    tools/goldens/megatron_files.py build/bin/strata

For every type of tokens that both have: documents that megatron-core's IndexedDatasetBuilder writes are read by Strata and written again, which
gives the same .bin and .idx byte for byte; what Strata writes of JSONL is the builder's too, and its IndexedDataset reads it equal. Prints a line
for each type and the versions. Needs megatron-core, torch, numpy (VERSIONS of megatron_samples.py). The files in the repository that
megatron-core wrote are strata/data/testdata/megatron/{a,b}.{bin,idx}.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]

import numpy as np  # noqa: E402
import torch  # noqa: E402
from megatron.core.datasets.indexed_dataset import IndexedDataset, IndexedDatasetBuilder  # noqa: E402
from megatron.core.package_info import __version__  # noqa: E402

TYPES = {"ui8": np.uint8, "i8": np.int8, "i16": np.int16, "ui16": np.uint16, "i32": np.int32, "i64": np.int64}


def main():
    strata = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/bin/strata").resolve()
    folder = pathlib.Path(tempfile.mkdtemp())

    def convert(source, target, *options):
        subprocess.run([strata, "data", "convert", folder / source, folder / target, *options], check=True, stdout=subprocess.DEVNULL)

    for name, dtype in TYPES.items():
        rng, limits = np.random.default_rng(1), np.iinfo(dtype)
        documents = [rng.integers(max(limits.min, -2**53), min(limits.max, 2**53), n, endpoint=True).astype(dtype) for n in [5, 1, 300, 7, 64, 2]]
        builder = IndexedDatasetBuilder(str(folder / "theirs.bin"), dtype=dtype)
        for d in documents:
            builder.add_document(torch.from_numpy(d.astype(np.int64)), [len(d)])
        builder.finalize(str(folder / "theirs.idx"))
        convert("theirs.bin", "read.jsonl")
        read = [json.loads(line) for line in (folder / "read.jsonl").open()]
        read = [r["tokens"] if isinstance(r, dict) else r for r in read]
        assert read == [d.tolist() for d in documents], name
        (folder / "ours.jsonl").write_text("".join(json.dumps({"tokens": d.tolist()}) + "\n" for d in documents))
        for source in ("theirs.bin", "ours.jsonl"):
            convert(source, "ours.bin", "--dtype", name)
            for ending in (".bin", ".idx"):
                assert (folder / f"ours{ending}").read_bytes() == (folder / f"theirs{ending}").read_bytes(), (name, source, ending)
            dataset = IndexedDataset(str(folder / "ours"))
            assert len(dataset) == len(documents)
            for i, d in enumerate(documents):
                assert dataset[i].dtype == dtype and np.array_equal(dataset[i], d), (name, i)
            assert dataset.document_indices.tolist() == list(range(len(documents) + 1))
        print(f"{name}: equal both ways, the same bytes", flush=True)
    print(f"megatron-core {__version__}, torch {torch.__version__}, numpy {np.__version__}")


if __name__ == "__main__":
    main()
