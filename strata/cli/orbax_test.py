#!/usr/bin/env python3
"""Orbax restores what `strata checkpoint convert` writes, and Strata reads what Orbax writes, to the bit.

    strata/cli/orbax_test.py BIN      BIN: the folder of the programs (default build/bin)

A program of Flax NNX goes on from our directory, and every checkpoint of Orbax's own compatibility set that it calls good is read.
Needs jax, flax and orbax-checkpoint, in this Python or in build/peers; without them, skipped (status 77).
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/bin").resolve()
MODEL = ("base_emb_dim=16 base_num_query_heads=2 base_num_kv_heads=1 head_dim=8 base_mlp_dim=24 base_num_decoder_layers=2 "
         "max_target_length=16 per_device_batch_size=2").split()
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

sys.path.insert(0, str(ROOT / "tests"))
import peers

try:
    import jax
    import jax.numpy as jnp
    import ml_dtypes
    import numpy as np
    import orbax.checkpoint as ocp
    import orbax.checkpoint.experimental.v1 as v1
    from flax import nnx
except ImportError:
    peers.run_again("orbax-checkpoint", BIN)

DTYPES = {"F32": np.float32, "BF16": ml_dtypes.bfloat16, "I32": np.int32, "U32": np.uint32, "F16": np.float16, "I8": np.int8, "U8": np.uint8,
          "BOOL": np.bool_, "I64": np.int64, "F64": np.float64, "F8_E4M3": ml_dtypes.float8_e4m3fn}
failed = 0


def fact(name, ok, why=""):
    global failed
    failed += not ok
    print("ok" if ok else "FAILED", name, "" if ok else why)


def strata(*arguments, status=0):
    done = subprocess.run([BIN / "strata", *map(str, arguments)], capture_output=True, text=True)
    if status is not None and done.returncode != status:
        raise SystemExit(f"strata {arguments}: {done.returncode}\n{done.stderr}")
    return done


def tensors(path):
    data = pathlib.Path(path).read_bytes()
    n = int.from_bytes(data[:8], "little")
    return {name: np.frombuffer(data[8 + n + t["data_offsets"][0]:8 + n + t["data_offsets"][1]], DTYPES[t["dtype"]]).reshape(t["shape"])
            for name, t in json.loads(data[8:8 + n]).items() if name != "__metadata__"}


def flat(tree):
    return {"/".join(str(getattr(k, "key", getattr(k, "idx", getattr(k, "name", k)))) for k in path): np.asarray(leaf)
            for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}


def same(a, b):
    return a.keys() == b.keys() and all(a[k].dtype == b[k].dtype and a[k].shape == b[k].shape and a[k].tobytes() == b[k].tobytes() for k in a)


def of_runs():
    pathlib.Path("text.txt").write_text("".join(f"Verse {i} of {i * i % 97} words.\n" for i in range(300)))
    run = ["train_files=text.txt", "base_output_directory=.", "steps=6", *MODEL]
    strata("train", *run, "run_name=run", "checkpoint_period=4")
    strata("train", *run, "run_name=every", "checkpoint_period=1", "max_num_checkpoints_to_keep=10")
    for step in range(7):
        strata("checkpoint", "materialize", "--step", step, "run", "again")
        if step == 0:
            continue  # no run saves it
        strata("checkpoint", "diff", f"every/checkpoints/{step}", f"again/{step}", status=None)
        done = strata("checkpoint", "diff", f"every/checkpoints/{step}", f"again/{step}", status=None)
        fact(f"step {step} materialised", done.returncode == 0, done.stdout + done.stderr)
    strata("checkpoint", "convert", "run", "run.safetensors")
    want = tensors("run.safetensors")
    for api, options in [("orbax", []), ("orbax", ["--shards", "4"]), ("orbax", ["--uncompressed"]), ("orbax-v1", []), ("orbax-v1", ["--uncompressed"])]:
        strata("checkpoint", "convert", "run", "out", "--to", api, *options)
        if api == "orbax":
            got = {item: ocp.PyTreeCheckpointer().restore(pathlib.Path("out", item).resolve()) for item in ("params", "optimizer")}
        else:
            got = v1.load_checkpointables(pathlib.Path("out").resolve(), dict(params=None, optimizer=None))
        fact(f"Orbax restores {api} {options}", same(flat(got), want), f"{sorted(flat(got))} {sorted(want)}")
        strata("checkpoint", "convert", "out", "back", "--to", "strata")
        fact("and so do we", "tensors and" in strata("checkpoint", "diff", "run", "back", status=None).stdout)
        strata("checkpoint", "verify", "out")


def of_flax():
    model = nnx.Sequential(nnx.Linear(4, 8, rngs=nnx.Rngs(0)), nnx.BatchNorm(8, rngs=nnx.Rngs(1)), nnx.Linear(8, 2, rngs=nnx.Rngs(2)))
    x = jnp.arange(12.0).reshape(3, 4)
    state = nnx.to_pure_dict(nnx.state(model))
    ocp.PyTreeCheckpointer().save(pathlib.Path("flax").resolve(), state)
    strata("checkpoint", "convert", "flax", "mid", "--to", "strata")
    strata("checkpoint", "convert", "mid", "flax2", "--to", "orbax")
    strata("checkpoint", "convert", "flax", "flax.safetensors")
    fact("a state of Flax is read", same(tensors("flax.safetensors"), flat(state)))
    fresh = nnx.Sequential(nnx.Linear(4, 8, rngs=nnx.Rngs(7)), nnx.BatchNorm(8, rngs=nnx.Rngs(8)), nnx.Linear(8, 2, rngs=nnx.Rngs(9)))
    graph, empty = nnx.split(fresh)
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    place = lambda a: jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*["x" if a.ndim and i == a.ndim - 1 and a.shape[-1] % 8 == 0 else None for i in range(a.ndim)]))
    target = nnx.to_pure_dict(empty)
    arguments = jax.tree.map(lambda a: ocp.ArrayRestoreArgs(sharding=place(a)) if hasattr(a, "shape") else ocp.RestoreArgs(), target)
    restored = ocp.PyTreeCheckpointer().restore(pathlib.Path("flax2/default").resolve(), item=target, restore_args=arguments)
    nnx.replace_by_pure_dict(empty, restored)
    again = nnx.merge(graph, empty)
    fact("a program of Flax goes on from our directory, over eight devices", same(flat(nnx.to_pure_dict(nnx.state(again))), flat(state)))
    fact("and computes the same", np.allclose(again(x), model(x), rtol=1e-5, atol=1e-6))  # sums of eight devices are in another order


def of_orbax_shards():
    want = {"w": np.arange(16 * 24, dtype=np.float32).reshape(16, 24), "b": np.arange(8).astype(ml_dtypes.bfloat16), "s": {"t": np.int32(5)}}
    for shape in [(1, 1), (2, 1), (2, 4), (8, 1)]:
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:shape[0] * shape[1]]).reshape(shape), ("x", "y"))
        put = lambda a, *spec: jax.device_put(a, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec)))
        tree = {"w": put(want["w"], "x", "y"), "b": put(want["b"], "x"), "s": {"t": put(want["s"]["t"])}}
        for name, options in [("2", {}), ("3", {"use_zarr3": True}), ("files", {"use_ocdbt": False})]:
            ocp.PyTreeCheckpointer(**options).save(pathlib.Path("tree").resolve(), tree, force=True)
            strata("checkpoint", "convert", "tree", "tree.safetensors")
            fact(f"{shape} shards by Orbax, {name}", same(tensors("tree.safetensors"), flat(want)))


def of_compatibility_set():
    base = pathlib.Path(v1.__file__).parent / "_src/testing/compatibility/checkpoints"
    folders = [p.parent for p in base.rglob("_METADATA")]
    read, refused = 0, 0
    for folder in sorted(folders):
        try:
            want = flat(ocp.PyTreeCheckpointer().restore(folder))
        except Exception:
            want = None
        done = strata("checkpoint", "convert", folder, "kept.safetensors", status=None)
        if done.returncode not in (0, 1, 2):
            fact(f"{folder.relative_to(base)} ends in order", False, done.stderr)
        if want is None:
            refused += done.returncode != 0
            continue
        ours = tensors("kept.safetensors") if done.returncode == 0 else {}
        arrays = {k: a for k, a in want.items() if a.dtype.kind not in "OUS"}
        ok = all(k in ours and ours[k].tobytes() == np.asarray(a).astype(ours[k].dtype).tobytes() for k, a in arrays.items())
        read += ok
        fact(f"{folder.relative_to(base)} is read", ok, done.stderr + f"{sorted(ours)} {sorted(arrays)}")
    print(f"compatibility set: {len(folders)} trees, {read} read as Orbax does, {refused} refused by both")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    of_runs()
    of_flax()
    of_orbax_shards()
    of_compatibility_set()
    os.chdir(ROOT)
sys.exit(failed > 0)
