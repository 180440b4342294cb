#!/usr/bin/env python3
"""Writes upstream.json beside Orbax's stored compatibility checkpoints: what orbax-checkpoint does.

    JAX_PLATFORMS=cpu python3.12 tools/goldens/orbax_compatibility.py

strata/checkpoint/testdata/orbax/compatibility is google/orbax 3ff7b24a, checkpoint/orbax/checkpoint/
experimental/v1/_src/testing/compatibility/checkpoints (Apache License 2.0), as it is. Packages:
orbax-checkpoint 0.12.0, jax 0.10.2. For each folder with a step's files: "reads", with the number
of arrays, by the second API's load or load_checkpointables, or "refuses" with the error's type.
"""
import json, logging, pathlib, warnings
import jax
import orbax.checkpoint
from orbax.checkpoint import v1 as ocp

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[2] / "strata/checkpoint/testdata/orbax/compatibility"


def attempt(f):
  try:
    return {"does": "reads", "arrays": len([x for x in jax.tree.leaves(f()) if hasattr(x, "shape")])}
  except Exception as e:  # whatever it is, it is what a user meets
    return {"does": "refuses", "error": type(e).__name__}


def main():
  out = {}
  for kind in sorted(p for p in ROOT.glob("*/*/*") if p.is_dir()):
    for folder in sorted(p for p in kind.iterdir() if p.is_dir()):
      one = attempt(lambda: ocp.load(folder))
      items = attempt(lambda: ocp.load_checkpointables(folder))
      out[str(folder.relative_to(ROOT))] = {"load": one, "load_checkpointables": items}
  (ROOT / "upstream.json").write_text(json.dumps(
      {"versions": {"orbax-checkpoint": orbax.checkpoint.__version__, "jax": jax.__version__},
       "source": "google/orbax 3ff7b24a, Apache License 2.0", "folders": out}, indent=1) + "\n")
  for name, row in out.items(): print(name, row)


if __name__ == "__main__":
  main()
