#!/usr/bin/env python3
"""Refuses what the order of rooms and its doors forbid; prints `ok RULE` or `FAIL RULE: file:line ...`.

    tools/check_rooms.py

The order is read from CMakeLists.txt: a room includes its own headers and those of rooms above it.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
# Places on one person's machine: none belongs into a file that others build.
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:work|home|root|Users|mnt|media)/\w")
# What users include, and the last room of which it holds headers.
FACES = {"core.h": "api", "strata.h": "train"}
TEXT_ENDINGS = {".h", ".cc", ".py", ".sh", ".md", ".txt", ".yml", ".json", ".cmake", ".in", ".mlir", ""}


def rooms():
    return re.findall(r"^strata_room\((\w+)", (ROOT / "CMakeLists.txt").read_text(), re.M)


def sources():
    return sorted(p for p in (ROOT / "strata").rglob("*") if p.suffix in (".h", ".cc"))


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match.group(1)


def order_of_rooms():
    """A room includes only itself and rooms above it."""
    order = {room: i for i, room in enumerate(rooms())}
    for path in sources():
        room = path.relative_to(ROOT / "strata").parts[0]
        if room in FACES:
            continue  # for users
        if room not in order:
            yield f"{path.relative_to(ROOT)}:1: CMakeLists.txt names no room {room}"
            continue
        for number, target in includes(path):
            parts = target.split("/")
            if parts[0] != "strata" or len(parts) < 3:
                if (face := target.removeprefix("strata/")) in FACES and order[room] < order[FACES[face]]:
                    yield f"{path.relative_to(ROOT)}:{number}: {room} includes the users' header"
                continue
            if parts[1] not in order:
                yield f"{path.relative_to(ROOT)}:{number}: no room {parts[1]}"
            elif order[parts[1]] > order[room]:
                yield f"{path.relative_to(ROOT)}:{number}: {room} includes {target}, but {parts[1]} stands below it"


def llvm_door():
    """LLVM is included only in compile/llvm."""
    for path in [*sources(), *sorted((ROOT / "tools").glob("*.cc")), *sorted((ROOT / "bench").glob("*.cc"))]:
        if path.is_relative_to(ROOT / "strata/compile/llvm"):
            continue
        for number, target in includes(path):
            if target.startswith(("llvm/", "llvm-c/")):
                yield f"{path.relative_to(ROOT)}:{number}: includes {target} outside strata/compile/llvm"


def llvm_not_in_headers_of_others():
    """Headers of compile/llvm that include LLVM are included only within compile/llvm."""
    door = ROOT / "strata/compile/llvm"
    heavy = {f"strata/compile/llvm/{h.relative_to(door)}" for h in door.rglob("*.h") if any(t.startswith("llvm/") for _, t in includes(h))}
    for path in sources():
        if path.is_relative_to(door):
            continue
        for number, target in includes(path):
            if target in heavy:
                yield f"{path.relative_to(ROOT)}:{number}: includes {target}, which includes LLVM"


def header_guards():
    """Each header has #pragma once."""
    for path in sources():
        if path.suffix == ".h" and "#pragma once" not in path.read_text():
            yield f"{path.relative_to(ROOT)}:1: no #pragma once"


def source_includes_own_header_by_full_path():
    """Includes name the room: "strata/<room>/x.h"."""
    for path in sources():
        for number, target in includes(path):
            line = path.read_text().splitlines()[number - 1]
            if '"' in line and not target.startswith("strata/"):
                yield f'{path.relative_to(ROOT)}:{number}: "{target}" is no path from the root'


def no_machine_paths():
    """No file names a folder of one machine."""
    git = shutil.which("git")  # a source tree may stand on a machine without it
    listed = git and subprocess.run([git, "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.splitlines() if listed and listed.returncode == 0 else [str(p.relative_to(ROOT)) for p in sources()]
    for name in names:
        path = ROOT / name
        if path.suffix not in TEXT_ENDINGS or not path.is_file() or name == "tools/check_rooms.py":
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if match := MACHINE_PATHS.search(line):
                yield f"{name}:{number}: {match.group(0)}... is a path of one machine"


def evaluators_have_one_caller():
    """Only the reference evaluator takes an operation's `evaluate` rule: programs linked without it cannot evaluate."""
    taken = re.compile(r"(?:\.|->)evaluate\b(?!\s*=)")
    for path in [*sources(), *sorted((ROOT / "tools").glob("*.cc")), *sorted((ROOT / "bench").glob("*.cc"))]:
        if path == ROOT / "strata/op/evaluate.cc":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if taken.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: takes an operation's evaluator"


def compilation_evaluates_nothing():
    """What becomes compiled code asks the reference evaluator for no number, or it would depend on what it is compared with."""
    allowed = {"op", "conformance"}
    # The reference's own client; and what looks for the operation that made a NaN, one after the other.
    users = {"strata/runtime/reference_client.cc", "strata/api/transform/debug_nans.cc"}
    for path in sources():
        name = path.relative_to(ROOT)
        if name.parts[1] in allowed or path.stem.endswith(("_test", "_testing")) or str(name) in users:
            continue
        for number, target in includes(path):
            if target == "strata/op/evaluate.h":
                yield f"{name}:{number}: includes {target}"


def api_only_composes():
    """The array library has no derivative, batching or lowering rule: it neither defines operations nor reads what defines them."""
    rule = re.compile(r"\b(?:OpDef|op::Rule|op::Lowering|op::None|op::Elementwise|op::CustomKernel|op::Structured)\b")
    definitions = {"strata/op/def.h", "strata/op/rules.h", "strata/op/catalog.h", "strata/op/elementwise/elementwise.h", "strata/op/decomposed.h", "strata/op/lower_region.h"}
    for path in sorted((ROOT / "strata" / "api").rglob("*.[hc]*")):
        if path.suffix not in (".h", ".cc"):
            continue
        for number, target in includes(path):
            if target in definitions or target.startswith("strata/loop/"):
                yield f"{path.relative_to(ROOT)}:{number}: includes {target}"
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if rule.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: a rule of an operation"


def nothing_runs_before_main():
    """No source of a room that programs link registers anything by a static initialiser: what is needed is registered where it is asked for."""
    initialiser = re.compile(r"^(?:\[\[maybe_unused\]\] )?(?:static |inline )?const (?:bool|auto) \w+ = .*\bregister_?\w*\(")
    for path in sources():
        if path.stem.endswith(("_test", "_testing")) or "testing" in path.parts:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if initialiser.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: registers before main"


RULES = [api_only_composes, nothing_runs_before_main, order_of_rooms, llvm_door, llvm_not_in_headers_of_others, header_guards, source_includes_own_header_by_full_path, no_machine_paths, evaluators_have_one_caller,
         compilation_evaluates_nothing]


def main():
    failed = False
    for rule in RULES:
        found = list(rule())
        failed = failed or bool(found)
        print(f"FAIL {rule.__name__}: " + "\n  ".join(found) if found else f"ok {rule.__name__}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
