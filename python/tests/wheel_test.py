#!/usr/bin/env python3
"""The wheel holds the package and the plugin, says what it runs on, and is found by JAX where pip installs it."""
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import harness


def make(folder):
    env = harness.environment("off")
    done = subprocess.run([sys.executable, harness.ROOT / "python" / "make_wheel.py", folder], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = pathlib.Path(folder).glob("*.whl")
    assert "MB" in done.stdout and wheel.name in done.stdout, done.stdout
    return wheel


def test_what_it_holds():
    with tempfile.TemporaryDirectory() as folder:
        wheel = make(folder)
        assert wheel.name.startswith("strata_jax-0.1.0-py3-none-manylinux_2_") and wheel.name.endswith("_x86_64.whl"), wheel.name
        with zipfile.ZipFile(wheel) as z:
            names = set(z.namelist())
            assert {"strata_jax/__init__.py", "strata_jax/libstrata_pjrt.so", "strata_jax-0.1.0.dist-info/RECORD"} <= names, names
            assert not any("test" in name for name in names), names
            assert z.read("strata_jax/libstrata_pjrt.so") == harness.LIBRARY.read_bytes()
            assert "strata = strata_jax" in z.read("strata_jax-0.1.0.dist-info/entry_points.txt").decode()
        again = make(tempfile.mkdtemp(dir=folder))
        assert again.read_bytes() == wheel.read_bytes(), "made again it is another"


def test_installed_by_pip():
    """From the folder, without a network, into a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        argv = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--target", folder]
        done = subprocess.run([*argv, harness.ROOT / "python"], env=harness.environment("off"), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        code = "import jax; d = jax.devices('strata')[0]; import strata_jax; print(strata_jax.is_strata(d), strata_jax.library_path().startswith(FOLDER), jax.device_put(1, d) + 1)"
        out, err, status = harness.python(code.replace("FOLDER", repr(folder)), None, PYTHONPATH=folder, JAX_PLATFORMS=None, STRATA_PJRT_LIBRARY=None)
        assert (out, status) == ("True True 2\n", 0), (out, err)


if __name__ == "__main__":
    harness.run(globals(), modes=())
