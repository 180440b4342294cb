"""Peers from PyPI for a script whose own Python lacks them: it is run again in build/peers.

    try:
        import jax
    except ImportError:
        from peers import again_with
        again_with("jax==0.10.2")
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def again_with(*packages):
    """Installs what is missing, runs the script there, and exits as it does."""
    if pathlib.Path(sys.prefix) == ROOT / "build" / "peers":  # there already, where they were just installed
        raise ImportError(f"build/peers lacks one of {packages}")
    subprocess.run([ROOT / "scripts" / "peers.sh", *packages], check=True)
    sys.exit(subprocess.run([ROOT / "build" / "peers" / "bin" / "python", *sys.argv]).returncode)
