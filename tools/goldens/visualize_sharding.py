"""What jax.debug.visualize_sharding prints: strata/api/goldens/visualize_sharding.txt.

    build/peers/bin/python tools/goldens/visualize_sharding.py

Each case is a line "shape / axes of the mesh / spec" and the table below it, as rich 14.2.0 draws it without colours; spec
entries are parted by blanks, axes of one entry by "+", and "-" leaves a dimension whole. Tables stay below 80 columns: what is wider
rich squeezes, and Strata does not. JAX 0.10.2.
"""
import contextlib
import io
import os
import pathlib

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ.update({"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "400"})
try:
    import jax
    import rich  # noqa: F401
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2", "rich==14.2.0")
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

OUT = pathlib.Path(__file__).resolve().parents[2] / "strata/api/goldens/visualize_sharding.txt"
CASES = [
    ((8, 8), (("x", 4), ("y", 2)), "x y"),
    ((8, 8), (("x", 4), ("y", 2)), "y x"),
    ((8, 8), (("x", 4), ("y", 2)), "x"),
    ((8, 8), (("x", 4), ("y", 2)), "- x"),
    ((8, 8), (("x", 4), ("y", 2)), "x+y"),
    ((8, 8), (("x", 4), ("y", 2)), "- y+x"),
    ((8, 8), (("x", 4), ("y", 2)), ""),
    ((64, 16), (("x", 8),), "x"),
    ((16, 32), (("x", 8),), "- x"),
    ((16, 32), (("x", 2), ("y", 4)), "x y"),
    ((1024, 8), (("x", 2), ("y", 4)), "x y"),
    ((8,), (("x", 8),), "x"),
    ((24,), (("x", 4), ("y", 2)), "x"),
    ((24,), (("x", 4), ("y", 2)), ""),
]


def spec_of(text):
    entries = [None if e == "-" else tuple(e.split("+")) if "+" in e else e for e in text.split()]
    return P(*entries)


def main():
    out = []
    for shape, axes, spec in CASES:
        sizes = [n for _, n in axes]
        mesh = Mesh(np.array(jax.devices()).reshape(sizes), [a for a, _ in axes])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            jax.debug.visualize_sharding(shape, NamedSharding(mesh, spec_of(spec)), use_color=False)
        out.append(f"{' '.join(map(str, shape))} / {' '.join(f'{a} {n}' for a, n in axes)} / {spec}".rstrip())
        out += [line.rstrip() for line in printed.getvalue().rstrip("\n").split("\n")]
    OUT.write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
