#!/usr/bin/env python3
"""strata-run on what JAX exports, as a person calls it: exit status and words.

    tests/exports_test.py [FOLDER OF THE PROGRAMS]

Prints `ok NAME` or `FAILED NAME` and why. That results are JAX's, in either mode, by Program too: strata/conformance/exports_test.cc.
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "bin").resolve()
EXPORTS = ROOT / "conformance" / "exports"
TESTDATA = ROOT / "strata" / "ir" / "export" / "testdata"


def run(*arguments):
    return subprocess.run([BIN / "strata-run", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def checked():
    for program in sorted((EXPORTS / "field").glob("*.jax")):
        yield program.stem, [program, f"--check={program.with_suffix('.safetensors')}", "--rtol=1e-5", "--atol=1e-5"], 0, ""


def words(folder):
    blank, nothing, open_ = folder / "blank.mlir", folder / "nothing.mlir", EXPORTS / "field" / "cumsum.jax"
    blank.write_text("")
    nothing.write_text("module {}\n")
    yield "an_empty_file", [blank], 2, "blank.mlir: the file is empty: a program has a function, as func.func @main"
    yield "an_empty_module", [nothing], 2, "nothing.mlir: no function to run: a program has a function, as func.func @main"
    yield "another_platform", [TESTDATA / "tpu.jax"], 3, "exported for tpu, not for cpu: export it with platforms="
    yield "a_platform_by_its_name", [TESTDATA / "tpu.jax", "--platform=tpu"], 2, "@main takes 1 arguments: give them with --args"
    yield "without_arguments", [open_], 2, "@main takes 1 arguments: give them with --args"
    yield "arguments_of_another_type", [open_, f"--args={EXPORTS / 'field' / 'cummax_rows.safetensors'}"], 2, "in.0 is tensor<3x7xf32>, argument 0 of @main is tensor<?xf32>"


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments, status, says in [*checked(), *words(pathlib.Path(folder))]:
            done = run(*arguments)
            if done.returncode == status and says in done.stderr:
                print(f"ok {name}")
                continue
            failed = 1
            print(f"FAILED {name}: exit {done.returncode}: {(done.stdout + done.stderr)[-1000:]}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
