#!/usr/bin/env python3
"""llama.cpp, through llama-cpp-python, reads what `strata convert` writes: each type of a GGUF file, for models of several families.

    tools/proofs/llama_cpp_reads.py [--build FOLDER] [--write]

SmolLM2-135M-Instruct and small models of random weights go from Hugging Face directories to GGUF files of every type that
Strata writes. Of each file llama.cpp's logits of a text stand beside `strata logits`, their largest difference in standard
deviations of the logits, and greedy continuations of four prompts beside `strata generate`. llama.cpp rounds what it
multiplies (f16 for F16, 8 bits for packed types), so F32 alone is near; where continuations part, the margin must be
within the difference of the logits. --write renews docs/published-models.md.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import peers

peers.need(["torch", "transformers", "safetensors", "llama_cpp"],
           ["torch", "transformers", "safetensors", "numpy", "llama-cpp-python"])
import llama_cpp
import numpy as np
import safetensors.numpy
import tokenizers
import torch
import transformers

TYPES = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q4_K"]
# The most that logits may be apart, in their standard deviation.
# ggml looks Gemma's gelu up in a table of f16.
NEAR = {"F32": 5e-3, "F16": 2e-2, "BF16": 5e-2}
PACKED_NEAR = 0.25
TEXT = "The tide came in over the flat sand and covered the names that they had written there."
PROMPTS = ["The capital of France is", "Once upon a time", "def f(x):", "1 2 3"]
LENGTH = 24
BASE = dict(vocab_size=384, hidden_size=256, intermediate_size=512, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
            head_dim=64, max_position_embeddings=256, bos_token_id=1, eos_token_id=2, pad_token_id=0)
MODELS = {"llama": {}, "qwen2": {}, "qwen3": {}, "gemma": {}, "gemma2": dict(sliding_window=16, query_pre_attn_scalar=64),
          "gemma3_text": dict(sliding_window=16, num_hidden_layers=7, query_pre_attn_scalar=64)}


def make(kind, more, folder):
    """A model of random weights and a tokenizer of bytes, as a Hugging Face directory."""
    torch.manual_seed(48)
    config = transformers.AutoConfig.for_model(kind, **{**BASE, **more})
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1:
                weight.normal_(std=0.04)
            elif "norm" in name:
                weight.add_(torch.randn_like(weight) * 0.1)
            else:
                weight.normal_(std=0.1)
    model.save_pretrained(folder)
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={}, merges=[]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    special = ["<pad>", "<s>", "</s>"]
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=BASE["vocab_size"], special_tokens=special, show_progress=False,
                                             initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made.train_from_iterator([p.read_text() for p in sorted((peers.ROOT / "tutorial").glob("*.md"))], trainer)
    made.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>",
                                                              "tokenizer_class": "PreTrainedTokenizerFast"}))


def logits(build, file, ids, folder):
    out = folder / "logits.safetensors"
    peers.strata(build, "logits", "--model", file, "--tokens", ",".join(map(str, ids)), "--out", out, "--json")
    return safetensors.numpy.load_file(out)["logits"]


class Theirs:
    def __init__(self, file):
        self.llama = llama_cpp.Llama(str(file), n_ctx=256, n_batch=256, logits_all=True, n_threads=1, n_threads_batch=1, type_k=0, type_v=0, seed=0,
                                     verbose=False)

    def ids(self, text):
        return self.llama.tokenize(text.encode(), add_bos=False, special=False)

    def logits(self, ids):
        self.llama.reset()
        self.llama.eval(ids)
        return np.array(self.llama.scores[:len(ids)])

    def greedy(self, ids, count):
        """The continuation, and the logits before each of its tokens."""
        self.llama.reset()
        self.llama.eval(ids)
        out, seen = [], []
        for at in range(len(ids), len(ids) + count):
            seen.append(np.array(self.llama.scores[at - 1]))
            out.append(int(seen[-1].argmax()))
            self.llama.eval(out[-1:])
        return out, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=peers.ROOT / "build")
    parser.add_argument("--write", action="store_true", help="renew docs/published-models.md")
    options = parser.parse_args()
    smollm2, failures, rows = peers.smollm2(), [], []
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        for name in [*MODELS, "SmolLM2-135M"]:
            model, cells = folder / name, []
            if name in MODELS:
                make(name, MODELS[name], model)
            else:
                peers.strata(options.build, "convert", smollm2, model, "--type", "F32")
                (model / "gguf.json").unlink()  # so that config.json and tokenizer.json say all
            for kind in TYPES:
                file = folder / f"{name}.{kind}.gguf"
                peers.strata(options.build, "convert", model, file, "--type", kind)
                theirs = Theirs(file)
                prompts = [argument for p in PROMPTS for argument in ("--prompt", p)]
                answer = json.loads(peers.strata(options.build, "generate", "--model", file, *prompts, "--max_tokens", LENGTH, "--temperature", 0,
                                                 "--ignore_eos", "--json"))["samples"]
                text = theirs.ids(TEXT)
                a, b = logits(options.build, file, text, folder), theirs.logits(text)
                apart = float(abs(a - b).max())
                deviations, equal = apart / float(a.std()), 0
                if not deviations <= NEAR.get(kind, PACKED_NEAR):
                    failures.append(f"{name} in {kind}: logits are {deviations:.2e} standard deviations apart")
                for prompt, sample in zip(PROMPTS, answer, strict=True):
                    ids = [i for i in sample["prompt_tokens"] if i != 1] if name in MODELS else sample["prompt_tokens"]
                    if ids != theirs.ids(prompt):
                        failures.append(f"{name}: ids of {prompt!r} are {ids}, and {theirs.ids(prompt)} by llama.cpp")
                    want, seen = theirs.greedy(sample["prompt_tokens"], LENGTH)
                    got = sample["tokens"]
                    at = next((i for i, (x, y) in enumerate(zip(want, got)) if x != y), None)
                    equal += at is None
                    if at is not None and float(seen[at][want[at]] - seen[at][got[at]]) > 2 * apart:
                        failures.append(f"{name} in {kind}: {prompt!r} parts at token {at}, beyond the difference of logits")
                cells.append(f"{deviations:.0e}, {equal} of {len(PROMPTS)}")
                print(f"{name} {kind}: {cells[-1]}", file=sys.stderr, flush=True)
                theirs.llama.close()
                file.unlink()
            rows.append([name, *cells])
    text = f"llama-cpp-python {llama_cpp.__version__}: each file loads; the largest difference of logits in their standard deviation, and how many of " \
           f"{len(PROMPTS)} greedy continuations of {LENGTH} tokens are equal.\n\n"
    text += peers.table(["model", *TYPES], rows)
    peers.report("llama_cpp", text, options.write)
    for each in failures:
        print("FAILED", each)
    sys.exit(bool(failures) or not rows)


if __name__ == "__main__":
    main()
