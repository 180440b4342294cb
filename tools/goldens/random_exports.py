#!/usr/bin/env python3
"""Writes random functions with open dimensions as `jax.export` serialises them, and what JAX computes with them.

    tools/goldens/random_exports.py                                # writes conformance/exports/random, the committed sample
    tools/goldens/random_exports.py --check                        # says whether JAX computes the same today
    tools/goldens/random_exports.py --first 1000 --count 100 --out DIR --run build/bin/strata-run
                                                                   # fresh ones, run in both modes (make soak)

A number names a program: rN.jax is an export for open dimensions b and t, rN.safetensors has arguments of some sizes (in.0, ...)
and the results of `jax.export.deserialize(...).call` (out.0, ...), manifest.txt the versions and what each program does. Needs jax
0.10.2; makes build/peers with it when this Python has none.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "conformance" / "exports" / "random"
SAMPLE = 40  # committed programs
STEPS = 5

try:
    import flatbuffers  # noqa: F401  what serialises exports
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import export, lax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2", "flatbuffers")

# No machine's folders in what is written.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

NAMES = {"float32": "F32", "float64": "F64", "bfloat16": "BF16", "int8": "I8", "int32": "I32", "int64": "I64", "uint32": "U32", "bool": "BOOL", "complex64": "C64"}


def write_safetensors(path, tensors, metadata):
    head, data, at = {"__metadata__": metadata}, [], 0
    for name, array in tensors.items():
        if array.dtype == np.complex128:  # which safetensors does not have: real and imaginary parts side by side
            array = np.ascontiguousarray(array).view(np.float64).reshape(*array.shape, 2)
        raw = np.ascontiguousarray(array).tobytes()
        head[name] = {"dtype": NAMES[str(array.dtype)], "shape": list(array.shape), "data_offsets": [at, at + len(raw)]}
        at += len(raw)
        data.append(raw)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(data))


def read_safetensors(path):
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    head, types = json.loads(raw[8 : 8 + size]), {v: k for k, v in NAMES.items()}
    head.pop("__metadata__", None)
    return {name: np.frombuffer(raw[8 + size + e["data_offsets"][0] : 8 + size + e["data_offsets"][1]], jnp.dtype(types[e["dtype"]])).reshape(e["shape"]) for name, e in head.items()}


# ---- steps: each makes a float array of one ----------------------------------------------------


def static(n):
    return isinstance(n, int)


def matrices(x, n):
    """Symmetric, positive definite, one for each element of all dimensions but the last."""
    v = jnp.broadcast_to(x[..., :1] * jnp.arange(1, n + 1, dtype=x.dtype), (*x.shape[:-1], n))
    i = jnp.arange(n, dtype=x.dtype)
    return v[..., :, None] * v[..., None, :] / n + jnp.diag(i + n) + jnp.cos(i[:, None] * i[None, :]) * 0.3 * (1 - jnp.eye(n))


def general(x, n):
    return matrices(x, n) + jnp.triu(jnp.ones((n, n)), 1)


def scanned(x, rng):
    h, ys = lax.scan(lambda h, v: (h * 0.5 + v, h + v), jnp.zeros(x.shape[1:], x.dtype), x, reverse=bool(rng.integers(2)))
    return ys + h


def looped(x, rng):
    return lax.fori_loop(0, int(rng.integers(2, 5)), lambda i, v: jnp.sin(v) + x * i, x)


def counted(x, rng):
    return lax.while_loop(lambda s: s[0] < x.shape[0], lambda s: (s[0] + 1, s[1] * 0.5 + x), (0, x))[1]


def branched(x, rng):
    return lax.cond(x.sum() > 0, lambda v: v * 2, lambda v: jnp.flip(v, 0) - 1, x)


def switched(x, rng):
    return lax.switch(int(rng.integers(3)) + x.shape[0] * 0, [jnp.sin, lambda v: v + 1, lambda v: jnp.cumsum(v, 0)], x)


def pooled(x, rng):
    n = int(rng.integers(2, 4))
    window, stride = (n,) + (1,) * (x.ndim - 1), (int(rng.integers(1, 3)),) + (1,) * (x.ndim - 1)
    kind = rng.integers(3)
    if kind == 0:
        return lax.reduce_window(x, -jnp.inf, lax.max, window, stride, "SAME")
    if kind == 1:
        return lax.reduce_window(x, 0.0, lax.add, window, stride, "SAME")
    return lax.reduce_window(x, jnp.inf, lax.min, window, (1,) * x.ndim, "SAME", window_dilation=(2,) + (1,) * (x.ndim - 1))


def cumulative(x, rng):
    f = [lax.cumsum, lax.cummax, lax.cummin, lax.cumlogsumexp, lambda v, **k: lax.cumprod(jnp.cos(v), **k)][rng.integers(5)]
    return f(x, axis=int(rng.integers(x.ndim)), reverse=bool(rng.integers(2)))


def reduced(x, rng):
    axis = int(rng.integers(x.ndim))
    f = [jnp.sum, jnp.max, jnp.mean, jnp.var, jax.nn.logsumexp, jnp.min, jnp.argmax, jnp.argmin, jnp.median][rng.integers(9)]
    return x - f(x, axis=axis, keepdims=True).astype(x.dtype)


def sorted_(x, rng):
    axis = int(rng.integers(x.ndim))
    return [jnp.sort, lambda v, axis: jnp.argsort(v, axis=axis).astype(v.dtype)][rng.integers(2)](x, axis=axis)


def topped(x, rng):
    n = x.shape[-1]
    k = n - 1 if not static(n) and rng.integers(2) else 1
    values, places = lax.top_k(x, k)
    return values + places


def approximate(x, rng):
    return [lax.approx_max_k, lax.approx_min_k][rng.integers(2)](x, 1)[0]  # of equal ones either may be found


def joined(x, rng):
    axis = int(rng.integers(x.ndim))
    return jnp.concatenate([x, jnp.flip(x, axis) * 2], axis)


def flattened(x, rng):
    return x.reshape(-1)


def folded(x, rng):
    return jnp.concatenate([x, x], 0).reshape(2, *x.shape)[int(rng.integers(2))] + x.reshape(1, *x.shape)[0]


def turned(x, rng):
    return jnp.transpose(x, rng.permutation(x.ndim).tolist())


def cut(x, rng):
    axis = int(rng.integers(x.ndim))
    return [lambda: lax.slice_in_dim(x, 1, None, axis=axis), lambda: lax.slice_in_dim(x, 0, x.shape[axis] - 1, axis=axis), lambda: lax.slice_in_dim(x, 0, None, stride=2, axis=axis)][rng.integers(3)]()


def padded(x, rng):
    return lax.pad(x, jnp.float32(0.5), [tuple(int(v) for v in (rng.integers(-1, 3), rng.integers(3), rng.integers(2))) for _ in x.shape])


def rolled(x, rng):
    return jnp.roll(x, int(rng.integers(1, 3)), int(rng.integers(x.ndim)))


def tiled(x, rng):
    return jnp.tile(x, (2,) + (1,) * (x.ndim - 1))


def taken(x, rng):
    n = x.shape[0]
    return jnp.take(x, (jnp.arange(n) * 2 + 1) % n, axis=0)


def windowed(x, rng):
    return lax.dynamic_slice_in_dim(x, (x.sum() > 0).astype(jnp.int32), x.shape[0] - 1, 0)


def updated(x, rng):
    return lax.dynamic_update_slice_in_dim(x, x[:1] * 3, (x.sum() > 0).astype(jnp.int32), 0)


def multiplied(x, rng):
    return jnp.tensordot(x, x, axes=(0, 0)) if x.ndim == 2 else jnp.einsum("...i,...i->...", x, x)[..., None] * jnp.ones(3)


def softened(x, rng):
    return jax.nn.softmax(x, axis=int(rng.integers(x.ndim)))


def scattered(x, rng):
    n = x.shape[0]
    return jax.ops.segment_sum(x, jnp.arange(n) // 2, num_segments=n)


def hot(x, rng):
    n = x.shape[-1]
    return x + jax.nn.one_hot(jnp.argmax(x, -1), n)


def mapped(x, rng):
    return lax.map(lambda r: jnp.sin(r) + r.sum(), x)


def batched(x, rng):
    return jax.vmap(lambda r: jnp.cumsum(r, 0) if r.ndim else r * 2)(x)


def derived(x, rng):
    return jax.grad(lambda v: (jnp.cumsum(v, 0) ** 2).sum() + jnp.sin(v).sum())(x)


def associated(x, rng):
    return lax.associative_scan(jnp.add, x) if static(x.shape[0]) else jnp.cumsum(x, 0)


def triangular(x, rng):
    return jnp.tril(x) + jnp.triu(x, 1) * 2


def narrowed(x, rng):
    return x.astype(jnp.bfloat16).astype(x.dtype)


def counted_up(x, rng):
    return x + jnp.arange(x.shape[-1], dtype=x.dtype) / x.shape[-1]


def spectral(x, rng):
    return jnp.abs(jnp.fft.rfft(jnp.broadcast_to(x[..., None], (*x.shape, 4)), axis=-1))[..., 0]


def drawn(x, rng):
    kind, key = rng.integers(6), jax.random.key(int(rng.integers(1000)), impl=["threefry2x32", "rbg"][rng.integers(2)])
    if kind == 0:
        return x + jax.random.uniform(key, x.shape)
    if kind == 1:
        return x + jax.random.normal(key, x.shape)
    if kind == 2:
        return x + jax.random.randint(key, x.shape, 0, 7)
    if kind == 3:
        return x * jax.random.bernoulli(key, 0.5, x.shape)
    if kind == 4:
        return jnp.take(x, jax.random.permutation(jax.random.key(3), x.shape[0]), axis=0)
    return x + (jax.random.bits(key, x.shape) >> 24).astype(x.dtype) / 256


def factored(x, rng):
    n, kind = int(rng.integers(2, 5)), rng.integers(15)
    spd, a = matrices(x, n), general(x, n)
    b = jnp.broadcast_to(x[..., :1, None], (*x.shape[:-1], n, 2))
    norm = lambda m: jnp.sqrt((m * m).sum(-1))
    if kind == 0:
        return jnp.linalg.cholesky(spd)[..., 0]
    if kind == 1:
        return jnp.linalg.solve(a, b)[..., 0]
    if kind == 2:
        return norm(jnp.linalg.inv(a))
    if kind == 3:
        return jnp.linalg.det(a)[..., None] / 10.0**n
    if kind == 4:
        return jnp.linalg.slogdet(a)[1][..., None]
    if kind == 5:
        return jnp.abs(jnp.linalg.qr(a)[1])[..., 0]
    if kind == 6:
        return jnp.linalg.svd(a, compute_uv=False)
    if kind == 7:
        u, s, v = jnp.linalg.svd(a)
        return norm((u * s[..., None, :]) @ v)
    if kind == 8:
        return jnp.linalg.eigvalsh(spd)
    if kind == 9:
        w, v = jnp.linalg.eigh(spd)
        return norm((v * w[..., None, :]) @ jnp.swapaxes(v, -1, -2))
    if kind == 10:
        return jnp.sort(jnp.abs(jnp.linalg.eigvals(a)), -1)
    if kind == 11:
        return jax.scipy.linalg.solve_triangular(jnp.tril(spd), b, lower=True)[..., 0]
    if kind == 12:
        lu, pivots, permutation = lax.linalg.lu(a)
        return norm(lu) + permutation
    if kind == 13:
        return norm(jax.scipy.linalg.expm(a / 10))
    return norm(jnp.linalg.pinv(a))


def sized(x, rng):
    """A matrix of as many rows as x."""
    n, kind = x.shape[0], rng.integers(10)
    i = jnp.arange(n, dtype=x.dtype)
    a = jnp.cos(i[:, None] - i[None, :]) + jnp.diag(i + n)
    b = x.reshape(n, -1)
    if kind == 0:
        return jnp.linalg.cholesky(a) @ b
    if kind == 1:
        return jnp.linalg.solve(a, b)
    if kind == 2:
        return jnp.linalg.inv(a) @ b
    if kind == 3:
        return b * jnp.linalg.slogdet(a)[1]
    if kind == 4:
        return jnp.abs(jnp.linalg.qr(a)[1]) @ b
    if kind == 5:
        return jnp.linalg.svd(a, compute_uv=False)[:, None] * b
    if kind == 6:
        return jnp.linalg.eigvalsh(a)[:, None] * b
    if kind == 7:
        return jax.scipy.linalg.solve_triangular(a, b)
    if kind == 8:
        return jnp.sort(jnp.abs(jnp.linalg.eigvals(a)))[:, None] * b
    return lax.linalg.lu(a)[0] @ b


STEP = [scanned, looped, counted, branched, switched, pooled, cumulative, reduced, sorted_, topped, approximate, joined, flattened, folded, turned,
        cut, padded, rolled, tiled, taken, windowed, updated, multiplied, softened, scattered, hot, mapped, batched, derived, associated,
        triangular, narrowed, counted_up, spectral, drawn, factored, factored, sized, sized, pooled, cumulative, scanned]  # fmt: skip


def chosen(number):
    """The function of that number, and the names of its steps once it is traced."""
    steps = []

    def f(*xs):
        rng = np.random.default_rng([number, 1])
        steps.clear()
        x = xs[0]
        while len(steps) < STEPS:
            step = STEP[rng.integers(len(STEP))]
            seed = int(rng.integers(1 << 30))
            try:
                if x.ndim == 0 or x.ndim > 4:
                    raise ValueError("of too many dimensions, or of none")
                y = step(x, np.random.default_rng(seed))
                # Bounded, so that rounding stays small beside what is compared.
                y = jnp.where(jnp.abs(y) < 8, y, 8 / (1 + jnp.abs(y)))
            except Exception:  # JAX has many for steps that do not fit, or that open dimensions rule out
                step = flattened if x.ndim > 4 else counted_up
                if x.ndim == 0:
                    break
                y = step(x, rng)
            steps.append(step.__name__.strip("_"))
            x = y
            if len(xs) > 1 and rng.integers(2) and x.ndim:
                x = x + xs[1].sum()
        return x, jnp.sum(x)

    return f, steps


def program(number):
    """Bytes of an export, arguments, JAX's results, what it does."""
    rng = np.random.default_rng([number, 0])
    sizes = dict(zip(("b", "t"), (rng.permutation(5)[:2] + 2).tolist()))
    dims = [("b",), ("b", "t"), ("t", "b", 3), ("b", 4), (3, "t"), ("b", "t", 2)][rng.integers(6)]
    extra = [[], [("b",)], [("t", 2)]][rng.integers(3)]
    shapes = [dims, *extra]
    names = sorted({d for shape in shapes for d in shape if not static(d)})
    symbols = dict(zip(names, export.symbolic_shape(", ".join(names), constraints=[f"{name} >= 2" for name in names])))
    open_types = [jax.ShapeDtypeStruct([symbols.get(d, d) for d in shape], np.float32) for shape in shapes]
    args = [rng.normal(size=[sizes.get(d, d) for d in shape]).astype(np.float32) for shape in shapes]
    f, steps = chosen(number)
    data = bytes(export.export(jax.jit(f), platforms=["cpu"])(*open_types).serialize())
    results = jax.tree.leaves(export.deserialize(bytearray(data)).call(*args))
    what = f"r{number}: {', '.join('f32[' + ','.join(map(str, s)) + ']' for s in shapes)} b={sizes['b']} t={sizes['t']}: {' '.join(steps)}"
    return data, args, [np.asarray(r) for r in results], what


def write(folder, number):
    data, args, results, what = program(number)
    tensors = {**{f"in.{i}": a for i, a in enumerate(args)}, **{f"out.{i}": r for i, r in enumerate(results)}}
    (folder / f"r{number}.jax").write_bytes(data)
    write_safetensors(folder / f"r{number}.safetensors", tensors, {"rtol": "1e-4", "atol": "1e-4", "jax": jax.__version__})
    return what


def check(folder, number):
    """Whether JAX computes today what is written; the export's bytes may differ."""
    written = read_safetensors(folder / f"r{number}.safetensors")
    exported = export.deserialize(bytearray((folder / f"r{number}.jax").read_bytes()))
    results = exported.call(*[written[f"in.{i}"] for i in range(len(exported.in_avals))])
    return all(np.allclose(r, written[f"out.{i}"], 1e-4, 1e-4, equal_nan=True) for i, r in enumerate(jax.tree.leaves(results)))


def run(strata_run, folder, number):
    """How strata-run fails, in either mode; empty where it does not."""
    for mode in ("compiled", "reference"):
        command = [strata_run, folder / f"r{number}.jax", f"--check={folder / f'r{number}.safetensors'}", f"--mode={mode}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return f"{mode}, exit {done.returncode}: {(done.stdout + done.stderr)[-500:]}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=SAMPLE)
    parser.add_argument("--out", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--run", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    o = parser.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    lines, failed = [], 0
    for number in range(o.first, o.first + o.count):
        if o.check:
            if not check(o.out, number):
                failed += 1
                print(f"r{number}: JAX {jax.__version__} computes something else")
            continue
        lines.append(write(o.out, number))
        if o.run and (reason := run(o.run, o.out, number)):
            failed += 1
            print(f"FAILED {lines[-1]}\n    {reason}", flush=True)
    if not o.check:
        text = f"JAX {jax.__version__}, NumPy {np.__version__}, {STEPS} steps\n" + "".join(f"{line}\n" for line in lines)
        (o.out / "manifest.txt").write_text(text)
        print(f"{len(lines)} programs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
