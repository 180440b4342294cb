"""Functions of one element, or of elements that meet by broadcasting."""
import numpy as np

from .calls import *

CASES = {}

# Functions of real analysis: name -> (low, high, complex too, bound, truth).
REAL = {
    "sin": (-9, 9), "cos": (-9, 9), "tan": (-1.5, 1.5), "arcsin": (-1, 1), "arccos": (-1, 1), "arctan": (-9, 9), "sinh": (-9, 9), "cosh": (-9, 9), "tanh": (-3, 3),
    "arcsinh": (-9, 9), "arccosh": (1, 9), "arctanh": (-1, 1), "exp": (-9, 9), "exp2": (-9, 9), "expm1": (-3, 3), "log": (0, 9), "log2": (0, 9), "log10": (0, 9),
    "log1p": (-1, 9), "sqrt": (0, 9), "cbrt": (-9, 9),
}
for name, (low, high) in REAL.items():
    CASES["numpy." + name] = calls(unary_calls(low=low, high=high), truth=getattr(np, name))
for name in ("sin", "cos", "tanh", "exp", "log", "sqrt", "sinh", "cosh"):
    CASES["numpy." + name].cases.append(C(C3))
CASES["numpy.sinc"] = calls(unary_calls())
CASES["numpy.i0"] = calls(unary_calls(low=-9, high=9, integers=False))
for new, old in {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh"}.items():
    low, high = REAL[old]
    CASES["numpy." + new] = calls(unary_calls(low=low, high=high), truth=getattr(np, old))
for name, low, high in (("deg2rad", -400, 400), ("rad2deg", -9, 9), ("degrees", -9, 9), ("radians", -400, 400)):
    CASES["numpy." + name] = calls(unary_calls(low=low, high=high))

for name in ("abs", "absolute", "fabs", "positive", "negative", "sign", "square", "reciprocal", "floor", "ceil", "trunc", "rint", "isfinite", "isinf", "isnan",
             "isneginf", "isposinf", "signbit", "logical_not", "conj", "conjugate", "real", "imag", "angle", "isreal", "iscomplex", "spacing"):
    CASES["numpy." + name] = calls(unary_calls(complex_=name not in ("fabs", "floor", "ceil", "trunc", "signbit", "isneginf", "isposinf", "spacing")))
CASES["numpy.angle"].cases.append(C(C3, deg=True))
for name in ("isneginf", "isposinf"):
    CASES["numpy." + name].cases.append(C(C3))
for name in ("round", "around"):
    CASES["numpy." + name] = calls(unary_calls(), C(np.array([2.5, 3.5, -0.5, 1234.567, 0.125], f32), decimals=2), C(X23, decimals=-1), C(I23 * 10, decimals=-1), C(C3, decimals=1), C(H5, decimals=1))
for name in ("invert", "bitwise_not", "bitwise_invert", "bitwise_count"):
    CASES["numpy." + name] = calls(C(I23), C(U23), C(ints(3, dtype=i8)), C(B23), C(EXTREME), C(np.zeros((0,), i32)), C(i32(3)), C(X23))
CASES["numpy.nan_to_num"] = calls(unary_calls(), C(SPECIAL, nan=7.0), C(SPECIAL, posinf=9.0, neginf=-9.0), C(SPECIAL.astype(f16)), C(SPECIAL.astype(bf16)))
CASES["numpy.frexp"] = calls(C(X23), C(SPECIAL), C(H5), C(I3), C(E03), C(f32(0.75)), C(np.array([1e-30, 3e30], f32)))
CASES["numpy.modf"] = calls(C(X23), C(SPECIAL), C(H5), C(G5), C(I3), C(E03), C(f32(-2.75)))

for name in ("add", "multiply", "subtract", "divide", "true_divide", "floor_divide", "remainder", "mod", "fmod", "maximum", "minimum", "fmax", "fmin"):
    CASES["numpy." + name] = calls(binary_calls(complex_=name in ("add", "multiply", "subtract", "divide", "true_divide")))
CASES["numpy.divmod"] = calls(C(X23, Y23), C(I23, np.array([2, -3, 4], i32)), C(U23, u8(7)), C(-7.5, V3), C(I3, 4), C(E03, E03), C(H5, f16(2)))
for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor"):
    CASES["numpy." + name] = calls(binary_calls(complex_=name in ("equal", "not_equal", "logical_and", "logical_or")), C(X23, X23), C(I3, I3.copy()))
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    CASES["numpy." + name] = calls(binary_calls(floats=False, complex_=False), C(EXTREME, i32(-7)), C(U23, 15), C(X23, I23))
SHIFTS = np.array([0, 1, 5, 31, 32, 40, -1], i32)
for name in ("left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift"):
    CASES["numpy." + name] = calls(C(I23, np.abs(J23)), C(I3, 2), C(U23, u8(3)), C(EXTREME, i32(4)), C(u32(0xF0000001), np.array([0, 1, 31], u32)), C(np.zeros((0,), i32), 1), C(1, I3 % 7), C(X23, 1))
    CASES["numpy." + name].cases.append(C(i32(-123456), SHIFTS) if "right" in name else C(i32(123456), SHIFTS))
POSITIVE = uniform(2, 3, low=0.1, high=4)
for name in ("power", "pow"):
    CASES["numpy." + name] = calls(C(POSITIVE, Y23), C(X23, 2), C(X23, -2), C(X23, 3), C(X23, 0), C(X23, 2.5), C(POSITIVE, 0.5), C(2.0, X23), C(I23, 3), C(I23, np.abs(J23) % 5), C(I23, i32(2)), C(U23, 2), C(2, np.abs(I3)), C(I3, -1), C(X23, I23 % 4),
                             C(SPECIAL, 3), C(SPECIAL.reshape(10, 1), np.array([0, 2, -1, 0.5, np.inf, -np.inf, np.nan], f32)), C(H5, 2), C(np.abs(G5), f32(1.5)), C(E03, 2), C(E03, V3), C(I3, np.array([-2, 0, 1], i32)), C(C3, 2), C(B23, 2))
CASES["numpy.float_power"] = calls(C(POSITIVE, Y23), C(I23, 2), C(POSITIVE, 0.5), C(2, X23), C(E03, V3), C(np.abs(H5), f16(0.5)), C(B23, I23 % 3))
for name, truth in (("arctan2", np.arctan2), ("atan2", np.arctan2), ("hypot", np.hypot), ("logaddexp", np.logaddexp), ("logaddexp2", np.logaddexp2)):
    CASES["numpy." + name] = calls(binary_calls(complex_=False), truth=truth)
# log(e^x + e^y) near 0 loses what the terms have more than the sum.
CASES["numpy.logaddexp"].bound = CASES["numpy.logaddexp2"].bound = 16
CASES["numpy.copysign"] = calls(binary_calls(complex_=False))
CASES["numpy.nextafter"] = calls(C(X23, Y23), C(SPECIAL.reshape(10, 1), np.array([1.0, -1.0, np.inf, np.nan], f32)), C(H5, f16(0)), C(G5, bf16(9)), C(E03, V3), C(1.0, 2.0), C(I3, X23))
CASES["numpy.heaviside"] = calls(C(X23, V3), C(SPECIAL, 0.5), C(I3, 2), C(H5, f16(0.5)), C(E03, 1.0), C(G5, 1), C(0, 0.5))
CASES["numpy.ldexp"] = calls(C(X23, I23), C(SPECIAL, 3), C(H5, i32(2)), C(G5, ints(5, low=-3, high=4)), C(E03, 1), C(f32(1), np.array([-140, 127, 128, -126], i32)), C(I3, I3 % 4), C(X23, X23))
for name in ("gcd", "lcm"):
    CASES["numpy." + name] = calls(C(I23, J23), C(ints(6, low=-200, high=200), ints(6, low=-200, high=200)), C(U23, u8(12)), C(I3, 6), C(np.array([0, 0, 5], i32), np.array([0, 4, 0], i32)), C(np.zeros((0,), i32), 3), C(12, 18), C(ints(4, dtype=i8), ints(4, dtype=i8)), C(X23, I23))
CASES["numpy.clip"] = calls(C(X23, -0.5, 0.5), C(X23, Y23, Y23 + 1), C(I23, -2, 3), C(I23, i32(0), I3 + 9), C(SPECIAL, -1.0, 1.0), C(U23, 10, 20), C(H5, -1, 1), C(E03, 0.0, 1.0), C(X23, 1.0, -1.0), C(I3, -1.5, 1.5), C(2.0, 0, 1))
CASES["numpy.where"] = calls(C(B23, X23, Y23), C(B23, 1.0, 0.0), C(B23, X23, 0), C(I23 > 0, I23, V3), C(np.array([[True], [False]]), V3, f32(1)), C(True, X23, I23), C(I3, X23, 2), C(np.zeros((0, 3), bool), V3, 1), C(B23, H5[:3], i32(1)), C(B23, True, False), C(B23, C3, 1), C(B23, X23, normal(4)))
CASES["numpy.isclose"] = calls(C(X23, X23 + f32(1e-7)), C(SPECIAL, SPECIAL), C(SPECIAL, SPECIAL, equal_nan=True), C(SPECIAL, SPECIAL[::-1].copy()), C(I23, J23), C(X23, Y23, rtol=0.5), C(X23, V3, atol=2.0), C(E03, V3), C(1.0, 1.0), C(H5, H5), C(B23, P23))
CASES["numpy.allclose"] = calls(C(X23, X23 + f32(1e-7)), C(X23, Y23), C(SPECIAL, SPECIAL), C(SPECIAL, SPECIAL, equal_nan=True), C(I23, I23), C(E03, E03), C(X23, X23 * f32(1.01), rtol=0.1), C(1.0, 1.5, atol=1.0), C(H5, H5), C(B23, B23))
CASES["numpy.array_equal"] = calls(C(X23, X23), C(X23, Y23), C(X23, V3), C(SPECIAL, SPECIAL), C(SPECIAL, SPECIAL, equal_nan=True), C(I3, I3), C(E03, E03), C(B23, B23), C(1, 1.0))
CASES["numpy.array_equiv"] = calls(C(X23, X23), C(np.stack([V3, V3]), V3), C(X23, V3), C(normal(2), V3), C(I3, I3), C(E03, V3), C(B23, True))
