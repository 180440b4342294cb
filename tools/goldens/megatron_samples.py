#!/usr/bin/env python3
"""Writes strata/data/testdata/megatron/: what megatron-core samples from its indexed datasets.

    tools/goldens/megatron_samples.py

samples.json holds, for several lengths of documents, sequence lengths, numbers of samples and seeds, the document,
sample and shuffle indices (whole where they are small, else their count and a hash), blends of weights and of sizes,
and windows of two datasets a.bin/.idx and b.bin/.idx that megatron-core wrote, alone and blended. The hash of integers
x is sum x[i] * p^(n-1-i) mod 2^64 with p = 1099511628211. Needs megatron-core, torch, numpy (see VERSIONS).
"""
import json
import logging
import pathlib
import sys
import tempfile

sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]

import numpy as np  # noqa: E402
import torch  # noqa: E402
from megatron.core.datasets import helpers, indexed_dataset  # noqa: E402
from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder  # noqa: E402
from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig  # noqa: E402
from megatron.core.datasets.utils import Split  # noqa: E402
from megatron.core.package_info import __version__  # noqa: E402

OUT = pathlib.Path(__file__).resolve().parents[2] / "strata" / "data" / "testdata" / "megatron"
VERSIONS = {"megatron-core": "0.16.1", "numpy": np.__version__}
P = np.uint64(1099511628211)


def hashed(values):
    x = np.asarray(values).reshape(-1).astype(np.int64).view(np.uint64)
    powers = np.ones(len(x), np.uint64)
    with np.errstate(over="ignore"):
        if len(x) > 1:
            powers[1:] = np.cumprod(np.full(len(x) - 1, P, np.uint64))
        return str(int((x * powers[::-1]).sum(dtype=np.uint64)))


def shown(values, most=64):
    values = np.asarray(values)
    out = {"count": int(values.size), "hash": hashed(values)}
    if values.size <= most:
        out["values"] = values.reshape(-1).tolist()
    return out


class Lengths:
    def __init__(self, lengths):
        self.sequence_lengths = np.asarray(lengths, np.int32)


def indices(lengths, length, samples, seed):
    """What GPTDataset builds, by its own functions."""
    ds = GPTDataset.__new__(GPTDataset)
    ds.dataset = Lengths(lengths)
    ds.indices = np.arange(len(lengths), dtype=np.int32)
    ds.num_samples = samples
    ds.index_split = Split.train
    ds.config = GPTDatasetConfig.__new__(GPTDatasetConfig)
    for key, value in dict(defer_npy_index_mmap=False, path_to_cache=None, mock=True, sequence_length=length,
                           add_extra_token_to_sequence=True, random_seed=seed, fast_cache_load=False).items():
        setattr(ds.config, key, value)
    document, sample, shuffle = ds._build_document_sample_shuffle_indices()
    return {"lengths": lengths if len(lengths) <= 64 else None, "documents_drawn": None, "length": length,
            "samples": samples, "seed": seed, "document": shown(document), "sample": shown(sample),
            "shuffle": shown(shuffle)}


def drawn(count, seed):
    """Lengths 1 .. 997 by a rule that needs no library: x -> 6364136223846793005 x + 1442695040888963407."""
    out, x = [], seed
    for _ in range(count):
        x = (6364136223846793005 * x + 1442695040888963407) % 2**64
        out.append(1 + (x >> 33) % 997)
    return out


def blend(weights, size):
    weights = np.array(weights, np.float64)
    source, sample = np.zeros(size, np.int16), np.zeros(size, np.int64)
    helpers.build_blending_indices(source, sample, weights, len(weights), size, False)
    return {"weights": weights.tolist(), "size": size, "source": shown(source), "sample": shown(sample)}


def exhaustive(sizes):
    source, sample = np.zeros(sum(sizes), np.int16), np.zeros(sum(sizes), np.int64)
    helpers.build_exhaustive_blending_indices(source, sample, np.array(sizes, np.int64), len(sizes))
    return {"sizes": sizes, "source": shown(source), "sample": shown(sample)}


class Tokenizer:
    unique_identifiers = {"class": "none"}
    eod = 0
    vocab_size = 65000


def windows():
    out = []
    for name, documents, seed in (("a", 40, 1), ("b", 25, 2)):
        rng = np.random.RandomState(seed)
        builder = indexed_dataset.IndexedDatasetBuilder(str(OUT / f"{name}.bin"), dtype=np.uint16)
        for _ in range(documents):
            size = rng.randint(1, 30)
            builder.add_document(torch.tensor(rng.randint(0, 65000, size)), [size])
        builder.finalize(str(OUT / f"{name}.idx"))
    config = GPTDatasetConfig(random_seed=1234, sequence_length=16, blend=None, split="1,0,0",
                              reset_position_ids=False, reset_attention_mask=False, eod_mask_loss=False,
                              tokenizer=Tokenizer(), mid_level_dataset_surplus=0.005)
    datasets = []
    for name, samples in (("a", 90), ("b", 50)):
        low = indexed_dataset.IndexedDataset(str(OUT / name))
        ds = GPTDataset(low, str(OUT / name), np.arange(len(low), dtype=np.int32), samples, Split.train, config)
        datasets.append(ds)
        rows = [ds._query_document_sample_shuffle_indices(i)[0].tolist() for i in range(len(ds))]
        out.append({"files": [name], "samples": samples, "size": len(ds), "rows": shown(np.array(rows)),
                    "first": rows[:2]})
    weights = [0.65, 0.35]
    index, within = np.zeros(120, np.int16), np.zeros(120, np.int64)
    helpers.build_blending_indices(index, within, np.array(weights), 2, 120, False)
    rows = [datasets[d]._query_document_sample_shuffle_indices(int(s))[0].tolist() for d, s in zip(index, within)]
    out.append({"files": ["a", "b"], "weights": weights, "samples": 120, "rows": shown(np.array(rows)),
                "first": rows[:2]})
    out.append(built([("a", 65), ("b", 35)], 120, "1,0,0"))
    out.append(built([("a", 3), ("b", 1)], 200, "8,2,0"))
    out.append(built([("a", None)], 90, "8,2,0"))
    return out


def built(blend, size, split):
    """The training windows that BlendedMegatronDatasetBuilder makes: its sizes, split and blend."""
    paths, weights = [str(OUT / name) for name, _ in blend], [w for _, w in blend]
    config = GPTDatasetConfig(random_seed=1234, sequence_length=16, blend=(paths, None if None in weights else weights),
                              split=split, reset_position_ids=False, reset_attention_mask=False, eod_mask_loss=False,
                              tokenizer=Tokenizer(), mid_level_dataset_surplus=0.005,
                              path_to_cache=tempfile.mkdtemp())
    train = BlendedMegatronDatasetBuilder(GPTDataset, [size, 0, 0], lambda: True, config).build()[0]
    rows = [train[i] for i in range(size)]
    rows = [r["tokens"].tolist() + r["labels"].tolist()[-1:] for r in rows]
    return {"files": [name for name, _ in blend], "weights": [w or 1 for w in weights], "samples": size,
            "split": [int(x) for x in split.split(",")], "rows": shown(np.array(rows)), "first": rows[:2]}


def main():
    logging.disable(logging.CRITICAL)
    if __version__ != VERSIONS["megatron-core"]:
        raise SystemExit(f"goldens are of {VERSIONS}, this Python has megatron-core {__version__}")
    OUT.mkdir(parents=True, exist_ok=True)
    cases = [indices([5, 3, 7, 4], 4, 4, 1234), indices([5, 3, 7, 4], 4, 9, 1234), indices([5, 3, 7, 4], 4, 6, 1234),
             indices([1, 1, 1, 50, 2], 8, 30, 0), indices([9], 3, 11, 7)]
    for count, length, samples, seed in ((3000, 128, 20000, 42), (20000, 64, 1000000, 1234), (20000, 10, 1000000, 5),
                                         (50000, 2048, 30000, 99)):
        case = indices(drawn(count, seed), length, samples, seed)
        case["documents_drawn"] = count
        cases.append(case)
    golden = {"versions": VERSIONS, "indices": cases,
              "blends": [blend([.5, .3, .2], 12), blend([.3, .7], 10), blend([1], 5), blend([.65, .35], 1000000),
                         blend([.1, .2, .3, .15, .25], 1000000), blend([1 / 3, 1 / 3, 1 / 3], 1000000)],
              "exhaustive": [exhaustive([3, 5, 2]), exhaustive([700000, 1, 299999])],
              "windows": windows()}
    (OUT / "samples.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    print(sum(f.stat().st_size for f in OUT.iterdir()), "bytes")


if __name__ == "__main__":
    main()
