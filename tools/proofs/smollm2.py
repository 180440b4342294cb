#!/usr/bin/env python3
"""SmolLM2-135M-Instruct beside transformers: the logits of 1000 tokens, and greedy continuations of 50 prompts.

    tools/proofs/smollm2.py [--build FOLDER] [--write]

`strata convert` writes the file that `make chat` fetches as a Hugging Face directory in f32, and both read that. The
text is the tutorial's. Where two continuations part, the margin between the two tokens under transformers stands
beside the noise: twice the largest difference of logits. --write renews docs/published-models.md. Fails where the
logits are further apart than 2e-3, KL is above 1e-6, ids of a text differ, or a first difference has a margin above the noise.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import peers

peers.need(["torch", "transformers", "safetensors"], ["torch", "transformers", "safetensors", "numpy"])
import safetensors.numpy
import torch
import transformers

COUNT, LENGTH = 1000, 64
PROMPTS = """The capital of France is
Once upon a time, in a village by the sea,
The three laws of motion say that
Water boils at
def fibonacci(n):
In 1969, the first human being
My favourite recipe for bread begins with
The difference between a virus and a bacterium is
Dear Sir or Madam,
To be, or not to be,
The square root of two is
import numpy as np
SELECT name, age FROM
A good night's sleep
The mitochondria are
Roses are red,
If all men are mortal and Socrates is a man, then
The quick brown fox
1, 1, 2, 3, 5, 8,
The largest planet of the solar system
In the beginning
How do I boil an egg?
What is the meaning of life?
The French Revolution began in
A triangle has
Photosynthesis is the process by which
The stock market fell today because
"Where are you going?" she asked.
class Stack:
Les chiens sont
Der schnelle braune Fuchs
naïve café — 東京 🙂
The Pacific Ocean
Shakespeare wrote
An algorithm is
Gravity is a force that
Chapter 1.
Today's weather will be
The heart pumps
Breaking news:
Question: What is 17 times 23? Answer:
The Industrial Revolution changed
for (int i = 0; i < n; ++i)
Bananas are yellow because
The speed of light
He opened the door and saw
Q: Name three primary colours. A:
The best way to learn a language is
Climate change
   spaces   and	tabs""".split("\n")


def text():
    return "".join(p.read_text() for p in sorted((peers.ROOT / "tutorial").glob("*.md")))


def logits_of(build, model, ids, folder):
    """What Strata gives for the ids, (positions, vocabulary)."""
    out = folder / "logits.safetensors"
    peers.strata(build, "logits", "--model", model, "--tokens", ",".join(map(str, ids)), "--out", out, "--json")
    return torch.from_numpy(safetensors.numpy.load_file(out)["logits"])


def divergence(a, b):
    """KL(a ‖ b) of each position in nats, in f64."""
    a, b = (x.double().log_softmax(-1) for x in (a, b))
    return (a.exp() * (a - b)).sum(-1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=peers.ROOT / "build")
    parser.add_argument("--write", action="store_true", help="renew docs/published-models.md")
    options = parser.parse_args()
    gguf, failures = peers.smollm2(), []
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        model = folder / "smollm2"
        peers.strata(options.build, "convert", gguf, model, "--type", "F32")
        tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        original = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
        ids = tokenizer(text())["input_ids"][:COUNT]
        ours, packed = (logits_of(options.build, m, ids, folder) for m in (model, gguf))
        with torch.no_grad():
            theirs = original(torch.tensor([ids])).logits[0]
            exact = original.double()(torch.tensor([ids])).logits[0]
            original.float()
        rows = []
        for name, a, b in [("Strata and transformers, f32", theirs, ours), ("Strata and transformers in f64", exact, ours),
                           ("transformers in f32 and in f64", exact, theirs)]:
            kl = divergence(a, b)
            rows.append([name, f"{(a - b).abs().max():.1e}", f"{kl.max():.1e}", f"{kl.mean():.1e}",
                         f"{(a.argmax(-1) == b.argmax(-1)).sum()} of {len(ids)}"])
        apart = float((theirs - ours).abs().max())
        if apart > 2e-3:
            failures.append(f"logits are {apart} apart")
        if float(divergence(theirs, ours).max()) > 1e-6:
            failures.append("KL is above 1e-6")
        if not torch.equal(ours, packed):
            failures.append("the GGUF file, dequantised, gives other logits than the directory")
        result = f"{len(ids)} tokens of the tutorial; transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}; " \
                 f"Strata's logits of the GGUF file have the same bits.\n\n"
        result += peers.table(["logits of", "largest difference", "largest KL", "mean KL", "same best token"], rows)

        arguments = [argument for p in PROMPTS for argument in ("--prompt", p)]
        answer = json.loads(peers.strata(options.build, "generate", "--model", model, *arguments, "--max_tokens", LENGTH,
                                         "--temperature", 0, "--ignore_eos", "--json"))["samples"]
        original.generation_config.eos_token_id = None
        equal, parted, noise = 0, [], 2 * apart
        for prompt, sample in zip(PROMPTS, answer, strict=True):
            ids = tokenizer(prompt)["input_ids"]
            if ids != sample["prompt_tokens"]:
                failures.append(f"ids of {prompt!r}: {sample['prompt_tokens']}, not {ids}")
                continue
            with torch.no_grad():
                out = original.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.int64),
                                        do_sample=False, max_new_tokens=LENGTH, pad_token_id=0)[0].tolist()
            want, got = out[len(ids):], sample["tokens"]
            if want == got and len(got) == LENGTH:
                equal += 1
                continue
            at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
            with torch.no_grad():
                last = original(torch.tensor([out[:len(ids) + at]])).logits[0, -1]
            margin = float(last[want[at]] - last[got[at]]) if at < min(len(want), len(got)) else float("inf")
            parted.append([f"`{prompt}`", at, f"{margin:.1e}", f"{noise:.1e}"])
            if margin > noise:
                failures.append(f"{prompt!r}: token {at} is another, with a margin of {margin}")
        result += f"\nGreedy continuations: {equal} of {len(PROMPTS)} prompts are equal for {LENGTH} tokens" + (
            ".\n" if not parted else "; where the others part, the margin between both tokens is below the noise.\n\n"
            + peers.table(["prompt", "first other token", "margin", "noise"], parted))
    peers.report("smollm2", result, options.write)
    for each in failures:
        print("FAILED", each)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
