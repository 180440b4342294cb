#!/usr/bin/env python3
"""Compiles each header alone, by clang where it is installed: g++ reads them all in a build. Then all that are
installed together, as a program may include them. Prints `ok HEADER` or `FAIL HEADER: errors`.

    tools/check_headers.py [--sources] [--cache FOLDER] [--jobs N] [--sample K/N]

--sample   every N-th header that has not been compiled before, from the K-th on, besides those that differ from
           the last commit
--sources  the sources, which takes some minutes, instead of the headers
CXX        the compiler, if it is to be another one

A header's key is the hash of all files of ours that it reaches and of the compiler's version; a key that compiled
before is not compiled again.

Where many are to be compiled, clang precompiles a dozen headers that most of them include, and each begins with the
largest of those that it includes itself. It sees nothing more for it, and is compiled in a fifth of the time.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILER = os.environ.get("CXX") or shutil.which("clang++-19") or "g++"
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-DFMT_SHARED", "-I", str(ROOT)]
VERSIONS = re.compile(r"^strata_version_of\((\S+) (\w+)", re.M)  # sources that the build gives a version by a macro
INCLUDE = re.compile(r'^\s*#\s*include\s*"(strata/[^"]+)"', re.M)
BASES = 12  # headers precompiled at most


@functools.lru_cache(maxsize=None)
def contents(name):
    path = ROOT / name
    return path.read_bytes() if path.exists() else b""


@functools.lru_cache(maxsize=None)
def reached(name):
    """The header and everything of ours below it."""
    seen, stack = set(), [name]
    while stack:
        one = stack.pop()
        if one not in seen:
            seen.add(one)
            stack += INCLUDE.findall(contents(one).decode(errors="replace"))
    return seen


def key(names, compiler):
    digest = hashlib.sha256(repr([compiler, FLAGS[:-1]]).encode())
    for one in sorted(set().union(*map(reached, names))):
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


@functools.lru_cache(maxsize=None)
def versions():
    """Source -> the macro that the build defines for it, with any value."""
    return {source: f'-D{macro}="any"' for source, macro in VERSIONS.findall(contents("CMakeLists.txt").decode())}


def flags_of(names, llvm):
    own = [versions()[name] for name in names if name in versions()]
    return FLAGS + own + (llvm if any(name.startswith("strata/compile/llvm/") for name in names) else [])


def compile_alone(names, llvm, precompiled=None):
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as unit:
        unit.writelines(f'#include "{name}"\n' for name in names)
        unit.flush()
        start = ["-include-pch", str(precompiled)] if precompiled else []
        done = subprocess.run([COMPILER, *flags_of(names, llvm), *start, unit.name], capture_output=True, text=True)
        return "" if done.returncode == 0 else "\n  ".join(l for l in done.stderr.splitlines() if "error" in l)[:2000] or "does not compile"


def widest(name, bases):
    """Of the bases that a header includes, itself not counted, the one that reaches most; None where it includes none."""
    return max((base for base in bases if base != name and base in reached(name)), key=lambda base: len(reached(base)), default=None)


def chosen_bases(names):
    """Headers that save the others the most files to read, one after the other."""
    bases, saved = [], dict.fromkeys(names, 0)
    while len(bases) < BASES:
        gain = {
            base: sum(max(0, len(reached(base)) - saved[name]) for name in names if base != name and base in reached(name)) - len(reached(base))
            for base in sorted(set().union(*map(reached, names)) - set(bases))
        }
        best = max(gain, key=gain.get, default=None)
        if best is None or gain[best] <= 0:
            break
        bases.append(best)
        for name in names:
            if best != name and best in reached(name):
                saved[name] = max(saved[name], len(reached(best)))
    return bases


def precompile(bases, llvm, folder, pool):
    """Base -> its precompiled form; without those that do not compile, as their own line will say."""
    def one(base):
        out = pathlib.Path(folder) / (base.replace("/", "_") + ".pch")
        flags = [f for f in flags_of([base], llvm) if f != "-fsyntax-only"]
        argv = [COMPILER, *flags, "-fpch-instantiate-templates", "-x", "c++-header", str(ROOT / base), "-o", str(out)]
        return out if subprocess.run(argv, capture_output=True).returncode == 0 else None

    return {base: out for base, out in zip(bases, pool.map(one, bases)) if out}


def changed_files():
    """Names of files that differ from the last commit."""
    listed = subprocess.run(["git", "status", "--porcelain", "--no-renames"], cwd=ROOT, capture_output=True, text=True).stdout
    return {line[3:] for line in listed.splitlines()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", action="store_true")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "build/checks")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--sample", default="0/1")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    compiler = subprocess.run([COMPILER, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    llvm = llvm_includes()
    kind = "sources" if options.sources else "headers"
    files = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "strata").rglob("*.cc" if options.sources else "*.h"))
    files = [name for name in files if name != "strata/data/arrow/library_inside.cc"]  # Arrow's headers are where CMake found them
    units = {name: [name] for name in files}
    if not options.sources:
        units["all that are installed, together"] = [name for name in files if "testing" not in name and not name.startswith("strata/compile/llvm/")]
    known = options.cache / (kind + ("" if "clang" in compiler else ".gcc"))
    before = set(known.read_text().split()) if known.exists() else set()
    keys = {name: key(names, compiler) for name, names in units.items()}
    fine, failed = set(), False
    unknown = [name for name in units if keys[name] not in before]
    part, parts = map(int, options.sample.split("/"))
    changed = changed_files()
    left = [n for n in unknown if len(units[n]) == 1 and n not in changed]
    left_out = set(left) - set(left[part::parts])
    unknown = [n for n in unknown if n not in left_out]
    if left_out:
        print(f"{len(left_out)} headers of {len(files)} are left to other days, or to make soak", file=sys.stderr)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, tempfile.TemporaryDirectory() as folder:
        bases = precompile(chosen_bases([n for n in unknown if n in files]), llvm, folder, pool) if "clang" in compiler and not options.sources else {}
        start = lambda name: bases.get(widest(name, bases)) if name in files else None
        running = {name: pool.submit(compile_alone, units[name], llvm, start(name)) for name in unknown}
        for name in (n for n in units if n not in left_out):
            errors = running[name].result() if name in running else ""
            print(f"FAIL {name}: {errors}" if errors else f"ok {name}", flush=True)
            failed = failed or bool(errors)
            if not errors:
                fine.add(keys[name])
    known.write_text("\n".join(sorted(fine)) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
