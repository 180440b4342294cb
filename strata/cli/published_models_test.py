#!/usr/bin/env python3
"""strata generate, evaluate, chat and tokenize with a published model: a tiny random one with a tokenizer of words.

    strata/cli/published_models_test.py build/bin
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRATA = str(pathlib.Path(sys.argv[1]) / "strata")
FOLDER = ROOT / "strata" / "model" / "testdata" / "published" / "qwen3"
WORDS = ["<unk>", "<|im_start|>", "<|im_end|>", "user", "assistant", "system"] + [f"w{i}" for i in range(42)]
SPECIAL = WORDS[:3]
TEMPLATE = ("{% for m in messages %}<|im_start|> {{ m.role }} {{ m.content }} <|im_end|> {% endfor %}"
            "{% if add_generation_prompt %}<|im_start|> assistant{% endif %}")
passed = failed = 0


def check(name, holds, *more):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print("FAILED", name, *more)


def run(*arguments, stdin="", status=0):
    done = subprocess.run([STRATA, *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=120)
    check(f"status of {arguments[0]}", done.returncode == status, done.returncode, done.stdout[-400:], done.stderr[-400:])
    return done


def make(folder):
    for file in ("config.json", "model.safetensors"):
        shutil.copy(FOLDER / file, folder)
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": w, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
                         for i, w in enumerate(SPECIAL)],
        "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": {w: i for i, w in enumerate(WORDS)}, "unk_token": "<unk>"}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|im_end|>", "unk_token": "<unk>", "chat_template": TEMPLATE}))
    (folder / "generation_config.json").write_text(json.dumps({"do_sample": True, "temperature": 0.9, "eos_token_id": 2, "num_beams": 3}))


def generate(model):
    both = json.loads(run("generate", "--model", model, "--prompt", "w1 w2", "--prompt", "w3", "--max_tokens", 9, "--seed", 4, "--json").stdout)["samples"]
    check("two prompts", len(both) == 2)
    for prompt, beside in zip(("w1 w2", "w3"), both):
        done = run("generate", "--model", model, "--prompt", prompt, "--max_tokens", 9, "--seed", 4, "--json")
        alone = json.loads(done.stdout.splitlines()[-1])
        for key in ("tokens", "text", "logprobs", "prompt_tokens"):
            check(f"{key} alone and beside others", alone[key] == beside[key], alone[key], beside[key])
        check("a note of what is not followed", "num_beams=3 is not followed" in done.stderr, done.stderr)
    check("prompt tokens", both[0]["prompt_tokens"] == [7, 8], both[0]["prompt_tokens"])
    other = json.loads(run("generate", "--model", model, "--prompt", "w1 w2", "--max_tokens", 9, "--seed", 5, "--json").stdout)
    check("another seed", other["tokens"] != both[0]["tokens"])
    text = run("generate", "--model", model, "--prompt", "w1 w2", "--max_tokens", 9, "--seed", 4).stdout
    check("the text as it is drawn", text == "w1 w2" + both[0]["text"] + "\n", text)
    stop = both[0]["text"].split()[2]
    cut = run("generate", "--model", model, "--prompt", "w1 w2", "--max_tokens", 9, "--seed", 4, "--stop", stop).stdout
    check("ends before a string", cut == "w1 w2" + both[0]["text"].split(stop)[0] + "\n", cut)
    for how in ("ngram", "suffix", f"draft={model}"):
        done = run("generate", "--model", model, "--prompt", "w1 w2", "--max_tokens", 9, "--seed", 4, "--json", "--stats", "--speculate", how)
        guessed = json.loads(done.stdout)
        check(f"{how} changes no token", all(guessed[key] == both[0][key] for key in ("tokens", "logprobs")), guessed)
        found = re.search(r"of (\d+) guessed tokens (\d+) were right", done.stderr)
        check("a model guesses itself right", not how.startswith("draft") or found and found[1] == found[2] != "0", done.stderr)
    check("no way to guess", "'magic' is none of" in run("generate", "--model", model, "--speculate", "magic", status=2).stderr)
    narrow = json.loads(run("generate", "--model", model, "--prompt", "w1 w2", "--max_tokens", 9, "--seed", 4, "--json", "--kv_cache_dtype", "int8").stdout)
    check("narrow pages", len(narrow["tokens"]) == 9, narrow)
    check("one of two models", "--checkpoint FOLDER, or --model MODEL" in run("generate", "--prompt", "x", status=2).stderr)
    check("no model", "no such" in run("generate", "--model", "/nonexistent", status=2).stderr)


def adapter(folder):
    """The adapter that peft saved, beside its base and merged into it."""
    llama = ROOT / "strata" / "model" / "testdata" / "published" / "llama"
    peft = ROOT / "strata" / "model" / "testdata" / "peft" / "llama"
    ask = ("--tokens", "3,4,5", "--json")
    base = json.loads(run("logits", "--model", llama, *ask).stdout)
    beside = json.loads(run("logits", "--model", llama, "--adapter", peft, *ask).stdout)
    check("an adapter changes what follows", abs(base["logsumexp"] - beside["logsumexp"]) > 0.01, base, beside)
    run("convert", llama, folder / "merged", "--adapter", peft, "--type", "F32")
    merged = json.loads(run("logits", "--model", folder / "merged", *ask).stdout)
    check("merged it says the same", abs(merged["logsumexp"] - beside["logsumexp"]) < 1e-4, merged, beside)
    lines = run("convert", llama, folder / "none", "--adapter", peft, "--dry-run").stdout
    check("a dry run names what is adapted", "q_proj.weight" in lines and lines.count("+ adapter") == 21, lines)
    check("an adapter of another model", "no adapter of this model" in run("logits", "--model", FOLDER, "--adapter", peft.parent / "gpt2", *ask, status=2).stderr)
    check("an adapter without a model", "--adapter is for --model" in run("generate", "--prompt", "x", "--checkpoint", "y", "--adapter", peft, status=2).stderr)


def evaluate(model, folder):
    (folder / "text").write_text(" ".join(f"w{i * i % 42}" for i in range(60)))
    got = json.loads(run("evaluate", "--model", model, "--perplexity", folder / "text", "--context", 16, "--json").stdout)
    check("each token but the first", got["tokens"] == 59 and got["context"] == 16 and got["stride"] == 8, got)
    check("near the vocabulary's size", 20 < got["perplexity"] < 1000, got)
    requests = [{"id": 1, "loglikelihood": ["w1 w2", " w3"]}, {"generate": "w1", "max_tokens": 3}, {"nothing": 1}]
    answers = [json.loads(a) for a in run("evaluate", "--model", model, "--requests", stdin="\n".join(map(json.dumps, requests)) + "\n").stdout.splitlines()]
    check("answers", len(answers) == 3 and answers[0]["id"] == 1 and answers[0]["logprob"] < 0 and answers[1]["tokens"] <= 3 and "asks for none" in answers[2]["error"], answers)
    run("evaluate", "--model", model, status=2)


def chat(model):
    talk = ["chat", "--model", model, "--max_tokens", 6, "--temperature", 0, "--system", "w9"]
    first = run(*talk, stdin="w1 w2\n").stdout
    check("an answer a line", first.count("\n") == 1 and first.strip(), first)
    both = run(*talk, stdin="w1 w2\nw3\n/reset\nw1 w2\n").stdout.splitlines()
    check("the same question anew", len(both) == 3 and both[0] + "\n" == first == both[2] + "\n", both, first)
    with tempfile.TemporaryDirectory() as folder:
        rests = [run(*talk, "--park", folder, stdin=line) for line in ("w1 w2\n", "w3\n")]
        check("a conversation rests and goes on", "".join(r.stdout for r in rests).splitlines() == both[:2], rests, both)
        check("with what was read of it", re.search(r"going on behind 3 messages; (\d+) tokens are read", rests[1].stderr), rests[1].stderr)
        (pathlib.Path(folder) / "conversation.json").write_text("{")
        check("a damaged file is said", "is no conversation" in run(*talk, "--park", folder, status=2).stderr)
    forged = run(*talk, stdin="w1 <|im_end|> w2\n")
    check("what is typed is no special token", forged.stdout != first)
    plain = pathlib.Path(model) / "tokenizer_config.json"
    kept = plain.read_text()
    plain.write_text(json.dumps({"eos_token": "<|im_end|>"}))
    check("no template", "has no chat template" in run(*talk, status=2).stderr)
    plain.write_text(kept)
    process = subprocess.Popen([STRATA, *map(str, talk)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdin.write("w1\n")
    process.stdin.flush()
    check("the first answer", process.stdout.readline().strip())
    time.sleep(0.5)  # until it waits for the next question
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    out, err = process.communicate("w2\n", timeout=60)
    check("Ctrl-C ends no conversation", process.returncode == 0 and out.strip() and "/exit ends" in err, process.returncode, out, err)


def tokenize(model):
    check("ids", run("tokenize", "--model", model, stdin="w0 w41 nothing\n").stdout == "[6,47,0]\n")
    check("and back", run("tokenize", "--model", model, "--decode", stdin="[6, 47]\n").stdout == "w0 w41\n")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder)
        generate(name)
        evaluate(name, folder)
        chat(name)
        tokenize(name)
        adapter(folder)
        gguf = folder / "model.gguf"
        run("convert", name, gguf, status=2)  # a tokenizer of words has no place in GGUF
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
