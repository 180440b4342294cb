#!/usr/bin/env python3
"""How far the values that some programs of conformance/stablehlo/testdata expect are from the truth.

    tools/goldens/oracle.py [NAME...]      # names without .mlir; default: all that it can judge

For each program: the largest distance, in units in the last place and absolutely, between the stored expectation and the true result,
computed in extended precision (64 bits of mantissa, mpmath for functions), and how many elements an exact evaluator would fail
to meet under the program's own check. conformance/exceptions.txt cites it. Needs numpy, ml_dtypes and mpmath.
"""
import pathlib
import re
import struct
import sys

import ml_dtypes
import mpmath
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "conformance/stablehlo/testdata"
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "complex<f32>": np.complex64, "complex<f64>": np.complex128,
          "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64}
mpmath.mp.prec = 200


def tensor(body, type_text):
    """dense<BODY> : tensor<TYPE> as an array."""
    *dims, dtype = re.match(r"((?:\d+x)*)(.*)", type_text).groups()
    shape = tuple(int(d) for d in dims[0].split("x")[:-1])
    dtype = np.dtype(DTYPES[dtype])
    if hexed := re.fullmatch(r'"0x([0-9A-F]*)"', body):
        return np.frombuffer(bytes.fromhex(hexed.group(1)), dtype).reshape(shape)
    numbers = re.findall(r"0x[0-9A-F]+|[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?", body)
    values = [bits(n, dtype) if n.startswith("0x") else int(n) if dtype.kind in "iu" else float(n) for n in numbers]
    if dtype.kind == "c":
        values = [complex(a, b) for a, b in zip(values[::2], values[1::2])]
    return np.broadcast_to(np.array(values, dtype).reshape(shape if len(values) == np.prod(shape) else ()), shape)


def bits(text, dtype):
    if dtype == ml_dtypes.bfloat16:
        return struct.unpack("<f", b"\0\0" + int(text, 16).to_bytes(2, "little"))[0]
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    return struct.unpack({2: "<e", 4: "<f", 8: "<d"}[size], int(text, 16).to_bytes(size, "little"))[0]


def constants(text, function):
    body = re.search(rf"func\.func private @{function}\(.*?\n  }}", text, re.S).group(0)
    return [tensor(b, t) for b, t in re.findall(r"stablehlo\.constant dense<(.*?)> : tensor<(.*)>", body)]


# ---- true results --------------------------------------------------------------------------------------------------

LONG, CLONG = np.longdouble, np.clongdouble


def angle_table(n, sign):
    """exp(sign 2 pi i k / n) for k < n, in extended precision."""
    out = np.empty(n, CLONG)
    for k in range(n):
        a = 2 * mpmath.pi * k / n
        out[k] = CLONG(LONG(mpmath.nstr(mpmath.cos(a), 30)) + 1j * LONG(mpmath.nstr(sign * mpmath.sin(a), 30)))
    return out


def dft(x, axis, sign):
    n = x.shape[axis]
    table = angle_table(n, sign)
    matrix = table[np.outer(np.arange(n), np.arange(n)) % n]
    return np.moveaxis(np.tensordot(matrix, x.astype(CLONG), (1, axis)), 0, axis)


def fft(text, inputs):
    kind, lengths = re.search(r"type =\s+(\w+), length = \[(.*?)\]", text).groups()
    lengths = [int(n) for n in lengths.split(",")]
    x = inputs[0].astype(CLONG)
    axes = list(range(x.ndim - len(lengths), x.ndim))
    if kind == "RFFT":
        for a in reversed(axes):
            x = dft(x, a, -1)
        return x[..., : lengths[-1] // 2 + 1]
    for a in axes[:-1]:
        x = dft(x, a, 1) / LONG(x.shape[a])
    n = lengths[-1]
    rest = np.conj(x[..., 1 : (n + 1) // 2][..., ::-1])
    full = np.concatenate([x[..., : n // 2 + 1], rest], -1)
    full[..., 0] = full[..., 0].real
    if n % 2 == 0:
        full[..., n // 2] = full[..., n // 2].real
    return (dft(full, full.ndim - 1, 1) / LONG(n)).real


def with_mpmath(f):
    def run(text, inputs):
        out = np.empty(inputs[0].shape, object)
        for i in np.ndindex(*out.shape):
            out[i] = f(*(mpmath.mpmathify(complex(x[i]) if x.dtype.kind == "c" else float(x[i])) for x in inputs))
        return out

    return run


def cumprod(text, inputs):
    out = np.empty(inputs[0].shape, object)
    for j in range(out.shape[1]):
        product = mpmath.mpc(1)
        for i in range(out.shape[0]):
            product *= mpmath.mpmathify(complex(inputs[0][i, j]))
            out[i, j] = product
    return out


def dot(text, inputs):
    a, b = (x.astype(object) for x in (inputs[0].astype(float), inputs[1].astype(float)))
    return np.vectorize(mpmath.mpf)(a @ b)


def solve(text, inputs):
    """Back substitution in extended precision, over leading dimensions."""
    a, b = inputs
    left, lower, unit = (re.search(rf"{name} = (\w+)", text).group(1) == "true" for name in ("left_side", "lower", "unit_diagonal"))
    out = np.empty(b.shape, object)
    for i in np.ndindex(*a.shape[:-2]):
        m, y = a[i].astype(object), b[i].astype(object)
        if not left:
            m, y = m.T, y.T
        order = range(m.shape[0]) if lower == left else reversed(range(m.shape[0]))
        x = np.empty(y.shape, object)
        done = []
        for r in order:
            x[r] = [mpmath.mpf(float(v)) for v in y[r]]
            for c in done:
                x[r] = x[r] - mpmath.mpf(float(m[r, c])) * x[c]
            if not unit:
                x[r] = x[r] / mpmath.mpf(float(m[r, r]))
            done.append(r)
        out[i] = x if left else x.T
    return out


PROGRAMS = [(r"fft_.*_16_17", fft), (r"pow_complex64_20_30.*", with_mpmath(mpmath.power)), (r"cumprod_complex64_8_9", cumprod),
            (r"tan_complex64_20_20_chlo", with_mpmath(mpmath.tan)), (r"(cosh|sinh)_float\d+_\d+_\d+(_chlo)?", None), (r"dot_general_(u?int|float|bfloat)\d+_4_3_(u?int|float|bfloat)\d+_3_6", dot), (r"triangular_solve_float.*", solve)]


# ---- distances ----------------------------------------------------------------------------------------------------

def as_parts(values):
    """Real numbers as mpmath's, complex ones as pairs."""
    flat = np.asarray(values).reshape(-1)
    out = []
    for v in flat:
        if isinstance(v, (mpmath.mpf, mpmath.mpc)):
            out += [v.real, v.imag] if isinstance(v, mpmath.mpc) else [v]
        elif np.iscomplexobj(v):
            out += [exact(v.real), exact(v.imag)]
        else:
            out.append(exact(v))
    return out


def exact(v):
    """Of a float of any width."""
    if isinstance(v, np.longdouble):
        high = float(v)
        return mpmath.mpf(high) + mpmath.mpf(float(v - LONG(high)))
    return mpmath.mpf(float(v))


def report(name):
    text = (FOLDER / f"{name}.mlir").read_text()
    match = next(((p, f) for p, f in PROGRAMS if re.fullmatch(p, name)), None)
    if match is None:
        return
    truth_of = match[1] or with_mpmath(getattr(mpmath, name.split("_")[0]))
    inputs, expected = constants(text, "inputs"), constants(text, "expected")[0]
    truth = truth_of(text, inputs)
    real = np.dtype(expected.dtype.type(0).real.dtype)
    if real.kind in "iu":
        return
    closeness = "expect_close" in text
    worst_ulp = worst_abs = 0.0
    missed = count = 0
    rounded = real.type
    for want, true in zip(as_parts(expected), as_parts(truth)):
        nearest = float(rounded(float(true)))
        apart = abs(want - mpmath.mpf(nearest))
        ulp = float(apart / mpmath.mpf(float(np.spacing(rounded(abs(nearest))))))
        worst_ulp, worst_abs, count = max(worst_ulp, ulp), max(worst_abs, float(apart)), count + 1
        missed += ulp > 3 if closeness else float(apart) > 1e-3
    rule = "3 ulp" if closeness else "absolute 1e-3"
    print(f"{name}: expectation is up to {worst_ulp:.3g} ulp, {worst_abs:.3g} from the truth; exact values miss {rule} in {missed} of {count} numbers")


def main():
    names = sys.argv[1:] or sorted(p.stem for p in FOLDER.glob("*.mlir"))
    for name in names:
        if any(re.fullmatch(p, name) for p, _ in PROGRAMS):
            try:
                report(name)
            except (AttributeError, KeyError, ValueError, IndexError) as e:
                print(f"{name}: not judged ({type(e).__name__}: {e})")


if __name__ == "__main__":
    main()
