#!/usr/bin/env python3
"""Writes strata/checkpoint/testdata/orbax/: checkpoints as Orbax and TensorStore write them, which Strata reads.

    v0, v0_zarr3, v0_files    one tree of every kind and dtype; files: without a database
    manager/7                                 of a CheckpointManager: a sharded tree, a JSON item, metrics
    v1                                        of the second API
    zarr/NAME                                 Zarr arrays with options that Orbax does not use
    deep                                      a database whose tree has several levels and generations

Values are counted up from -3 in every array, so that tests know them without a file. `orbax_checkpoints.py check FOLDER`
restores what Strata wrote there by Orbax and says what each leaf is.
"""
import collections
import os
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "strata/checkpoint/testdata/orbax"
REQUIREMENTS = ["orbax-checkpoint==0.12.8", "tensorstore==0.1.86", "jax==0.10.2", "ml_dtypes==0.6.0"]
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

try:
    import jax
    import ml_dtypes  # noqa: F401
    import numpy as np
    import orbax.checkpoint as ocp
    import orbax.checkpoint.experimental.v1 as v1
    import tensorstore as ts
except ImportError:
    from peers import again_with

    again_with(*REQUIREMENTS)

import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
DTYPES = ["bool", "int4", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2",
          "float8_e4m3b11fnuz", "bfloat16", "float16", "float32", "float64", "complex64", "complex128"]
Pair = collections.namedtuple("Pair", "p q")


def counted(shape, dtype):
    n = np.arange(np.prod(shape, dtype=int)) - 3
    if dtype == "bool":
        n = n % 2
    if dtype.startswith("uint"):
        n = abs(n)
    if dtype.startswith("complex"):
        n = n - 1j
    return n.astype(jnp.dtype(dtype)).reshape(shape)


def sharded():
    mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x", "y"))


def tree():
    return {"dtypes": {d: jnp.asarray(counted((5,), d)) for d in DTYPES}, "w": jax.device_put(counted((8, 6), "float32"), sharded()),
            "big": jnp.asarray(counted((40, 50), "int32")), "list": [jnp.asarray(counted((2,), "float32")), (jnp.asarray(counted((), "int8")), 3)],
            "pair": Pair(jnp.float32(1.5), counted((3,), "int64")), "none": None, "dict": {}, "empty_list": [], "empty_tuple": (), "text": "h\u00e9llo",
            "float": 2.5, "dotted.name": jnp.asarray(counted((1,), "float32"))}


def orbax_folders():
    for name, options in {"v0": {}, "v0_zarr3": {"use_zarr3": True}, "v0_files": {"use_ocdbt": False}}.items():
        ocp.PyTreeCheckpointer(**options).save(DATA / name, tree())
    with ocp.CheckpointManager(DATA / "manager", options=ocp.CheckpointManagerOptions(best_fn=lambda m: m["loss"])) as manager:
        state = {"w": jax.device_put(counted((8, 6), "float32"), sharded()), "step": 7}
        manager.save(7, args=ocp.args.Composite(state=ocp.args.StandardSave(state), meta=ocp.args.JsonSave({"a": 1})), metrics={"loss": 0.5})
        manager.wait_until_finished()
    state = tree()
    state.pop("pair")
    v1.save(DATA / "v1", state)


def zarr_arrays():
    v2 = {"big_endian": {"dtype": ">f4", "compressor": None}, "gzip": {"dtype": "<i2", "compressor": {"id": "gzip", "level": 5}},
          "zlib": {"dtype": "<c8", "compressor": {"id": "zlib", "level": 5}}, "bz2": {"dtype": "|u1", "compressor": {"id": "bz2", "level": 5}},
          "fortran": {"dtype": "<f8", "order": "F", "compressor": None}, "slash": {"dtype": "<i4", "dimension_separator": "/", "fill_value": 9}}
    for name, options in v2.items():
        metadata = {"compressor": {"id": "zstd", "level": 1}, **options, "shape": [5, 7], "chunks": [2, 3]}
        store = ts.open({"driver": "zarr", "kvstore": f"file://{DATA}/zarr/v2_{name}/", "metadata": metadata, "create": True}).result()
        target = store if name != "slash" else store[:2, :3]
        target[...] = counted((5, 7), store.dtype.name)[:target.shape[0], :target.shape[1]]
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    big = {"name": "bytes", "configuration": {"endian": "big"}}
    crc = {"name": "crc32c"}
    shards = {"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 2], "codecs": [little, {"name": "gzip", "configuration": {"level": 5}}],
                                                           "index_codecs": [little, crc]}}
    start = {"name": "sharding_indexed", "configuration": {**shards["configuration"], "index_location": "start", "codecs": [big, crc]}}
    v3 = {"crc": {"codecs": [little, crc]}, "transpose": {"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, big]},
          "shards": {"codecs": [shards]}, "shards_start": {"codecs": [start]}, "fill": {"codecs": [little], "fill_value": "NaN"},
          "v2_keys": {"codecs": [little], "chunk_key_encoding": {"name": "v2"}}}
    for name, options in v3.items():
        metadata = {"data_type": "float32", "shape": [5, 7], **options,
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}}}
        store = ts.open({"driver": "zarr3", "kvstore": f"file://{DATA}/zarr/v3_{name}/", "metadata": metadata, "create": True}).result()
        target = store if name != "fill" else store[:4, :4]
        target[...] = counted((5, 7), "float32")[:target.shape[0], :target.shape[1]]


def deep_database():
    store = ts.KvStore.open({"driver": "ocdbt", "base": f"file://{DATA}/deep/", "config": {"max_decoded_node_bytes": 1000, "max_inline_value_bytes": 10,
                            "version_tree_arity_log2": 1}}).result()
    for i in range(120):
        store.write(f"a/long/prefix/{i * 37 % 120:03}".encode(), (b"%03d" % (i * 37 % 120)) * (1 + i % 7)).result()


def check(folder):
    for step in sorted(pathlib.Path(folder).iterdir()):
        if (step / "orbax.checkpoint").exists():
            restored = v1.load(step)
        elif (step / "_METADATA").exists():
            restored = ocp.PyTreeCheckpointer().restore(step)
        else:
            items = [p.name for p in step.iterdir() if (p / "_METADATA").exists()]
            restored = ocp.Checkpointer(ocp.CompositeCheckpointHandler()).restore(step, args=ocp.args.Composite(**{i: ocp.args.PyTreeRestore() for i in items}))
            restored = {i: restored[i] for i in items}
        for path, leaf in jax.tree_util.tree_flatten_with_path(restored)[0]:
            leaf = np.asarray(leaf)
            print(step.name, jax.tree_util.keystr(path), leaf.dtype, leaf.shape, "counted" if leaf.dtype.kind not in "OUS" and
                  (leaf == counted(leaf.shape, str(leaf.dtype))).all() else leaf.tolist())


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        check(sys.argv[2])
    else:
        shutil.rmtree(DATA, ignore_errors=True)
        DATA.mkdir(parents=True)
        orbax_folders()
        zarr_arrays()
        deep_database()
        for file in DATA.rglob("commit_success.txt"):  # which name where they were written
            file.write_text(file.read_text().replace(f"{DATA}/", ""))
