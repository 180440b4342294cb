#!/usr/bin/env python3
"""strata serve with a tiny random model: completions, chats, streams, keys, errors, disconnects, and how it leaves.

    strata/cli/serve_test.py build/bin
"""
import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import published_models_test as tiny

STRATA, check = tiny.STRATA, tiny.check


class Server:
    def __init__(self, model, *options):
        self.process = subprocess.Popen([STRATA, "serve", "--model", str(model), "--port", "0", "--served-model-name", "tiny", *options],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if line.startswith("listening on "):
                self.port = int(line.rsplit(":", 1)[1])
                return
        raise SystemExit("strata serve did not start")

    def ask(self, path, body=None, headers=None, method=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        c.request(method or ("GET" if body is None else "POST"), path, data, headers or {})
        answer = c.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text) if "json" in answer.headers.get("content-type", "") else text

    def raw(self, data):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as s:
            s.sendall(data)
            return s.recv(4096).decode()

    def metric(self, name):
        return float(next(line for line in self.ask("/metrics")[1].splitlines() if line.startswith(f"vllm:{name}{{")).split()[-1])

    def leave(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(60)


def events(text):
    lines = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
    check("a stream's end", lines[-1] == "[DONE]", lines[-2:])
    return [json.loads(line) for line in lines[:-1]]


def answers(server, model):
    body = {"model": "tiny", "prompt": "w1 w2", "max_tokens": 9, "seed": 4, "temperature": 0.9, "top_k": 50, "logprobs": 2, "return_token_ids": True}
    status, whole = server.ask("/v1/completions", body)
    check("a completion", status == 200 and whole["usage"]["prompt_tokens"] == 2, status, whole)
    choice = whole["choices"][0]
    same = json.loads(tiny.run("generate", "--model", model, "--prompt", "w1 w2", "--max_tokens", 9, "--seed", 4, "--json").stdout.splitlines()[-1])
    check("tokens of strata generate", choice["token_ids"] == same["tokens"] and choice["text"] == same["text"], choice, same)
    check("log-probabilities", len(choice["logprobs"]["token_logprobs"]) == len(same["tokens"]) and len(choice["logprobs"]["top_logprobs"][0]) in (2, 3), choice)
    pieces = events(server.ask("/v1/completions", {**body, "stream": True, "stream_options": {"include_usage": True}})[1])
    check("a stream is the whole", "".join(p["choices"][0]["text"] for p in pieces if p["choices"]) == choice["text"], pieces)
    check("usage of a stream", pieces[-1]["usage"] == whole["usage"], pieces[-1])
    replay = {"prompt_token_ids": choice["prompt_token_ids"], "token_ids": choice["token_ids"], "logprobs": list(choice["logprobs"]["token_logprobs"])}
    check("verify", server.ask("/v1/verify", replay)[1]["equal"] is True, server.ask("/v1/verify", replay))
    replay["logprobs"][1] += 1e-3
    check("verify finds a difference", server.ask("/v1/verify", replay)[1]["first_difference"]["position"] == 1)
    echoed = server.ask("/v1/completions", {**body, "echo": True})[1]["choices"][0]
    check("echo", echoed["text"].startswith("w1 w2") and echoed["logprobs"]["token_logprobs"][0] is None and echoed["logprobs"]["token_logprobs"][2:] == choice["logprobs"]["token_logprobs"], echoed)
    words = choice["text"].split()
    stopped = server.ask("/v1/completions", {**body, "stop": [words[3]]})[1]["choices"][0]
    check("a stop string", stopped["text"] == choice["text"].split(words[3])[0] and stopped["stop_reason"] == words[3], stopped)
    biased = server.ask("/v1/completions", {"prompt": "w1", "temperature": 0, "max_tokens": 3, "logit_bias": {"9": 100}})[1]["choices"][0]
    check("a bias", biased["text"].split() == ["w3"] * 3, biased)
    check("allowed tokens", set(server.ask("/v1/completions", {"prompt": "w1", "max_tokens": 8, "allowed_token_ids": [10, 11]})[1]["choices"][0]["text"].split()) <= {"w4", "w5"})
    many = server.ask("/v1/completions", {"prompt": ["w1", [7, 8]], "n": 2, "max_tokens": 2, "seed": 1, "ignore_eos": True})[1]
    check("choices of all prompts", [c["index"] for c in many["choices"]] == [0, 1, 2, 3] and many["usage"]["completion_tokens"] == 8, many)
    chat = {"messages": [{"role": "user", "content": [{"type": "text", "text": "w1"}]}], "max_completion_tokens": 5, "seed": 3, "logprobs": True, "top_logprobs": 1}
    status, whole = server.ask("/v1/chat/completions", chat)
    check("a chat", status == 200 and whole["choices"][0]["message"]["role"] == "assistant" and len(whole["choices"][0]["logprobs"]["content"]) == whole["usage"]["completion_tokens"], whole)
    pieces = events(server.ask("/v1/chat/completions", {**chat, "stream": True})[1])
    check("a chat's stream", pieces[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""} and
          "".join(p["choices"][0]["delta"].get("content", "") for p in pieces) == whole["choices"][0]["message"]["content"], pieces)
    check("tokens", server.ask("/tokenize", {"prompt": "w0 w41"})[1]["tokens"] == [6, 47] and server.ask("/detokenize", {"tokens": [6, 47]})[1]["prompt"] == "w0 w41")
    check("the page", "<title>Strata" in server.ask("/")[1] and server.ask("/v1/models")[1]["data"][0]["id"] == "tiny" and server.ask("/health")[0] == 200)


def beside_others(server):
    def body(i):
        return {"prompt": f"w{i} w{i * 7 % 40}", "max_tokens": 12 + i % 5, "seed": i, "logprobs": 1, "temperature": 0.5 + i % 3 / 2, "return_token_ids": True}

    def ask(i, wait):
        time.sleep(wait)
        choice = server.ask("/v1/completions", body(i))[1]["choices"][0]
        return choice["token_ids"], choice["logprobs"]
    alone = [ask(i, 0) for i in range(32)]
    random.seed(1)
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        beside = list(pool.map(ask, range(32), [random.random() / 5 for _ in range(32)]))
    check("the same alone and beside 31 others", alone == beside)


def errors(server):
    for path, body, status, says in (
            ("/v1/completions", {"prompt": "w1", "temperature": 3}, 400, "temperature must be in [0, 2]"),
            ("/v1/completions", {"prompt": "w1", "top_p": 0}, 400, "(0, 1]"), ("/v1/completions", {"prompt": "w1", "n": 65}, 400, "[1, 64]"),
            ("/v1/completions", {"prompt": "w1", "max_tokens": 1 << 29}, 400, "maximum context length"),
            ("/v1/completions", {"prompt": "w1", "model": "other"}, 404, "does not exist"), ("/v1/completions", {"prompt": [99]}, 400, "[0, 48)"),
            ("/v1/completions", {"prompt": "w1", "logit_bias": {"x": 1}}, 400, "token ids"), ("/v1/completions", {}, 400, "prompt must be"),
            ("/v1/completions", {"prompt": "w1", "guided_json": {"type": "object"}}, 400, "not supported"),
            ("/v1/completions", b"{", 400, "not valid JSON"), ("/v1/completions", b'{"a":"\xff"}', 400, "not valid JSON"), ("/v1/completions", b"[1]", 400, "JSON object"),
            ("/v1/completions", b'{"a":1,"a":2}', 400, "twice"), ("/v1/completions", b'{"a":' + b"[" * 100000, 400, "deeper than 64"),
            ("/v1/completions", b'{"temperature":NaN}', 400, "not valid JSON"), ("/v1/completions", b'{"temperature":1e999}', 400, "not valid JSON"),
            ("/v1/chat/completions", {"messages": []}, 400, "messages"), ("/v1/chat/completions", {"messages": [{"role": "user"}], "top_logprobs": 2}, 400, "logprobs must be set"),
            ("/nothing", None, 404, "Not Found"), ("/v1/completions", None, 405, "Method Not Allowed")):
        got, answer = server.ask(path, body)
        check(f"error of {str(body)[:60]}", got == status and says in answer["error"]["message"] and answer["error"]["code"] == status, got, answer)
    head = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\n"
    for data, status in ((b"GET / HTTP/1.1\nHost: x\n\n", 400), (b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400), (b"GET / HTTP/1.1\r\n\r\n", 400), (b"nonsense\r\n\r\n", 400),
                         (head + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400), (head + b"Content-Length: 99999999\r\n\r\n", 413),
                         (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414), (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 70 + b"\r\n", 431),
                         (b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 40000 + b"\r\n\r\n", 431)):
        got = server.raw(data)
        check(f"refused: {data[:50]}", got.startswith(f"HTTP/1.1 {status} "), got[:200])
    check("two requests behind one another", server.raw(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").startswith("HTTP/1.1 200"))
    check("it lives on", server.ask("/health")[0] == 200)


def leaving(server):
    body = json.dumps({"prompt": "w1", "max_tokens": 3000, "ignore_eos": True, "stream": True}).encode()
    with socket.create_connection(("127.0.0.1", server.port)) as s:
        s.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        check("a stream begins", s.recv(100).startswith(b"HTTP/1.1 200"))
        check("pages are in use", server.metric("kv_cache_usage_perc") > 0)
    until = time.time() + 5
    while time.time() < until and (server.metric("num_requests_running") or server.metric("kv_cache_usage_perc")):
        time.sleep(0.02)
    check("who leaves frees pages", server.metric("kv_cache_usage_perc") == 0 and 'finished_reason="abort"' in server.ask("/metrics")[1])
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        last = pool.submit(server.ask, "/v1/completions", {"prompt": "w1", "max_tokens": 200, "ignore_eos": True})
        while not last.done() and not server.metric("num_requests_running"):
            time.sleep(0.005)
        check("SIGTERM", server.leave() == 0)
        check("what was asked is answered", last.result()[1]["usage"]["completion_tokens"] == 200, last.result())


def keys(model):
    server = Server(model, "--api-key", "one", "--api-key", "two", "--rate-limit", "3")
    check("no key", server.ask("/v1/models")[0] == 401 and server.ask("/metrics")[0] == 401 and server.ask("/tokenize", {"prompt": "w1"})[0] == 401)
    check("a wrong key", server.ask("/v1/models", headers={"Authorization": "Bearer three"})[0] == 401)
    check("open routes", [server.ask(p)[0] for p in ("/", "/health", "/ping", "/version")] == [200] * 4)
    check("a key's rate", [server.ask("/v1/models", headers={"Authorization": "Bearer one"})[0] for _ in range(4)] == [200, 200, 200, 429])
    check("another key", server.ask("/v1/models", headers={"x-api-key": "two"})[0] == 200)
    check("Ctrl-C", server.leave(signal.SIGINT) == 0)
    tiny.run("serve", "--model", model, "--host", "0.0.0.0", status=2)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tiny.make(folder)
        config = json.loads((folder / "config.json").read_text())  # room for a text that goes on while its reader leaves
        (folder / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 4096}))
        server = Server(name, "--max-num-seqs", "16", "--max-model-len", "4096")
        try:
            answers(server, name)
            beside_others(server)
            errors(server)
            leaving(server)
        finally:
            server.process.kill()
        keys(name)
    print(f"{tiny.passed} passed, {tiny.failed} failed")
    return 1 if tiny.failed else 0


if __name__ == "__main__":
    os.chdir(tiny.ROOT)
    sys.exit(main())
