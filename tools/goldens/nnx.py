#!/usr/bin/env python3
"""Writes strata/nn/testdata/nnx/*.json: what layers and functions of flax.nnx 0.12.8 do, op by op.

    tools/goldens/nnx.py             # rewrites all families
    tools/goldens/nnx.py products    # rewrites one

A family is a file of nnx_cases/ with a function `cases`. What a file holds is told in
strata/nn/testdata/nnx/README.md. Needs flax 0.12.8, jax 0.10.2 and optax 0.2.8; makes build/peers
with them when this Python has none.
"""
import importlib
import json
import os
import pathlib
import sys
import warnings

os.environ["JAX_PLATFORMS"] = "cpu"
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "strata" / "nn" / "testdata" / "nnx"
FAMILIES = """products norms recurrent attention others rngs filters state metrics training transforms
    tabulate sharding initial linen""".split()

try:
    import flax
    import jax
    import optax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2", "flax==0.12.8", "optax==0.2.8", "numpy")

warnings.filterwarnings("ignore")
jax.config.update("jax_default_matmul_precision", "highest")


def write(family):
    found = list(importlib.import_module(f"nnx_cases.{family}").cases())
    names = [c["name"] for c in found]
    assert len(set(names)) == len(names), [n for n in names if names.count(n) > 1]
    manifest = {"flax": flax.__version__, "jax": jax.__version__, "optax": optax.__version__,
                "script": "tools/goldens/nnx.py"}
    lines = [json.dumps(c, separators=(",", ":")) for c in found]
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{family}.json"
    path.write_text('{"manifest":' + json.dumps(manifest) + ',"cases":[\n' + ",\n".join(lines) + "\n]}\n")
    print(f"{len(found):4} cases {path.stat().st_size / 1e3:7.1f} kB  {path.relative_to(ROOT)}", flush=True)


if __name__ == "__main__":
    for family in sys.argv[1:] or FAMILIES:
        write(family)
