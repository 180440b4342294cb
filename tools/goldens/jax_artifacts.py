#!/usr/bin/env python3
"""Records conformance/artifacts/: the programs of conformance/primitives as the bytes that JAX gives to a plugin, release by release.

    tools/goldens/jax_artifacts.py            # writes conformance/artifacts/NAME-RELEASE.mlirbc
    tools/goldens/jax_artifacts.py --check    # says whether they are as JAX writes them today

JAX asks a plugin which release of StableHLO it reads and writes its programs for that one: portable artifacts with locations,
calls, composites and shardings as they come. Each program is written for the first release in which it can be said, 1.0.0 to
1.17.0, and again where its bytes change. Its values stand in conformance/primitives/NAME.safetensors; tests/artifacts_test.py runs
every file against them. (Hand-written programs of each release are made by artifacts.py.) Needs jax 0.10.2; makes build/peers with
it when this Python has none.
"""
import pathlib
import sys

import primitives  # in build/peers from here on
from artifacts import body

import jax
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

FOLDER = primitives.ROOT / "conformance" / "artifacts"
RELEASES = [f"1.{minor}.0" for minor in range(18)]

# No machine's folders in what is written.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")


def lowered(f, args):
    """As primitives.py lowers it, but with what jax.jit adds of its own."""
    jitted = jax.jit(f, keep_unused=True)
    module = jitted.lower(*args).compiler_ir()
    if "custom_call" in str(module):
        module = jitted.trace(*args).lower(lowering_platforms=("tpu",)).compiler_ir()
    return module


def artifacts(module):
    """Release and bytes, each that differs from the one before."""
    before = None
    with module.context:
        for release in RELEASES:
            try:
                data = stablehlo.serialize_portable_artifact(module, release, True)
            except (ir.MLIRError, ValueError):
                continue
            if body(data) != before:
                before = body(data)
                yield release, data


def wanted():
    primitives.PRIMITIVES = primitives.all_primitives()
    files = {}
    for name, entry in sorted(primitives.programs().items()):
        if isinstance(entry, str) or not (primitives.FOLDER / f"{name.replace('-', '_')}.safetensors").exists():
            continue
        for release, data in artifacts(lowered(*entry)):
            files[f"{name.replace('-', '_')}-{release}.mlirbc"] = data
    return files


def main():
    files = wanted()
    if "--check" in sys.argv:
        same = files == {p.name: p.read_bytes() for p in FOLDER.glob("*.mlirbc")}
        print("as JAX writes them" if same else "different from what JAX writes")
        return 0 if same else 1
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.mlirbc"):
        old.unlink()
    for name, data in files.items():
        (FOLDER / name).write_bytes(data)
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
