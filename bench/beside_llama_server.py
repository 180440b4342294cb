#!/usr/bin/env python3
"""`strata serve` beside llama.cpp's llama-server: the same file, the same threads, the same requests, rounds alternating.

    bench/beside_llama_server.py [--build build] [--model FILE.gguf] [--threads 2] [--rounds 3] [--write]

Both servers are asked by `strata bench serve`: prompts of 128 tokens, 64 drawn, one stream and 32 at once; then a prompt of 2000
tokens twice, the second time from the prefix cache; then each is started anew until its first token. Medians of the rounds.
llama-server is built from the source that the package llama-cpp-python of PyPI carries (once, in build/peers/llama-server, some
minutes). `--write` puts the table into docs/serving.md.
"""
import argparse
import datetime
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tarfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = "llama_cpp_python==0.3.36"
STREAMS = 32
MARKS = "<!-- table: beside llama-server -->", "<!-- end of table -->"


def llama_server(folder):
    """The program; built where it is not there."""
    program = folder / "build" / "bin" / "llama-server"
    if program.exists():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation",
                    "--dest", folder, SOURCE], check=False)
    archive = next(folder.glob("llama_cpp_python-*.tar.gz"))
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    source = next(folder.glob("llama_cpp_python-*/vendor/llama.cpp"))
    options = ["-DGGML_NATIVE=ON", "-DLLAMA_CURL=OFF", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF", "-DBUILD_SHARED_LIBS=OFF",
               "-DCMAKE_BUILD_TYPE=Release", "-DLLAMA_BUILD_TOOLS=ON", "-DLLAMA_BUILD_SERVER=ON", "-DLLAMA_OPENSSL=OFF"]
    subprocess.run(["cmake", "-S", source, "-B", folder / "build", "-G", "Ninja", *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder / "build", "llama-server"], check=True, stdout=subprocess.DEVNULL)
    return program


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def post(port, body, timeout=600):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/completions", json.dumps(body).encode(),
                                     {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return answer.read()


class Server:
    """One of the two, until `stop`."""

    def __init__(self, command, port, model):
        self.port, self.model, began = port, model, time.monotonic()
        self.process = subprocess.Popen([*map(str, command), "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                post(port, {"model": model, "prompt": "Hi", "max_tokens": 1, "temperature": 0})
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() - began > 120:
                    raise SystemExit(f"{command[0]} does not answer")
                time.sleep(0.005)
        self.start = time.monotonic() - began

    def measure(self, strata, streams):
        done = subprocess.run([strata, "bench", "serve", "--port", str(self.port), "--model", self.model, "--num-prompts", str(2 * streams),
                               "--tokenizer", self.model_file, "--random-input-len", "128", "--random-output-len", "64", "--max-concurrency",
                               str(streams), "--ignore-eos", "--temperature", "0", "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout.strip().splitlines()[-1])["output_throughput"]

    def cached(self):
        """Seconds to the first token of a prompt of about 2000 tokens that was read before."""
        text = " ".join(str(i % 10) for i in range(1000))
        body = {"model": self.model, "prompt": text, "max_tokens": 1, "temperature": 0, "cache_prompt": True}
        post(self.port, body)
        began = time.monotonic()
        post(self.port, body)
        return time.monotonic() - began

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / "build" / "chat" / "SmolLM2-135M-Instruct.Q4_1.gguf")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="put the table into docs/serving.md")
    o = parser.parse_args()
    strata = o.build / "bin" / "strata"
    program = llama_server(ROOT / "build" / "peers" / "llama-server")
    os.environ["STRATA_NUM_THREADS"] = str(o.threads)
    length = 4096
    commands = {
        "strata serve": [strata, "serve", "--model", o.model, "--max-model-len", length, "--max-num-seqs", STREAMS],
        "strata serve, int8": [strata, "serve", "--model", o.model, "--max-model-len", length, "--max-num-seqs", STREAMS, "--activations", "int8"],
        "llama-server": [program, "-m", o.model, "-t", o.threads, "-tb", o.threads, "-np", STREAMS, "-c", length * STREAMS, "--no-webui"],
    }
    figures = {name: {"one": [], "many": [], "cached": [], "start": []} for name in commands}
    for _ in range(o.rounds):
        for name, command in commands.items():
            server = Server(command, free_port(), o.model.name)
            server.model_file = str(o.model)
            mine = figures[name]
            mine["start"].append(server.start)
            mine["one"].append(server.measure(strata, 1))
            mine["many"].append(server.measure(strata, STREAMS))
            mine["cached"].append(server.cached())
            server.stop()
            print(name, {k: round(v[-1], 3) for k, v in mine.items()}, flush=True)
    middle = {name: {k: statistics.median(v) for k, v in f.items()} for name, f in figures.items()}
    peer = middle["llama-server"]
    lines = [f"{o.model.name}, {o.threads} threads, {o.rounds} rounds, {datetime.date.today()}, load average {os.getloadavg()[0]:.1f} at the end.", "",
             f"| | tokens/s, one stream | tokens/s, {STREAMS} streams | first token, 2000 cached | start to first token |", "|---|---|---|---|---|"]
    for name, f in middle.items():
        ratio = lambda key: "" if name == "llama-server" else f" ({f[key] / peer[key]:.2f})"
        lines.append(f"| {name} | {f['one']:.1f}{ratio('one')} | {f['many']:.1f}{ratio('many')} | {f['cached'] * 1e3:.0f} ms | {f['start']:.2f} s |")
    table = "\n".join(lines)
    print(table)
    if o.write:
        page = ROOT / "docs" / "serving.md"
        text = page.read_text()
        begin, end = (text.index(mark) for mark in MARKS)
        page.write_text(text[:begin] + MARKS[0] + "\n" + table + "\n" + text[end:])


if __name__ == "__main__":
    main()
