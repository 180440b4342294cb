#!/usr/bin/env python3
"""Writes the loops of bench/loops_in_place.py, lowered by JAX 0.10.2, in two lengths.

    tools/goldens/loops.py            # conformance/loops/NAME.mlir, NAME.safetensors (JAX's values); strata/compile/testdata/loops/NAME.mlir, four times as long
    tools/goldens/loops.py --check    # says whether they are as JAX writes them today

strata-conformance runs the short ones; strata/compile/kernel/loop/loops_in_place_test.cc counts what both cost.
Needs jax 0.10.2; makes build/peers with it when this Python has none.
"""
import sys

import primitives  # in build/peers from here on

sys.path.insert(0, str(primitives.ROOT / "bench"))
from loops_in_place import LOOPS  # noqa: E402

import jax  # noqa: E402
import numpy as np  # noqa: E402

SHORT, LONG = primitives.ROOT / "conformance" / "loops", primitives.ROOT / "strata" / "compile" / "testdata" / "loops"
LENGTH = {"wide_rows": 64, "cache_of_keys": 64, "table": 640, "batched": 128}  # others 300: arrays of more than 1 kB


def values(f, args):
    tensors = {f"in.{i}": np.asarray(a) for i, a in enumerate(args)}
    tensors |= {f"out.{i}": np.asarray(a) for i, a in enumerate(jax.tree.leaves(jax.jit(f)(*args)))}
    return primitives.safetensors(tensors, {"rtol": "1e-05", "atol": "1e-06", "jax": jax.__version__})


def wanted():
    files = {}
    for name, make in LOOPS.items():
        for folder, factor in ((SHORT, 1), (LONG, 4)):
            f, args = make(factor * LENGTH.get(name, 300))
            files[folder / f"{name}.mlir"] = jax.jit(f, keep_unused=True).lower(*args).as_text().encode()
            if folder == SHORT:
                files[folder / f"{name}.safetensors"] = values(f, args)
    return files


def main():
    files = wanted()
    if "--check" in sys.argv:
        same = files == {p: p.read_bytes() for folder in (SHORT, LONG) for p in folder.iterdir()}
        print("as JAX writes them" if same else "different from what JAX writes")
        return 0 if same else 1
    for folder in (SHORT, LONG):
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
    for path, data in files.items():
        path.write_bytes(data)
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
