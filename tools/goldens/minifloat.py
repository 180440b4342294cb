#!/usr/bin/env python3
"""Writes strata/type/testdata/minifloat.txt: floats below 16 bits as ml_dtypes reads and writes them.

    TYPE value BITS F32          what each pattern stands for (f32 bits; every NaN as 7fc00000)
    TYPE from F32 BITS           f32 numbers from this pattern on, up to the next line's, become BITS

The second kind says all 2^32 conversions, since rounding is monotonous; `--all` tries every f32 (some minutes).
Needs ml_dtypes 0.6 and numpy; makes build/peers with them when this Python has none.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


try:
    import ml_dtypes
    import numpy as np
except ImportError:
    from peers import again_with

    again_with("ml_dtypes==0.6.0", "numpy")

TYPES = {
    "f4E2M1FN": "float4_e2m1fn", "f6E2M3FN": "float6_e2m3fn", "f6E3M2FN": "float6_e3m2fn", "f8E3M4": "float8_e3m4",
    "f8E4M3": "float8_e4m3", "f8E4M3B11FNUZ": "float8_e4m3b11fnuz", "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E5M2": "float8_e5m2", "f8E5M2FNUZ": "float8_e5m2fnuz", "f8E8M0FNU": "float8_e8m0fnu",
}


def rounded(patterns, dtype):
    return np.asarray(patterns, dtype=np.uint32).view(np.float32).astype(dtype).view(np.uint8)


def steps(dtype, first, last):
    """Where the result changes between two f32 patterns of one sign, by bisection."""
    low, high = (int(b) for b in rounded([first, last], dtype))
    if low == high or first + 1 == last:
        return [] if low == high else [(last, high)]
    middle = (first + last) // 2
    return steps(dtype, first, middle) + steps(dtype, middle, last)


def lines():
    np.seterr(all="ignore")
    for name, attr in TYPES.items():
        dtype = getattr(ml_dtypes, attr)
        values = np.arange(2 ** ml_dtypes.finfo(dtype).bits, dtype=np.uint8).view(dtype).astype(np.float32)
        for bits, value in enumerate(values):
            pattern = 0x7FC00000 if np.isnan(value) else int(value.view(np.uint32))
            yield f"{name} value {bits:02x} {pattern:08x}"
        for sign in (0, 0x80000000):
            found = [(sign, int(rounded([sign], dtype)[0]))] + steps(dtype, sign, sign + 1)
            for exponent in range(255):  # rounding is monotonous within each
                found += steps(dtype, sign + max(1, exponent << 23), sign + (exponent + 1 << 23))
            found += [(sign + 0x7F800001, int(rounded([sign + 0x7FC00000], dtype)[0]))]
            if "--all" in sys.argv:
                check(dtype, sign, found)
            yield from (f"{name} from {pattern:08x} {bits:02x}" for pattern, bits in found)


def check(dtype, sign, found):
    starts, results = (np.array(column) for column in zip(*found))
    for begin in range(sign, sign + 0x80000000, 1 << 24):
        patterns = np.arange(begin, begin + (1 << 24), dtype=np.uint32)
        want = results[np.searchsorted(starts, patterns, side="right") - 1]
        assert (rounded(patterns, dtype) == want).all(), (dtype, hex(begin))


if __name__ == "__main__":
    path = ROOT / "strata" / "type" / "testdata" / "minifloat.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines()) + "\n")
