#!/usr/bin/env python3
"""Writes strata/optim/testdata/beyond.json: rules beside Optax's, from their formulas in NumPy's f64.

    tools/goldens/beyond_optax.py

Shampoo and SOAP over some steps of given gradients, clipping by what norms were before, and codes of 8 bits:
torchao's dynamic map and its nearest code (pytorch/ao: torchao/optim/quant_utils.py), f8E4M3FN by ml_dtypes.
Inputs are `numbers`, which the tests compute to the last bit. Needs numpy and ml_dtypes; build/peers has both.
"""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "strata" / "optim" / "testdata" / "beyond.json"
SHAPES = {"matrix": (4, 3), "tensor": (2, 3, 4), "vector": (5,)}

try:
    import ml_dtypes
    import numpy as np
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2", "numpy", "ml_dtypes")


def numbers(seed, count):
    i = np.arange(count, dtype=np.int64)
    return (((seed * 7919 + i * 104729) % 2003) - 1001).astype(np.float32) / np.float32(1024)


def gradients(step):
    return {name: numbers(10 * step + k + 1, int(np.prod(shape))).reshape(shape).astype(np.float64)
            for k, (name, shape) in enumerate(SHAPES.items())}


def gram(x, axis):
    rows = np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
    return rows @ rows.T


def along(x, axis, m):
    return np.moveaxis(np.moveaxis(x, axis, -1) @ m, -1, axis)


def axes_of(x, longest):
    return [a for a in range(x.ndim) if 1 < x.shape[a] <= longest] if x.ndim >= 2 else []


def shampoo(steps, b1=.9, b2=1., eps=1e-6, precondition_frequency=10, start_preconditioning_step=0,
            max_preconditioner_dim=1024, grafting="adam", grafting_b2=.999, grafting_eps=1e-8):
    m, v, sums, roots = {}, {}, {}, {}
    for t in range(1, steps + 1):
        out = {}
        for name, g in gradients(t).items():
            m[name] = (1 - b1) * g + b1 * m.get(name, 0.)
            if grafting == "adam":
                v[name] = (1 - grafting_b2) * g * g + grafting_b2 * v.get(name, 0.)
            elif grafting == "adagrad":
                v[name] = v.get(name, 0.) + g * g
            hat = m[name] / (1 - b1 ** t)
            plain = hat
            if grafting == "adam":
                plain = hat / (np.sqrt(v[name] / (1 - grafting_b2 ** t)) + grafting_eps)
            elif grafting == "adagrad":
                plain = hat / (np.sqrt(v[name]) + grafting_eps)
            axes = axes_of(g, max_preconditioner_dim)
            y = hat
            for a in axes:
                old = sums.get((name, a), 0.)
                sums[name, a] = old + gram(g, a) if b2 == 1 else (1 - b2) * gram(g, a) + b2 * old
                if (t - 1) % precondition_frequency == 0:
                    w, q = np.linalg.eigh(sums[name, a])
                    roots[name, a] = q * (np.maximum(w, 0) + eps) ** (-1 / (2 * len(axes))) @ q.T
                y = along(y, a, roots[name, a])
            if not axes or t <= start_preconditioning_step:
                y = plain
            elif grafting != "none":
                y = y * np.linalg.norm(plain) / np.linalg.norm(y)
            out[name] = y
        yield out


def soap(steps, b1=.95, b2=.95, shampoo_beta=None, eps=1e-8, precondition_frequency=10, max_precond_dim=10000):
    beta = b2 if shampoo_beta is None else shampoo_beta
    m, v, sums, q = {}, {}, {}, {}

    def turned(name, x, back=False):
        for a in axes_of(x, max_precond_dim):
            x = along(x, a, q[name, a].T if back else q[name, a])
        return x

    for t in range(steps):
        out = {}
        for name, g in gradients(t + 1).items():
            axes = axes_of(g, max_precond_dim)
            if t == 0:
                for a in axes:
                    sums[name, a] = (1 - beta) * gram(g, a)
                    q[name, a] = np.linalg.eigh(sums[name, a])[1][:, ::-1]
                out[name] = np.zeros_like(g)
                m[name] = v[name] = np.zeros_like(g)
                continue
            m[name] = (1 - b1) * g + b1 * m[name]
            v[name] = (1 - b2) * turned(name, g) ** 2 + b2 * v[name]
            step = turned(name, m[name]) / (np.sqrt(v[name]) + eps)
            out[name] = np.sqrt(1 - b2 ** t) / (1 - b1 ** t) * turned(name, step, back=True)
            for a in axes:
                sums[name, a] = (1 - beta) * gram(g, a) + beta * sums[name, a]
            if t % precondition_frequency == 0:
                for a in axes:
                    product = sums[name, a] @ q[name, a]
                    order = np.argsort(-np.sum(q[name, a] * product, 0), kind="stable")
                    q[name, a] = np.linalg.qr(product[:, order])[0]
                    v[name] = np.take(v[name], order, a)
        yield out


def norm_at(t):
    """The norm that step t's gradient is given: two spikes, one that is not finite."""
    if t == 31:
        return np.inf
    return float(np.float32((1 + .5 * numbers(3, 64)[t]) * (20. if t in (28, 36) else 1.)))


def by_quantile(steps, quantile=.1, history=1024):
    kept = []
    for t in range(steps):
        n = norm_at(t)
        if not np.isfinite(n):
            yield 0.
            continue
        kept = (kept + [n])[-history:]
        yield min(n, float(np.quantile(kept, quantile)))


def by_zscore(steps, decay=.97, threshold=2.5, warmup_steps=25, eps=1e-6):
    mean = variance = 0.
    count = 0
    for t in range(steps):
        n = norm_at(t)
        if not np.isfinite(n):
            yield 0.
            continue
        correction = 1 - decay ** count if count else 1.
        average, deviation = mean / correction, np.sqrt(variance / correction)
        z = (n - average) / (deviation + eps)
        wanted = average + threshold ** 2 / z * deviation if count >= warmup_steps and z > threshold else n
        apart = wanted - (average if count else wanted)
        mean, variance = (1 - decay) * wanted + decay * mean, (1 - decay) * apart ** 2 + decay * variance
        count += 1
        yield wanted


def dynamic_map(is_signed):
    values = [0., 1.]
    for i in range(7):
        bounds = np.linspace(.1, 1, (2 ** i if is_signed else 2 ** (i + 1)) + 1)
        means = 10. ** (i - 6) * (bounds[:-1] + bounds[1:]) / 2
        values += [*means, *(-means if is_signed else [])]
    return np.sort(np.array(values)).astype(np.float32)


def elements(blocks, block):
    """Numbers over 23 powers of two; the last block lacks three elements."""
    n = blocks * block - 3
    return numbers(5, n) * np.exp2(-((np.arange(n) * 7) % 23)).astype(np.float32)


def digest(codes):
    codes = codes.astype(np.uint64).ravel()
    return int(np.sum(codes * (np.arange(codes.size, dtype=np.uint64) % 65521 + 1)))


def codes(kind, is_signed, blocks, block):
    x = elements(blocks, block)
    x = x if is_signed else np.abs(x)
    rows = np.pad(x, (0, 3)).reshape(blocks, block)
    largest = np.abs(rows).max(1, keepdims=True)
    if kind == "fp8":
        scale = largest / np.float32(448)
        made = (rows / np.maximum(scale, np.float32(1e-12))).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
        back = made.view(ml_dtypes.float8_e4m3fn).astype(np.float32) * scale
    else:
        part = rows / np.maximum(largest, np.float32(1e-12))
        if kind == "linear":
            made = np.rint(part * np.float32(127)) + 128 if is_signed else np.rint(part * np.float32(255))
            back = ((made - 128) / np.float32(127) if is_signed else made / np.float32(255)) * largest
        else:
            values = dynamic_map(is_signed)
            down = np.maximum(np.searchsorted(values, part, "right") - 1, 0)
            up = np.minimum(down + 1, 255)
            made = np.where(part - values[down] >= (values[up] - values[down]) * np.float32(.5), up, down)
            back = values[made] * largest
    made, back = made.ravel()[:-3], back.ravel()[:-3]
    return {"format": kind, "is_signed": is_signed, "blocks": blocks, "block_size": block, "digest": digest(made),
            "first": [int(c) for c in made[:64]], "largest_error": float(np.abs(back.astype(np.float64) - x).max())}


def steps_of(rule, steps, **options):
    made = [{name: [float(f"{float(x):.9g}") for x in u.ravel()] for name, u in out.items()} for out in rule(steps, **options)]
    return {"rule": f"scale_by_{rule.__name__}", "options": options, "updates": made}


def main():
    cases = {
        "manifest": {"numpy": np.__version__, "ml_dtypes": ml_dtypes.__version__, "script": "tools/goldens/beyond_optax.py"},
        "shapes": SHAPES,
        "steps": [steps_of(shampoo, 9, precondition_frequency=3, eps=1e-4),
                  steps_of(shampoo, 9, b2=.9, b1=0., grafting="none", precondition_frequency=1, eps=1e-3),
                  steps_of(shampoo, 9, grafting="adagrad", start_preconditioning_step=4, precondition_frequency=2, eps=1e-4),
                  steps_of(shampoo, 6, grafting="sgd", max_preconditioner_dim=3, precondition_frequency=2, eps=1e-4),
                  steps_of(soap, 12, precondition_frequency=3),
                  steps_of(soap, 9, b1=.9, b2=.98, shampoo_beta=.8, precondition_frequency=2, max_precond_dim=3)],
        "norms": {"given": [norm_at(t) if np.isfinite(norm_at(t)) else None for t in range(48)],
                  "quantile": list(by_quantile(48, .25, 16)), "zscore": list(by_zscore(48, .9, 2.5, 10))},
        "maps": {"signed": [float(x) for x in dynamic_map(True)], "unsigned": [float(x) for x in dynamic_map(False)]},
        "codes": [codes(kind, sign, 10000, 256) for kind in ("dynamic", "linear", "fp8") for sign in (True, False)],
    }
    OUT.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in cases.items()) + "\n}\n")
    print(f"{OUT.stat().st_size / 1e3:.1f} kB  {OUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
