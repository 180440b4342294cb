#!/usr/bin/env python3
"""Writes strata/checkpoint/testdata/orbax_layouts: trees as programs save them without items.

    python3 tools/goldens/orbax_layouts.py

    standard    StandardCheckpointer: an array and typed random keys in the folder itself
    text        PyTreeCheckpointer: an array and a text, there too
    one, one_files, one3_files    a tree that is one array, with and without a database
    slashes     {"a/b": ..., "a": {"b": ...}}
    items       an item called "default" beside a JSON item and a tree with metadata of its own

Elements count up from 0; the keys are of seed 3. `orbax_layouts.py check FOLDER` restores what Strata
wrote there and says what each leaf is.
"""
import json
import os
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "strata/checkpoint/testdata/orbax_layouts"
REQUIREMENTS = ["orbax-checkpoint==0.12.8", "jax==0.10.2"]
os.environ["JAX_PLATFORMS"] = "cpu"

try:
    import jax
    import orbax.checkpoint as ocp
except ImportError:
    from peers import again_with

    again_with(*REQUIREMENTS)

import jax.numpy as jnp


def write():
    standard = ocp.StandardCheckpointer()
    standard.save(DATA / "standard", {"w": jnp.arange(8.0).reshape(4, 2), "key": jax.random.key(3),
                                      "keys": jax.random.split(jax.random.key(3, impl="rbg"), 4)})
    standard.wait_until_finished()
    for name, options in {"one": {}, "one_files": {"use_ocdbt": False}, "one3_files": {"use_ocdbt": False, "use_zarr3": True}}.items():
        ocp.Checkpointer(ocp.PyTreeCheckpointHandler(**options)).save(DATA / name, args=ocp.args.PyTreeSave(jnp.arange(7)))
    ocp.PyTreeCheckpointer().save(DATA / "text", {"text": "hello", "w": jnp.arange(3)})
    ocp.PyTreeCheckpointer().save(DATA / "slashes", {"a/b": jnp.arange(3), "a": {"b": jnp.arange(4)}})
    ocp.Checkpointer(ocp.CompositeCheckpointHandler()).save(DATA / "items", args=ocp.args.Composite(
        default=ocp.args.StandardSave({"a": jnp.arange(4)}), about=ocp.args.JsonSave({"q": 1}),
        other=ocp.args.PyTreeSave({"z": jnp.arange(2)}, custom_metadata={"x": 1})))
    for file in DATA.rglob("commit_success.txt"):  # which name where they were written
        file.write_text(file.read_text().replace(f"{DATA}/", ""))
    (DATA / "manifest.json").write_text(json.dumps({"versions": {"orbax-checkpoint": ocp.__version__, "jax": jax.__version__}, "seed": 3,
                                                    "by": "tools/goldens/orbax_layouts.py"}, indent=1) + "\n")


def check(folder):
    for path in sorted(p for p in pathlib.Path(folder).resolve().iterdir() if p.is_dir()):
        tree = ocp.StandardCheckpointer().restore(path) if path.name == "standard" else ocp.PyTreeCheckpointer().restore(path) if (
            path / "_METADATA").exists() else dict(ocp.Checkpointer(ocp.CompositeCheckpointHandler()).restore(path).items())
        for keys, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
            print(path.name, jax.tree_util.keystr(keys), getattr(leaf, "dtype", ""), leaf)


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        check(sys.argv[2])
    else:
        shutil.rmtree(DATA, ignore_errors=True)
        DATA.mkdir(parents=True)
        write()
