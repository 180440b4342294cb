"""One program through strata-run: its text and arguments in files, its report and results back."""
import importlib.util
import json
import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np

DTYPES = {"BOOL": np.bool_, "U8": np.uint8, "I8": np.int8, "U16": np.uint16, "I16": np.int16, "U32": np.uint32, "I32": np.int32, "U64": np.uint64, "I64": np.int64,
          "F16": np.float16, "BF16": ml_dtypes.bfloat16, "F32": np.float32, "F64": np.float64, "C64": np.complex64}
NAMES = {np.dtype(kind).name: name for name, kind in DTYPES.items()}


ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = pathlib.Path(os.environ.get("STRATA_BUILD", ROOT / "build")) / "bin" / "strata-run"


def save(name, lines, data):
    """A benchmark's table and its numbers: NAME.md and NAME.json in the build's folder bench."""
    folder = PROGRAM.parents[1] / "bench"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.md").write_text("\n".join(lines).rstrip("\n") + "\n")
    (folder / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")


PROGRAMS = ROOT / "bench" / "programs.py"


def module(file):
    """What a file like bench/programs.py defines."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(file).stem, file)
    out = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(out)
    return out


def programs(file=PROGRAMS):
    """Name -> a function that makes a program and its arguments."""
    return module(file).PROGRAMS


def bound(name):
    """How far a result may be from JAX's."""
    return 6e-2 if "bf16" in name else 1e-4


def write_safetensors(path, tensors):
    """An eight-byte length, a JSON header, the bytes of all tensors."""
    header, blobs, end = {}, [], 0
    for name, value in tensors.items():
        value = np.asarray(value, order="C")
        header[name] = {"dtype": NAMES[value.dtype.name], "shape": list(value.shape), "data_offsets": [end, end + value.nbytes]}
        blobs.append(value.tobytes())
        end += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def read_safetensors(path):
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    return {n: np.frombuffer(data[start + h["data_offsets"][0] : start + h["data_offsets"][1]], DTYPES[h["dtype"]]).reshape(h["shape"]) for n, h in header.items()}


def distance(got, want):
    """Relative L2 of floats, the share of unequal elements of others; infinite where shapes differ or a value is not finite and not theirs, too."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    if want.dtype.kind in "iub":
        return float(np.mean(got != want)) if want.size else 0.0
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    g, w = got.astype(wide).ravel(), want.astype(wide).ravel()
    finite = np.isfinite(w)
    if not np.array_equal(g[~finite], w[~finite], equal_nan=True) or not np.isfinite(g[finite]).all():
        return float("inf")
    g, w = g[finite], w[finite]
    return float(np.linalg.norm(g - w) / max(float(np.linalg.norm(w)), 1e-30))


def strata_run(folder, text, arguments, runs):
    """The report of strata-run with nothing cached (median_s, compile_s, temporary_bytes), results."""
    (folder / "program.mlir").write_text(text)
    write_safetensors(folder / "in.safetensors", {f"in.{i}": a for i, a in enumerate(arguments)})
    argv = [PROGRAM, folder / "program.mlir", f"--args={folder}/in.safetensors", f"--out={folder}/out.safetensors", f"--time={runs}", "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=900, env={**os.environ, "STRATA_CACHE_DIR": str(folder / "cache")})
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-200:] or f"strata-run ended with {done.returncode}")
    report = json.loads(done.stdout.strip().splitlines()[-1])
    return report, read_safetensors(folder / "out.safetensors")
