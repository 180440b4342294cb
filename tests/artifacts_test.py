#!/usr/bin/env python3
"""Programs as JAX writes them for a plugin, of releases 1.0.0 to 1.17.0 of StableHLO, give the values of conformance/primitives.

    tests/artifacts_test.py [BIN]      BIN: the folder of the programs (default build/bin)
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/bin").resolve()


def run(artifact):
    """Why it fails, or nothing."""
    values = ROOT / "conformance" / "primitives" / f"{artifact.stem.rpartition('-')[0]}.safetensors"
    done = subprocess.run([BIN / "strata-run", artifact, f"--check={values}"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return None if done.returncode == 0 else f"exit {done.returncode}: {(done.stdout + done.stderr)[-2000:]}"


def main():
    artifacts = sorted((ROOT / "conformance" / "artifacts").glob("*.mlirbc"))
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        reasons = list(pool.map(run, artifacts))
    for artifact, reason in zip(artifacts, reasons):
        print(f"ok {artifact.stem}" if reason is None else f"FAILED {artifact.stem}\n{reason}")
    return 1 if any(reasons) or not artifacts else 0


if __name__ == "__main__":
    sys.exit(main())
