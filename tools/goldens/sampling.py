#!/usr/bin/env python3
"""Writes strata/engine/testdata/sampling.json: what transformers makes of random logits, step by step and chained.

    logits        rows of f32 logits
    penalties     by parameters: logits after RepetitionPenaltyLogitsProcessor, and after frequency and presence by vLLM's formula
    kept          by warper and parameter: the tokens that MinP, TopK and TopP keep, alone and chained behind a temperature

Needs torch and transformers (versions in the file); numbers beside a border are drawn anew, so that no rounding decides what is kept.
"""
import json
import pathlib

import torch
import transformers
from transformers.generation.logits_process import (MinPLogitsWarper, RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper,
                                                    TopKLogitsWarper, TopPLogitsWarper)

DATA = pathlib.Path(__file__).resolve().parents[2] / "strata/engine/testdata"
SEED, ROWS, VOCABULARY = 7, 4, 97


def kept(x):
    return [[i for i, v in enumerate(row) if v != float("-inf")] for row in x.tolist()]


def chain(logits, warpers):
    x = logits.clone()
    for warper in warpers:
        x = warper(None, x)
    return x


def main():
    torch.manual_seed(SEED)
    logits = torch.randn(ROWS, VOCABULARY) * torch.tensor([[0.5], [2.0], [4.0], [8.0]])
    prompt = torch.randint(0, VOCABULARY, (ROWS, 12))
    output = torch.randint(0, 20, (ROWS, 9))
    counts = torch.zeros(ROWS, VOCABULARY, dtype=torch.int64).scatter_add_(1, output, torch.ones_like(output))
    penalties = []
    for repetition, frequency, presence in [(1.0, 0.0, 0.0), (1.3, 0.0, 0.0), (0.7, 0.0, 0.0), (1.0, 0.5, 0.0), (1.0, 0.0, 1.25), (1.1, -0.3, 0.2)]:
        x = RepetitionPenaltyLogitsProcessor(repetition)(torch.cat([prompt, output], 1), logits.clone())
        x = x - frequency * counts
        x = x - presence * (counts > 0)
        penalties.append({"repetition": repetition, "frequency": frequency, "presence": presence, "logits": x.tolist()})
    steps = [{"min_p": m} for m in (0.01, 0.1, 0.5, 1.0)] + [{"top_k": k} for k in (1, 2, 10, 97, 200)] + [{"top_p": p} for p in (0.05, 0.5, 0.9, 0.99)]
    steps += [{"temperature": 0.6, "min_p": 0.02, "top_k": 20, "top_p": 0.8}, {"temperature": 1.7, "top_k": 50, "top_p": 0.95}]
    cuts = []
    for step in steps:
        warpers = [TemperatureLogitsWarper(step["temperature"])] if "temperature" in step else []
        warpers += [MinPLogitsWarper(step["min_p"])] if "min_p" in step else []
        warpers += [TopKLogitsWarper(step["top_k"])] if "top_k" in step else []
        warpers += [TopPLogitsWarper(step["top_p"])] if "top_p" in step else []
        x = chain(logits, warpers)
        # Far from a border: f64 keeps the same.
        assert kept(x) == kept(chain(logits.double(), warpers)), step
        cuts.append({**step, "kept": kept(x)})
    DATA.mkdir(exist_ok=True)
    out = {"torch": torch.__version__, "transformers": transformers.__version__, "seed": SEED, "logits": logits.tolist(),
           "prompt": prompt.tolist(), "output": output.tolist(), "penalties": penalties, "cuts": cuts}
    (DATA / "sampling.json").write_text(json.dumps(out) + "\n")


if __name__ == "__main__":
    main()
