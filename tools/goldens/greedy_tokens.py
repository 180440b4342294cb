#!/usr/bin/env python3
"""Writes strata/engine/testdata/greedy_tokens.json: what transformers draws greedily with tiny published models.

    {"versions", "families": {folder: [{"prompt": ids, "tokens": ids}]}}

Models are those of strata/model/testdata/published (tools/goldens/transformers_models.py), in f32 on the CPU. Prompts are drawn by a seed; those with
two tokens nearly as likely on the way are left out, so that no rounding decides.
"""
import json
import pathlib
import random

import torch
import transformers

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS, OUT = ROOT / "strata/model/testdata/published", ROOT / "strata/engine/testdata/greedy_tokens.json"
FAMILIES = ["gemma2", "llama_llama3", "olmo2", "phi3_partial", "qwen3"]
SEED, PROMPTS, TOKENS, LEAST_MARGIN = 17, 32, 12, 1e-5


def greedy(model, prompt):
    out = model.generate(torch.tensor([prompt]), max_new_tokens=TOKENS, do_sample=False, output_logits=True, return_dict_in_generate=True, eos_token_id=None, pad_token_id=0)
    best = torch.cat(out.logits).float().topk(2).values
    return None if (best[:, 0] - best[:, 1]).min() < LEAST_MARGIN else out.sequences[0, len(prompt):].tolist()


def main():
    torch.set_num_threads(1)
    out = {"versions": {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__}, "families": {}}
    for family in FAMILIES:
        model = transformers.AutoModelForCausalLM.from_pretrained(MODELS / family, dtype=torch.float32, attn_implementation="eager").eval()
        rng, found = random.Random(f"{SEED} {family}"), []
        while len(found) < PROMPTS:
            prompt = [rng.randrange(3, 48) for _ in range(rng.randrange(1, 40))]
            tokens = greedy(model, prompt)
            if tokens:
                found.append({"prompt": prompt, "tokens": tokens})
        out["families"][family] = found
        print(family, [len(set(f["tokens"])) for f in found])
    OUT.write_text(json.dumps(out, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
