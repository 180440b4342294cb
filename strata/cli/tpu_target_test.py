#!/usr/bin/env python3
"""Compiling for TPUs that are not here: `strata compile --target=tpu:...` and `strata train-compile`, by libtpu's compiler.

    strata/cli/tpu_target_test.py BIN     BIN: the folder of the programs

Memory and arithmetic are those that JAX says of the same StableHLO with the same options (jax.experimental.topologies),
where JAX is in build/peers. libtpu is that of TPU_LIBRARY_PATH or build/peers-tpu (scripts/peers.sh, libtpu==0.0.52: 137 MB to
fetch); without it the test is skipped.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRODUCT, TOO_LARGE = ROOT / "tests/plugins/product.mlir", ROOT / "tests/plugins/too_large.mlir"


def by_jax(program, topology, parts):
    """What JAX says of a program on the chips of a topology; runs in the Python of build/peers."""
    import numpy
    from jax._src.interpreters import mlir
    from jax._src.lib import _jax, xla_client
    from jax._src.lib.mlir import ir
    from jax.experimental import topologies

    devices = topologies.get_topology_desc(platform="tpu", topology_name=topology).devices
    text = pathlib.Path(program).read_text()
    options = xla_client.CompileOptions()
    build = options.executable_build_options
    build.num_replicas, build.num_partitions = 1, parts
    build.use_spmd_partitioning = parts > 1
    build.use_shardy_partitioner = "sdy." in text
    if parts > 1:
        build.allow_spmd_sharding_propagation_to_output = [True]
    build.device_assignment = xla_client.DeviceAssignment.create(numpy.arange(parts, dtype=numpy.int32).reshape(1, parts))
    with mlir.make_ir_context():
        made = devices[0].client.compile(ir.Module.parse(text), _jax.DeviceList(tuple(devices[:parts])), options)
    memory, cost = made.get_compiled_memory_stats(), made.cost_analysis()
    print(json.dumps({
        "argument_bytes": memory.argument_size_in_bytes,
        "output_bytes": memory.output_size_in_bytes,
        "alias_bytes": memory.alias_size_in_bytes,
        "temp_bytes": memory.temp_size_in_bytes,
        "code_bytes": memory.generated_code_size_in_bytes,
        "flops": cost["flops"],
        "bytes_accessed": cost["bytes accessed"],
    }))


if len(sys.argv) > 2 and sys.argv[1] == "--by-jax":
    by_jax(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    sys.exit(0)

BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/bin").resolve()
JAX = BIN.parent / "peers/bin/python"
named = os.environ.get("TPU_LIBRARY_PATH")
found = [pathlib.Path(named)] if named else sorted(BIN.parent.glob("peers-tpu/lib/python3*/site-packages/libtpu/libtpu.so"))
if not found or not found[0].exists():
    print("libtpu is neither in build/peers-tpu (scripts/peers.sh libtpu==0.0.52) nor where TPU_LIBRARY_PATH says")
    sys.exit(77)
# What libtpu asks of a machine with TPUs is answered here, for JAX too; strata sets the same by itself.
QUIET = {"TPU_SKIP_MDS_QUERY": "1", "TPU_ACCELERATOR_TYPE": "v5litepod-16", "TPU_WORKER_HOSTNAMES": "localhost", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1", "JAX_PLATFORMS": "cpu"}
failed = 0


def say(good, what):
    global failed
    failed += not good
    print(("ok " if good else "FAILED ") + " ".join(what.split()))


def start(*arguments):
    return subprocess.Popen([BIN / "strata", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "TPU_LIBRARY_PATH": str(found[0])})


def end(process):
    process.out, process.err = process.communicate(timeout=600)
    process.err = "\n".join(l for l in process.err.splitlines() if "hugepage_text" not in l)
    return process


def strata(*arguments):
    return end(start(*arguments))


def same_as_jax(what, ours, program, topology, parts):
    if not JAX.exists():
        print("JAX is not in build/peers: nothing was compared with it")
        return
    done = subprocess.run([JAX, __file__, "--by-jax", program, topology, str(parts)], capture_output=True, text=True, timeout=600, env={**os.environ, **QUIET, "TPU_LIBRARY_PATH": str(found[0])})
    theirs = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"failed": done.stderr[-500:]}
    say(theirs.items() <= ours.items(), f"{what} takes what JAX says: {theirs if theirs.items() <= ours.items() else (theirs, ours)}")


# ---- a program -----------------------------------------------------------------------------------
# Two at once: libtpu's lock in /tmp is for who wants the chips, and compilers need none.
both = [start("compile", "--target=tpu:v5e:4x4", PRODUCT, "--json") for _ in range(2)]
both = [end(p) for p in both]
say(all(p.returncode == 0 for p in both), f"two processes compile at once: {both[0].err}{both[1].err}")
ours = json.loads(both[0].out or "{}")
say(ours.get("argument_bytes") == 6291456 and ours.get("output_bytes") == 4194304 and ours.get("chips") == 16, f"a product for 16 chips: {ours}")
say(ours.get("hbm_bytes_limit", 0) > 16e9 and 0 < ours.get("hbm_bytes_per_chip", 0) < ours["hbm_bytes_limit"], "it says what a chip has, and what is taken of it")
say(ours.get("flops", 0) > 4e9 and sum(ours.get("collectives", {}).values()) > 0, "arithmetic and collectives")
same_as_jax("the product", ours, PRODUCT, "v5e:4x4", 16)
done = strata("compile", "--target=tpu:v5e:4x4", PRODUCT)
rows = ("memory of a chip", "arguments", "results", "temporaries", "code", "arithmetic", "collective-permute")
say(done.returncode == 0 and all(re.search(rf"^ *{r} ", done.out, re.M) for r in rows), f"the table has a row for each: {done.out}")
with tempfile.TemporaryDirectory() as folder:
    wide = pathlib.Path(folder) / "wide.mlir"
    wide.write_text(re.sub(r"\b16\b", "256", PRODUCT.read_text()))
    done = strata("compile", "--target=tpu:v5e:16x16", wide, "--json")
    say('"chips":256' in done.out and '"argument_bytes":393216' in done.out, f"the product over 256 chips: {done.out}{done.err}")

# ---- what goes wrong -----------------------------------------------------------------------------
done = strata("compile", "--target=tpu:v9:4x4", PRODUCT)
say(done.returncode == 2 and "topology v9:4x4" in done.err and "Invalid TPU" in done.err, f"a topology that does not exist: {done.err}")
done = strata("compile", "--target=tpu:v5e:4x5", PRODUCT)
say(done.returncode == 2 and "topology v5e:4x5" in done.err, f"a shape that does not exist: {done.err}")
done = strata("compile", "--target=tpu:v5e:2x2", PRODUCT)
say(done.returncode == 2 and "it has 4 chips, and the program has 16 parts" in done.err, f"more parts than chips: {done.err}")
done = strata("compile", "--target=tpu:v5e:4x4", TOO_LARGE)
say(done.returncode == 1 and "exceeds available HBM" in done.err, f"what does not fit fails: {done.returncode}")
say(re.search(r"it takes [0-9.]+ GB of a chip that has 16.9 GB, [0-9.]+ GB too much", done.err) is not None, f"by how much it does not fit: {done.err}")
say("argument 0 tensor<60000000x4096xbf16> (492 GB)" in done.err, "which arrays are the largest")

# ---- a training step -----------------------------------------------------------------------------
SMALL = ["configs/demo.yml", "--target=tpu:v5e:2x2", "ici_fsdp_parallelism=-1", "base_num_decoder_layers=1", "base_emb_dim=128", "base_mlp_dim=256", "base_num_query_heads=1", "base_num_kv_heads=1", "head_dim=128", "per_device_batch_size=1"]
with tempfile.TemporaryDirectory() as folder:
    step = pathlib.Path(folder) / "step.mlir"
    done = strata("train-compile", *SMALL, "--json", "-o", step)
    ours = json.loads(done.out.splitlines()[-1]) if done.returncode == 0 else {}
    say(ours.get("devices") == 4 and ours.get("mesh") == "fsdp=4" and ours.get("state_bytes_per_chip", 0) > 0, f"a step over 4 chips: {done.err}")
    compiled = ours.get("compiled", {})
    say(compiled.get("flops", 0) > 0 and compiled.get("collectives", {}).get("all_gather", 0) > 0, f"is compiled: {compiled}")
    say(compiled.get("alias_bytes", 0) >= ours.get("state_bytes_per_chip", 1) * 0.99, "the new state takes the old one's memory")
    if step.exists():
        same_as_jax("the step", compiled, step, "v5e:2x2", 4)
# The same step by the same annotations over 16 chips: the mesh alone says which collectives it takes.
WIDE = ["configs/demo.yml", "--target=tpu:v5e:4x4", "base_num_decoder_layers=2", "base_emb_dim=512", "base_mlp_dim=1024", "base_num_query_heads=4", "base_num_kv_heads=4", "head_dim=128", "per_device_batch_size=1", "max_target_length=256", "vocab_size=2048", "--json"]


def kinds(*mesh):
    done = strata("train-compile", *WIDE, *mesh)
    ours = json.loads(done.out.splitlines()[-1]) if done.returncode == 0 else {}
    compiled = ours.get("compiled", {})
    return ours.get("parameters", 0), compiled.get("collectives", {}), compiled.get("collective_bytes", {}), f"{done.err[-300:]} {compiled.get('collectives')} {compiled.get('collective_bytes')}"


weights, times, moved, said = kinds("ici_data_parallelism=16")
say(set(times) == {"all_reduce"} and moved["all_reduce"] == 2 * weights + 4, f"copies of weights: the gradients in bf16 and one loss are reduced, and nothing else: {said}")
weights, times, moved, said = kinds("ici_fsdp_parallelism=16")
# 7 matrices of each of 2 layers and the embedding, for the step forward and again backward.
say(times.get("all_gather", 0) >= 2 * (7 * 2 + 1) and moved.get("all_gather", 0) >= 2 * weights, f"weights in parts are gathered forward and backward: {said}")
say("collective_permute" not in times and sum(moved.get(k, 0) for k in ("all_reduce", "reduce_scatter")) >= weights, f"and their gradients reduced: {said}")
weights, times, moved, said = kinds("ici_data_parallelism=4", "ici_tensor_parallelism=4")
# After attention and after the feed-forward of each of 2 layers, forward and backward.
say(times.get("all_reduce", 0) >= 2 * 2 * 2 and moved.get("all_gather", 0) < moved.get("all_reduce", 0), f"weights cut by heads and width stay: activations are reduced: {said}")
say("collective_permute" not in times, f"nothing is shifted: {said}")
# The files of docs/at-scale.md, small: one layer, 16 chips.
few = ["compile_topology=v5e-16", "base_num_decoder_layers=1", "max_target_length=256", "vocab_size=4096"]
with tempfile.TemporaryDirectory() as folder:
    step = pathlib.Path(folder) / "step.mlir"
    done = strata("train-compile", "configs/kakao/experts-13.4b.yml", *few, "num_experts=8", "num_experts_per_tok=2", "--json", "-o", step)
    text = step.read_text() if step.exists() else ""
    say(text.count('"chlo.ragged_dot"') >= 9 and 'manual_axes={"fsdp"}' in text, "products of experts are ragged on each chip, forward and back")
ours = json.loads(done.out.splitlines()[-1]) if done.returncode == 0 else {}
say(ours.get("mesh") == "fsdp=16" and ours.get("compiled", {}).get("chips") == 16, f"a file of Kakao's sizes, with fewer experts: {done.err[-300:]}")
said = ours.get("predicted_step_s", {})
say(0 < said.get("overlapped", 0) <= said.get("apart", 0) and said.get("bound") in ("arithmetic", "memory", "links"), f"how long it would take: {said}")
LARGE = ["remat_policy=full", "vocab_size=524288"]
done = strata("train-compile", *SMALL, *LARGE, "per_device_batch_size=64")
say(done.returncode == 1 and "the step does not fit" in done.err and " too much" in done.err, f"a step that does not fit, by how much: {done.returncode} {done.err[-600:]}")
say("the largest arrays, over all chips: " in done.err and "params.token_embedder" in done.err, "what is large in it")
keys = re.search(r"what would mend it: (per_device_batch_size=\d+) with (gradient_accumulation_steps=\d+)", done.err)
say(keys is not None, f"keys that would mend it: {done.err[-200:]}")
if keys:
    done = strata("train-compile", *SMALL, *LARGE, *keys.groups())
    say(done.returncode == 0, f"they mend it ({' '.join(keys.groups())}): {done.out[-500:]}{done.err[-300:]}")
done = strata("train-compile", *SMALL[:1], "--target=tpu:v9:4x4", *SMALL[2:])
say(done.returncode == 2 and "v9:4x4" in done.err, f"a step for a topology that does not exist: {done.err}")
sys.exit(failed > 0)
