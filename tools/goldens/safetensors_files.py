#!/usr/bin/env python3
"""Writes strata/checkpoint/testdata/: files of the safetensors package, which Strata reads, and what the package reads in Strata's.

    python.safetensors   written by the package: a tensor of each element type, a scalar, empty ones, names that need escapes
    read.json            what the package reads in strata.safetensors (dtype, shape, bytes in hexadecimal), and its version

strata.safetensors holds the tensors of python.safetensors as Strata writes them; checkpoint_test says where it left them when they
are other bytes than the committed ones. Needs safetensors; makes build/peers with it when this Python has none.
"""
import ctypes
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "strata/checkpoint/testdata"


try:
    import safetensors
except ImportError:
    from peers import again_with

    again_with("safetensors==0.8.0")

# As serialize names them, with the bytes of an element.
TYPES = {"bool": 1, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4, "uint64": 8, "int64": 8, "float16": 2,
         "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e8m0fnu": 1}


def tensor(dtype, shape):
    """A tensor's bytes; whoever serializes them keeps this alive."""
    count = TYPES[dtype]
    for n in shape:
        count *= n
    data = bytes((i * 37 + 11) % (2 if dtype == "bool" else 251) for i in range(count))
    return dtype, shape, ctypes.create_string_buffer(data, max(count, 1)), count


def spec(dtype, shape, data, count):
    return safetensors.TensorSpec(dtype=dtype, shape=shape, data_ptr=ctypes.addressof(data), data_len=count)


def write():
    tensors = {f"types.{name}": tensor(name, [2, 3]) for name in TYPES}
    tensors |= {"scalar": tensor("float32", []), "empty": tensor("int32", [0, 4]), "layers[0].w": tensor("float32", [3]),
                "quoted 'key' \"and\" \\ slash": tensor("uint8", [1]), "größe": tensor("bfloat16", [5])}
    specs = {name: spec(dtype, shape, data, count) for name, (dtype, shape, data, count) in tensors.items()}
    (DATA / "python.safetensors").write_bytes(safetensors.serialize(specs, {"format": "pt", "note": "as the package writes it"}))


def read():
    found = safetensors.deserialize((DATA / "strata.safetensors").read_bytes())
    tensors = {name: {"dtype": t["dtype"], "shape": t["shape"], "data": bytes(t["data"]).hex()} for name, t in sorted(found)}
    out = {"safetensors": safetensors.__version__, "tensors": tensors}
    (DATA / "read.json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    write()
    if (DATA / "strata.safetensors").exists():
        read()
