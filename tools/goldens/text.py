#!/usr/bin/env python3
"""Writes strata/ir/text/testdata/*.mlir as jaxlib's MLIR prints them (without locations).

The files are their own input: to add a program, write it in any spelling and run

    tools/goldens/text.py            # rewrites each file
    tools/goldens/text.py --check    # says which differ

Needs jax 0.10.2; makes build/peers with it when this Python has none.
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "build" / "peers"


def with_jax():
    """Runs this script again under a Python that has jax."""
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "jax==0.10.2"], check=True)
    sys.exit(subprocess.run([python, __file__, *sys.argv[1:]]).returncode)


try:
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
except ImportError:
    with_jax()


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
