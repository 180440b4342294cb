#!/usr/bin/env python3
"""Writes strata/checkpoint/testdata/gguf: files by gguf-py 0.19.0, and expected.json with what gguf-py reads in them.

    tools/goldens/gguf_files.py

values.gguf has a key of every type and arrays of them, tensors of every type that gguf-py quantises (and blocks of random bytes of the
others); aligned.gguf is aligned to 64; empty.gguf has neither keys of its own nor tensors. Seed 48.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "strata" / "checkpoint" / "testdata" / "gguf"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

try:
    import gguf
except ImportError:
    from peers import again_with

    again_with("gguf==0.19.0")

import numpy as np
from gguf import GGMLQuantizationType as Q
from gguf import GGUFValueType as V


def write(path, fill, alignment=None):
    writer = gguf.GGUFWriter(path, "llama")
    if alignment:
        writer.add_custom_alignment(alignment)
    fill(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def values(writer):
    rng = np.random.default_rng(48)
    writer.add_key_value("a.u8", 200, V.UINT8)
    writer.add_key_value("a.i8", -100, V.INT8)
    writer.add_key_value("a.u16", 60000, V.UINT16)
    writer.add_key_value("a.i16", -30000, V.INT16)
    writer.add_key_value("a.u32", 4000000000, V.UINT32)
    writer.add_key_value("a.i32", -2000000000, V.INT32)
    writer.add_key_value("a.f32", 0.1, V.FLOAT32)
    writer.add_key_value("a.bool", True, V.BOOL)
    writer.add_key_value("a.string", "a naïve 東京 text", V.STRING)
    writer.add_key_value("a.u64", 2**63 + 5, V.UINT64)
    writer.add_key_value("a.i64", -(2**62), V.INT64)
    writer.add_key_value("a.f64", 1 / 3, V.FLOAT64)
    for name, list_, kind in [("u8", [1, 2, 255], V.UINT8), ("i32", [-1, 0, 7], V.INT32), ("f32", [0.5, -1.25], V.FLOAT32), ("bool", [True, False, True], V.BOOL),
                              ("string", ["<s>", "", "ab"], V.STRING), ("u64", [2**40, 0], V.UINT64), ("f64", [1e300], V.FLOAT64)]:
        writer.add_key_value(f"list.{name}", list_, V.ARRAY, kind)
    writer.add_tensor("plain.f32", rng.standard_normal((2, 3)).astype(np.float32))
    writer.add_tensor("plain.f16", rng.standard_normal(5).astype(np.float16))
    writer.add_tensor("plain.f64", rng.standard_normal((1, 2, 3)))
    writer.add_tensor("plain.i32", rng.integers(-9, 9, (2, 2, 1, 3)).astype(np.int32))
    writer.add_tensor("plain.bf16", gguf.quantize(rng.standard_normal((2, 4)).astype(np.float32), Q.BF16), raw_dtype=Q.BF16)
    for kind in [Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q5_1, Q.Q8_0]:
        writer.add_tensor(f"packed.{kind.name}", gguf.quantize(rng.standard_normal((3, 64)).astype(np.float32), kind), raw_dtype=kind)
    for kind in [Q.Q2_K, Q.Q3_K, Q.Q4_K, Q.Q5_K, Q.Q6_K, Q.IQ4_NL, Q.IQ4_XS, Q.MXFP4]:
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        rows = rng.integers(0, 60, (2, 256 // elements * size), dtype=np.uint8)  # bytes below 60: every f16 in them is finite
        writer.add_tensor(f"packed.{kind.name}", rows, raw_dtype=kind)


def aligned(writer):
    writer.add_block_count(1)
    writer.add_tensor("x", np.arange(3, dtype=np.float32))
    writer.add_tensor("y", np.arange(4, dtype=np.float32).reshape(2, 2))


def seen(path):
    reader = gguf.GGUFReader(path)
    keys = {}
    for name, field in reader.fields.items():
        if name.startswith("GGUF."):
            continue
        types = [t.name for t in field.types]
        keys[name] = [types[0] if len(types) == 1 else f"{types[0]} {types[1]}", str(field.contents())]
    tensors = {}
    for t in reader.tensors:
        shape = [int(d) for d in reversed(t.shape)]
        row = {"type": t.tensor_type.name, "shape": shape, "offset": int(t.data_offset), "bytes": int(t.n_bytes)}
        if t.tensor_type not in (Q.I32,):
            numbers = t.data.astype(np.float32) if t.tensor_type == Q.F64 else gguf.dequantize(t.data, t.tensor_type)
            row["sum"] = float(numbers.astype(np.float64).sum())
            row["first"], row["last"] = (float(numbers.ravel()[i]) for i in (0, -1))
        tensors[t.name] = row
    return {"keys": keys, "tensors": tensors}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    write(FOLDER / "values.gguf", values)
    write(FOLDER / "aligned.gguf", aligned, 64)
    write(FOLDER / "empty.gguf", lambda writer: None)
    names = ["values.gguf", "aligned.gguf", "empty.gguf"]
    (FOLDER / "expected.json").write_text(json.dumps({"gguf": "0.19.0", "files": {n: seen(FOLDER / n) for n in names}}, ensure_ascii=False, indent=1) + "\n")


main()
