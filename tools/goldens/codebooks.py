#!/usr/bin/env python3
"""Writes what packed types of codebooks (IQ1, IQ2, IQ3) need: the tables, and what gguf-py reads of random blocks.

    tools/goldens/codebooks.py

strata/type/codebooks.inc holds the grids of ggml-common.h, as the Python package gguf (MIT License, the ggml authors) packs them: a
row a number, element 0 in the lowest bits, each a place in the map of values. strata/checkpoint/testdata/gguf/codebooks.gguf holds four
random blocks of every type, and beside each tensor NAME the tensor NAME.want, F32. Needs gguf and numpy (see VERSIONS).
"""
import pathlib

import gguf
import numpy as np
from gguf import quants

VERSIONS = {"gguf": "0.19.0"}
ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED, BLOCKS = 48, 4
GRIDS = {"Iq2Xxs": (quants.IQ2_XXS, 2), "Iq2Xs": (quants.IQ2_XS, 2), "Iq2S": (quants.IQ2_S, 2), "Iq3Xxs": (quants.IQ3_XXS, 3),
         "Iq3S": (quants.IQ3_S, 3), "Iq1": (quants.IQ1_S, 2)}
TYPES = ["IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"]


def tables():
    out = "// Written by tools/goldens/codebooks.py from the package gguf " + VERSIONS["gguf"] + " (MIT License, the ggml authors).\n"
    for name, (kind, bits) in GRIDS.items():
        kind.init_grid()
        grid = kind.grid.reshape(kind.grid_shape)
        places = {value: i for i, value in enumerate(kind.grid_map)}
        rows = [sum(places[int(v)] << bits * i for i, v in enumerate(row)) for row in grid]
        out += f"constexpr std::uint16_t k{name}[] = {{\n"
        for begin in range(0, len(rows), 16):
            out += "    " + ", ".join(f"{r}" for r in rows[begin:begin + 16]) + ",\n"
        out += "};\n"
    (ROOT / "strata" / "type" / "codebooks.inc").write_text(out)


def blocks(rng, name):
    kind = gguf.GGMLQuantizationType[name]
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    data = rng.integers(0, 256, (BLOCKS, size), dtype=np.uint8)
    scale = rng.uniform(-2, 2, BLOCKS).astype(np.float16).view(np.uint16)
    if name == "IQ1_M":  # a nibble of the scale in each of the last four u16
        last = data[:, -8:].copy().view(np.uint16)
        for i in range(4):
            last[:, i] = last[:, i] & 0x0FFF | (scale >> 4 * i & 15) << 12
        data[:, -8:] = last.view(np.uint8)
    else:
        data[:, :2] = scale.reshape(-1, 1).view(np.uint8)
    return kind, data, quants.dequantize(data.reshape(2, -1), kind)


def main():
    tables()
    rng = np.random.default_rng(SEED)
    writer = gguf.GGUFWriter(ROOT / "strata" / "checkpoint" / "testdata" / "gguf" / "codebooks.gguf", "llama")
    for name in TYPES:
        kind, data, want = blocks(rng, name)
        writer.add_tensor(name, data.reshape(2, -1), raw_dtype=kind)
        writer.add_tensor(name + ".want", want.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
