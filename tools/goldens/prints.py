#!/usr/bin/env python3
"""Writes conformance/prints.txt: what jaxlib's MLIR prints for every program below conformance/, as SHA-256.

    tools/goldens/prints.py            # writes the list
    tools/goldens/prints.py --check    # says whether it is as jaxlib prints today

A line for each program (files are cut at lines `// -----`): the first 16 digits of the hash of its print and of its print
in the generic form, and FILE#PART. Programs of the dialects `check` and `interpreter`, which jaxlib does not have, and
those that it refuses (quantised types, whose dialect it does not load) have no line. strata/op/text_corpus_test.cc compares our prints with it. Needs jax 0.10.2; makes build/peers with it when
this Python has none.
"""
import hashlib
import pathlib
import re
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]


try:
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def prints(text: str):
    """Hashes of both forms, or nothing where jaxlib refuses the program or does not know its operations."""
    if re.search(r"\b(check|interpreter)\.\w+\"?[( ]", re.sub(r"@check\.", "@", text)):
        return None
    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        try:
            module = ir.Module.parse(text).operation
        except ir.MLIRError:
            return None
        return digest(module.get_asm()), digest(module.get_asm(print_generic_op_form=True))


def main() -> int:
    warnings.simplefilter("ignore")
    lines = []
    folder = ROOT / "conformance"
    for path in sorted(folder.rglob("*.mlir")):
        for number, part in enumerate(re.split(r"^// -----.*\n?", path.read_text(), flags=re.M)):
            if found := prints(part):
                lines.append(f"{found[0]} {found[1]} {path.relative_to(folder)}#{number}\n")
    text = "".join(lines)
    target = folder / "prints.txt"
    if "--check" in sys.argv:
        same = target.read_text() == text
        print("as jaxlib prints" if same else "differs from what jaxlib prints")
        return 0 if same else 1
    target.write_text(text)
    print(f"{len(lines)} programs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
