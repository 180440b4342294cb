#!/usr/bin/env python3
"""The demo's model learns as much in Strata as in JAX from the same tokens: validation losses of each text side by side.

    STRATA_BUILD=build tools/learn_beside_jax.py [--steps N] [--dtype float32|bfloat16] [--require]

Both begin with the same weights, read the same batches at the same learning rates and are evaluated on the same text. Needs what
`make demo` prepares (build/demo/text, build/demo/tokenizer.model). `--require` exits with 1 when a loss differs by more than 2 %.
A row is a loss in nats for each token.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

os.environ.setdefault("JAX_PLATFORMS", "cpu")
ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.get("STRATA_BUILD", ROOT / "build")).resolve() / "bin"
CONFIG = "configs/demo.yml"
TYPES = {"F32": np.float32, "I32": np.int32}


def model():
    """The model of the goldens, which has the demo's shape."""
    spec = importlib.util.spec_from_file_location("golden", ROOT / "tools/goldens/llama_step.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(path):
    """Tensors of a safetensors file."""
    raw = pathlib.Path(path).read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header, body = json.loads(raw[8 : 8 + size]), raw[8 + size :]
    return {n: np.frombuffer(body[t["data_offsets"][0] : t["data_offsets"][1]], TYPES[t["dtype"]]).reshape(t["shape"]) for n, t in header.items() if n != "__metadata__"}


def train_in_jax(golden, tensors, dtype, config):
    import jax
    import jax.numpy as jnp

    b1, b2, eps, decay, limit = (float(config[k]) for k in ("adam_b1", "adam_b2", "adam_eps", "adam_weight_decay", "gradient_clipping_threshold"))

    def step(p, m, v, t, rate, tokens, targets):
        value, g = jax.value_and_grad(golden.loss_of)(p, tokens, targets, dtype)
        norm = jnp.sqrt(sum(jnp.sum(jnp.square(x)) for x in jax.tree.leaves(g)))
        g = jax.tree.map(lambda x: x * jnp.where(norm < limit, 1.0, limit / norm), g)
        m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, m, g)
        v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * jnp.square(g), v, g)
        move = lambda p, m, v: p - rate * (m / (1 - b1**t) / (jnp.sqrt(v / (1 - b2**t)) + eps) + decay * p)
        return value, jax.tree.map(move, p, m, v), m, v

    p = {n.removeprefix("params."): jnp.asarray(x) for n, x in tensors.items() if n.startswith("params.")}
    m, v = jax.tree.map(jnp.zeros_like, p), jax.tree.map(jnp.zeros_like, p)
    run = jax.jit(step, donate_argnums=(0, 1, 2))
    for i, (x, y, rate) in enumerate(zip(tensors["tokens"], tensors["targets"], tensors["rates"])):
        value, p, m, v = run(p, m, v, jnp.float32(i + 1), rate, x, y)
        if i % 50 == 0:
            print(f"  JAX step {i}: {float(value):.4f}", file=sys.stderr, flush=True)
    evaluate = jax.jit(golden.loss_of, static_argnums=3)
    out = {}
    for name in sorted({n.split(".")[1] for n in tensors if n.startswith("eval.")}):
        x, y, w = (tensors[f"eval.{name}.{part}"] for part in ("tokens", "targets", "weights"))
        whole = [i for i in range(len(x)) if w[i].all()]  # the last batch may not be full
        out[name] = float(np.mean([evaluate(p, x[i], y[i], dtype) for i in whole]))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=537)  # 1.1 million tokens
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="bfloat16")
    parser.add_argument("--require", action="store_true")
    options = parser.parse_args()
    golden = model()
    with tempfile.TemporaryDirectory() as folder:
        keys = [CONFIG, f"steps={options.steps}", f"dtype={options.dtype}", "max_seconds=0", "eval_steps=10", f"eval_interval={options.steps}"]
        keys += [f"base_output_directory={folder}", "run_name=learn", "enable_checkpointing=false"]
        subprocess.run([BIN / "run-inputs", f"{folder}/run.safetensors", *keys], check=True, cwd=ROOT)
        tensors = read(f"{folder}/run.safetensors")
        subprocess.run([BIN / "strata", "train", *keys], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        lines = [json.loads(line) for line in pathlib.Path(folder, "learn/metrics/metrics.jsonl").read_text().splitlines()]
        config = dict(line.split(": ", 1) for line in pathlib.Path(folder, "learn/config.yml").read_text().splitlines())
    import jax.numpy as jnp

    theirs = train_in_jax(golden, tensors, jnp.float32 if options.dtype == "float32" else jnp.bfloat16, config)
    ours = {name: lines[-1][f"eval/{name}/loss"] for name in theirs}
    print(f"{options.steps} steps, {options.dtype}\n{'source':10} {'ours':>8} {'JAX':>8} {'apart':>8}")
    for name in theirs:
        print(f"{name:10} {ours[name]:8.4f} {theirs[name]:8.4f} {100 * (ours[name] / theirs[name] - 1):6.2f} %")
    return 1 if options.require and any(abs(ours[n] / theirs[n] - 1) > 0.02 for n in theirs) else 0


if __name__ == "__main__":
    sys.exit(main())
