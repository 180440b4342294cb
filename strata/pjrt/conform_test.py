#!/usr/bin/env python3
"""The plugin before `pypjrt.conform`, a checker of PJRT plugins that knows neither Strata nor JAX: no check fails.

    strata/pjrt/conform_test.py BIN      BIN: the folder of the programs; the plugin is ../lib/libstrata_pjrt.so

Needs the pypjrt package of PyPI, in this Python or in build/peers; without it, skipped (status 77).
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/bin").resolve()
# What the plugin does not offer, and why it need not.
ABSENT = {
    "device.clear_memory_stats",  # the peak is the process's
    "topology.create_by_name", "topology.client_free_compile",  # compiling without a device: none to compile for but this one
    "transfer.async_host_to_device",  # host memory is device memory
}  # fmt: skip

sys.path.insert(0, str(ROOT / "tests"))
import peers

try:
    import pypjrt  # noqa: F401
except ImportError:
    peers.run_again("pypjrt", BIN)

with tempfile.TemporaryDirectory() as folder:
    report = pathlib.Path(folder) / "report.json"
    plugin = BIN.parent / "lib" / "libstrata_pjrt.so"
    done = subprocess.run([sys.executable, "-m", "pypjrt.conform", plugin, "--json", report], capture_output=True, text=True, timeout=300)
    if not report.exists():
        print(f"FAILED the checker ends (exit {done.returncode})\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        sys.exit(1)
    checks = json.loads(report.read_text())["checks"]

passed = 0
for check in checks:
    name, result = check["id"], check["result"]
    if result == "pass":
        passed += 1
        print(f"ok {name}")
    elif result == "fail" or (result == "unsupported" and name not in ABSENT):
        print(f"FAILED {name}: {result}: {check['detail']}")
print(f"{'ok' if passed >= 50 else 'FAILED'} {passed} checks pass, at least 50")
