#!/usr/bin/env python3
"""Plugins as devices of Strata's own programs: ours gives the bits of the embedded CPU, ill ones give messages.

    strata/pjrt/as_device_test.py BIN [--all] [PLUGIN.so ...]     BIN: the folder of the programs

Programs of conformance/jax run through every plugin that is named too; without one, through others' that are installed
(the packages lammps-jax-pjrt-cpu 0.11.2 and xla-cpu-pjrt 0.0.1 of PyPI, in build/peers), where they are. A tenth of the programs,
others every day; all with --all.
"""
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARGUMENTS = [a for a in sys.argv[1:] if a != "--all"]
BIN = pathlib.Path(ARGUMENTS[0] if ARGUMENTS else "build/bin").resolve()
LIB = BIN.parent / "lib"
OURS = LIB / "libstrata_pjrt.so"
# Without lapack: its calls have handlers that a framework brings (docs/devices.md).
FOLDERS = ("control", "lax", "library", "nn", "numpy", "program", "random", "scipy")
OTHERS = ("lammps_jax_pjrt_cpu/*.so", "xla_plugins/xla_cpu_pjrt/*.so")  # in site-packages
SHARE = 1 if "--all" in sys.argv else 10
failed = 0


def say(good, what):
    global failed
    failed += not good
    print(("ok " if good else "FAILED ") + " ".join(what.split()))


def run(*command, **environment):
    return subprocess.run(command, capture_output=True, text=True, timeout=600 if SHARE > 1 else 3600, cwd=ROOT, env={**os.environ, **environment})


def sample(folder, share):
    """Programs of a folder: one in `share`, others every day."""
    day = int(time.time() // 86400)
    names = sorted((ROOT / "conformance/jax" / folder).glob("*.mlir"))
    return [n for n in names if (int(hashlib.sha256(n.name.encode()).hexdigest(), 16) + day) % share == 0]


def conformance(plugin, share):
    programs = [p for folder in FOLDERS for p in sample(folder, share)]
    with tempfile.TemporaryDirectory() as chosen:
        for p in programs:
            for file in (p, p.with_suffix(".safetensors")):
                if file.exists():
                    (pathlib.Path(chosen) / file.name).symlink_to(file)
        done = run(BIN / "strata-conformance", "--mode=compiled", chosen, STRATA_BACKEND=f"plugin:{plugin}")
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr
    known = ("lax_reduce_max_nan",)  # XLA:CPU's maximum of a window hides a NaN
    bad = [l for l in done.stdout.splitlines() if l.startswith("  ") and not any(k in l for k in known)]
    say(not bad and " passed" in last and len(programs) > 0, f"{plugin.name}: {len(programs)} programs of JAX: {last} {bad[:3]}")


conformance(OURS, SHARE)
PEERS = BIN.parent / "peers/lib"
others = [pathlib.Path(p) for p in ARGUMENTS[1:]] or [f for pattern in OTHERS for f in sorted(PEERS.glob(f"python3*/site-packages/{pattern}"))]
if not others:
    print("no plugin of others is in build/peers (scripts/peers.sh lammps-jax-pjrt-cpu==0.11.2): only our own is tried")
for other in others:
    conformance(other, SHARE)

program = ROOT / "conformance/jax/control/control_cond.mlir"
check = ROOT / "conformance/jax/control/control_cond.safetensors"


def device(name, **environment):
    return run(BIN / "strata-run", program, f"--check={check}", f"--device={name}", **environment)


done = device(f"plugin:{OURS}")
say(done.returncode == 0, f"a program runs on --device=plugin: {done.stderr}")
done = device("cpu:2", STRATA_NUM_CPU_DEVICES="4")
say(done.returncode == 0, f"a program runs on the third of four CPUs: {done.stderr}")
done = device("cpu:4", STRATA_NUM_CPU_DEVICES="4")
say(done.returncode != 0 and "there are 4 CPU devices" in done.stderr, f"a CPU that is not there is named: {done.stderr}")
for chapter in ("01-arrays-and-jit", "02-gradients", "03-vmap-scan-and-remat", "05-indexing", "07-control-flow"):
    done = run(BIN / f"tutorial-{chapter}", STRATA_BACKEND=f"plugin:{OURS}")
    say(done.returncode == 0, f"chapter {chapter} with its arrays on a plugin's device: {done.stderr[-300:]}")
for plugin in [OURS, *others[:1]]:  # which partitions by itself what our own partitioner cuts for CPUs
    eight = dict(STRATA_BACKEND=f"plugin:{plugin}", STRATA_PLUGIN_OPTIONS="cpu_device_count=8")
    done = run(BIN / "tutorial-21-meshes", **eight)
    say(done.returncode == 0 and "the same bits as on one device: yes" in done.stdout, f"{plugin.name}: a program over a mesh of its eight devices: {done.stderr[-300:]}")
    done = run(BIN / "tutorial-24-shard-map", **eight)
    say(done.returncode == 0 and "4 devices hold a row each" in done.stdout, f"{plugin.name}: shard_map and pmap over its devices: {done.stderr[-300:]}")
done = run(BIN / "tutorial-21-meshes", STRATA_BACKEND=f"plugin:{OURS}")
say(done.returncode != 0 and "holds device 1, but strata has 1 device here" in done.stderr, f"a mesh of more devices than a plugin has: {done.stderr[-300:]}")
done = device(f"plugin:{OURS}", STRATA_PLUGIN_OPTIONS="cpu_device_count")
say(done.returncode != 0 and "STRATA_PLUGIN_OPTIONS: 'cpu_device_count' is no option" in done.stderr, f"an option without a value: {done.stderr}")
done = device(f"plugin:{OURS}", STRATA_PLUGIN_OPTIONS="memory_share=1")
say(done.returncode != 0 and "unknown option memory_share" in done.stderr, f"an option that the plugin does not know: {done.stderr}")
for plugin in [OURS, *others[:1]]:  # a print that is lost would be worse
    done = run(BIN / "docs-jax", STRATA_BACKEND=f"plugin:{plugin}")
    say(done.returncode != 0 and "a callback or print" in done.stderr and "--device=cpu" in done.stderr, f"{plugin.name} refuses programs that print: {done.stderr[-300:]}")
with tempfile.TemporaryDirectory() as cache:
    kept = dict(STRATA_CACHE_DIR=cache)
    say(device(f"plugin:{OURS}", **kept).returncode == 0, "a program is compiled by a plugin and kept")
    files = list(pathlib.Path(cache).glob("plugins/*.pjrt"))
    for change in (lambda b: b, lambda b: b[: len(b) // 2], lambda b: b[:-1] + bytes([b[-1] ^ 1])):
        for f in files:
            f.write_bytes(change(f.read_bytes()))
        say(len(files) == 1 and device(f"plugin:{OURS}", **kept).returncode == 0, "what was kept serves, damaged or whole")
done = device(f"plugin:{OURS}:7")
say(done.returncode != 0 and "no device 7: it has 1" in done.stderr, f"a device that the plugin lacks is named: {done.stderr}")
for manner, words in {"dies": "died by signal 6", "fails": "the device is on fire", "major": "speaks PJRT 1.90", "short": "has no Client_Create", "compile": "this compiler knows no sine", "run": "out of memory on the device"}.items():
    done = device(f"plugin:{LIB}/libstrata_odd_plugin.so", STRATA_ODD_PLUGIN=manner)
    say(done.returncode in (1, 2, 3, 4) and words in done.stderr, f"a plugin that is ill ({manner}): {done.returncode} {done.stderr}")
done = device("cuda", STRATA_PLUGIN_FOLDERS="", HOME="/dev/null/nowhere")
say(done.returncode != 0 and ("jax-cuda13-pjrt" in done.stderr or "usable" in done.stderr), f"what to install is said: {done.stderr}")
done = run(BIN / "strata", "info", PJRT_NAMES_AND_LIBRARY_PATHS=f"mine:{OURS},ill:{LIB}/libstrata_odd_plugin.so", STRATA_ODD_PLUGIN="dies")
say(done.returncode == 0 and "mine (" in done.stdout and "not usable: it died by signal 6" in done.stdout, f"info lists plugins: {done.stdout}{done.stderr}")
done = run(BIN / "strata", "info", PJRT_NAMES_AND_LIBRARY_PATHS=f"junk,mine:{OURS}")
say(done.returncode == 0 and "junk: not usable: PJRT_NAMES_AND_LIBRARY_PATHS: 'junk' is no entry NAME:/path/x.so" in done.stdout and "mine (" in done.stdout, f"info names an entry that is none: {done.stdout}{done.stderr}")
done = device("mine", PJRT_NAMES_AND_LIBRARY_PATHS=str(OURS))
say(done.returncode == 2 and f"'{OURS}' is no entry NAME:/path/x.so" in done.stderr, f"a library without a name: {done.returncode} {done.stderr}")
done = device("plugin:")
say(done.returncode == 2 and "a path is missing, as plugin:/path/x.so" in done.stderr, f"a plugin without a path: {done.stderr}")
done = device("plugin:README.md")
say(done.returncode == 3 and "README.md is no library that can be loaded" in done.stderr, f"a path that is no library: {done.stderr}")
done = run(BIN / "strata", "compile", "--target=gpu:h100", program)
say(done.returncode == 2 and "--target=gpu:h100: no such platform; a TPU is tpu:v5e:4x4" in done.stderr, f"a target that is none: {done.stderr}")
done = run(BIN / "strata", "compile", "--target=tpu", program)
say(done.returncode == 2 and "tpu:v5e:4x4" in done.stderr, f"a target without topology: {done.stderr}")
sys.exit(failed > 0)
