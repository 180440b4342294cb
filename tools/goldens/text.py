#!/usr/bin/env python3
"""Writes strata/ir/text/testdata/*.mlir as jaxlib's MLIR prints them (without locations).

The files are their own input: to add a program, write it in any spelling and run

    tools/goldens/text.py            # rewrites each file
    tools/goldens/text.py --check    # says which differ

Needs jax 0.10.2; makes build/peers with it when this Python has none.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


try:
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2")


def printed(text: str) -> str:
    with mlir.make_ir_context():
        return ir.Module.parse(text).operation.get_asm(enable_debug_info=False).rstrip("\n") + "\n"


def main() -> int:
    differ = []
    for path in sorted((ROOT / "strata/ir/text/testdata").glob("*.mlir")):
        old = path.read_text()
        new = printed(old)
        if new != old:
            differ.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(new)
    print(f"{len(differ)} files {'differ' if '--check' in sys.argv else 'rewritten'}: {' '.join(differ)}")
    return 1 if differ and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
