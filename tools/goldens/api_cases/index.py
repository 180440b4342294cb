"""Indexing: x[...] and x.at[...], whose expressions are drawn at random. An index stands in the option "index" as a list of entries:
a number, "newaxis", "...", [start, stop, step], or {"array": n} for the n-th argument."""
import jax.numpy as jnp
import numpy as np

from .calls import *

CASES = {}
_random = np.random.default_rng(20261123)


def arrays_for(size, shape, out_of_range):
    low, high = (-size - 2, size + 3) if out_of_range else (-size, size)
    kind = _random.choice([np.int32, np.int32, np.uint8, np.int8])
    return np.abs(_random.integers(low, high, shape)).astype(kind) if kind == np.uint8 else _random.integers(low, high, shape).astype(kind)


def expression(shape, out_of_range, masks):
    """Entries, and the arrays that they name."""
    entries, arrays, axis = [], [], 0
    index_shape = [(), (2,), (3, 1), (1, 2), (0,)][_random.choice(5, p=[0.2, 0.4, 0.2, 0.15, 0.05])]
    dots = False
    has_mask = False
    while axis < len(shape):
        size = shape[axis]
        choice = _random.integers(0, 11)
        if choice == 0 and not dots:
            skipped = int(_random.integers(0, len(shape) - axis + 1))
            entries.append("...")
            dots, axis = True, axis + skipped
            continue
        if choice == 1:
            entries.append("newaxis")
            continue
        if choice <= 3:
            entries.append(int(_random.integers(-size, size)))
        elif choice <= 6:
            part = [None if _random.random() < 0.4 else int(_random.integers(-size - 1, size + 2)) for _ in range(2)]
            step = int(_random.choice([1, 1, 2, -1, -2]))
            entries.append([*part, step])
        elif choice <= 9 or not masks or has_mask:
            arrays.append(arrays_for(size, index_shape if _random.random() < 0.7 else (), out_of_range))
            entries.append({"array": len(arrays)})
        else:
            # Two true elements broadcast with whatever else there is of two or one.
            mask = np.zeros(shape[axis: axis + int(_random.integers(1, min(2, len(shape) - axis) + 1))], bool)
            mask.reshape(-1)[_random.choice(mask.size, 2, replace=False)] = True
            arrays.append(mask)
            entries.append({"array": len(arrays)})
            has_mask, axis = True, axis + mask.ndim - 1
        axis += 1
        if _random.random() < 0.15:
            break
    if not dots and axis < len(shape) and _random.random() < 0.3:
        entries.append("...")
    return entries, arrays


def index_of(entries, arguments):
    plain = {"newaxis": None, "...": Ellipsis}
    out = []
    for e in entries:
        if isinstance(e, str):
            out.append(plain[e])
        elif isinstance(e, list):
            out.append(slice(*e))
        elif isinstance(e, dict):
            out.append(np.asarray(arguments[e["array"] - 1]))
        else:
            out.append(e)
    return tuple(out)


def read(x, *arrays, index, mode=None, fill_value=None):
    if mode is None:
        return jnp.asarray(x)[index_of(index, arrays)]
    return jnp.asarray(x).at[index_of(index, arrays)].get(mode=mode, fill_value=fill_value)


def update(x, values, *arrays, index, kind, mode=None):
    return getattr(jnp.asarray(x).at[index_of(index, arrays)], kind)(values, mode=mode)


def drawn(count, **options):
    while count:
        shape = tuple(int(n) for n in _random.integers(2, 5, _random.integers(1, 5)))
        entries, arrays = expression(shape, "mode" in options, "mode" not in options)
        x = _random.normal(0, 2, shape).astype(f32) if count % 3 else _random.integers(-9, 9, shape).astype(i32)
        try:
            found = read(x, *arrays, index=entries)
        except (IndexError, ValueError, TypeError):
            continue
        count -= 1
        yield x, arrays, entries, found


CASES["at.get"] = calls(
    *[C(x, *arrays, index=entries) for x, arrays, entries, _ in drawn(120)],
    *[C(x, *arrays, index=entries, mode=mode) for mode in ("clip", "fill", "drop") for x, arrays, entries, _ in drawn(12, mode=mode)],
    *[C(x, *arrays, index=entries, mode="fill", fill_value=7) for x, arrays, entries, _ in drawn(8, mode="fill")],
    C(X23, np.array([[True, False, True], [False, True, False]]), index=[{"array": 1}]), C(X23, np.array([False, False]), index=[{"array": 1}]),
    C(X23, np.array(True), index=[{"array": 1}]), C(X23, np.array(False), index=[{"array": 1}]), C(X23, np.array([True, False, True]), index=[{"array": 1}]),
    C(X23, np.array([0.5, 1], f32), index=[{"array": 1}]), C(X23, index=[0, 0, 0]), C(X23, index=["...", "..."]), C(f32(1), index=["..."]), C(f32(1), index=[]),
    C(np.arange(4, dtype=np.uint8), np.array([9], i32), index=[{"array": 1}], mode="fill"), C(np.arange(4, dtype=np.int16), np.array([9], i32), index=[{"array": 1}], mode="fill"),
    C(B23, np.array([9], i32), index=[{"array": 1}], mode="fill"), C(C3, np.array([9, 1], i32), index=[{"array": 1}], mode="fill"),
    call=read, bound=0)
KINDS = {"set": 40, "add": 30, "subtract": 12, "multiply": 20, "divide": 12, "power": 12, "min": 16, "max": 16}
for kind, count in KINDS.items():
    made = []
    for mode in (None, None, "drop", "clip"):
        for x, arrays, entries, found in drawn(count // 4, **({"mode": mode} if mode else {})):
            # For `set` no element twice: which of the values stays is not promised.
            if kind == "set" and any(a.size > 1 and a.dtype != bool for a in arrays):
                values = x.dtype.type(3)
            elif kind == "power":
                values = x.dtype.type(2)
            else:
                values = np.ones(found.shape[int(_random.integers(0, found.ndim + 1)):], x.dtype) * x.dtype.type(2) + _random.integers(0, 3, found.shape[found.ndim:]).astype(x.dtype)
            if kind == "divide":
                x = x.astype(f32)
            if kind == "power":  # which has no derivative by the exponent elsewhere
                x = np.abs(x)
            made.append(C(x, values, *arrays, index=entries, kind=kind, mode=mode))
    made += [C(X23, 2, index=[0], kind=kind), C(I23, 2.5, index=[0], kind=kind), C(X23, np.ones((1, 1, 3), f32), index=[1], kind=kind), C(X23, np.ones(4, f32), index=[1], kind=kind), C(H5, f32(2), index=[-1], kind=kind)]
    CASES["at." + kind] = calls(made, call=update, bound=4)
