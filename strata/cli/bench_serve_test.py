#!/usr/bin/env python3
"""strata bench serve against a server whose times are known, against strata serve, and where it cannot work.

    strata/cli/bench_serve_test.py build/bin
"""
import http.server
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import published_models_test as tiny

STRATA, check = tiny.STRATA, tiny.check
FIRST, GAP, PIECES = 0.06, 0.02, 6  # seconds, and pieces of an answer


class Known(http.server.BaseHTTPRequestHandler):
    """Answers after FIRST, then a piece every GAP; each piece is two tokens."""
    protocol_version = "HTTP/1.1"
    asked, at, now, most = [], [], 0, 0
    lock = threading.Lock()
    fails = set()  # numbers of requests that are refused, or cut off

    def log_message(self, *_):
        pass

    def do_GET(self):
        body = json.dumps({"object": "list", "data": [{"id": "known"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def chunk(self, data):
        data = f"data: {json.dumps(data)}\r\n\r\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with Known.lock:
            number = len(Known.asked)
            Known.asked.append((self.path, self.headers.get("Authorization"), body))
            Known.at.append(time.monotonic())
            Known.now += 1
            Known.most = max(Known.most, Known.now)
        try:
            if number in Known.fails:
                return self.send_error(503, "busy")
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            chat = self.path.endswith("chat/completions")
            if chat:
                self.chunk({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
            time.sleep(FIRST)
            for i in range(PIECES):
                time.sleep(GAP if i else 0)
                text = f"piece{i} "
                self.chunk({"choices": [{"index": 0, "delta": {"content": text}} if chat else {"index": 0, "text": text}]})
            self.chunk({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2 * PIECES}})
            self.wfile.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
        finally:
            with Known.lock:
                Known.now -= 1


def bench(*options, status=0):
    done = tiny.run("bench", "serve", "--json", *options, status=status)
    return json.loads(done.stdout.splitlines()[-1]) if status == 0 else done.stderr


def percentile(values, p):
    values = sorted(values)
    at = p / 100 * (len(values) - 1)
    low = math.floor(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def formulas(result):
    """Recomputes the statistics from each request's times."""
    good = [i for i, e in enumerate(result["errors"]) if not e]
    ttfts = [1000 * result["ttfts"][i] for i in good]
    tpots = [1000 * (result["latencies"][i] - result["ttfts"][i]) / (result["output_lens"][i] - 1) for i in good if result["output_lens"][i] > 1]
    itls = [1000 * x for i in good for x in result["itls"][i]]
    for name, values in (("ttft", ttfts), ("tpot", tpots), ("itl", itls), ("e2el", [1000 * result["latencies"][i] for i in good])):
        want = {"mean": sum(values) / len(values), "median": percentile(values, 50), "p50": percentile(values, 50), "p90": percentile(values, 90), "p99": percentile(values, 99)}
        for key, value in want.items():
            check(f"{key} of {name}", math.isclose(result[f"{key}_{name}_ms"], value, rel_tol=1e-9), result[f"{key}_{name}_ms"], value)
    drawn, read = (sum(result[key][i] for i in good) for key in ("output_lens", "input_lens"))
    check("sums of tokens", result["total_output_tokens"] == drawn and result["total_input_tokens"] == read)
    check("throughput", math.isclose(result["output_throughput"], drawn / result["duration"], rel_tol=1e-9)
          and math.isclose(result["total_token_throughput"], (drawn + read) / result["duration"], rel_tol=1e-9)
          and math.isclose(result["request_throughput"], len(good) / result["duration"], rel_tol=1e-9))


def known_times(url, folder):
    for backend in ("openai", "openai-chat"):
        Known.asked.clear(), Known.at.clear()
        Known.most = 0
        result = bench("--base-url", url + "/", "--backend", backend, "--num-prompts", 9, "--max-concurrency", 3, "--random-input-len", 4, "--api-key", "k",
                       "--random-output-len", 12, "--random-prefix-len", 2, "--num-warmups", 0, "--save-detailed", "--goodput", "ttft:1e9", "--goodput", "tpot:1")
        check("all were answered", result["completed"] == 9 and result["failed"] == 0 and result["model_id"] == "known", result["errors"])
        check("tokens are the server's", result["total_output_tokens"] == 18 * PIECES and result["total_input_tokens"] == 63)
        check("three at once", Known.most == 3, Known.most)
        check("no earlier than they came", all(t >= FIRST for t in result["ttfts"]) and all(len(x) == PIECES - 1 for x in result["itls"])
              and result["p50_itl_ms"] >= 1000 * GAP * 0.9, result)
        check("and not much later", result["median_ttft_ms"] < 1000 * FIRST + 500 and result["median_itl_ms"] < 1000 * GAP + 200, result)
        check("no request keeps 1 ms a token", result["request_goodput"] == 0)
        check("the text is whole", result["generated_texts"] == ["".join(f"piece{i} " for i in range(PIECES))] * 9)
        formulas(result)
        paths, keys, bodies = zip(*Known.asked)
        check("what was asked", set(paths) == {"/v1/chat/completions" if backend == "openai-chat" else "/v1/completions"} and set(keys) == {"Bearer k"} and
              all(b["stream"] and b["stream_options"]["include_usage"] and b.get("max_tokens", b.get("max_completion_tokens")) == 12 for b in bodies), Known.asked[0])
        texts = [b["prompt"] if "prompt" in b else b["messages"][0]["content"] for b in bodies]
        check("prompts share a prefix and are of six words", len(set(texts)) == 9 and len({tuple(t.split()[:2]) for t in texts}) == 1 and all(len(t.split()) == 6 for t in texts), texts)
    again = [a[2] for a in Known.asked]
    Known.asked.clear()
    bench("--base-url", url, "--backend", "openai-chat", "--num-prompts", 9, "--max-concurrency", 1, "--random-input-len", 4, "--random-output-len", 12, "--random-prefix-len", 2, "--num-warmups", 0)
    check("a seed's prompts", sorted(map(str, again)) == sorted(str(a[2]) for a in Known.asked))
    Known.asked.clear(), Known.at.clear()
    Known.fails.update({1, 4})
    result = bench("--base-url", url, "--num-prompts", 8, "--request-rate", 20, "--num-warmups", 0, "--save-detailed", "--result-filename", folder / "result.json")
    Known.fails.clear()
    check("failures are told", result["failed"] == 2 and result["completed"] == 6 and sum("503" in e for e in result["errors"]) == 2, result["errors"])
    check("sent at the rate", 8 / 20 * 0.5 < Known.at[-1] - Known.at[0] < 8 / 20 + 1 and Known.most > 1, Known.at)
    check("the file holds the same", json.loads((folder / "result.json").read_text()) == result)
    formulas(result)
    lines = [{"prompt": f"p{i}", "output_tokens": 3 + i} for i in range(3)]
    (folder / "prompts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Known.asked.clear()
    bench("--base-url", url, "--dataset-name", "custom", "--dataset-path", folder / "prompts.jsonl", "--num-prompts", 5, "--num-warmups", 0, "--temperature", 0, "--ignore-eos")
    asked = sorted((b["prompt"], b["max_tokens"]) for _, _, b in Known.asked)
    check("prompts of a file", len(asked) == 5 and set(asked) == {(x["prompt"], x["output_tokens"]) for x in lines} and all(b["temperature"] == 0 and b["ignore_eos"] for _, _, b in Known.asked), asked)


def mistakes(url, folder):
    (folder / "bad.jsonl").write_text('{"prompt": "a"}\n{"prompt": 3}\n')
    for options, status, says in ((("--base-url", "http://127.0.0.1:1"), 1, "cannot reach 127.0.0.1 port 1"), (("--base-url", "ftp://x"), 2, "http://host:port"),
                                  (("--base-url", url, "--request-rate", "0"), 2, "--request-rate 0"), (("--base-url", url, "--goodput", "itl:3"), 2, "--goodput itl:3"),
                                  (("--base-url", url, "--metric-percentiles", "101"), 2, "at most 100"), (("--dataset-name", "custom"), 2, "--dataset-path"),
                                  (("--dataset-name", "custom", "--dataset-path", folder / "bad.jsonl"), 2, "bad.jsonl:2"), (("--tokenizer", folder / "none"), 2, "none"),
                                  (("--base-url", url, "--endpoint", "/v1/models", "--backend", "other"), 2, "openai-chat")):
        said = bench(*options, status=status)
        check(f"what is said of {options[-1]}", says in said, said)
    Known.fails.add(len(Known.asked))
    check("a server that answers with errors", "503" in bench("--base-url", url, status=1))
    Known.fails.clear()
    help_text = tiny.run("bench", "serve", "--help").stdout
    check("help has an example and the formulas", "Example:" in help_text and "TPOT = (latency - TTFT)" in help_text)


def own_server(model, folder):
    from serve_test import Server
    server = Server(model, "--api-key", "secret")
    try:
        for backend in ("openai", "openai-chat"):
            result = bench("--port", server.port, "--backend", backend, "--tokenizer", model, "--num-prompts", 12, "--random-input-len", 8, "--random-output-len", 10,
                           "--random-range-ratio", 0.5, "--max-concurrency", 4, "--ignore-eos", "--api-key", "secret", "--save-detailed", "--seed", 3)
            check("strata serve answers", result["completed"] == 12 and result["model_id"] == "tiny", result["errors"])
            check("lengths lie in their range", all(5 <= n <= 15 for n in result["output_lens"]) and len(set(result["output_lens"])) > 3, result["output_lens"])
            if backend == "openai":
                check("prompts have as many tokens as asked", all(4 <= n <= 12 for n in result["input_lens"]) and len(set(result["input_lens"])) > 3, result["input_lens"])
        os.environ["OPENAI_API_KEY"] = "secret"
        check("the key of the environment", bench("--port", server.port, "--num-prompts", 1, "--random-input-len", 4, "--random-output-len", 3)["completed"] == 1)
        os.environ["OPENAI_API_KEY"] = "wrong"
        check("a wrong key", "401" in bench("--port", server.port, status=1))
        del os.environ["OPENAI_API_KEY"]
    finally:
        server.leave()


def main():
    os.environ.pop("OPENAI_API_KEY", None)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        known = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Known)
        threading.Thread(target=known.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{known.server_port}"
        known_times(url, folder)
        mistakes(url, folder)
        known.shutdown()
        tiny.make(folder)
        own_server(name, folder)
    print(f"{tiny.passed} passed, {tiny.failed} failed")
    return 1 if tiny.failed else 0


if __name__ == "__main__":
    os.chdir(tiny.ROOT)
    sys.exit(main())
