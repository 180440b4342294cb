#!/usr/bin/env python3
"""The Python blocks of python/README.md run as they stand, each in a process of its own."""
import re

import harness


def test_blocks():
    blocks = re.findall(r"^```python\n(.*?)^```$", (harness.ROOT / "python" / "README.md").read_text(), re.M | re.S)
    assert len(blocks) >= 3
    for block in blocks:
        out, err, code = harness.python(block, mode="side-by-side", JAX_PLATFORMS=None)
        assert code == 0 and out, f"{block}\nended with {code}: {out}\n{err}"
        assert "False" not in out, out


if __name__ == "__main__":
    harness.run(globals(), modes=())
