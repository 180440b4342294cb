#!/usr/bin/env python3
"""Writes strata/tokenizer/testdata/vocab_merges/: folders with vocab.json and merges.txt, and tokens by transformers.

    tools/goldens/vocab_merges.py

gpt2 has nothing beside them; qwen2 a tokenizer_config.json with its added tokens. golden.json: texts, their tokens by
transformers' class, and the text of these. Needs transformers (see VERSIONS).
"""
import json
import pathlib
import shutil
import sys
import tempfile

sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]

import tokenizers  # noqa: E402 (tokenizers.py beside this script would be taken for the package of that name)
import transformers

VERSIONS = {"transformers": "5.24.0", "tokenizers": "0.23.3"}
ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "strata" / "tokenizer" / "testdata" / "vocab_merges"
TEXTS = ["Hello, world!", "The arrays of the functions are computed.", " 2024 tests\n\n  x", "naïve café — 東京 🙂", "don't DON'T we'll", "a\tb   c  ", "",
         "<|im_start|>user\nHi<|im_end|>", "<|endoftext|>text<|endoftext|>", "e\u0301 1234567", "for (int i = 0; i < n; ++i) {\n\treturn x;\n}\r\n"]


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=600, show_progress=False, initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()))
    made.train_from_iterator([p.read_text() for p in sorted((ROOT / "tutorial").glob("*.md"))], trainer)
    model = json.loads(made.to_str())["model"]
    for kind, name in [("gpt2", "GPT2Tokenizer"), ("qwen2", "Qwen2Tokenizer")]:
        folder = OUT / kind
        folder.mkdir(parents=True)
        vocab = dict(model["vocab"])
        config = {"tokenizer_class": name}
        if kind == "gpt2":
            vocab["<|endoftext|>"] = len(vocab)
        else:
            special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
            config["added_tokens_decoder"] = {str(len(vocab) + i): {"content": s, "lstrip": False, "normalized": False, "rstrip": False,
                                                                    "single_word": False, "special": True} for i, s in enumerate(special)}
            config.update(eos_token="<|im_end|>", pad_token="<|endoftext|>", unk_token=None, bos_token=None)
            (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n")
        (folder / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=False) + "\n")
        (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(" ".join(pair) + "\n" for pair in model["merges"]))
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(folder, copy, dirs_exist_ok=True)
            theirs = getattr(transformers, name).from_pretrained(copy)
            golden = [{"text": t, "tokens": (ids := theirs(t, add_special_tokens=False)["input_ids"]), "back": theirs.decode(ids)} for t in TEXTS]
        (folder / "golden.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
