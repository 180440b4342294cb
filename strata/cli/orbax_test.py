#!/usr/bin/env python3
"""Orbax restores what `strata checkpoint convert` writes, and Strata reads what Orbax writes, to the bit.

    strata/cli/orbax_test.py BIN      BIN: the folder of the programs (default build/bin)

A program of Flax NNX goes on from our directory, and every checkpoint of Orbax's own compatibility set that it calls good is read.
Needs jax, flax and orbax-checkpoint, in this Python or in build/peers; without them, skipped (status 77).
"""
import collections
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
    import optax
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


class Net(nnx.Module):
    def __init__(self, seed):
        self.a, self.b = nnx.Linear(8, 16, rngs=nnx.Rngs(seed)), nnx.Linear(16, 1, rngs=nnx.Rngs(seed + 1))

    def __call__(self, x):
        return self.b(jnp.tanh(self.a(x)))


@nnx.jit
def flax_step(model, optimizer, x):
    optimizer.update(model, nnx.grad(lambda m: jnp.mean((m(x) - x.sum(-1, keepdims=True))**2))(model))


def of_flax_training():
    """A run of Flax and Optax that is broken off, written again by us, and gone on with, ends with the bits of an unbroken one."""
    begin = lambda seed: (lambda m: (m, nnx.Optimizer(m, optax.adam(1e-2), wrt=nnx.Param)))(Net(seed))
    batch = lambda i: jax.random.normal(jax.random.fold_in(jax.random.key(0), i), (16, 8))
    state_of = lambda both: nnx.to_pure_dict(nnx.split(both)[1])
    whole = begin(0)
    for i in range(8):
        if i == 4:
            ocp.PyTreeCheckpointer().save(pathlib.Path("trained").resolve(), state_of(whole))
        flax_step(*whole, batch(i))
    for shards in (1, 4):
        strata("checkpoint", "reshard", "trained", "trained_again", "--shards", shards)
        graph, empty = nnx.split(begin(7))
        target = nnx.to_pure_dict(empty)
        nnx.replace_by_pure_dict(empty, ocp.PyTreeCheckpointer().restore(pathlib.Path("trained_again").resolve(), item=target))
        both = nnx.merge(graph, empty)
        for i in range(4, 8):
            flax_step(*both, batch(i))
        fact(f"a Flax program on JAX resumes from our directory of {shards} shards to the bits of an unbroken one", same(flat(state_of(both)), flat(state_of(whole))))


def over(n):
    """The first axis over n devices."""
    return jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(jax.devices()[:n]), ("x",)), jax.sharding.PartitionSpec("x"))


def of_any_shards_to_any():
    want = {"w": np.arange(840 * 3, dtype=np.float32).reshape(840, 3), "b": np.arange(840).astype(ml_dtypes.bfloat16)}
    for n in range(1, 9):
        ocp.PyTreeCheckpointer().save(pathlib.Path("from").resolve(), jax.tree.map(lambda a: jax.device_put(a, over(n)), want), force=True)
        k = 9 - n
        strata("checkpoint", "reshard", "from", "to", "--shards", k)
        for path, name in [("from", f"{n} shards by Orbax"), ("to", f"{n} shards by Orbax, {k} by us")]:
            bad = []
            for m in range(1, 9):
                got = ocp.PyTreeCheckpointer().restore(pathlib.Path(path).resolve(), item=want,
                                                       restore_args=jax.tree.map(lambda _: ocp.ArrayRestoreArgs(sharding=over(m)), want))
                bad += [m] * (not same(flat(got), want) or any(len(a.sharding.device_set) != m for a in jax.tree.leaves(got)))
            fact(f"{name}: restored over 1 to 8 devices", not bad, f"wrong over {bad}")
        bad = []
        for k in range(1, 9):
            strata("checkpoint", "reshard", "from", "any", "--shards", k)
            strata("checkpoint", "convert", "any", "any.safetensors")
            stored = ocp.PyTreeCheckpointer().metadata(pathlib.Path("any").resolve())
            if not same(tensors("any.safetensors"), flat(want)) or tuple(stored.item_metadata["w"].storage.chunk_shape) != (840 // k, 3):
                bad.append(k)
        fact(f"{n} shards by Orbax: 1 to 8 by us", not bad, f"wrong with {bad}")


Pair = collections.namedtuple("Pair", "p q")


def of_kinds():
    """Every dtype that Orbax writes, every container, empty ones among them."""
    jax.config.update("jax_enable_x64", True)
    written, refused = {}, []
    for name in ("bool int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64 float4_e2m1fn float8_e3m4 float8_e4m3 float8_e4m3fn "
                 "float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu bfloat16 float16 float32 float64 complex64 complex128").split():
        try:
            a = jnp.asarray(np.arange(8) % 2, getattr(jnp, name, None) or np.dtype(name)).reshape(4, 2)
            ocp.PyTreeCheckpointer().save(pathlib.Path("one").resolve(), {"a": a}, force=True)
            written[name] = a
        except Exception:
            refused.append(name)
    print(f"dtypes: {len(written)}; those that JAX or Orbax refuses: {' '.join(refused)}")
    tree = {"dtypes": written, "list": [jnp.float32(1), (jnp.int8(2), 3)], "pair": Pair(jnp.float32(1.5), np.arange(3)), "none": None, "dict": {}, "empty": [],
            "empty_tuple": (), "text": "h\u00e9llo", "float": 2.5, "scalar": np.float32(4), "deep": [{"x": [jnp.ones((2, 2)), {}]}], "dotted.name": jnp.ones(1)}
    for name, options in [("zarr2", {}), ("zarr3", {"use_zarr3": True}), ("files", {"use_ocdbt": False})]:
        ocp.PyTreeCheckpointer(**options).save(pathlib.Path("kinds").resolve(), tree, force=True)
        strata("checkpoint", "reshard", "kinds", "kinds2", "--shards", 2)
        first, second = (ocp.PyTreeCheckpointer().restore(pathlib.Path(p).resolve()) for p in ("kinds", "kinds2"))
        fact(f"{name}: containers come back as they were", jax.tree.structure(first) == jax.tree.structure(second), f"{jax.tree.structure(first)}\n{jax.tree.structure(second)}")
        fact(f"{name}: every dtype comes back", all(np.asarray(a).tobytes() == np.asarray(b).tobytes() and getattr(a, "dtype", None) == getattr(b, "dtype", None)
                                                    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second))))
        metadata = lambda p: sorted(json.loads(pathlib.Path(p, "_METADATA").read_text())["tree_metadata"])
        fact(f"{name}: and empty leaves", metadata("kinds") == metadata("kinds2"))
    jax.config.update("jax_enable_x64", False)


def of_layouts():
    """What checkpointers without items wrote is restored by the same calls, typed keys too; and a tree that is one array."""
    tree = {"w": jnp.arange(8.0).reshape(4, 2), "key": jax.random.key(3), "keys": jax.random.split(jax.random.key(4, impl="rbg"), 4)}
    standard = ocp.StandardCheckpointer()
    standard.save(pathlib.Path("standard").resolve(), tree)
    standard.wait_until_finished()
    strata("checkpoint", "reshard", "standard", "standard2", "--shards", 2)
    got = ocp.StandardCheckpointer().restore(pathlib.Path("standard2").resolve())
    bits = lambda t: {k: np.asarray(jax.random.key_data(a) if k.startswith("key") else a) for k, a in t.items()}
    fact("StandardCheckpointer restores what reshard makes of its own", same(bits(got), bits(tree)))
    fact("typed keys stay typed", all(got[k].dtype == tree[k].dtype for k in tree), got)
    plain = {"w": tree["w"], "text": "hello"}
    ocp.PyTreeCheckpointer().save(pathlib.Path("plain").resolve(), plain)
    strata("checkpoint", "convert", "plain", "plain2", "--to", "orbax")
    got = ocp.PyTreeCheckpointer().restore(pathlib.Path("plain2").resolve())
    fact("a tree in the folder itself stays there when it is converted", got["text"] == "hello" and (got["w"] == plain["w"]).all(), got)
    for name, options in [("zarr2", {}), ("zarr3", {"use_zarr3": True}), ("files", {"use_ocdbt": False}), ("files3", {"use_ocdbt": False, "use_zarr3": True})]:
        ocp.Checkpointer(ocp.PyTreeCheckpointHandler(**options)).save(pathlib.Path("one").resolve(), args=ocp.args.PyTreeSave(jnp.arange(8)), force=True)
        fact(f"{name}: a tree that is one array is whole", "whole" in strata("checkpoint", "verify", "one").stdout)
        strata("checkpoint", "reshard", "one", "one2", "--shards", 2)
        fact(f"{name}: and comes back", (ocp.PyTreeCheckpointer().restore(pathlib.Path("one2").resolve()) == jnp.arange(8)).all())


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
    of_flax_training()
    of_any_shards_to_any()
    of_kinds()
    of_layouts()
    of_orbax_shards()
    of_compatibility_set()
    os.chdir(ROOT)
sys.exit(failed > 0)
