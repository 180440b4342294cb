#!/usr/bin/env python3
"""Writes strata/optim/testdata/optax/*.json: rules, schedules, losses and the rest of Optax 0.2.8.

    tools/goldens/optax_goldens.py              # rewrites all families
    tools/goldens/optax_goldens.py adam losses  # rewrites some
    tools/goldens/optax_goldens.py --compiled   # also checks that loops and branches may be compiled

A family is a file of optax_cases/ with a list CASES. A rule's case holds its call, its parameters
and, for each step, gradients, extra arguments, the state before (in step 0, and where somebody
changed it), updates and the state after, under upstream's paths, so that a test restarts every
step. Parameters of the next step are the last ones plus the updates, rounded to their dtype.
Everything runs op by op, loops and branches too, which upstream's eager mode would compile.
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
NO_FAMILIES = ("__init__", "arrays", "calls", "control", "kinds", "named")

try:
    import jax
    import optax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2", "optax==0.2.8", "numpy")

from optax_cases.control import op_by_op
from optax_cases.named import NAMED

warnings.filterwarnings("ignore")
jax.config.update("jax_default_matmul_precision", "highest")


def dtypes(said):
    """The dtypes of all arrays that a case holds, in order."""
    if isinstance(said, list):
        return [d for x in said for d in dtypes(x)]
    if not isinstance(said, dict):
        return []
    return [(said["dtype"], said["shape"])] if "b64" in said else [d for x in said.values() for d in dtypes(x)]


def write(family, compiled):
    cases = importlib.import_module(f"optax_cases.{family}").CASES
    names = [c.name for c in cases]
    assert len(set(names)) == len(names), sorted(n for n in names if names.count(n) > 1)
    lines, used = [], set()
    for case in cases:
        try:
            with op_by_op():
                stored = case.stored()
            assert not compiled or dtypes(case.stored()) == dtypes(stored), case.name
            lines.append(json.dumps(stored, separators=(",", ":"), allow_nan=False))
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
    given = [a for a in sys.argv[1:] if not a.startswith("-")]
    for family in given or sorted(p.stem for p in here.glob("*.py") if p.stem not in NO_FAMILIES):
        write(family, "--compiled" in sys.argv)


if __name__ == "__main__":
    main()
