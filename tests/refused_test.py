#!/usr/bin/env python3
"""Programs that must not compile, and the sentence that each earns.

    tests/refused_test.py

Each file of tests/refused holds many, one behind a line `// ---- what is wrong` each; `//! TEXT` is what the compiler must
say of it, `//! nothing` that it says nothing, `//! lines N` the most lines that it may take (16 unless given). One run of
clang reads a file as a whole, behind `strata/core.h`; a diagnostic belongs to the program whose line it names first.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILER = shutil.which("clang++-19") or os.environ.get("CXX", "clang++")
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wno-unused-variable", "-Wno-unused-parameter", "-Wno-missing-field-initializers", "-DFMT_SHARED", f"-I{ROOT}"]
MOST_LINES = 16
HEAD = re.compile(r"// ---- (.+)")
DIAGNOSTIC = re.compile(r"^\S+:\d+:\d+: (?:fatal )?(?:error|warning): ")


class Program:
    def __init__(self, name, line):
        self.name, self.line, self.says, self.lines, self.output = name, line, [], MOST_LINES, []

    def expect(self, text):
        if match := re.fullmatch(r"lines (\d+)", text):
            self.lines = int(match.group(1))
        else:
            self.says.append(text)

    def wrong(self):
        """Why it is not refused as it should be, or nothing."""
        output = "\n".join(self.output)
        if not self.says:
            return "expects nothing: `//! TEXT`, or `//! nothing`"
        if self.says == ["nothing"]:
            return output and f"is refused:\n{output}"
        if missing := [text for text in self.says if text not in output]:
            return f"is not told {missing[0]!r}, but:\n{output}"
        if len(self.output) > self.lines:
            return f"is told so in {len(self.output)} lines, more than {self.lines}:\n{output}"
        return ""


def read(path):
    """The programs of a file, and its text with a namespace for each; lines stay where they are."""
    programs, text = [], []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := HEAD.fullmatch(line):
            programs.append(Program(match.group(1), number))
            line = f"{'} ' if len(programs) > 1 else ''}namespace program_{number} {{ using namespace strata;"
        elif line.startswith("//! "):
            programs[-1].expect(line[4:])
        text.append(line)
    return programs, "\n".join([*text, "}", ""])


def diagnostics(stderr):
    """Lists of lines: a diagnostic, what includes the file in which it is, and its notes."""
    out, before = [], []
    for line in stderr.splitlines():
        if line.startswith("In file included from ") or re.match(r" +from ", line):
            before.append(line)
        elif DIAGNOSTIC.match(line):
            out.append([*before, line])
            before = []
        elif out and not re.match(r"\d+ (?:error|warning)s?.* generated", line):
            out[-1] += [*before, line]
            before = []
    return out


def check(path, header, folder):
    programs, text = read(path)
    unit = folder / path.name
    unit.write_text(text)
    argv = [COMPILER, *FLAGS, "-include-pch", str(header), "-fsyntax-only", "-ferror-limit=0", str(unit)]
    stderr = subprocess.run(argv, capture_output=True, text=True).stderr
    place = re.compile(re.escape(str(unit)) + r":(\d+):\d")
    lines = []
    for one in diagnostics(stderr):
        found = place.search("\n".join(one))
        of = [p for p in programs if found and p.line <= int(found.group(1))]
        if of:
            of[-1].output += one
        else:
            lines += [f"FAILED {path.stem}: a diagnostic of no program", *one]
    for program in programs:
        wrong = program.wrong()
        lines += [f"FAILED {path.stem}: {program.name}", wrong] if wrong else [f"ok {path.stem}: {program.name}"]
    return lines


def main():
    files = sorted((ROOT / "tests" / "refused").glob("*.cc"))
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(name)
        header = folder / "strata.pch"
        subprocess.run([COMPILER, *FLAGS, "-x", "c++-header", str(ROOT / "strata" / "core.h"), "-o", str(header)], check=True)
        lines = [line for part in pool.map(lambda path: check(path, header, folder), files) for line in part]
    print("\n".join(lines))
    return any(line.startswith("FAILED") for line in lines)


if __name__ == "__main__":
    sys.exit(main())
