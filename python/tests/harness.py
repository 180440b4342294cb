"""What the tests of this package share: a Python that has JAX, a plugin, and a process for each mode.

    def test_something(): ...

    if __name__ == "__main__":
        harness.run(globals())            # or run(globals(), needs=["flax"], modes=["drop-in"])

Each function named test_* is a case in each mode (where STRATA_SAMPLE=N is set, in one of them); a case that raises has failed. Prints `ok NAME` or `FAILED NAME`; exits with 77 where
JAX (in this Python or in build/peers), another needed package or the plugin is missing. STRATA_PEERS names another environment than
build/peers, STRATA_PJRT_LIBRARY another plugin than the one in the build folder.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = pathlib.Path(os.environ.get("STRATA_PEERS", ROOT / "build" / "peers")) / "bin" / "python"
BUILD = pathlib.Path(os.environ.get("STRATA_BUILD", ROOT / "build"))
LIBRARY = pathlib.Path(os.environ.get("STRATA_PJRT_LIBRARY", BUILD / "lib" / "libstrata_pjrt.so"))
MODES = {"drop-in": "cpu", "side-by-side": "strata,cpu"}  # mode -> JAX_PLATFORMS


def skip(reason):
    print(reason)
    sys.exit(77)


def require(packages):
    """Goes on in build/peers where this Python lacks one."""
    missing = [p for p in packages if importlib.util.find_spec(p) is None]
    if not missing:
        return
    if PEERS.exists() and pathlib.Path(sys.prefix) != PEERS.parents[1]:
        os.execv(PEERS, [str(PEERS), *sys.argv])
    skip(f"the Python package {missing[0]} is not installed")


def environment(mode, **more):
    """For a process in that mode; what is None in `more` is taken out."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "STRATA_PJRT_LIBRARY": str(LIBRARY), "STRATA_JAX": mode, **more}
    if mode in MODES:
        env.setdefault("JAX_PLATFORMS", MODES[mode])
        env["JAX_PLATFORMS"] = more.get("JAX_PLATFORMS", MODES[mode])
    return {name: value for name, value in env.items() if value is not None}


def python(code, mode="side-by-side", **more):
    """Runs a program in a process of its own; gives what it printed, its log, and its exit status."""
    with tempfile.TemporaryDirectory() as folder:  # not where modules of the same names lie
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment(mode, **more), capture_output=True, text=True, timeout=300)
    return done.stdout, done.stderr, done.returncode


def device():
    """Strata's first device."""
    import jax
    import strata_jax

    found = [d for d in jax.devices() if strata_jax.is_strata(d)]
    assert found, f"Strata is not the default among {jax.devices()}"
    return found[0]


def on_xla(function, *args):
    """What XLA's own CPU makes of it."""
    import jax
    import numpy as np
    import strata_jax

    there = strata_jax.xla_cpu()[0]
    assert not strata_jax.is_strata(there)
    with jax.default_device(there):
        return jax.tree.map(np.asarray, jax.jit(function)(*jax.device_put(args, there)))


def on_strata(function, *args):
    import jax
    import numpy as np

    return jax.tree.map(np.asarray, jax.jit(function)(*jax.device_put(args, device())))


def _run_here(cases, mode):
    if mode in MODES:
        import strata_jax  # registers; an installed package is found by JAX itself

    failed = 0
    for name, case in cases.items():
        print(f"... {name}", file=sys.stderr, flush=True)
        try:
            case()
            print(f"ok {name} ({mode})", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED {name} ({mode})\n{traceback.format_exc()[-3000:]}", flush=True)
    return 1 if failed else 0


def _run_there(mode):
    """In a process; one that dies has failed in the case that it began."""
    done = subprocess.run([sys.executable, os.path.abspath(sys.argv[0]), "--mode", mode], env=environment(mode), capture_output=True, text=True, timeout=1100)
    print(done.stdout, end="")
    if done.returncode not in (0, 1):
        began = [line[4:] for line in done.stderr.splitlines() if line.startswith("... ")]
        print(f"FAILED {began[-1] if began else 'start'} ({mode})\nthe process ended with {done.returncode}\n{done.stderr[-3000:]}")
    return done.returncode


def run(names, needs=(), modes=tuple(MODES)):
    cases = {name.removeprefix("test_"): case for name, case in names.items() if name.startswith("test_")}
    require(["jax", "jaxlib", *needs])
    if not LIBRARY.exists():
        skip("the plugin is not built: ninja -C build strata_pjrt_plugin")
    if len(sys.argv) > 2 and sys.argv[1] == "--mode":
        sys.exit(_run_here(cases, sys.argv[2]))
    if len(modes) > 1 and (sample := os.environ.get("STRATA_SAMPLE")):  # of a test run: one of them, another the next day
        modes = [modes[int(sample) % len(modes)]]
    if not modes:  # cases that start their own processes
        sys.exit(_run_here(cases, "own processes"))
    sys.exit(max(map(abs, [_run_there(mode) for mode in modes])) and 1)
