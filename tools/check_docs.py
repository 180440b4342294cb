#!/usr/bin/env python3
"""Runs what the pages say; prints `ok PAGE: WHAT` or `FAIL PAGE: WHAT: reason`.

    tools/check_docs.py [--build FOLDER] [--write]

Pages are all *.md of the repository.
- a ```cpp block is an excerpt: it stands, line for line, in a program that the tests run (tutorial/, tests/installed/, examples/, docs/);
- a ```cmake block is an excerpt of a CMakeLists.txt of tests/installed or examples/; a ```console block is run by scripts/test_install.sh;
- a ```sh block runs from the root, with build/ meaning the build folder; `make X` is only looked up in the Makefile;
- a ```text block of a page with a program beside it (NAME.md, NAME.cc) stands in what that prints, one of the gallery in a NAME.txt beside the page;
- between `<!-- output of: COMMAND -->` and `<!-- end of output -->` stands what COMMAND prints (--write renews it);
- a link to a file of the repository leads to one.
"""
import argparse
import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
OUTPUT = re.compile(r"(<!-- output of: (.*?) -->\n)(.*?)(<!-- end of output -->)", re.S)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def pages():
    found = [p for p in ROOT.rglob("*.md") if not {"build", ".git"} & set(p.relative_to(ROOT).parts)]
    return sorted(found)


def squeezed(text):
    """Lines without their indentation, so that an excerpt may stand at the margin."""
    return [line.strip() for line in text.strip().splitlines() if line.strip()]


@functools.lru_cache(maxsize=None)
def programs():
    return [squeezed(p.read_text()) for folder in ("tutorial", "tests/installed", "examples/*", "docs") for p in sorted(ROOT.glob(f"{folder}/*.cc"))]


@functools.lru_cache(maxsize=None)
def projects():
    return [squeezed(p.read_text()) for folder in ("tests/installed", "examples/*") for p in sorted(ROOT.glob(f"{folder}/CMakeLists.txt"))]


def contains(lines, part):
    return any(lines[i : i + len(part)] == part for i in range(len(lines) - len(part) + 1))


def shell(command, build):
    command = re.sub(r"(?<![\w/])build/", f"{build}/", command)
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)


@functools.lru_cache(maxsize=None)
def printed(command, build):
    done = shell(command, build)
    return done.stdout if done.returncode == 0 else None


def run_shell_block(block, build):
    """Why the block fails, or nothing."""
    rest = []
    for line in block.splitlines():
        if match := re.match(r"make( \w[\w-]*)?\s*(#.*)?$", line):
            done = subprocess.run(["make", "-n", *(match.group(1) or "").split()], cwd=ROOT, capture_output=True, text=True)
            if done.returncode != 0:
                return done.stderr.strip()
        else:
            rest.append(line)
    done = shell("\n".join(rest), build)
    return "" if done.returncode == 0 else f"exit {done.returncode}: {(done.stdout + done.stderr).strip()[-1500:]}"


def check_block(page, kind, block, build):
    if kind == "cpp" and not any(contains(p, squeezed(block)) for p in programs()):
        return "stands in no program of tutorial/, tests/installed/, examples/ or docs/"
    if kind == "cmake" and not any(contains(p, squeezed(block)) for p in projects()):
        return "stands in no CMakeLists.txt of tests/installed/ or examples/"
    if kind == "sh":
        return run_shell_block(block, build)
    if kind == "text" and page.with_suffix(".cc").exists():
        out = printed(f"build/bin/{page.parent.name}-{page.stem.replace('_', '-')}", build)
        if out is None:
            return "the page's program does not run"
        if not contains(squeezed(out), squeezed(block)):
            return "is not what the page's program prints:\n" + out[-3000:]
    if kind == "text" and page.parent.name == "gallery" and not any(contains(squeezed(p.read_text()), squeezed(block)) for p in page.parent.glob("*.txt")):
        return "stands in no *.txt beside the page"
    return ""


def write_outputs(page, build):
    def renewed(match):
        out = printed(match.group(2), build)
        return match.group(1) + (match.group(3) if out is None else out) + match.group(4)

    text = page.read_text()
    new = OUTPUT.sub(renewed, text)
    if new != text:
        page.write_text(new)


def facts(page, build):
    """(what, reason or "") for everything that the page claims."""
    text = page.read_text()
    for number, match in enumerate(BLOCK.finditer(text), 1):
        if match.group(1) in ("cpp", "cmake", "sh", "text"):
            yield f"block {number} ({match.group(1)})", check_block(page, match.group(1), match.group(2), build)
    for match in OUTPUT.finditer(text):
        out = printed(match.group(2), build)
        wrong = "" if out == match.group(3) else "is not what it prints now: tools/check_docs.py --write"
        yield f"output of {match.group(2)}", wrong
    broken = [link for link in LINK.findall(CODE.sub("", BLOCK.sub("", text))) if "://" not in link and not link.startswith("mailto:") and not (page.parent / link).exists()]
    yield "links", f"no file {', '.join(broken)}" if broken else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--write", action="store_true", help="renew printed outputs in the pages first")
    options = parser.parse_args()
    build = options.build.resolve()
    failed = False
    for page in pages():
        if options.write:
            write_outputs(page, build)
        for what, reason in facts(page, build):
            name = f"{page.relative_to(ROOT)}: {what}".replace(": ", " ", 1)
            failed = failed or bool(reason)
            print(f"FAIL {name}: {reason}" if reason else f"ok {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
