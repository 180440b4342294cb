#!/usr/bin/env python3
"""Writes strata/api/goldens/standard/array_api.json: what NumPy answers to random calls of the functions of the array API standard (2024.12).

    tools/goldens/array_api.py

strata/api/names/array_api_2024_12.txt lists the functions. Each is called a few times with dtypes, shapes and options drawn from one seed, among what
the standard defines: mixed kinds and integers in functions of floats are left out. Beside NumPy's result, with 64-bit dtypes as the 32-bit ones that are
the default here, stands the same in f64 for floats: NumPy's own f32 functions are an ulp or two off. strata/api/array_api_test.cc reads the file.
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from api import FOLDER, ROOT, encoded, encoded_argument, plain_option

SEED = 2024
DRAWS = 6  # of each function
draw = np.random.default_rng(SEED)
f16, f32, c64, i32 = np.float16, np.float32, np.complex64, np.int32
INTS = [np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32]
FLOATS = [f32, f32, f16]
NARROW = {np.dtype(np.float64): f32, np.dtype(np.int64): i32, np.dtype(np.uint64): np.uint32, np.dtype(np.complex128): c64}
SPECIAL = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan])


# ---- arguments ------------------------------------------------------------------------------------------------------------------------------

def pick(things):
    return things[draw.integers(len(things))]


def shape(least=0, most=3, empty=True):
    return tuple(int(n) for n in draw.integers(0 if empty and draw.random() < 0.15 else 1, 5, draw.integers(least, most + 1)))


def array(dtype, size=None, low=-4.0, high=4.0, special=False):
    size = shape() if size is None else size
    if dtype is bool:
        return np.asarray(draw.integers(0, 2, size), bool)
    if np.issubdtype(dtype, np.integer):
        return np.asarray(draw.integers(max(int(low), 0 if np.issubdtype(dtype, np.unsignedinteger) else -99), int(high) + 1, size), dtype)
    x = np.asarray(draw.uniform(low, high, size), f32)
    if dtype is c64:
        return (x + 1j * np.asarray(draw.uniform(low, high, size), f32)).astype(c64)
    if special and x.size:
        x = np.where(draw.random(size) < 0.25, draw.choice(SPECIAL, size), x)
    return np.asarray(x, dtype)


def partner(size):
    """A shape that broadcasts with this one."""
    out = tuple(1 if draw.random() < 0.3 else n for n in size)
    return out[draw.integers(0, len(out) + 1):] if draw.random() < 0.3 else out


def axis_of(x):
    return int(draw.integers(-x.ndim, x.ndim))


def maybe_axis(x):
    return {} if x.ndim == 0 or draw.random() < 0.3 else {"axis": axis_of(x)}


# ---- functions ------------------------------------------------------------------------------------------------------------------------------

FUNCTIONS = {}  # name -> (what draws a call, what NumPy says, tolerance)


def function(name, calls, says=None, truth=True, **tolerance):
    if says is None:
        says = np
        for part in name.split("."):
            says = getattr(says, part)
    FUNCTIONS[name] = (calls, says, truth, tolerance)


def unary(names, dtypes, low=-4.0, high=4.0, special=True, **more):
    for name in names.split():
        function(name, lambda: ((array(pick(dtypes), low=low, high=high, special=special),), {}), **more)


def binary(names, dtypes, low=-4.0, high=4.0, second=None, special=True, **more):
    def calls():
        d, size = pick(dtypes), shape()
        low2, high2 = second or (low, high)
        pair = [array(d, size, low, high, special), array(d, partner(size), low2, high2, special)]
        return tuple(pair if second or draw.random() < 0.5 else pair[::-1]), {}

    for name in names.split():
        function(name, calls, **more)


REAL = INTS + FLOATS
unary("sin cos tan sinh cosh tanh exp expm1 asinh atan isfinite isinf isnan floor ceil trunc round signbit sqrt square", FLOATS, bound=4)
unary("asin acos", FLOATS, -1.25, 1.25, bound=4)
unary("atanh", FLOATS, -1.25, 1.25, bound=4)
unary("acosh", FLOATS, 0.5, 9, bound=4)
unary("log log2 log10", FLOATS, -0.5, 9, bound=4)
unary("log1p", FLOATS, -1.5, 9, bound=4)
unary("reciprocal", FLOATS, bound=2)
unary("abs negative positive sign", [np.int8, np.int16, i32, f32, f16])
unary("conj real imag", [c64])
unary("bitwise_invert", [bool] + INTS)
unary("logical_not", [bool])
binary("add subtract multiply", REAL + [c64], 0, 9, special=False, bound=4, scaled=True)
binary("divide", FLOATS, bound=2)
binary("maximum minimum equal not_equal less less_equal greater greater_equal", REAL, 0, 5, truth=False)
binary("logaddexp hypot atan2 copysign", FLOATS, bound=4)
binary("nextafter", [f32], truth=False, bound=0)
binary("floor_divide remainder", REAL, 0, 9, second=(1, 4), special=False, truth=False, bound=0)
binary("pow", FLOATS, 0.1, 4, second=(-3, 3), special=False, bound=8)
binary("bitwise_and bitwise_or bitwise_xor", [bool] + INTS, 0, 99)
binary("bitwise_left_shift bitwise_right_shift", INTS, 0, 99, second=(0, 7))
binary("logical_and logical_or logical_xor", [bool])
function("clip", lambda: ((array(pick([i32, f32, f16]), special=True), -1, 2), {}))


def like():
    return (array(pick([i32, f32, bool])),), pick([{}, {"dtype": f32}, {"dtype": np.int8}])


for name in ("zeros", "ones"):
    function(name, lambda: ((), {"shape": shape(), "dtype": pick([f32, i32, bool, f16])}))
    function(name + "_like", like)
function("empty", lambda: ((), {"shape": shape(), "dtype": pick([f32, i32, bool])}), np.zeros)  # here they are zeros
function("empty_like", like, np.zeros_like)
function("full", lambda: ((pick([f32(2.5), i32(7), np.bool_(True)]),), {"shape": shape()}), lambda v, shape: np.full(shape, v))
function("full_like", lambda: ((array(pick([i32, f32])), i32(3)), {}))
function("eye", lambda: ((), {"N": int(draw.integers(0, 5)), "M": int(draw.integers(0, 5)), "k": int(draw.integers(-3, 4)), "dtype": pick([f32, i32])}))
function("arange", lambda: ((), {"start": int(draw.integers(-5, 5)), "stop": int(draw.integers(-5, 9)), "step": int(pick([1, 2, -1, 3]))}))
function("linspace", lambda: ((), {"start": float(draw.integers(-5, 5)), "stop": float(draw.integers(-5, 9)), "num": int(draw.integers(1, 9)), "endpoint": bool(draw.integers(2))}), bound=4, scaled=True)
function("meshgrid", lambda: (tuple(array(f32, (int(draw.integers(1, 4)),)) for _ in range(draw.integers(1, 4))), {"indexing": pick(["xy", "ij"])}))
for name in ("tril", "triu"):
    function(name, lambda: ((array(pick([i32, f32, bool]), shape(2, 3)),), {"k": int(draw.integers(-3, 4))}))
function("asarray", lambda: ((array(pick(REAL)),), pick([{}, {"dtype": f32}, {"dtype": i32}])))
function("astype", lambda: ((array(pick(INTS + [bool, f32]), low=0, high=50),), {"dtype": pick([f32, i32, f16, np.uint8, bool])}), lambda x, dtype: x.astype(dtype))

function("take", lambda: (lambda x: ((x, array(i32, (3,), 0, min(x.shape) - 1)), {"axis": axis_of(x)}))(array(pick(REAL), shape(1, 3, empty=False))))


def along():
    x = array(pick(REAL), shape(1, 3, empty=False))
    axis = axis_of(x)
    return (x, array(i32, x.shape, 0, x.shape[axis] - 1)), {"axis": axis}


function("take_along_axis", along)


def product():
    k, batch = int(draw.integers(0, 5)), shape(0, 1)
    d = pick([f32, i32, c64])
    return (array(d, (*batch, int(draw.integers(1, 4)), k)), array(d, (*(batch if draw.random() < 0.5 else ()), k, int(draw.integers(1, 4))))), {}


def vectors():
    size, d = shape(1, 2), pick([f32, i32, c64])
    return (array(d, size), array(d, size)), {}


for prefix in ("", "linalg."):
    function(prefix + "matmul", product, np.matmul, bound=16, scaled=True)
    function(prefix + "matrix_transpose", lambda: ((array(pick(REAL), shape(2, 3)),), {}), np.matrix_transpose)
    function(prefix + "vecdot", vectors, np.vecdot, bound=16, scaled=True)
    function(prefix + "tensordot", lambda: ((array(f32, (2, 3, 4)), array(f32, (4, 3)[::-1] if draw.random() < 0.5 else (3, 4))), {"axes": 2}), np.tensordot, bound=16, scaled=True)

function("broadcast_arrays", lambda: (lambda s: ((array(f32, s), array(i32, partner(s))), {}))(shape()), lambda *x: list(np.broadcast_arrays(*x)))
function("broadcast_to", lambda: (lambda s: ((array(pick(REAL), partner(s)),), {"shape": s}))(shape()), lambda x, shape: np.broadcast_to(x, shape))
for name in ("concat", "stack"):
    function(name, (lambda stacked: lambda: (lambda s, d: (tuple(array(d, s) for _ in range(draw.integers(1, 4))), {"axis": int(draw.integers(0, len(s) + stacked))}))(shape(1, 3), pick(REAL)))(name == "stack"), (lambda f: lambda *x, axis: f(x, axis=axis))(getattr(np, name)))
function("expand_dims", lambda: (lambda x: ((x,), {"axis": int(draw.integers(-x.ndim - 1, x.ndim + 1))}))(array(pick(REAL))))
function("squeeze", lambda: ((array(pick(REAL), (1, 3, 1)),), {"axis": pick([0, 2, -1, -3])}))
function("flip", lambda: (lambda x: ((x,), maybe_axis(x)))(array(pick(REAL))), lambda x, axis=None: np.flip(x, axis))
function("moveaxis", lambda: (lambda x: ((x, i32([axis_of(x)]), i32([axis_of(x)])), {}))(array(pick(REAL), shape(1, 3))), lambda x, a, b: np.moveaxis(x, a.tolist(), b.tolist()))
function("permute_dims", lambda: (lambda x: ((x,), {"axes": [int(a) for a in draw.permutation(x.ndim)]}))(array(pick(REAL), shape(1, 3))))
function("repeat", lambda: (lambda x: ((x, i32([int(draw.integers(0, 4))])), {"axis": axis_of(x)}))(array(pick(REAL), shape(1, 2))), lambda x, n, axis: np.repeat(x, n, axis))
function("reshape", lambda: ((array(pick(REAL), (2, 3, 4)),), {"shape": pick([(6, 4), (-1,), (2, -1), (4, 3, 2), (1, 24)])}))
function("roll", lambda: (lambda x: ((x, i32([int(draw.integers(-5, 6))])), {"axis": axis_of(x)}))(array(pick(REAL), shape(1, 3))), lambda x, s, axis: np.roll(x, int(s[0]), axis))
function("tile", lambda: ((array(pick(REAL), shape(1, 2)),), {"reps": [int(n) for n in draw.integers(0, 3, draw.integers(1, 4))]}))
function("unstack", lambda: (lambda x: ((x,), {"axis": axis_of(x)}))(array(pick(REAL), shape(1, 3, empty=False))), lambda x, axis: list(np.unstack(x, axis=axis)))

for name in ("argmax", "argmin"):
    function(name, lambda: (lambda x: ((x,), maybe_axis(x) | {"keepdims": bool(draw.integers(2))}))(array(pick(REAL), shape(0, 3, empty=False), 0, 9)))
function("count_nonzero", lambda: (lambda x: ((x,), maybe_axis(x)))(array(pick(REAL + [bool]), low=0, high=2)))
function("nonzero", lambda: ((array(pick(INTS + [bool]), shape(1, 3), 0, 2),), {}), lambda x: list(np.nonzero(x)))
function("searchsorted", lambda: (lambda d: ((np.sort(array(d, (6,))), array(d, shape())), {"side": pick(["left", "right"])}))(pick([i32, f32])))
function("where", lambda: (lambda s, d: ((array(bool, partner(s)), array(d, s), array(d, partner(s))), {}))(shape(), pick(REAL)))
sets = lambda: ((lambda d: (np.asarray(draw.integers(0, 4, shape()), d),))(pick([i32, np.uint8, f32, bool])), {})
for name in ("unique_all", "unique_counts", "unique_inverse"):
    function(name, sets, (lambda f: lambda x: list(f(x)))(getattr(np, name)))
function("unique_values", sets, lambda x: np.unique(x))  # sorted
for name in ("sort", "argsort"):
    function(name, lambda: (lambda x: ((x,), {"axis": axis_of(x)}))(array(pick(REAL), shape(1, 3), 0, 9)), (lambda f: lambda x, axis: f(x, axis=axis, stable=True))(getattr(np, name)))

reduced = lambda dtypes, empty=True, **more: lambda: (lambda x: ((x,), maybe_axis(x) | {"keepdims": bool(draw.integers(2))}))(array(pick(dtypes), shape(0, 3, empty), **more))
function("sum", reduced(REAL), bound=16, scaled=True)
function("prod", reduced([i32, f32], low=0.5, high=2), bound=16, scaled=True)
function("max", reduced(REAL, False))
function("min", reduced(REAL, False))
function("mean", reduced(FLOATS, False), bound=16, scaled=True)
for name in ("var", "std"):
    function(name, reduced(FLOATS, False), bound=32, scaled=True)
for name in ("all", "any"):
    function(name, reduced(REAL + [bool], low=0, high=1))
for name in ("cumulative_sum", "cumulative_prod"):
    function(name, lambda: (lambda x: ((x,), {"axis": axis_of(x), "include_initial": bool(draw.integers(2))}))(array(pick([i32, f32]), shape(1, 3), 0.5, 2)), bound=16, scaled=True)
function("diff", lambda: (lambda x: ((x,), {"axis": axis_of(x), "n": int(draw.integers(1, 3))}))(array(pick([i32, f32]), shape(1, 3))), bound=4, scaled=True)

# ---- fft
NORMS = ["backward", "ortho", "forward"]
line = lambda d: lambda: (lambda x: ((x,), {"axis": axis_of(x), "norm": pick(NORMS)} | pick([{}, {"n": int(draw.integers(2, 9))}])))(array(d, tuple(int(n) for n in draw.integers(2, 7, draw.integers(1, 3)))))
for name, d in {"fft": c64, "ifft": c64, "rfft": f32, "irfft": c64, "hfft": c64, "ihfft": f32}.items():
    function("fft." + name, line(d), bound=16, scaled=True)
for name, d in {"fftn": c64, "ifftn": c64, "rfftn": f32, "irfftn": c64}.items():
    function("fft." + name, (lambda d: lambda: ((array(d, (2, 3, 4)),), {"axes": pick([(0, 1), (1, 2), (0, 1, 2), (2,)]), "norm": pick(NORMS)}))(d), bound=16, scaled=True)
for name in ("fftfreq", "rfftfreq"):
    function("fft." + name, lambda: ((), {"n": int(draw.integers(1, 9)), "d": float(pick([1, 0.5, 2.5]))}), bound=4)
for name in ("fftshift", "ifftshift"):
    function("fft." + name, lambda: (lambda x: ((x,), {"axes": axis_of(x)}))(array(pick([f32, c64, i32]), shape(1, 3))))

# ---- linalg: of factors, which are unique only up to signs, what the calls of golden_linalg_test.cc compare
H = lambda x: np.conj(np.swapaxes(x, -1, -2))


def square(dtypes=(f32, c64)):
    n, d = int(draw.integers(1, 5)), pick(dtypes)
    return array(d, (*shape(0, 1, empty=False), n, n)) + np.asarray(6 * np.eye(n), d)


def positive():
    x = square()
    return (x @ H(x)).astype(x.dtype)


def rows():
    m = int(draw.integers(1, 5))
    return array(pick([f32, c64]), (*shape(0, 1, empty=False), m + int(draw.integers(0, 3)), m))


one = lambda make, **o: lambda: ((make(),), dict(o))
linear = dict(bound=256, scaled=True)
function("linalg.cholesky", one(positive), **linear)
function("linalg.cross", lambda: (lambda s: ((array(f32, s), array(f32, s)), {}))((*shape(0, 1), 3)), np.linalg.cross, **linear)
function("linalg.det", one(square), **linear)
function("linalg.diagonal", lambda: ((array(pick(REAL), shape(2, 3)),), {"offset": int(draw.integers(-2, 3))}), lambda x, offset: np.linalg.diagonal(x, offset=offset))
function("linalg.trace", lambda: ((array(pick([i32, f32]), shape(2, 3)),), {"offset": int(draw.integers(-2, 3))}), lambda x, offset: np.linalg.trace(x, offset=offset), **linear)
function("linalg.eigh", one(positive), lambda x: (lambda w, v: [w, (v * w[..., None, :].astype(v.dtype)) @ H(v), H(v) @ v])(*np.linalg.eigh(x)), **linear)
function("linalg.eigvalsh", one(positive), **linear)
function("linalg.inv", one(square), **linear)
function("linalg.matrix_norm", lambda: ((array(f32, shape(2, 3, empty=False)),), {"ord": pick(["fro", "nuc", 1, -1, 2])}), lambda x, ord: np.linalg.matrix_norm(x, ord=ord), **linear)
function("linalg.matrix_power", lambda: ((square((f32,)),), {"n": int(draw.integers(-2, 4))}), **linear)
function("linalg.matrix_rank", one(rows), np.linalg.matrix_rank)
function("linalg.outer", lambda: (lambda d: ((array(d, (int(draw.integers(0, 4)),)), array(d, (int(draw.integers(1, 4)),))), {}))(pick([i32, f32, c64])), **linear)
function("linalg.pinv", one(rows), **linear)
function("linalg.qr", one(rows), lambda x: (lambda q, r: [q @ r, H(q) @ q, np.abs(q), np.abs(r)])(*np.linalg.qr(x)), **linear)
function("linalg.slogdet", one(square), lambda x: list(np.linalg.slogdet(x)), **linear)
function("linalg.solve", lambda: (lambda a: ((a, array(np.dtype(a.dtype).type, (*a.shape[:-1], 2))), {}))(square()), **linear)
function("linalg.svd", lambda: ((rows(),), {"full_matrices": bool(draw.integers(2))}),
         lambda x, full_matrices: (lambda u, s, v: [s, (u[..., :, : s.shape[-1]] * s[..., None, :]) @ v[..., : s.shape[-1], :], H(u) @ u, v @ H(v)])(*np.linalg.svd(x, full_matrices)), **linear)
function("linalg.svdvals", one(rows), **linear)
function("linalg.vector_norm", lambda: (lambda x: ((x,), maybe_axis(x) | {"ord": pick([0, 1, 2, 3, -1])}))(array(f32, shape(1, 3, empty=False))), lambda x, **o: np.linalg.vector_norm(x, **o), **linear)


# ---- the file -------------------------------------------------------------------------------------------------------------------------------

def results(says, args, options):
    out = says(*args, **options)
    return [np.asarray(x) for x in (out if isinstance(out, (list, tuple)) else [out])]


def wide(x):
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) if x.dtype.kind in "fc" else x


def true_result(t, dtype):
    """In f64, infinite where the dtype's numbers end; complex numbers as the golden holds them."""
    if np.issubdtype(dtype, np.complexfloating):
        return t.astype(c64)
    return np.where(np.isinf(t.astype(dtype)), t.astype(dtype), t).astype(np.float64)


def stored(name, says, truth, args, options):
    out = [x.astype(NARROW.get(x.dtype, x.dtype)) for x in results(says, args, options)]
    # Functions that make floats of nothing, or of what NumPy widens, have no truth of their own.
    entry = {"a": [encoded_argument(x) for x in args], "r": [encoded(x) for x in out]}
    if options:
        entry["o"] = {k: plain_option(v) for k, v in options.items()}
    if truth and all(x.dtype.kind in "fc" for x in out) and args and all(np.asarray(x).dtype.kind in "fc" for x in args) and "dtype" not in options:
        entry["t"] = [encoded(true_result(t, x.dtype)) for t, x in zip(results(says, [wide(x) for x in args], options), out)]
    return json.dumps(entry, separators=(",", ":"))


def main():
    np.seterr(all="ignore")
    lines = []
    for name, (calls, says, truth, tolerance) in FUNCTIONS.items():
        cases = [stored(name, says, truth, *calls()) for _ in range(DRAWS)]
        lines.append(json.dumps({"name": "numpy." + name} | tolerance)[:-1] + ', "cases": [\n' + ",\n".join(cases) + "]}")
    head = {"numpy": np.__version__, "by": "tools/goldens/array_api.py", "seed": SEED}
    path = FOLDER / "standard" / "array_api.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(head)[:-1] + ', "functions": [\n' + ",\n".join(lines) + "\n]}\n")
    print(f"{len(FUNCTIONS)} functions, {DRAWS * len(FUNCTIONS)} calls, {path.stat().st_size / 1e3:.1f} kB  {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
