#!/usr/bin/env python3
"""A training step of a small Llama (8.9 M parameters, 8 x 256 tokens, AdamW): ours beside PyTorch's, alternating in one run; build/bench/torch.md and .json.

    STRATA_BUILD=build bench/torch_step.py [--rounds N] [--steps N] [--autotune] [--require]

The model, its batch and the optimizer are those of bench/llama_step.py, as one writes them in PyTorch: modules, scaled_dot_product_attention,
autocast for bf16, the fused AdamW. `eager` runs them as they stand, `compiled` by torch.compile, `autotuned` (with --autotune, minutes more) by
torch.compile that also tries Inductor's own C++ products. Above 1 the ratio says that ours is faster than the faster one of them. Says so and
does nothing where PyTorch is not installed: scripts/peers.sh torch brings it, with the GPU libraries that its package asks for (5 GB).
`--require` exits with 1 when a ratio is below what is asked. Run by scripts/bench.sh (make bench).
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import torch
except ImportError:
    print("PyTorch is not installed; scripts/peers.sh torch brings it")
    sys.exit(0)
from torch import nn
from torch.nn import functional as F

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = pathlib.Path(os.environ.get("STRATA_BUILD", ROOT / "build")) / "bin" / "llama-step"
ASKED = {"f32": 2.0, "bf16": 1.6}
# vocabulary, width, layers, query heads, key heads, mlp width, batch, positions
V, D, L, H, K, M, B, S = 8192, 256, 6, 8, 4, 768, 8, 256


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(x.dtype)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        d = D // H
        self.attention_norm, self.mlp_norm = nn.RMSNorm(D, 1e-5), nn.RMSNorm(D, 1e-5)
        self.query, self.key, self.value, self.out = (nn.Linear(i, o, False) for i, o in ((D, H * d), (D, K * d), (D, K * d), (H * d, D)))
        self.gate, self.up, self.down = (nn.Linear(i, o, False) for i, o in ((D, M), (D, M), (M, D)))

    def heads(self, x, n):
        return x.view(B, S, n, D // H).transpose(1, 2)

    def forward(self, x, cos, sin):
        h = self.attention_norm(x)
        q, k = (rotate(self.heads(f(h), n), cos, sin) for f, n in ((self.query, H), (self.key, K)))
        attended = F.scaled_dot_product_attention(q, k, self.heads(self.value(h), K), is_causal=True, enable_gqa=True)
        x = x + self.out(attended.transpose(1, 2).reshape(B, S, D))
        h = self.mlp_norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.norm, self.logits = nn.Embedding(V, D), nn.RMSNorm(D, 1e-5), nn.Linear(D, V, False)
        self.layers = nn.ModuleList(Layer() for _ in range(L))

    def forward(self, tokens, targets):
        d = D // H
        angle = torch.arange(S)[:, None] * (10000.0 ** (-torch.arange(0, d, 2) / d))[None]
        cos, sin = angle.cos(), angle.sin()
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return F.cross_entropy(self.logits(self.norm(x)).float().flatten(0, 1), targets.flatten())


class Torch:
    """Steps of PyTorch; the first one, which compiles, is timed by itself."""

    def __init__(self, dtype, how):
        torch.manual_seed(0)
        torch._dynamo.reset()
        self.dtype = dtype
        model = Llama()
        self.optimizer = torch.optim.AdamW(model.parameters(), 1e-3, (0.9, 0.95), weight_decay=0.1, fused=True)
        text = torch.randint(0, V, (B, S + 1))
        self.batch = text[:, :-1].contiguous(), text[:, 1:].contiguous()
        tuned = {"max_autotune": True, "max_autotune_gemm_backends": "CPP,ATEN"}
        self.model = model if how == "eager" else torch.compile(model, options=tuned if how == "autotuned" else None)
        self.first_s = self.run(1)[0]

    def run(self, steps):
        seconds = []
        for _ in range(steps):
            start = time.perf_counter()
            self.optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", torch.bfloat16, enabled=self.dtype == "bf16"):
                loss = self.model(*self.batch)
            loss.backward()
            self.optimizer.step()
            seconds.append(time.perf_counter() - start)
        return seconds


def ours(dtype, steps, cache):
    argv = [PROGRAM, dtype, "--steps", str(steps), "--json"]
    return json.loads(subprocess.run(argv, capture_output=True, text=True, check=True, env={**os.environ, "STRATA_CACHE_DIR": cache}).stdout.splitlines()[-1])


def compare(dtype, hows, o):
    """Medians in seconds of ours and of each way of theirs, and their first steps."""
    theirs, first = {}, {}
    seconds = {how: [] for how in ("ours", *hows)}
    with tempfile.TemporaryDirectory() as cache:
        first["ours"] = ours(dtype, 1, cache)["first_s"]
        for how in hows:
            theirs[how] = Torch(dtype, how)
            first[how] = theirs[how].first_s
            theirs[how].run(1)
        for _ in range(o.rounds):
            seconds["ours"].append(ours(dtype, o.steps, cache)["median_s"])
            for how in hows:
                seconds[how] += theirs[how].run(o.steps)
    return {how: statistics.median(s) for how, s in seconds.items()}, first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--autotune", action="store_true")
    parser.add_argument("--require", action="store_true")
    o = parser.parse_args()
    hows = ["eager", "compiled"] + (["autotuned"] if o.autotune else [])
    lines = [f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads; tokens/s, and the seconds of the first step\n",
             "| | ours | " + " | ".join(hows) + " | ratio | asked | first: ours | " + " | ".join(hows) + " |", "|---" * (5 + 2 * len(hows)) + "|"]
    rows, reached = {}, []
    for dtype, asked in ASKED.items():
        median, first = compare(dtype, hows, o)
        ratio = min(median[how] for how in hows) / median["ours"]
        reached.append(ratio >= asked)
        rows[dtype] = {"median_s": median, "first_s": first, "ratio": ratio, "asked": asked}
        cells = [dtype, *(f"{B * S / median[how]:.0f}" for how in ("ours", *hows)), f"{ratio:.2f}", f"{asked}", *(f"{first[how]:.2f}" for how in ("ours", *hows))]
        lines.append("| " + " | ".join(cells) + " |")
        print("\n".join(lines if len(rows) == 1 else lines[-1:]), flush=True)
    folder = PROGRAM.parents[1] / "bench"
    folder.mkdir(exist_ok=True)
    (folder / "torch.md").write_text("\n".join(lines) + "\n")
    (folder / "torch.json").write_text(json.dumps({"torch": torch.__version__, "rows": rows}, indent=1) + "\n")
    return 1 if o.require and not all(reached) else 0


if __name__ == "__main__":
    sys.exit(main())
