#!/usr/bin/env python3
"""Compares the environment variables that the sources read with docs/environment.md; prints `ok NAME` or `FAIL NAME: reason`.

    tools/check_environment.py

A variable is read where C++ calls getenv (or a function whose body does) with its name, Python asks os.environ for it, or a
script of the shell expands a name in capitals that it has not set itself.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "environment.md"
CPP = re.compile(r"getenv\(\s*\"(\w+)\"")
WRAPPED = re.compile(r"(\w+)\((?:const char\* ?|const std::string& |std::string )(\w+)[^)]*\) \{\s*(?:[^{}]*?)getenv\((\w+)")
PYTHON = re.compile(r"environ(?:\.get|\.setdefault|\.pop)?[\[(]\s*[\"'](\w+)[\"']|[\"'](\w+)[\"'] (?:not )?in os\.environ")
SHELL = re.compile(r"\$\{?([A-Z][A-Z0-9_]+)\b")
OF_THE_SYSTEM = {"PATH", "PWD", "TMPDIR", "XLA_FLAGS", "BASH_SOURCE"}  # what every program reads


def files(*patterns):
    for pattern in patterns:
        for path in ROOT.glob(pattern):
            if "build" not in path.relative_to(ROOT).parts[:1]:
                yield path, path.read_text(errors="replace")


def read_by_cpp():
    for path, text in files("strata/**/*.cc", "strata/**/*.h", "tools/**/*.cc", "bench/*.cc", "tests/**/*.cc", "examples/**/*.cc"):
        found = set(CPP.findall(text))
        for function, parameter, asked in WRAPPED.findall(text):
            if parameter == asked:
                found |= set(re.findall(rf"\b{function}\(\"(\w+)\"", text))
        yield from ((name, path) for name in found)


def read_by_python():
    for path, text in files("python/**/*.py", "scripts/**/*.py", "scripts/run_tests", "tools/**/*.py", "tests/**/*.py", "bench/*.py", "strata/**/*.py", "examples/**/*.py"):
        yield from ((a or b, path) for a, b in PYTHON.findall(text))


def read_by_shell():
    for path, text in files("scripts/*.sh", "tools/*.sh", "strata/**/*.sh", "tests/**/*.sh", "cmake/compile", "Makefile"):
        code = re.sub(r"(?m)^\s*#.*$", "", text)
        own = set(re.findall(r"(?m)(?:^|[\s;(])(?:export |local |readonly )?([A-Z][A-Z0-9_]+)=", code)) if path.suffix == ".sh" else set()
        yield from ((name, path) for name in SHELL.findall(code) if name not in own or f"${{{name}:" in code)


def main():
    read = {}
    for name, path in [*read_by_cpp(), *read_by_python(), *read_by_shell()]:
        if name not in OF_THE_SYSTEM:
            read.setdefault(name, path.relative_to(ROOT))
    rows = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `") and "~" not in line.split("|")[1]]
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    for name in sorted(read.keys() | documented):
        if name not in documented:
            print(f"FAIL {name}: {read[name]} reads it, and docs/environment.md does not have it")
        elif name not in read:
            print(f"FAIL {name}: docs/environment.md has it, and nothing reads it")
        else:
            print(f"ok {name}")
    return 1 if read.keys() ^ documented else 0


if __name__ == "__main__":
    sys.exit(main())
