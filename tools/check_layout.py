#!/usr/bin/env python3
"""Checks that each C++ file is laid out as clang-format and .clang-format say, in at most 100 columns.

    tools/check_layout.py [--fix] [--cache FOLDER] [FILE...]

Prints `ok FILE` or `FAIL FILE: reason`. Exempt from the columns: raw strings (programs and expected
output), what stands between `// clang-format off` and `// clang-format on` (tables), and words that
cannot be broken, such as a link in a comment.

--fix    rewrites the files instead of complaining
--cache  where the hashes of files that were fine are kept, so that they are not looked at again
FILE     only these (default: all that git knows)

Without clang-format 19 it exits with 77, which the runner counts as skipped.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = 100
FORMATTER = shutil.which("clang-format-19") or shutil.which("clang-format")
OFF = re.compile(r"^\s*// clang-format off.*?^\s*// clang-format on\b", re.M | re.S)
# Literals and comments, so that a quote inside of one does not begin another.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\((.*?)\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def exempt_lines(text):
    """The numbers of lines, from 0, that raw strings or switched-off regions touch."""
    spans = [m.span() for m in OFF.finditer(text)]
    spans += [m.span() for m in TOKEN.finditer(text) if m.group(0).startswith("R")]
    out = set()
    for begin, end in spans:
        first = text.count("\n", 0, begin)
        out.update(range(first, first + text.count("\n", begin, end) + 1))
    return out


def breakable(line):
    """Whether a line has a space behind its indentation where it could end before the last column."""
    body = re.sub(r"^\s*(//[/!]?\s*)?", "", line)
    return " " in body[: max(0, COLUMNS - (len(line) - len(body)))]


def long_line(text):
    """The number of the first line that is too long, from 1, or 0."""
    exempt = None
    for number, line in enumerate(text.splitlines()):
        if len(line) > COLUMNS and breakable(line):
            if exempt is None:
                exempt = exempt_lines(text)
            if number not in exempt:
                return number + 1
    return 0


def laid_out_otherwise(names):
    """Of these files, those that clang-format would change, each with the first line that it would."""
    out = {}
    for line in run_formatter(["--dry-run", *names]).stderr.splitlines():
        if match := re.match(r"(\S+?):(\d+):\d+: warning: code should be clang-formatted", line):
            out.setdefault(match.group(1), int(match.group(2)))
    return out


def run_formatter(arguments):
    return subprocess.run([FORMATTER, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)


def problems(names, fix):
    """File -> what is wrong with it."""
    if fix and names:
        run_formatter(["-i", *names])
    out = {}
    for name, line in laid_out_otherwise(names).items() if names else ():
        out[name] = f"line {line} is laid out otherwise than clang-format does: tools/check_layout.py --fix {name}"
    for name in names:
        if at := long_line((ROOT / name).read_text()):
            out.setdefault(name, f"line {at} has more than {COLUMNS} columns")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--cache", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if not FORMATTER:
        print("clang-format 19 is not installed")
        return 77
    patterns = ["*.cc", "*.h", "*.c"]
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    files = options.files or sorted(set(f for f in listed.stdout.split() if (ROOT / f).exists()))
    style = (ROOT / ".clang-format").read_bytes() + pathlib.Path(__file__).read_bytes()
    key = lambda name: hashlib.sha256(style + (ROOT / name).read_bytes()).hexdigest()
    known = set(options.cache.joinpath("layout").read_text().split()) if options.cache and options.cache.joinpath("layout").exists() else set()
    unknown = [name for name in files if key(name) not in known]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        wrong = {}
        for found in pool.map(lambda part: problems(part, options.fix), [unknown[i :: options.jobs] for i in range(options.jobs)]):
            wrong.update(found)
    for name in files:
        print(f"FAIL {name}: {wrong[name]}" if name in wrong else f"ok {name}")
    fine = {key(name) for name in files if name not in wrong}
    if options.cache:
        options.cache.mkdir(parents=True, exist_ok=True)
        options.cache.joinpath("layout").write_text("\n".join(sorted(fine)) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
