#!/usr/bin/env python3
"""Prints docs/primitives.md's table: JAX's primitives and the operations that say them, from conformance/primitives.

A program of that folder is one line; the conformance tests run it in both modes against JAX's values.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "conformance" / "primitives"
OPERATION = re.compile(r'(?:= |^\s*)"?((?:stablehlo|chlo)\.[a-z_0-9]+)', re.M)
QUIET = {"stablehlo.return", "stablehlo.constant"}


def operations(text):
    found = sorted(set(OPERATION.findall(text)) - QUIET)
    return ", ".join(f"`{name}`" for name in found) or "the value itself"


def primitive_of(tensors):
    """The metadata's key `primitive`."""
    return re.search(rb'"primitive":"([^"]+)"', tensors).group(1).decode()


def main():
    programs = {primitive_of(p.with_suffix(".safetensors").read_bytes()): p for p in FOLDER.glob("*.mlir")}
    reasons = dict(line.split("\t") for line in (FOLDER / "none.tsv").read_text().splitlines())
    print("| primitive | said by | program |\n|---|---|---|")
    for name in sorted([*programs, *reasons]):
        if name in programs:
            path = programs[name]
            print(f"| `{name}` | {operations(path.read_text())} | [{path.stem}](../{path.relative_to(ROOT)}) |")
        else:
            print(f"| `{name}` | {reasons[name]} | |")
    print(f"\n{len(programs) + len(reasons)} primitives: {len(programs)} with a program, {len(reasons)} with the reason for none")


if __name__ == "__main__":
    main()
