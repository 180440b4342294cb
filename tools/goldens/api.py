#!/usr/bin/env python3
"""Writes strata/api/goldens/*.json: what JAX 0.10.2 answers when the functions of its array library are called.

    tools/goldens/api.py                 # rewrites all subjects
    tools/goldens/api.py elementwise     # rewrites one
    tools/goldens/api.py --errors        # also prints the cases that JAX refuses, with what it says

A subject is a file of api_cases/, with a table NAME -> Calls. A call is arguments (arrays and Python's scalars, which are weakly
typed) and options under upstream's names; it is stored with the results, each with dtype, shape and weak type, or as refused.
Where `truth` is given, the file also holds what the function is in f64, for results in f32. Numbers that are drawn come from one
seed a subject. strata/api/golden_test.cc reads the files.
Makes build/peers with jax 0.10.2 when this Python has none.
"""
import base64
import importlib
import json
import os
import pathlib
import sys
import warnings

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "strata" / "api" / "goldens"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

try:
    import jax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2")

import jax.numpy as jnp
import numpy as np

warnings.filterwarnings("ignore")
np.seterr(all="ignore")

NAMES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
         "uint8": "u8", "uint16": "u16", "uint32": "u32", "bool": "b1", "complex64": "c64"}


def encoded(x, weak=False):
    """`f32[2,3]w:BASE64`, w where the type is weak."""
    x = np.asarray(x)
    shape = ",".join(map(str, x.shape))
    return f"{NAMES[x.dtype.name]}[{shape}]{'w' if weak else ''}:{base64.b64encode(np.ascontiguousarray(x).tobytes()).decode()}"


def encoded_argument(x):
    if isinstance(x, (bool, int, float, complex)):
        kind = np.bool_ if isinstance(x, bool) else np.int32 if isinstance(x, int) else np.float32 if isinstance(x, float) else np.complex64
        return encoded(kind(x), weak=not isinstance(x, bool))
    return encoded(np.asarray(x, np.int32) if isinstance(x, (list, tuple)) else x)


def plain_option(x):
    """An option as JSON: dtypes by name, tuples as lists."""
    if isinstance(x, type) or isinstance(x, np.dtype):
        return NAMES[np.dtype(x).name]
    if isinstance(x, (list, tuple)):
        return [plain_option(i) for i in x]
    if isinstance(x, np.ndarray):
        return encoded(x)
    return x.item() if isinstance(x, np.generic) else x


def function_of(name):
    *modules, last = name.split(".")
    return getattr(importlib.import_module(".".join(["jax", *modules])), last)


def results_of(out):
    return [jnp.asarray(x) if not hasattr(x, "dtype") else x for x in jax.tree.leaves(out)]


def stored(name, calls, call, show_errors):
    arguments = [x if isinstance(x, (bool, int, float, complex, list, tuple)) else jnp.asarray(x) for x in call.args]
    entry = {"a": [encoded_argument(x) for x in call.args]}
    if call.options:
        entry["o"] = {k: plain_option(v) for k, v in call.options.items()}
    f = calls.call or function_of(name)
    try:
        out = results_of(f(*arguments, **call.options))
        entry["r"] = [encoded(x, getattr(x, "weak_type", False)) for x in out]
    except Exception as e:
        if show_errors:
            print(f"{name} {[getattr(x, 'dtype', x) for x in call.args]} {call.options}: {type(e).__name__}: {str(e).splitlines()[0][:120]}")
        entry["e"] = True
        return entry
    if calls.truth and calls.everywhere:
        true = calls.truth(*[np.asarray(x, np.float64) for x in call.args], **call.options)
        entry["t"] = [encoded(np.asarray(t, np.float64)) for t in (true if isinstance(true, tuple) else [true])]
    elif calls.truth and [x.dtype for x in out] == [np.float32] and all(np.asarray(x).dtype == np.float32 for x in call.args):
        true = np.asarray(calls.truth(*[np.asarray(x, np.float64) for x in call.args], **call.options), np.float64)
        # What stands at a pole or an infinity is convention, in which other libraries than JAX differ.
        agrees = np.isfinite(true) | (true == out[0]) | (np.isnan(true) & np.isnan(out[0]))
        entry["t"] = encoded(np.where(agrees, true, out[0]).astype(np.float64))
    return entry


def write(subject, show_errors):
    restart()
    table = importlib.import_module(f"api_cases.{subject}").CASES
    lines = []
    for name, calls in table.items():
        head = {"name": name}
        for key in ("bound", "scaled"):
            if getattr(calls, key) is not None:
                head[key] = getattr(calls, key)
        cases = [json.dumps(stored(name, calls, c, show_errors), separators=(",", ":")) for c in calls.cases]
        lines.append(json.dumps(head)[:-1] + ', "cases": [\n' + ",\n".join(cases) + "]}")
    head = {"jax": jax.__version__, "numpy": np.__version__, "by": "tools/goldens/api.py", "seed": SEED}
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{subject}.json"
    path.write_text(json.dumps(head)[:-1] + ', "functions": [\n' + ",\n".join(lines) + "\n]}\n")
    print(f"{len(table):4} functions {sum(len(c.cases) for c in table.values()):5} calls {path.stat().st_size / 1e3:7.1f} kB  {path.relative_to(ROOT)}")


from api_cases.calls import SEED, restart  # after the path is known


def main():
    subjects = [a for a in sys.argv[1:] if not a.startswith("-")]
    here = pathlib.Path(__file__).resolve().parent / "api_cases"
    for subject in subjects or sorted(p.stem for p in here.glob("*.py") if p.stem not in ("calls", "__init__")):
        write(subject, "--errors" in sys.argv)


if __name__ == "__main__":
    main()
