#!/usr/bin/env python3
"""Kakao's recipe in its shortest form: every command of it runs, and what is said to keep the function keeps it.

    strata/cli/kakao_test.py BIN      BIN: the folder of the programs (default build/bin)
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/bin").resolve()

with tempfile.TemporaryDirectory() as work:
    done = subprocess.run([sys.executable, ROOT / "tools/proofs/kakao.py", "--short", "--strata", BIN / "strata", "--work", work],
                          capture_output=True, text=True)
print(done.stdout + done.stderr)
passed = done.returncode == 0 and done.stdout.count("seed 0:") == 5
print(f"{int(passed)} passed, {int(not passed)} failed")
sys.exit(not passed)
