"""Builds the wheel of strata_jax: its Python files and the plugin that the repository has built, nothing else.

A build backend in the sense of PEP 517, so `pip install ./python` works without a network; `make wheel` calls it as a program.
The tag names the oldest C library that the plugin's symbols ask for, 2.34 at least.
"""
import base64
import hashlib
import os
import pathlib
import re
import sys
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = "libstrata_pjrt.so"
OLDEST_C_LIBRARY = 34


def project():
    return tomllib.loads((HERE / "pyproject.toml").read_text())["project"]


def version():
    return re.search(r'VERSION = "(.*)"', (HERE / "strata_jax" / "_version.py").read_text()).group(1)


def library():
    path = pathlib.Path(os.environ.get("STRATA_PJRT_LIBRARY", HERE.parent / "build" / "lib" / LIBRARY))
    if not path.exists():
        raise SystemExit(f"{LIBRARY} is not built: `make wheel` builds it, STRATA_PJRT_LIBRARY names another")
    return path.read_bytes()


def tag(plugin):
    """Of the platform: the newest version of glibc among the names of the plugin's symbols' versions."""
    needed = max((int(v) for v in re.findall(rb"\0GLIBC_2\.(\d+)(?=\0|\.)", plugin)), default=0)
    return f"py3-none-manylinux_2_{max(needed, OLDEST_C_LIBRARY)}_x86_64"


def metadata():
    facts = project()
    lines = ["Metadata-Version: 2.1", f"Name: {facts['name']}", f"Version: {version()}", f"Summary: {facts['description']}"]
    lines += [f"License: {facts['license']['text']}", f"Requires-Python: {facts['requires-python']}"]
    lines += [f"Requires-Dist: {name}" for name in facts["dependencies"]]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / facts["readme"]).read_text()]
    return "\n".join(lines).encode()


def entry_points():
    groups = project()["entry-points"]
    return "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in items.items()) for group, items in groups.items()).encode()


def files(plugin):
    yield from ((f"strata_jax/{p.name}", p.read_bytes()) for p in sorted((HERE / "strata_jax").glob("*.py")) if not p.stem.endswith("_test"))
    yield f"strata_jax/{LIBRARY}", plugin
    info = f"strata_jax-{version()}.dist-info"
    yield f"{info}/METADATA", metadata()
    yield f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: strata\nRoot-Is-Purelib: false\nTag: {tag(plugin)}\n".encode()
    yield f"{info}/entry_points.txt", entry_points()
    yield f"{info}/licenses/LICENSE", (HERE.parent / "LICENSE").read_bytes()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    plugin = library()
    name = f"strata_jax-{version()}-{tag(plugin)}.whl"
    record = []
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(path, data):
            # The same bytes for the same files: no time of day.
            entry = zipfile.ZipInfo(path)
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)

        for path, data in files(plugin):
            add(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")
        path = f"strata_jax-{version()}.dist-info/RECORD"
        add(path, "\n".join([*record, f"{path},,", ""]).encode())
    return name


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / build_wheel(folder)
    print(f"{made}: {made.stat().st_size / 1e6:.1f} MB, of which installed {LIBRARY} is {len(library()) / 1e6:.1f} MB")
