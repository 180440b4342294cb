#!/usr/bin/env python3
"""Writes strata/api/goldens/printing.txt: arrays, and what str() of NumPy says of them.

    tools/goldens/printing.py

A line `DTYPE SHAPE LINES BYTES` for each, in hexadecimal the elements in row-major order, which begin again where they
end before the shape is full; then so many lines of text. Strata's names of dtypes; a scalar's shape is "-". Needs numpy
2.4.6 and ml_dtypes; makes build/peers with them when this Python has none.
"""
import pathlib
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]

try:
    import ml_dtypes
    import numpy as np
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2")

DTYPES = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "complex<f32>": np.complex64, "complex<f64>": np.complex128,
    "bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "i1": np.bool_, "i8": np.int8, "i32": np.int32, "i64": np.int64, "ui8": np.uint8, "ui64": np.uint64,
    "i4": ml_dtypes.int4, "ui4": ml_dtypes.uint4,
}
PARTS = {"complex<f32>": np.float32, "complex<f64>": np.float64}
FLOATS = ["f16", "f32", "f64", "complex<f32>", "complex<f64>", "bf16", "f8E4M3FN", "f8E5M2"]
INF, NAN = float("inf"), float("nan")

# What decides between the forms, how digits are cut and rounded, and where points stand.
VALUES = [
    [0.1 + 0.2], [0.1, 0.25, 3.0], [1 / 3, 2 / 3, -1 / 3], [1e8, 1.0], [99999999.0, 100000.0], [99999999.9],
    [1e-4, 0.05], [9.999e-5, 0.05], [1.0, 1000.0], [1.0, 1001.0], [1000.1, 1.0], [0.0, -0.0], [-0.0], [0.0, 1e-10],
    [1e16], [1e15, 3.0], [9007199254740993.0, 1.0], [123456.789, 0.001], [1e100, 1.0], [1e-100, 1.0], [1e-310, 1.0],
    [5e-324], [1.7976931348623157e308], [NAN], [INF], [-INF], [NAN, INF, -INF], [1.0, NAN], [1.5, INF], [-1.5, -INF],
    [1e10, NAN, -INF], [123.456, NAN], [-123.456, INF], [0.5, 1.5, 2.5, 3.5], [0.123456785, 0.123456775],
    [1.00000000001, 2.0], [1e10, 12345678901.0], [1e9 + 0.5, 3.0], [2.0**-24, 2.0**-20], [2.0**24, 2.0**24 + 2],
    [2.0**60, 2.0**61], [2.0**-40, 2.0**70], [65504.0, 1.0], [6e-8, 1.0], [6.1e-5, 1e-4], [0.0001, 0.00012],
    [100.0, 1e5], [1e5, 1e-3], [3.14159265358979, 2.71828182845905], [1e-5, 1e5, NAN], [1234.5678, 0.1],
    [10.0, 100.0, 1000.0], [999999.0, 1e5], [1e6, 1e5], [999.0, 1.0],
]
SCALARS = [
    0.0, -0.0, 1.0, 0.1, 0.1 + 0.2, 1 / 3, -2.5, 1e15, 1e16, 9999999999999998.0, 12345678.9, 1e-4, 9.9e-5, 0.00012,
    1.5e-7, 1e22, 1e23, 1e100, 5e-324, 2.0**24, 16777217.0, 65504.0, 6e-8, 123456.7, NAN, INF, -INF, 100.0, 3.140625,
    448.0, 999.0, 1000.0, 999999.0, 1e6,
]
COMPLEX = [
    2j, -2j, 1 + 2j, 1 - 0j, complex(-0.0, 1), complex(0.0, -0.0), complex(NAN, 1), complex(0, NAN), complex(1e-5, INF),
    1e16 + 1j,
]


def numbers(name, values):
    dtype = np.dtype(DTYPES[name])
    if name in PARTS:
        return np.array([complex(v, w) for v, w in zip(values, values[1:] + [-values[0]])]).astype(dtype)
    return np.array(values, np.float64).astype(dtype)


def random_arrays(rng):
    """Floats of every exponent, of decimal digits, and in rows that are too long for a line."""
    for name in FLOATS:
        dtype = np.dtype(DTYPES[name])
        for _ in range(40):
            n = int(rng.integers(1, 9))
            yield name, (n,), np.frombuffer(rng.integers(0, 256, n * dtype.itemsize, np.uint8).tobytes(), dtype)
        for scale in (1, 1, 1, 1e3, 1e-3, 1e5, 1e-6):
            for digits in (0, 2, 5, 12):
                n = int(rng.integers(1, 30))
                yield name, (n,), numbers(name, list(np.round(rng.normal(size=n), digits) * scale))
        for shape in ((4, 7), (2, 3, 4), (3, 1), (1, 1, 1), (3, 40), (2, 2, 2, 2), (25,), (200,)):
            yield name, shape, numbers(name, list(rng.normal(size=int(np.prod(shape)))))


def cases():
    rng = np.random.default_rng(44)
    for name in FLOATS:
        for values in VALUES:
            yield name, (len(values),), numbers(name, values)
        for value in SCALARS:
            yield name, (), numbers(name, [value])
    yield from random_arrays(rng)
    for name in PARTS:
        for value in COMPLEX:
            yield name, (), np.array([value], DTYPES[name])
    for name in ("i8", "i32", "i64", "ui8", "ui64", "i4", "ui4"):
        limits = ml_dtypes.iinfo(DTYPES[name])
        ends = np.array([int(limits.min), 0, 1, int(limits.max)], np.uint64 if name == "ui64" else np.int64)
        for shape in ((), (1,), (4,), (3, 5), (60,)):
            yield name, shape, ends.astype(DTYPES[name])
    for shape in ((), (2,), (2, 3), (30,)):
        for values in ([True], [False], [True, False]):
            yield "i1", shape, np.array(values)
    # Longer than 1000: the ends alone, which alone decide about the form.
    long = ((1000,), (1001,), (2000,), (40, 50), (6, 7, 30), (7, 6, 30), (2, 1000), (1001, 1), (3, 3, 3, 50), (1, 4000))
    for name in ("f32", "f64", "i32", "bf16", "complex<f32>", "i1"):
        for shape in long:
            values = np.arange(0, 35) - 3.25 if name != "i1" else np.arange(0, 35) % 3
            yield name, shape, values.astype(DTYPES[name])
    for shape in ((0,), (2, 0), (0, 3), (0, 0, 2)):
        yield "f32", shape, np.zeros(1, np.float32)


def main():
    warnings.simplefilter("ignore")
    out = []
    for name, shape, cycle in cases():
        text = str(np.resize(cycle, shape)).split("\n")
        stored = cycle.astype(np.int8) if name in ("i4", "ui4") else cycle  # a byte each, extended
        sizes = ",".join(map(str, shape)) or "-"
        out += [f"{name} {sizes} {len(text)} {stored.tobytes().hex()}", *text]
    (ROOT / "strata/api/goldens/printing.txt").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
