#!/usr/bin/env python3
"""Writes strata/type/testdata/blocks.npz: packed blocks and their numbers by gguf-py, numbers and their blocks by gguf-py and ggml.

    tools/goldens/blocks.py

Of each format NAME: `NAME.blocks` (n, bytes) and `NAME.numbers` (n, elements) f32, random bytes and then blocks whose scales are zero,
negative, subnormal, largest, or whose bytes are all 0 or 255; scales are finite. `numbers` (n, 256) f32 are what encoders get, and
`NAME.encoded` their blocks: Q4_0, Q4_1, Q8_0 by gguf-py 0.19.0, Q4_K by ggml's quantize_row_q4_K_ref (in xllamacpp 2026.10.11549).
"""
import ctypes
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

try:
    import gguf
    import xllamacpp
except ImportError:
    from peers import again_with

    again_with("gguf==0.19.0", "xllamacpp==2026.10.11549")

import numpy as np
from gguf.quants import dequantize, quantize

SEED = 48
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
          "IQ4_NL": [0], "IQ4_XS": [0], "MXFP4": []}
ADVERSE = [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x3C00]  # zeros, subnormal, smallest normal, largest, one


def blocks_of(name, rng):
    elements, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    count = 24 if elements == 32 else 6
    random = rng.integers(0, 256, (count, size), dtype=np.uint8)
    for at in HALVES[name]:
        random[:, at : at + 2] = (rng.standard_normal(count) * 0.1).astype(np.float16).view(np.uint8).reshape(count, 2)
    adverse = []
    for i, bits in enumerate(ADVERSE):
        for fill in [rng.integers(0, 256, size, dtype=np.uint8), np.full(size, 255 if i % 2 else 0, np.uint8)][: 2 if elements == 32 else 1 + (i == 7)]:
            block = fill.copy()
            for k, at in enumerate(HALVES[name]):
                block[at : at + 2] = np.array([ADVERSE[(i + k) % len(ADVERSE)]], np.uint16).view(np.uint8)
            adverse.append(block)
    if name == "MXFP4":
        for i, e in enumerate([0, 1, 2, 126, 128, 254, 255]):
            adverse[i][0] = e
    return np.concatenate([random, np.stack(adverse)])


def numbers(rng):
    rows = [rng.standard_normal(256), rng.standard_normal(256) * 1e-3, rng.uniform(0, 1, 256), rng.uniform(-3, -1, 256), rng.standard_t(2, 256)]
    rows += [np.zeros(256), np.full(256, 0.75), np.full(256, -0.75), np.arange(256) - 128.0, np.where(np.arange(256) == 77, 1000.0, 0.0)]
    rows += [np.repeat(rng.standard_normal(8) * 10.0 ** np.arange(-4, 4), 32) * rng.standard_normal(256), np.tile([1.0, -1.0], 128), np.tile([0.5, 1.5, 2.5, -3.5], 64)]
    rows += [rng.standard_normal(256) * 1e-7, rng.standard_normal(256) * 1e4, np.where(rng.uniform(0, 1, 256) < 0.9, 0.0, rng.standard_normal(256))]
    return np.stack(rows).astype(np.float32)


def by_ggml(x, size):
    library = ctypes.CDLL(next(pathlib.Path(xllamacpp.__file__).parent.glob("*.so")))
    out = np.zeros((x.shape[0], size), np.uint8)
    library.quantize_row_q4_K_ref.restype = None
    library.quantize_row_q4_K_ref(x.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(x.size))
    return out


def main():
    rng = np.random.default_rng(SEED)
    held = {}
    for name in HALVES:
        blocks = blocks_of(name, rng)
        held[f"{name}.blocks"] = blocks
        with np.errstate(all="ignore"):
            held[f"{name}.numbers"] = dequantize(blocks, gguf.GGMLQuantizationType[name])
    x = numbers(rng)
    held["numbers"] = x
    for name in ["Q4_0", "Q4_1", "Q8_0"]:
        held[f"{name}.encoded"] = quantize(x, gguf.GGMLQuantizationType[name])
    held["Q4_K.encoded"] = by_ggml(x, 144)
    np.savez_compressed(ROOT / "strata" / "type" / "testdata" / "blocks.npz", **held)
    print({k: v.shape for k, v in held.items()})


main()
