#!/usr/bin/env python3
"""tools/jax_tests counts what happens to tests: they pass, fail, are skipped, crash, or have no end; and says who compiled."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import harness

TESTS = """
import os, time
import jax, pytest
from jax._src import test_util as jtu

ON_STRATA = os.environ.get("STRATA_JAX") == "drop-in"
jax.jit(lambda x: x + 1)(1)  # what a process does once, before a test is timed

def test_a_passes(): assert jax.jit(lambda x: x + 1)(1) == 2
def test_b_fails(): raise ValueError("a reason in /some/folder/of/mine.py\\nand more")
@pytest.mark.skip("for no reason")
def test_c_skipped(): pass
def test_d_crashes(): os.abort()
def test_e_goes_on(): assert jax.devices()[0].platform == "cpu"
def test_f_has_no_end(): time.sleep(1000)
def test_g_goes_on_again(): pass
def test_h_skipped_here():
    if ON_STRATA: pytest.skip("only there")
def test_i_fails_here(): assert not ON_STRATA
"""


def test_each_outcome_is_counted():
    with tempfile.TemporaryDirectory() as folder:
        src, tool = pathlib.Path(folder, "src"), pathlib.Path(folder, "repository")
        (src / "tests").mkdir(parents=True)
        (src / "tests" / "some_test.py").write_text(TESTS)
        (src / "conftest.py").touch()
        (src / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--import-mode=importlib'\n")
        (src / "COMMIT").write_text("abcdef the tag")
        (src / "jax").mkdir()
        (src / "jax" / "__init__.py").write_text("raise Exception('the sources hide the wheel')")
        # A copy, for the page that it writes.
        for name in ("tools/jax_tests", "tools/jax_tests_log.py"):
            (tool / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(harness.ROOT / name, tool / name)
        (tool / "docs").mkdir()
        (tool / "python").symlink_to(harness.ROOT / "python")
        argv = [sys.executable, tool / "tools/jax_tests", "--src", src, "--files", "some_test", "--python", sys.executable, "--limit", "20", "--out", src / "out"]
        done = subprocess.run(argv, env={**os.environ, "STRATA_PJRT_LIBRARY": str(harness.LIBRARY)}, capture_output=True, text=True)
        page = (tool / "docs" / "jax-tests.md").read_text()
        said = done.stdout + done.stderr
        assert done.returncode == 1 and "2 tests fail or are skipped on Strata alone" in done.stdout, said
        assert "| some_test | 5 | 3 | 1 | 3 | 4 | 2 | 60.0 % |" in page, page
        assert "`abcdef`" in page, page
        assert "- ValueError: a reason in mine.py: 1\n  `test_b_fails` (and on XLA's CPU)" in page, page
        assert "- the process ended with -6: 1\n  `test_d_crashes` (and on XLA's CPU)" in page, page
        assert "- no end after 20 s: 1\n  `test_f_has_no_end` (and on XLA's CPU)" in page, page
        assert ": 1\n  `test_i_fails_here`\n" in page, page
        assert "some_test `test_h_skipped_here`: only on Strata: " in page, page
        assert re.search(r"Compiled during the runs on Strata: \d+ programs by `[^`]*`\. XLA's own CPU client was started 0 times", page), page
        assert folder not in page, page


if __name__ == "__main__":
    harness.run(globals(), needs=["pytest", "numpy"], modes=())
