#!/usr/bin/env python3
"""Writes strata/engine/testdata/llama_samplers.json: what llama.cpp's samplers make of random logits.

    logits     rows of f32 logits
    cuts       by sampler and parameters: for each row the tokens that stay, and their logits where the sampler changes them
    dry        by parameters and last tokens: the logits that the DRY sampler lowers, as [token, what is taken off]
    mirostat   by version, tau and eta: for each row in turn the tokens that stay, and the one that llama.cpp drew of them

The originals are called through ctypes in the prebuilt libllama of the npm package @node-llama-cpp/linux-x64 3.22.1
(llama.cpp v0.5.0), whose unpacked folder bins/linux-x64 is the script's one argument:

    npm pack @node-llama-cpp/linux-x64@3.22.1 && tar xzf node-llama-cpp-linux-x64-3.22.1.tgz
    python3 tools/goldens/llama_samplers.py package/bins/linux-x64
"""
import ctypes
import json
import pathlib
import random
import struct
import sys

DATA = pathlib.Path(__file__).resolve().parents[2] / "strata/engine/testdata"
SEED, ROWS, VOCABULARY = 11, 5, 61
F, I, P = ctypes.c_float, ctypes.c_int32, ctypes.c_void_p


class TokenData(ctypes.Structure):
    _fields_ = [("id", I), ("logit", F), ("p", F)]


class TokenArray(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(TokenData)), ("size", ctypes.c_size_t), ("selected", ctypes.c_int64), ("sorted", ctypes.c_bool)]


class Vector(ctypes.Structure):
    """std::vector of libstdc++."""
    _fields_ = [("begin", P), ("end", P), ("room", P)]


def load(folder):
    for name in ["libggml-base.so", "libggml.v0.5.0.so"]:
        ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL)
    lib = ctypes.CDLL(str(folder / "libllama.v0.5.0.so"), mode=ctypes.RTLD_GLOBAL)
    lib.dry = lib["_Z30llama_sampler_init_dry_testingffiiRKSt6vectorIS_IiSaIiEESaIS1_EE"]
    for name, arguments in {
            "llama_sampler_init_top_n_sigma": [F], "llama_sampler_init_typical": [F, ctypes.c_size_t], "llama_sampler_init_top_k": [I],
            "llama_sampler_init_top_p": [F, ctypes.c_size_t], "llama_sampler_init_min_p": [F, ctypes.c_size_t],
            "llama_sampler_init_xtc": [F, F, ctypes.c_size_t, ctypes.c_uint32], "llama_sampler_init_temp": [F],
            "llama_sampler_init_temp_ext": [F, F, F], "llama_sampler_init_mirostat": [I, ctypes.c_uint32, F, F, I],
            "llama_sampler_init_mirostat_v2": [ctypes.c_uint32, F, F]}.items():
        function = lib[name]
        function.restype, function.argtypes = P, arguments
        setattr(lib, name, function)
    lib.dry.restype, lib.dry.argtypes = P, [F, F, I, I, P]
    lib.llama_sampler_apply.argtypes = [P, P]
    lib.llama_sampler_accept.argtypes = [P, I]
    return lib


def applied(lib, sampler, row):
    """Tokens that stay with their logits, and the one that was drawn (None: no sampler that draws)."""
    data = (TokenData * len(row))(*[TokenData(i, x, 0) for i, x in enumerate(row)])
    all_ = TokenArray(ctypes.cast(data, ctypes.POINTER(TokenData)), len(row), -1, False)
    lib.llama_sampler_apply(sampler, ctypes.byref(all_))
    kept = [(all_.data[i].id, all_.data[i].logit) for i in range(all_.size)]
    drawn = kept[all_.selected][0] if all_.selected >= 0 else None
    return [(t, x) for t, x in kept if x != float("-inf")], drawn


def vectors(lists):
    """A std::vector<std::vector<int>>, and what has to live as long."""
    alive, inner = [], (Vector * max(1, len(lists)))()
    for i, one in enumerate(lists):
        numbers = (I * len(one))(*one)
        alive.append(numbers)
        at = ctypes.addressof(numbers)
        inner[i] = Vector(at, at + 4 * len(one), at + 4 * len(one))
    at, size = ctypes.addressof(inner), ctypes.sizeof(Vector) * len(lists)
    return Vector(at, at + size, at + size), [alive, inner]


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def main():
    lib = load(pathlib.Path(sys.argv[1]).resolve())
    rand = random.Random(SEED)
    logits = [[f32(rand.gauss(0, 1) * scale) for _ in range(VOCABULARY)] for scale in [0.5, 1, 2, 4, 8]]
    cuts = []
    for name, make in [("top_n_sigma", lib.llama_sampler_init_top_n_sigma), ("typical_p", lambda p: lib.llama_sampler_init_typical(p, 0)),
                       ("top_k", lib.llama_sampler_init_top_k), ("top_p", lambda p: lib.llama_sampler_init_top_p(p, 0)),
                       ("min_p", lambda p: lib.llama_sampler_init_min_p(p, 0)),
                       ("xtc_threshold", lambda t: lib.llama_sampler_init_xtc(1.0, t, 0, 1)), ("temperature", lib.llama_sampler_init_temp)]:
        for value in {"top_n_sigma": [0.5, 1, 2.5], "typical_p": [0.2, 0.5, 0.95], "top_k": [1, 7, 100], "top_p": [0.1, 0.5, 0.95],
                      "min_p": [0.02, 0.1, 0.5], "xtc_threshold": [0.01, 0.05, 0.2, 0.5, 0.6], "temperature": [0, 0.7, 1.5]}[name]:
            rows = [applied(lib, make(value), row)[0] for row in logits]
            cut = {name: value, "kept": [sorted(t for t, _ in row) for row in rows]}
            if name == "temperature":
                cut["logits"] = [[x for _, x in sorted(row)] for row in rows]
            cuts.append(cut)
    for low, spread, exponent in [(0.8, 0.5, 1.0), (1.0, 1.5, 0.5), (0.3, 0.2, 2.0)]:
        rows = [applied(lib, lib.llama_sampler_init_temp_ext(low, spread, exponent), row)[0] for row in logits]
        cuts.append({"temperature": low, "dynatemp_range": spread, "dynatemp_exponent": exponent,
                     "kept": [sorted(t for t, _ in row) for row in rows], "logits": [[x for _, x in sorted(row)] for row in rows]})

    dry = []
    for number in range(40):
        size = rand.choice([3, 6, 15, 40, 90])
        part = [rand.randrange(9) for _ in range(rand.choice([2, 5, 11]))]
        tokens = [rand.randrange(9) if rand.random() < 0.1 else part[i % len(part)] for i in range(size)]
        breakers = rand.choice([[[60]], [[60]], [[7]], [[2, 1], [4]], [[1, 0, 2], [1]]])
        how = {"dry_multiplier": rand.choice([0.8, 1.5]), "dry_base": rand.choice([1.0, 1.75, 3.0]), "dry_allowed_length": rand.choice([0, 1, 2, 4]),
               "dry_penalty_last_n": rand.choice([20, 64, 200])}
        vector, alive = vectors(breakers)
        sampler = lib.dry(how["dry_multiplier"], how["dry_base"], how["dry_allowed_length"], how["dry_penalty_last_n"], ctypes.byref(vector))
        for t in tokens:
            lib.llama_sampler_accept(sampler, t)
        after, _ = applied(lib, sampler, [0.0] * VOCABULARY)
        del alive
        dry.append({**how, "breakers": breakers, "tokens": tokens, "taken": [[t, f32(-x)] for t, x in sorted(after) if x != 0]})

    mirostat = []
    for version in [1, 2]:
        for tau, eta in [(5.0, 0.1), (2.0, 0.5), (0.5, 1.0)]:
            sampler = (lib.llama_sampler_init_mirostat(VOCABULARY, 3, tau, eta, 100) if version == 1
                       else lib.llama_sampler_init_mirostat_v2(3, tau, eta))
            steps = []
            for turn in range(12):
                kept, drawn = applied(lib, sampler, logits[turn % ROWS])
                steps.append({"kept": sorted(t for t, _ in kept), "drawn": drawn})
            mirostat.append({"version": version, "tau": tau, "eta": eta, "steps": steps})

    out = {"llama.cpp": "v0.5.0", "seed": SEED, "logits": logits, "cuts": cuts, "dry": dry, "mirostat": mirostat}
    (DATA / "llama_samplers.json").write_text(json.dumps(out, separators=(",", ":")).replace('},{', '},\n{') + "\n")


if __name__ == "__main__":
    main()
