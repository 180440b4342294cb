"""A test's package from PyPI where the Python at hand lacks it: the test is run again by the Python in build/peers, or skipped.

    sys.path.insert(0, str(ROOT / "tests"))
    try:
        import safetensors
    except ImportError:
        peers.run_again("safetensors", BIN)
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run_again(package, programs):
    """Exits as the script does there; with 77, the status of a skipped test, where no Python has the package.

    `programs` is the folder of the programs: the peers of another build stand beside it.
    """
    found = [p for p in (programs.parent / "peers/bin/python", ROOT / "build/peers/bin/python") if p.exists()]
    if os.environ.get("STRATA_PEERS") or not found:
        print(f"the package {package} is in neither this Python nor build/peers: pip install {package} there")
        sys.exit(77)
    sys.exit(subprocess.run([found[0], *sys.argv], env={**os.environ, "STRATA_PEERS": "1"}).returncode)
