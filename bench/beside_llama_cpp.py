#!/usr/bin/env python3
"""The decoding engine beside llama.cpp: the same file, two threads, greedy, in one run of alternating rounds; build/bench/beside_llama_cpp.md and .json.

    STRATA_BUILD=build bench/beside_llama_cpp.py [FILE.gguf...] [--rounds N] [--threads N] [--llama FOLDER] [--processor_time] [--write]

Without files: SmolLM2-135M-Instruct's Q4_1 (where `make chat` has fetched it), and weights at random of a Llama of 1.2 billion in Q4_0 and Q4_K, which
are made once in build/bench. llama.cpp is the package llama-cpp-python, built from its source for this processor into an environment of its own.

A round reads a prompt of 512 tokens and draws 64 more behind it. Medians of the rounds, and the best one; the ratio is of medians. `float` multiplies by f32
activations, the default; `int8` rounds them as llama.cpp does. Beside them stands what the file's matrices amount to, read once for each token, in a second,
as a share of what plain loops read (bench/memory_speed.cc). First token: from the start of `strata generate` to its end after one token, the model's
code in the cache; of llama.cpp from after Python's imports. On a machine that
others use, `--threads 1 --processor_time` compares what one thread computes: llama.cpp's threads wait for each other by spinning, for minutes where one of
them is not running; what only the clock can say stays out then. `--write` puts the table into docs/beside_llama_cpp.md, too.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("STRATA_BUILD", "build"))
FOLDER = BUILD / "bench"
PROMPT, DRAWN = 512, 64


PAGE = """# Decoding beside llama.cpp

Printed by [bench/beside_llama_cpp.py](../bench/beside_llama_cpp.py) `--write` in one run: the same file, the same number of threads, greedy, rounds alternating. `float` is
the default; `int8` is `--activations int8`, by which `strata generate`, `chat`, `logits` and `evaluate` round activations to eight bits for products with
packed weights, as llama.cpp always does. Where the load average is above zero others used the machine's processors, too: then ratios say more than
numbers, and neither says much of memory.

"""


def now():
    """Seconds of the clock, and of this process's threads together."""
    return time.perf_counter(), time.process_time()


def peer(path, threads):
    """What runs in llama.cpp's environment: a round for each line of stdin."""
    import llama_cpp

    start = time.perf_counter()
    model = llama_cpp.Llama(path, n_ctx=PROMPT + DRAWN + 16, n_threads=threads, n_threads_batch=threads, n_batch=PROMPT, n_ubatch=PROMPT, verbose=False)
    model.eval([504, 3575, 282, 4649, 314])
    first = time.perf_counter() - start
    print(json.dumps({"first_s": first, "version": llama_cpp.__version__}), flush=True)
    for round_, _ in enumerate(sys.stdin):
        model.reset()
        tokens = [100 + (i * 31 + round_) % 4000 for i in range(PROMPT)]
        start = now()
        model.eval(tokens)
        first = now()
        token = model.sample(temp=0)
        begun = now()
        for _ in range(DRAWN):
            model.eval([token])
            token = model.sample(temp=0)
        last = now()
        print(json.dumps({"prefill_s": first[0] - start[0], "token_s": (last[0] - begun[0]) / DRAWN,
                          "prefill_cpu_s": first[1] - start[1], "token_cpu_s": (last[1] - begun[1]) / DRAWN}), flush=True)


class Program:
    """A process that answers each line with a line of JSON."""

    def __init__(self, argv, threads):
        env = {**os.environ, "STRATA_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[0]} ended with {self.process.wait()}")
        return json.loads(line)

    def round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def install(folder):
    python = folder / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    if subprocess.run([python, "-c", "import llama_cpp"], capture_output=True).returncode != 0:
        print(f"building llama-cpp-python from PyPI into {folder}", file=sys.stderr, flush=True)
        env = {**os.environ, "CMAKE_ARGS": "-DGGML_NATIVE=ON -DMTMD_BUILD=OFF -DLLAVA_BUILD=OFF"}
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-binary", "llama-cpp-python", "llama-cpp-python==0.3.36"], check=True, env=env)
    return python


def random_models(tokenizer_of):
    """A Llama of the shape of Llama 3.2's smallest, weights at random, in Q4_0 and Q4_K; SmolLM2's tokenizer."""
    import numpy

    files = {kind: FOLDER / f"random-1b.{kind}.gguf" for kind in ("Q4_0", "Q4_K")}
    if all(f.exists() for f in files.values()):
        return list(files.values())
    strata, source = BUILD / "bin/strata", FOLDER / "random-1b"
    shutil.rmtree(source, ignore_errors=True)
    subprocess.run([strata, "convert", tokenizer_of, source], check=True, stdout=subprocess.DEVNULL)
    for old in source.glob("*.safetensors*"):
        old.unlink()
    config = json.loads((source / "config.json").read_text())
    vocabulary, width, layers, heads, shared, inner = config["vocab_size"], 2048, 16, 32, 8, 8192
    config.update(hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=shared, head_dim=width // heads,
                  intermediate_size=inner, tie_word_embeddings=True)
    (source / "config.json").write_text(json.dumps(config))
    key_value = shared * (width // heads)
    shapes = {"model.embed_tokens.weight": (vocabulary, width), "model.norm.weight": (width,)}
    for i in range(layers):
        at = f"model.layers.{i}."
        shapes |= {at + "input_layernorm.weight": (width,), at + "post_attention_layernorm.weight": (width,), at + "self_attn.q_proj.weight": (width, width),
                   at + "self_attn.k_proj.weight": (key_value, width), at + "self_attn.v_proj.weight": (key_value, width),
                   at + "self_attn.o_proj.weight": (width, width), at + "mlp.gate_proj.weight": (inner, width), at + "mlp.up_proj.weight": (inner, width),
                   at + "mlp.down_proj.weight": (width, inner)}
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 2 * int(numpy.prod(shape))
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    random = numpy.random.default_rng(1)
    with open(source / "model.safetensors", "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for shape in shapes.values():
            numbers = numpy.ones(shape, numpy.float32) if len(shape) == 1 else random.standard_normal(shape, numpy.float32) * numpy.float32(0.02)
            (numbers.view(numpy.uint32) >> 16).astype(numpy.uint16).tofile(out)
    for kind, file in files.items():
        subprocess.run([strata, "convert", source, file, "--type", kind], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(source)
    return list(files.values())


def first_token(model, kind, threads):
    argv = [BUILD / "bin/strata", "generate", "--model", model, "--prompt", "The capital of France is", "--max_tokens", "1", "--temperature", "0",
            "--activations", kind, "--threads", str(threads)]
    start = time.perf_counter()
    subprocess.run(argv, check=True, capture_output=True)
    return time.perf_counter() - start


def measure(model, python, o):
    theirs = Program([python, __file__, "--peer", model, "--threads", o.threads], o.threads)
    started = theirs.answer()
    programs = {"llama.cpp": theirs} | {kind: Program([BUILD / "bin/decode-speed", model, kind, PROMPT, DRAWN], o.threads) for kind in ("float", "int8")}
    rounds = {name: [] for name in programs}
    firsts = {kind: [] for kind in ("float", "int8")}
    for kind in firsts:
        first_token(model, kind, o.threads)  # its code is in the cache then
    for _ in range(o.rounds):
        for name, program in programs.items():
            rounds[name].append(program.round())
        for kind, times in firsts.items():
            times.append(first_token(model, kind, o.threads))
    for program in programs.values():
        program.close()
    memory = json.loads(subprocess.run([BUILD / "bin/memory-speed", "5"], capture_output=True, text=True, check=True).stdout)
    rows = {}
    for name, all_ in rounds.items():
        kind = "_cpu_s" if o.processor_time else "_s"
        times = {key + "_s": [r[key + kind] for r in all_] for key in ("prefill", "token")}
        rows[name] = {"prefill": PROMPT / statistics.median(times["prefill_s"]), "best_prefill": PROMPT / min(times["prefill_s"]),
                      "decode": 1 / statistics.median(times["token_s"]), "best_decode": 1 / min(times["token_s"]),
                      "first_s": started["first_s"] if name == "llama.cpp" else statistics.median(firsts[name])}
        rows[name]["of_memory"] = rows[name]["best_decode"] * model.stat().st_size / memory["read"]
    return rows, memory, started["version"]


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "?"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--llama", type=pathlib.Path, default=pathlib.Path("build/peers/llama"))
    parser.add_argument("--processor_time", action="store_true", help="times of the processor instead of the clock's, with --threads 1")
    parser.add_argument("--write", action="store_true", help="docs/beside_llama_cpp.md, too")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.peer:
        return peer(o.peer, o.threads)
    FOLDER.mkdir(parents=True, exist_ok=True)
    smol = BUILD / "chat/SmolLM2-135M-Instruct.Q4_1.gguf"
    if not o.files and not smol.exists():
        print(f"{smol} is not there: `make chat` fetches it", file=sys.stderr)
        return 1
    python, lines, report = install(o.llama), [], {}

    def say(line):
        lines.append(line)
        print(line, flush=True)

    say(f"{processor()}, {o.threads} threads, load average at the start {os.getloadavg()[0]:.1f}, {time.strftime('%d %B %Y')}; tokens per second"
        f"{' of processor time' if o.processor_time else ''}, median (best) of {o.rounds} rounds\n")
    say("| file | who | prefill of 512 | ratio | decode | ratio | file's bytes a second, of memory's read speed | first token s |\n|---|---|---|---|---|---|---|---|")
    for model in o.files or [smol, *random_models(smol)]:
        rows, memory, version = measure(model, python, o)
        report[model.name] = {"rows": rows, "memory": memory}
        base = rows["llama.cpp"]
        for name, r in rows.items():
            who = f"llama.cpp ({version})" if name == "llama.cpp" else f"strata, {name}"
            ratios = ["", ""] if r is base else [f"{r[key] / base[key]:.2f}" for key in ("prefill", "decode")]
            clock = ["", ""] if o.processor_time else [f"{100 * r['of_memory']:.0f} %", f"{r['first_s']:.2f}"]
            say(f"| {model.name} | {who} | {r['prefill']:.0f} ({r['best_prefill']:.0f}) | {ratios[0]} | {r['decode']:.1f} ({r['best_decode']:.1f}) | "
                f"{ratios[1]} | {clock[0]} | {clock[1]} |")
    (FOLDER / "beside_llama_cpp.md").write_text("\n".join(lines) + "\n")
    if o.write:
        (HERE.parent / "docs/beside_llama_cpp.md").write_text(PAGE + "\n".join(lines) + "\n")
    (FOLDER / "beside_llama_cpp.json").write_text(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
