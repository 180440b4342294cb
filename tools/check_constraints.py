#!/usr/bin/env python3
"""Refuses a constraint that no wrong program shows; prints `ok OPERATION` or `FAIL OPERATION: constraint ...`, last `N of N`.

    tools/check_constraints.py

strata/op/testdata/constraints.txt lists what the specification (and, for operations of our own, their files) demand: `slice C1-C5
I1=operand I2=start_indices ...`, an input with its name. Each must be shown by a program strata/op/testdata/wrong/OPERATION/cN.mlir
(or cN_WHAT.mlir), whose first line, the message that it earns, names the constraint as `(CN)`, an input as `(IN)` or by its name; the
tests of op run these programs and compare the messages. What no program can break stands there with its reason, `slice C9: why`.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "strata/op/testdata/constraints.txt"
WRONG = ROOT / "strata/op/testdata/wrong"
NUMBER = re.compile(r"\((?:[CI]\d+, )*([CI]\d+)(?:[-,] ?[CI]\d+)*\)")


def numbers(text):
    """C1-C3 as C1, C2, C3; I2=limit_indices as I2, with the name."""
    for word in text.split():
        word, _, name = word.partition("=")
        first, _, last = word.partition("-")
        for n in range(int(first[1:]), int((last or first)[1:]) + 1):
            yield f"{first[0]}{n}", name


def demands():
    """{operation: {constraint: name of the input or ""}}, {(operation, constraint): why no program can break it}."""
    all_of, beyond = {}, {}
    for line in LIST.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if match := re.match(r"(\S+) ([CI]\d+): (.+)", line):
            beyond[match.group(1), match.group(2)] = match.group(3)
        else:
            operation, _, rest = line.partition(" ")
            all_of[operation] = dict(numbers(rest))
    return all_of, beyond


def shown(operation, constraint, name):
    """Why no program shows the constraint, or nothing."""
    programs = sorted(p for p in (WRONG / operation).glob("*.mlir") if p.stem.split("_")[0] == constraint.lower())
    if not programs:
        return "no program"
    for path in programs:
        message = path.read_text().splitlines()[0]
        named = any(constraint in group.group(0).strip("()").split(", ") for group in NUMBER.finditer(message))
        if not named and not any(n in message for n in name.split("|") if n):
            return f"the message of {path.relative_to(WRONG)} names neither it nor {name or 'an input'}"
    return ""


def stated_in_files():
    """(file, operations, constraints) of each operation's file, as far as it numbers any."""
    for path in sorted((ROOT / "strata/op").rglob("*.cc")):
        if path.name.endswith("_test.cc"):
            continue
        text = path.read_text()
        operations = {n.removeprefix("stablehlo.") for n in re.findall(r'"((?:stablehlo|chlo|strata|interpreter|check)\.\w+)"', text)}
        stated = {n for group in NUMBER.finditer(text) for n in re.findall(r"[CI]\d+", group.group(0))}
        if operations and stated:
            yield path, operations, stated


def main():
    all_of, beyond = demands()
    done = total = 0
    failed = False
    for operation, constraints in all_of.items():
        wrong = []
        for constraint, name in constraints.items():
            if (operation, constraint) in beyond:
                continue
            total += 1
            reason = shown(operation, constraint, name)
            done += not reason
            if reason:
                wrong.append(f"{constraint}: {reason}")
        print(f"FAIL {operation}: {'; '.join(wrong)}" if wrong else f"ok {operation}")
        failed |= bool(wrong)
    for path, operations, stated in stated_in_files():
        known = {n for o in operations for n in all_of.get(o, {})}
        if missing := sorted(stated - known):
            failed = True
            print(f"FAIL {path.name}: states {', '.join(missing)}, which {LIST.name} has for none of its operations")
    print(f"{done} of {total} constraints are shown by a wrong program; {len(beyond)} cannot be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
