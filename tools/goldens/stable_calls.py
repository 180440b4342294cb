#!/usr/bin/env python3
"""Writes conformance/exports/stable: programs with the custom calls that JAX's exports promise to keep stable, and a table of all of them.

    tools/goldens/stable_calls.py           # writes NAME.mlirbc, NAME.safetensors, targets.txt
    tools/goldens/stable_calls.py --check   # says whether JAX's list is still the table's

Programs are those by which JAX tests that old exports still run (jax._src.internal_test_util.export_back_compat_test_data), as they
were serialised then, with arguments and results (in.0, ..., out.0, ...). What these do not hold is exported now. targets.txt has a
line for each name in jax._src.export._export._CUSTOM_CALL_TARGETS_GUARANTEED_STABLE: `TARGET: FILE ...`, the programs that call
it, or `TARGET: not applicable, REASON`. Needs jax 0.10.2; makes build/peers with it when this Python has none.
"""
import importlib
import pkgutil
import sys

from random_exports import ROOT, write_safetensors  # in build/peers from here on

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax._src.export import _export
from jax._src.interpreters import mlir
from jax._src.internal_test_util import export_back_compat_test_data as old
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

FOLDER = ROOT / "conformance" / "exports" / "stable"
OTHERS = {
    "cu_": "a kernel of JAX for CUDA",
    "cusolver_": "a library of CUDA",
    "cusparse_": "a library of CUDA",
    "hip_": "a kernel of JAX for ROCm",
    "hipsolver_": "a library of ROCm",
    "mosaic_gpu": "Pallas kernels for GPUs",
    "tpu_custom_call": "Pallas kernels for TPUs",
    "Eigh": "the TPU's; JAX exports lapack_*syevd for CPUs",
    "LuDecomposition": "the TPU's; JAX exports lapack_*getrf for CPUs",
    "tf.call_tf_function": "a function of TensorFlow, which only TensorFlow's runtime has",
}
# Results that more than one answer fits: the signs of vectors, and their choice where eigenvalues are equal. That they are what
# their names say is tested by strata/op/foreign/lapack/lapack_test.cc.
FREE = {"cpu_eig_geev": (1, 2), "cpu_eigh_syev": (0,), "cpu_schur_gees": (1,)}
# A reduction whose initial value is not neutral: how often it counts is a TPU's matter.
LEFT_OUT = {"tpu_stablehlo_dynamic_reduce_window_variadic_2023_06_17"}
# What shard_map gave before Shardy, on one device.
SHARDED = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.add %1, %1 : tensor<2x3xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{replicated}"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %4 : tensor<2x3xf32>
}
"""


def not_applicable(target):
    return next((reason for start, reason in OTHERS.items() if target.startswith(start)), None)


def entries(value, name):
    """Nested dicts and lists of test data, by their names."""
    if isinstance(value, dict) and "testdata_version" in value:
        yield name, value
    elif isinstance(value, (dict, list, tuple)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from entries(inner, f"{name}_{key}")


def recorded():
    """Programs of one device whose calls are all for every platform or for CPUs."""
    for info in pkgutil.iter_modules(old.__path__):
        if info.ispkg:
            continue
        for name, value in vars(importlib.import_module(f"{old.__name__}.{info.name}")).items():
            for path, e in entries(value, f"{info.name}_{name}") if name.startswith("data") else ():
                targets = set(e["custom_call_targets"])
                stable = targets <= _export._CUSTOM_CALL_TARGETS_GUARANTEED_STABLE
                path = path.replace("_data_", "_").replace("_lapack", "")
                if targets and path not in LEFT_OUT and stable and not any(map(not_applicable, targets)) and (e.get("nr_devices") or 1) == 1:
                    yield path, e["mlir_module_serialized"], e["inputs"], e["expected_outputs"], targets


def made():
    """Programs for what JAX's data has for several devices alone, or not at all."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    empty = lambda x: jnp.where(x < 9, x * 2, lax.empty(x.shape, x.dtype))
    data = export.export(jax.jit(empty), platforms=["tpu"])(x).mlir_module_serialized
    yield "allocate_buffer", data, (x,), (x * 2,), {"AllocateBuffer"}
    y = np.arange(6, dtype=np.int32).reshape(2, 3)
    running = lambda x, y: lax.reduce_window((x, y), (np.float32(0), np.int32(-9)), lambda a, b: (a[0] + b[0], lax.max(a[1], b[1])), (x.shape[0], 2), (1, 1), "SAME")
    b = export.symbolic_shape("b")[0]
    exported = export.export(jax.jit(running), platforms=["cpu"])(*(jax.ShapeDtypeStruct((b, 3), a.dtype) for a in (x, y)))
    yield "dynamic_reduce_window_variadic", exported.mlir_module_serialized, (x, y), exported.call(x, y), {"shape_assertion", "stablehlo.dynamic_reduce_window"}
    with mlir.make_ir_context():
        data = stablehlo.serialize_portable_artifact(ir.Module.parse(SHARDED), "1.0.0")
    yield "sharding", data, (x,), (x * 2,), {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"}


def table(programs):
    lines = []
    for target in sorted(_export._CUSTOM_CALL_TARGETS_GUARANTEED_STABLE):
        files = [name for name, _, _, _, targets in programs if target in targets]
        reason = not_applicable(target)
        lines.append(f"{target}: " + (f"not applicable, {reason}" if reason else " ".join(files)))
    return "".join(f"{line}\n" for line in lines)


def main():
    jax.config.update("jax_enable_x64", True)
    programs = sorted([*recorded(), *made()], key=lambda p: p[0])
    if "--check" in sys.argv[1:]:
        same = (FOLDER / "targets.txt").read_text() == table(programs)
        print("" if same else f"JAX {jax.__version__} has another list than targets.txt", end="")
        return 0 if same else 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, data, inputs, outputs, _ in programs:
        (FOLDER / f"{name}.mlirbc").write_bytes(data)
        free = next((numbers for start, numbers in FREE.items() if name.startswith(start)), ())
        outputs = {i: a for i, a in enumerate(outputs) if i not in free}
        tensors = {f"{kind}.{i}": np.asarray(a) for kind, arrays in (("in", dict(enumerate(inputs))), ("out", outputs)) for i, a in arrays.items()}
        wide = any(a.dtype in (np.float64, np.complex128) for a in tensors.values())
        tolerance = "1e-9" if wide else "1e-4"
        write_safetensors(FOLDER / f"{name}.safetensors", tensors, {"rtol": tolerance, "atol": tolerance, "jax": jax.__version__})
    (FOLDER / "targets.txt").write_text(table(programs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
