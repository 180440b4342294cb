#!/usr/bin/env python3
"""strata serve under mixed load: whole answers and streams, clients that leave, read slowly, or send what is broken or too long.

    strata/cli/serve_load_test.py build/bin

STRATA_LOAD_SECONDS (default 20; `make soak`: 900) is how long; STRATA_SAMPLE chooses the seed. At the end: no crash, no answer that differs from that of the
same request alone, memory and the time of the slowest answers steady (of long runs), all pages free, no connection left, and the server leaves when told.
Servers that are killed amid all that, and begun again, answer as before.
"""
import collections
import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import published_models_test as tiny  # noqa: E402
import serve_test  # noqa: E402

check = tiny.check
SECONDS = float(os.environ.get("STRATA_LOAD_SECONDS") or 20)
SEED = int(os.environ.get("STRATA_SAMPLE") or time.time() // 86400)
CLIENTS = 12
OPTIONS = ("--max-num-seqs", "8", "--max-model-len", "1024", "--max-num-queued-reqs", "64", "--kv-cache-tokens", "2048")


def body(i):
    """Request number i of those whose answers are known."""
    r = random.Random(i)
    return {"prompt": [6 + r.randrange(42) for _ in range(r.choice((3, 20, 60)))], "max_tokens": r.choice((4, 12, 40)), "seed": i, "temperature": r.choice((0, 0.8, 1.3)),
            "logprobs": 1, "return_token_ids": True, "ignore_eos": r.random() < 0.5, "priority": 0}


def connect(port, **buffers):
    s = socket.socket()
    if buffers:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffers["receive"])
    s.settimeout(60)
    s.connect(("127.0.0.1", port))
    return s


def head(data, path="/v1/completions"):
    return b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(data)) + data


class Load:
    def __init__(self, server, known):
        self.server, self.known, self.counts, self.lock = server, known, collections.Counter(), threading.Lock()
        self.slowest = []  # (when, seconds) of answers to one kind of request
        self.wrong = []

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def fails(self, what, *more):
        with self.lock:
            self.wrong.append((what, *more))

    def ask(self, data, path="/v1/completions"):
        c = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        try:
            c.request("POST", path, data if isinstance(data, bytes) else json.dumps(data).encode())
            answer = c.getresponse()
            return answer.status, answer.read()
        finally:
            c.close()

    def whole(self, r):
        i = r.randrange(len(self.known))
        start = time.monotonic()
        status, answer = self.ask(body(i))
        if status == 429:
            return self.count("queue full")
        with self.lock:
            self.slowest.append((start, time.monotonic() - start))
        choice = json.loads(answer)["choices"][0] if status == 200 else answer
        if status != 200 or (choice["token_ids"], choice["logprobs"]["token_logprobs"]) != self.known[i]:
            self.fails("an answer differs from that alone", i, status, choice)
        self.count("whole")

    def stream(self, r):
        i = r.randrange(len(self.known))
        status, answer = self.ask({**body(i), "stream": True})
        if status == 429:
            return self.count("queue full")
        events = [json.loads(line[6:]) for line in answer.decode().split("\n") if line.startswith("data: {")]
        if not answer.endswith(b"data: [DONE]\n\n") or [t for e in events for t in e["choices"][0].get("token_ids", [])] != self.known[i][0]:
            self.fails("a stream differs from the answer alone", i, status, answer[-300:])
        self.count("stream")

    def leaves(self, r):
        """After nothing, a part of the request, all of it, or some of the answer."""
        data = head(json.dumps({"prompt": "w1 w2", "max_tokens": 900, "ignore_eos": True, "stream": r.random() < 0.7, "n": r.choice((1, 3))}).encode())
        with connect(self.server.port) as s:
            part = r.random()
            s.sendall(data[:int(len(data) * part)] if part < 0.4 else data)
            if part > 0.7:
                s.recv(r.randrange(1, 5000))
            time.sleep(r.random() * 0.05)
            if r.random() < 0.5:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # by a reset
        self.count("leaves")

    def reads_slowly(self, r):
        data = {"prompt": "w1", "max_tokens": 300, "ignore_eos": True, "stream": True, "logprobs": 20, "n": 2}
        with connect(self.server.port, receive=2048) as s:
            s.sendall(head(json.dumps(data).encode()))
            for _ in range(r.randrange(20)):
                if not s.recv(512):
                    break
                time.sleep(0.02)
        self.count("reads slowly")

    def sends_slowly(self, r):
        i = r.randrange(len(self.known))
        data = head(json.dumps(body(i)).encode())
        with connect(self.server.port) as s:
            for at in range(0, len(data), 97):
                s.sendall(data[at:at + 97])
                time.sleep(0.005)
            if not (got := s.recv(100)).startswith((b"HTTP/1.1 200", b"HTTP/1.1 429")):
                self.fails("a slow sender", got)
        self.count("sends slowly")

    def broken(self, r):
        good = json.dumps(body(0)).encode()
        data = bytearray(good)
        for _ in range(r.randrange(1, 4)):
            data[r.randrange(len(data))] = r.randrange(256)
        status, answer = self.ask(r.choice((bytes(data), good[:r.randrange(len(good))], b"", b"[" * 50000, b"\xff" * 100)))
        if status not in (200, 400, 404, 429) or (status != 200 and json.loads(answer)["error"]["code"] != status):
            self.fails("a broken body", bytes(data), status, answer[:300])
        self.count("broken")

    def no_http(self, r):
        with connect(self.server.port) as s:
            s.sendall(bytes(r.randrange(256) for _ in range(r.randrange(1, 300))) + b"\r\n\r\n")
            got = s.recv(100)
        if not got.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")):
            self.fails("what is no HTTP", got)
        self.count("no HTTP")

    def too_long(self, r):
        with connect(self.server.port) as s:
            try:
                s.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % r.choice((17 << 20, 1 << 40)) + b"a" * (1 << 16))
                got = s.recv(100)
            except OSError:
                got = b"HTTP/1.1 413"
        if not got.startswith(b"HTTP/1.1 413"):
            self.fails("a body that is too long", got)
        status, _ = self.ask({"prompt": "w1 " * 6000, "max_tokens": 1})
        if status != 400:
            self.fails("a prompt that is too long", status)
        self.count("too long")

    def work(self, number, until):
        r = random.Random(SEED * 1000 + number)
        kinds = (self.whole, self.stream, self.leaves, self.reads_slowly, self.sends_slowly, self.broken, self.no_http, self.too_long)
        while time.monotonic() < until and self.server.process.poll() is None and len(self.wrong) < 5:
            kind = r.choices(kinds, (10, 6, 4, 1, 2, 4, 1, 1))[0]
            try:
                kind(r)
            except Exception as e:  # noqa: BLE001  (told at the end)
                self.fails(kind.__name__, repr(e))


def resident(process):
    """Bytes of memory that are the process's own."""
    for line in pathlib.Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss_Anon:"):
            return int(line.split()[1]) << 10
    raise SystemExit("the kernel tells no memory of a process")


def start(model):
    return serve_test.Server(model, *OPTIONS)


def begun_again(model, known):
    """Killed while it answers, and begun anew."""
    server = start(model)
    load = Load(server, known)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(load.ask, {**body(0), "max_tokens": 500, "ignore_eos": True, "stream": i % 2 == 0}) for i in range(8)]
        time.sleep(0.3)
        server.process.kill()
        server.process.wait()
        for a in asked:
            try:
                if a.result(60)[1].endswith(b"data: [DONE]\n\n") and a.result()[1].count(b"token_ids") < 400:
                    load.fails("a stream that was cut looks whole", a.result()[1][-200:])
            except (OSError, http.client.HTTPException):
                pass
    server = start(model)
    load.server = server
    for _ in range(5):
        load.whole(random.Random(3))
    check("killed, and begun again", not load.wrong, *load.wrong[:3])
    check("it leaves", server.leave() == 0)


def main():
    with tempfile.TemporaryDirectory() as name:
        tiny.make(pathlib.Path(name))
        serve_test.widen(name)
        server = start(name)
        known = []
        for i in range(40):
            choice = server.ask("/v1/completions", body(i))[1]["choices"][0]
            known.append((choice["token_ids"], choice["logprobs"]["token_logprobs"]))
        load = Load(server, known)
        begin = time.monotonic()
        memory = []
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            workers = [pool.submit(load.work, i, begin + SECONDS) for i in range(CLIENTS)]
            while any(not w.done() for w in workers):
                time.sleep(SECONDS / 100)
                if server.process.poll() is None:
                    memory.append(resident(server.process))
            for w in workers:
                w.result()
        check("no crash", server.process.poll() is None, server.process.poll())
        check("every answer is right", not load.wrong, *load.wrong[:5])
        for kind in ("whole", "stream", "leaves", "reads slowly", "sends slowly", "broken", "no HTTP", "too long"):
            check(f"there were such: {kind}", load.counts[kind] > 0, load.counts)
        until = time.time() + 20
        while time.time() < until and (server.metric("num_requests_running") or server.metric("num_requests_waiting") or server.metric("kv_cache_usage_perc")):
            time.sleep(0.05)
        check("all pages are free", server.metric("kv_cache_usage_perc") == 0 and server.metric("num_requests_running") == 0 == server.metric("num_requests_waiting"))
        threads = len(os.listdir(f"/proc/{server.process.pid}/task"))
        files = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        check("no thread or file is left of a connection", threads < 16 and files < 40, threads, files)
        third = len(memory) // 3
        early, late = max(memory[third:2 * third]), max(memory[2 * third:])
        check("memory is steady", late < early * 1.1 + (8 << 20), early >> 20, late >> 20)
        times = sorted(load.slowest)
        half = len(times) // 2
        p99 = [sorted(seconds for _, seconds in part)[int(len(part) * 0.99)] for part in (times[:half], times[half:])]
        if SECONDS >= 300:  # else a few answers decide
            check("the slowest answers are as slow as before", p99[1] < p99[0] * 1.5 + 0.1, p99)
        check("it leaves", server.leave() == 0)
        begun_again(name, known)
        print(f"{dict(load.counts)}; memory {early >> 20} MiB, then {late >> 20}; p99 of whole answers {p99[0]:.2f} s, then {p99[1]:.2f}")
    print(f"{tiny.passed} passed, {tiny.failed} failed")
    return 1 if tiny.failed else 0


if __name__ == "__main__":
    os.chdir(tiny.ROOT)
    sys.exit(main())
