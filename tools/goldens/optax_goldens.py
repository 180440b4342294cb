#!/usr/bin/env python3
"""Writes strata/optim/testdata/optax/*.json: what Optax 0.2.8 makes of its rules, schedules, losses and the rest.

    tools/goldens/optax_goldens.py              # rewrites all families
    tools/goldens/optax_goldens.py adam losses  # rewrites some

A family is a file of optax_cases/ with a list CASES. A rule's case holds its call, its parameters and, for each step, gradients,
extra arguments, the state before (in step 0, and where somebody changed it), updates and the state after, under upstream's
paths, so that a test restarts every step. Parameters of the next step are the last ones plus the updates, rounded to their
dtype. Everything runs op by op: jit is off, so that loops and branches run op by op as well.
Needs jax 0.10.2 and optax 0.2.8; makes build/peers with them when this Python has none.
"""
import importlib
import json
import os
import pathlib
import sys
import warnings

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "strata" / "optim" / "testdata" / "optax"
NO_FAMILIES = ("__init__", "arrays", "calls", "kinds", "named")

try:
    import jax
    import optax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2", "optax==0.2.8", "numpy")

from optax_cases.named import NAMED

warnings.filterwarnings("ignore")
jax.config.update("jax_default_matmul_precision", "highest")


def write(family):
    cases = importlib.import_module(f"optax_cases.{family}").CASES
    names = [c.name for c in cases]
    assert len(set(names)) == len(names), sorted(n for n in names if names.count(n) > 1)
    lines, used = [], set()
    for case in cases:
        try:
            with jax.disable_jit():
                lines.append(json.dumps(case.stored(), separators=(",", ":"), allow_nan=False))
        except Exception as e:
            e.add_note(f"in the case {case.name} of {family}")
            raise
        used |= case.uses()
    manifest = {"optax": optax.__version__, "jax": jax.__version__, "script": "tools/goldens/optax_goldens.py",
                "functions": {name: NAMED[name][1] for name in sorted(used)}}
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{family}.json"
    path.write_text('{"manifest": ' + json.dumps(manifest) + ',\n "cases": [\n' + ",\n".join(lines) + "\n]}\n")
    print(f"{len(cases):4} cases {path.stat().st_size / 1e3:7.1f} kB  {path.relative_to(ROOT)}", flush=True)


def main():
    here = pathlib.Path(__file__).resolve().parent / "optax_cases"
    for family in sys.argv[1:] or sorted(p.stem for p in here.glob("*.py") if p.stem not in NO_FAMILIES):
        write(family)


if __name__ == "__main__":
    main()
