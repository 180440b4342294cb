#!/usr/bin/env python3
"""Writes the portable artifacts that tests of strata/ir/bytecode read: what jaxlib makes of testdata/*.mlir there.

    tools/goldens/artifacts.py            # writes testdata/artifacts/NAME-RELEASE.mlirbc
    tools/goldens/artifacts.py --check    # says whether they are as jaxlib writes them today
    tools/goldens/artifacts.py --all DIR  # every program below conformance/ that jaxlib reads, at the newest release

A program is written for each release of StableHLO below in which jaxlib can say it and at which its bytes can differ, beside
it (NAME-RELEASE.mlir) jaxlib's own print of what it reads from them where that is not the program as it stands. Needs jax
0.10.2 (StableHLO 1.17.0); makes build/peers with it when this Python has none.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "strata" / "ir" / "bytecode" / "testdata"
# Where the format, an operation or a type changed.
RELEASES = ["0.9.0", "0.10.0", "0.12.0", "0.14.0", "0.15.0", "0.20.0", "1.1.0", "1.5.0", "1.8.0", "1.10.0", "1.13.0", "1.17.0"]


try:
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2")


def artifact(text: str, release: str):
    """The bytes and jaxlib's print of what it reads from them; nothing where jaxlib cannot say the program in that release."""
    with mlir.make_ir_context() as context:
        module = ir.Module.parse(text)
        try:
            data = stablehlo.serialize_portable_artifact(module, release, True)
        except (ir.MLIRError, ValueError):
            return None
        return data, stablehlo.deserialize_portable_artifact(context, data).operation.get_asm()


def body(data: bytes) -> bytes:
    """All but the name of the release, which is as long as it is."""
    return data[data.index(b"\0") :]


def wanted() -> dict[str, bytes]:
    files = {}
    for path in sorted(DATA.glob("*.mlir")):
        text, before = path.read_text(), None
        asm = re.sub(r"^//.*\n", "", text)
        for release in RELEASES:
            made = artifact(text, release)
            if made is None or body(made[0]) == before:
                continue
            before = body(made[0])
            files[f"{path.stem}-{release}.mlirbc"] = made[0]
            if made[1] != asm:
                files[f"{path.stem}-{release}.mlir"] = made[1].encode()
    return files


def write_all(folder: pathlib.Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for path in sorted((ROOT / "conformance").rglob("*.mlir")):
        for number, part in enumerate(re.split(r"^// -----.*\n?", path.read_text(), flags=re.M)):
            try:
                made = artifact(part, RELEASES[-1])
            except ir.MLIRError:
                continue
            if made:
                name = str(path.relative_to(ROOT / "conformance")).replace("/", "__")
                (folder / f"{name}.{number}.mlirbc").write_bytes(made[0])
                (folder / f"{name}.{number}.mlir").write_text(made[1])
                count += 1
    print(f"{count} programs")
    return 0


def main() -> int:
    if "--all" in sys.argv:
        return write_all(pathlib.Path(sys.argv[sys.argv.index("--all") + 1]))
    files, folder = wanted(), DATA / "artifacts"
    if "--check" in sys.argv:
        same = files == {p.name: p.read_bytes() for p in folder.iterdir()}
        print("as jaxlib writes them" if same else "different from what jaxlib writes")
        return 0 if same else 1
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
