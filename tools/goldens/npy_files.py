#!/usr/bin/env python3
"""Writes strata/type/testdata/npy: files that NumPy and jax.numpy.save wrote, and expected.json with what they hold.

    tools/goldens/npy_files.py

An expectation is `dtype[sizes]` with the elements' bytes in hexadecimal, row-major and little-endian, or why a file is refused.
Makes build/peers with jax 0.10.2 when this Python has none. Numbers are drawn from the seed in expected.json.
"""
import io
import json
import os
import pathlib
import struct
import sys
import zlib

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "strata" / "type" / "testdata" / "npy"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

try:
    import jax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2")

import jax.numpy as jnp
import numpy as np

SEED = 8
NAMES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32",
         "uint64": "ui64", "bool": "i1", "complex64": "complex<f32>", "complex128": "complex<f64>"}


def held(x):
    x = np.asarray(x)
    little = np.ascontiguousarray(x.astype(x.dtype.newbyteorder("<")) if x.dtype.byteorder == ">" else x)
    return f"{NAMES[x.dtype.newbyteorder('=').name if x.dtype.byteorder == '>' else x.dtype.name]}[{','.join(map(str, x.shape))}]:{little.tobytes().hex()}"


def zip64(files):
    """An archive of stored files all of whose sizes, places and counts stand in 64 bits."""
    out, directory, wide = b"", b"", 0xFFFFFFFF
    for name, content in files.items():
        sizes = struct.pack("<QQ", len(content), len(content))
        shared = (1 << 11, 0, 0, 1 << 5 | 1, zlib.crc32(content), wide, wide, len(name))
        extras = struct.pack("<HH", 1, 24) + sizes + struct.pack("<Q", len(out))
        directory += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 45, 45, *shared, len(extras), 0, 0, 0, 0, wide) + name.encode() + extras
        extras = struct.pack("<HH", 1, 16) + sizes
        out += struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, *shared, len(extras)) + name.encode() + extras + content
    end = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, len(files), len(files), len(directory), len(out)) + struct.pack("<IIQI", 0x07064B50, 0, len(out) + len(directory), 1)
    return out + directory + end + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, wide, wide, 0)


def as_npy(x):
    out = io.BytesIO()
    np.save(out, x)
    return out.getvalue()


def main():
    draw = np.random.default_rng(SEED)
    numbers = draw.standard_normal((2, 3)) * 50
    arrays = {name: numbers.astype(name) for name in NAMES if name not in ("bfloat16", "complex64", "complex128", "uint8", "uint16", "uint32", "uint64")}
    arrays |= {f"uint{w}": np.abs(numbers).astype(f"uint{w}") for w in (8, 16, 32, 64)}
    arrays |= {f"complex{w}": (numbers + 1j * numbers[::-1]).astype(f"complex{w}") for w in (64, 128)}
    arrays |= {"big_float32": numbers.astype(">f4"), "big_int64": numbers.astype(">i8"), "big_complex64": arrays["complex64"].astype(">c8"), "fortran": np.asfortranarray(draw.standard_normal((2, 3, 4)).astype("f4")),
               "scalar": np.float32(2.5), "empty": np.zeros((0, 3), np.int32), "vector": np.arange(5, dtype=np.int16), "one": np.ones((1, 1, 1), np.float16), "wide": np.arange(90, dtype=np.uint8).reshape(9, 10)}
    FOLDER.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name, x in arrays.items():
        np.save(FOLDER / f"{name}.npy", x)
        expected[f"{name}.npy"] = held(x)
    jnp.save(FOLDER / "bfloat16.npy", jnp.asarray(numbers, jnp.bfloat16))
    expected["bfloat16.npy"] = held(jnp.asarray(numbers, jnp.bfloat16))
    for version in (2, 3):
        with open(FOLDER / f"version{version}.npy", "wb") as f:
            np.lib.format.write_array(f, arrays["float32"], version=(version, 0))
        expected[f"version{version}.npy"] = held(arrays["float32"])
    refused = {"objects": np.array([None, 1], object), "text": np.array(["a", "bc"]), "bytes": np.array([b"a", b"bc"]), "dates": np.array(["2020-01-01"], "M8[D]"), "records": np.zeros(2, [("a", "f4"), ("b", "i4", (2,))])}
    for name, x in refused.items():
        np.save(FOLDER / f"{name}.npy", x, allow_pickle=True)
        expected[f"{name}.npy"] = "unsupported"
    several = {"w": arrays["float32"], "layers/0/b": arrays["vector"], "empty": arrays["empty"], "wide": np.tile(arrays["wide"], (4, 1))}
    np.savez(FOLDER / "stored.npz", arrays["float64"], arrays["bool"], **several)
    np.savez_compressed(FOLDER / "deflated.npz", **several)
    wide = {"w": arrays["float32"], "empty": arrays["empty"]}
    (FOLDER / "zip64.npz").write_bytes(zip64({f"{k}.npy": as_npy(x) for k, x in wide.items()}))
    with np.load(FOLDER / "zip64.npz") as read:
        assert {k: held(x) for k, x in read.items()} == {k: held(x) for k, x in wide.items()}
    np.savez_compressed(FOLDER / "large.npz", np.arange(100000, dtype=np.int32) % 100)
    expected["stored.npz"] = {"arr_0": held(arrays["float64"]), "arr_1": held(arrays["bool"]), **{k: held(x) for k, x in several.items()}}
    expected["deflated.npz"] = {k: held(x) for k, x in several.items()}
    head = {"numpy": np.__version__, "jax": jax.__version__, "by": "tools/goldens/npy_files.py", "seed": SEED}
    (FOLDER / "expected.json").write_text(json.dumps(head | {"files": expected}, indent=1, sort_keys=True) + "\n")
    print(f"{len(expected)} files, {sum(p.stat().st_size for p in FOLDER.iterdir())} bytes")


if __name__ == "__main__":
    main()
