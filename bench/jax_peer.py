#!/usr/bin/env python3
"""Programs as JAX runs them; as a script, the JAX of another Python, at the service of bench/perf.py.

    PYTHON bench/jax_peer.py

A line of standard input is a request, a line of standard output its answer, both JSON:

    {"file": F, "name": N}    compiles program N of F: {"compile_s": seconds, "temporary_bytes": bytes}
    {"runs": R}               {"seconds": [R numbers]}, one for each run of it
    {}                        {"version": JAX's}

What cannot be done is answered by {"why": sentence}.
"""
import json
import os
import subprocess
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax

from strata_run import module


class Peer:
    """A program compiled by this Python's JAX."""

    def __init__(self, function, arguments):
        self.arguments = arguments
        start = time.perf_counter()
        self.call = jax.jit(function).lower(*arguments).compile()
        self.compile_s = time.perf_counter() - start
        self.temporary_bytes = self.call.memory_analysis().temp_size_in_bytes
        self.results = jax.tree.leaves(jax.block_until_ready(self.call(*arguments)))

    def seconds(self, runs):
        out = []
        for _ in range(runs):
            start = time.perf_counter()
            jax.block_until_ready(self.call(*self.arguments))
            out.append(time.perf_counter() - start)
        return out


class OtherPython:
    """The JAX of another Python, in a process of its own that sleeps between requests."""

    def __init__(self, python):
        self.process = subprocess.Popen([python, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version = self.ask()["version"]

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"JAX of another Python ended with status {self.process.wait()}")
        answer = json.loads(line)
        if "why" in answer:
            raise RuntimeError(answer["why"])
        return answer

    def program(self, file, name):
        return OtherProgram(self, self.ask(file=str(file), name=name))


class OtherProgram:
    """As a Peer, without results."""

    def __init__(self, python, compiled):
        self.python, self.compile_s, self.temporary_bytes = python, compiled["compile_s"], compiled["temporary_bytes"]

    def seconds(self, runs):
        return self.python.ask(runs=runs)["seconds"]


def answer(request, held):
    if "runs" in request:
        return {"seconds": held["program"].seconds(request["runs"])}
    if "name" not in request:
        return {"version": jax.__version__}
    held.clear()
    held["program"] = program = Peer(*module(request["file"]).PROGRAMS[request["name"]]())
    return {"compile_s": program.compile_s, "temporary_bytes": program.temporary_bytes}


def main():
    held = {}
    for line in sys.stdin:
        try:
            out = answer(json.loads(line), held)
        except Exception as e:  # the other side says so and goes on
            out = {"why": f"{type(e).__name__}: {e}"}
        print(json.dumps(out), flush=True)


if __name__ == "__main__":
    main()
