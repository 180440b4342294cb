#!/usr/bin/env python3
"""Compiles programs of conformance/jax to object files, links and runs them: their bits must be those of strata-run.

    tools/object_files.py [--build FOLDER] [--cpu NAME] [--jobs N] [--every N] [PATTERN]

PATTERN  only programs whose path holds it
--every  only each N-th of them

A program that strata-run refuses must be refused by `strata compile` too. Inputs must stay as they were, and nothing behind an output may
change. Says how many were refused, and ends with the line "N passed, N failed".
"""
import argparse
import concurrent.futures
import ctypes
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFUSED = "refused by both"
BEHIND = b"\xa5" * 64  # each output


def tensors(path, prefix):
    """The bytes of prefix.0, prefix.1, ... of a safetensors file."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    found = {name: what["data_offsets"] for name, what in json.loads(data[8 : 8 + size]).items() if name.startswith(prefix + ".")}
    return [data[8 + size + begin : 8 + size + end] for begin, end in (found[f"{prefix}.{i}"] for i in range(len(found)))]


def run(*argv):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def by_object(library, inputs, sizes):
    """What f_run makes of the inputs; in a process of its own, which a crash may end."""
    function = ctypes.CDLL(str(library)).f_run
    function.restype = ctypes.c_char_p
    given = [ctypes.create_string_buffer(data, max(1, len(data))) for data in inputs]
    made = [ctypes.create_string_buffer(b"\xa5" * size + BEHIND, size + len(BEHIND)) for size in sizes]
    rows = [(ctypes.c_void_p * max(1, len(all)))(*map(ctypes.addressof, all)) for all in (given, made)]
    error = function(*rows)
    if error:
        return error.decode()
    if any(g.raw[: len(data)] != data for g, data in zip(given, inputs)):
        return "an input was changed"
    if any(m.raw[size:] != BEHIND for m, size in zip(made, sizes)):
        return "something behind an output was changed"
    return [m.raw[:size] for m, size in zip(made, sizes)]


def wrong(program, build, cpu):
    """Why a program fails, REFUSED, or nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compiled = run(build / "bin/strata", "compile", program, "--name", "f", "--cpu", cpu, "-o", folder / "f.o")
        wanted = run(build / "bin/strata-run", program, f"--args={program.with_suffix('.safetensors')}", f"--out={folder}/out.safetensors")
        if compiled.returncode != 0:
            return REFUSED if wanted.returncode in (2, 3) else compiled.stderr.strip()
        if wanted.returncode != 0:
            return f"strata-run alone refuses it: {wanted.stderr.strip()}"
        linked = run("cc", "-shared", "-Wl,-z,defs", "-o", folder / "f.so", folder / "f.o", f"-L{build}/lib", "-lstrata_rt", "-lstdc++", "-lm")
        if linked.returncode != 0:
            return linked.stderr.strip()
        outputs = tensors(folder / "out.safetensors", "out")
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            got = by_object(folder / "f.so", tensors(program.with_suffix(".safetensors"), "in"), [len(o) for o in outputs])
            os.write(writer, (got if isinstance(got, str) else "" if got == outputs else "other bits").encode())
            os._exit(0)
        os.close(writer)
        said = os.read(reader, 4096).decode()
        os.close(reader)
        status = os.waitpid(child, 0)[1]
        return said or (f"ended with status {status}" if status else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--cpu", default="x86-64-v3")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("pattern", nargs="?", default="")
    options = parser.parse_args()
    programs = sorted(p for p in (ROOT / "conformance/jax").rglob("*.mlir") if p.with_suffix(".safetensors").exists() and options.pattern in str(p))
    programs = programs[:: options.every]
    build = options.build.resolve()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        reasons = list(pool.map(wrong, programs, [build] * len(programs), [options.cpu] * len(programs)))
    for program, reason in zip(programs, reasons):
        if reason not in ("", REFUSED):
            print(f"FAIL {program.relative_to(ROOT)}: {reason}")
    failed = sum(reason not in ("", REFUSED) for reason in reasons)
    print(f"{reasons.count(REFUSED)} {REFUSED}")
    print(f"{len(programs) - failed} passed, {failed} failed")
    return 1 if failed or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
