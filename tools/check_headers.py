#!/usr/bin/env python3
"""Compiles each header alone; prints `ok HEADER` or `FAIL HEADER: errors`.

    tools/check_headers.py [--cache FOLDER] [--jobs N]

A header's key is the hash of all files of ours that it reaches and of the compiler's version; a key that compiled
before is not compiled again.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-DFMT_SHARED", "-I", str(ROOT)]
INCLUDE = re.compile(r'^\s*#\s*include\s*"(strata/[^"]+)"', re.M)


@functools.lru_cache(maxsize=None)
def contents(name):
    path = ROOT / name
    return path.read_bytes() if path.exists() else b""


def reached(name):
    """The header and everything of ours below it."""
    seen, stack = set(), [name]
    while stack:
        one = stack.pop()
        if one not in seen:
            seen.add(one)
            stack += INCLUDE.findall(contents(one).decode(errors="replace"))
    return sorted(seen)


def key(name, compiler):
    digest = hashlib.sha256(repr([compiler, FLAGS[:-1]]).encode())
    for one in reached(name):
        digest.update(one.encode() + b"\0" + contents(one) + b"\0")
    return digest.hexdigest()


def llvm_includes():
    """Headers of compile/llvm may include LLVM's."""
    for config in ("llvm-config-19", "/usr/lib/llvm-19/bin/llvm-config"):
        try:
            return ["-isystem", subprocess.run([config, "--includedir"], capture_output=True, text=True, check=True).stdout.strip()]
        except (OSError, subprocess.CalledProcessError):
            continue
    return []


def compile_alone(name, llvm):
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as unit:
        unit.write(f'#include "{name}"\n')
        unit.flush()
        flags = FLAGS + (llvm if name.startswith("strata/compile/llvm/") else [])
        done = subprocess.run([os.environ.get("CXX", "g++"), *flags, unit.name], capture_output=True, text=True)
        return "" if done.returncode == 0 else "\n  ".join(l for l in done.stderr.splitlines() if "error" in l)[:2000] or "does not compile"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "build/checks")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    compiler = subprocess.run([os.environ.get("CXX", "g++"), "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    llvm = llvm_includes()
    headers = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "strata").rglob("*.h"))
    known = options.cache / "headers"
    before = set(known.read_text().split()) if known.exists() else set()
    keys = {name: key(name, compiler) for name in headers}
    fine, failed = set(), False
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {name: pool.submit(compile_alone, name, llvm) for name in headers if keys[name] not in before}
        for name in headers:
            errors = running[name].result() if name in running else ""
            print(f"FAIL {name}: {errors}" if errors else f"ok {name}", flush=True)
            failed = failed or bool(errors)
            if not errors:
                fine.add(keys[name])
    known.write_text("\n".join(sorted(fine)) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
