#!/usr/bin/env python3
"""Writes strata/api/names/upstream.txt: the public names of JAX 0.10.2 that Strata's array library answers to, with their signatures.

    tools/api_names.py            # rewrites the file
    tools/api_names.py --counts   # how many names each module has
    tools/api_names.py --optax    # rewrites strata/optim/names/optax.txt, with optax 0.2.8 (tools/optax_names.py)

A line is a name and what Python's inspect says of its parameters. Names of other modules, primitives (`*_p`) and what begins
with an underscore are left out. Makes build/peers with jax 0.10.2 when this Python has none.
"""
import importlib
import inspect
import os
import pathlib
import re
import sys
import types

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT = pathlib.Path(__file__).resolve().parents[1]
FILE = ROOT / "strata" / "api" / "names" / "upstream.txt"

try:
    import jax
except ImportError:
    sys.path.insert(0, str(ROOT / "tools" / "goldens"))
    from peers import again_with

    again_with("jax==0.10.2")

import numpy

MODULES = ["numpy", "numpy.linalg", "numpy.fft", "lax", "lax.linalg", "nn", "nn.initializers", "random", "scipy.special", "scipy.linalg", "ops", "tree", "tree_util"]
# The transforms at the top, as issue and tutorial name them.
TRANSFORMS = """jit grad value_and_grad jvp vjp linearize linear_transpose vmap jacfwd jacrev hessian checkpoint custom_jvp custom_vjp
    lax.custom_root lax.custom_linear_solve eval_shape make_jaxpr named_scope pure_callback experimental.io_callback debug.print
    debug.callback debug_nans""".split()


def public(module):
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if not name.startswith("_") and not name.endswith("_p") and not isinstance(value, types.ModuleType):
            yield name, value


def signature(value):
    """Parameters with their defaults and without types; nothing for what is no function."""
    if not callable(value) or isinstance(value, type) and issubclass(value, numpy.generic):
        return ""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    plain = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    text = str(found.replace(parameters=plain, return_annotation=found.empty))
    return re.sub(r"<(?:class|function|object|module)?\s*'?([\w.]+)[^>]*>", r"\1", text)


def found(path):
    *modules, name = path.split(".")
    return getattr(importlib.import_module(".".join(["jax", *modules])), name)


def lines():
    for module in MODULES:
        for name, value in public(importlib.import_module("jax." + module)):
            yield f"{module}.{name}{signature(value)}"
    for path in TRANSFORMS:
        if not path.startswith("lax."):
            yield f"{path}{signature(found(path))}"


def main():
    if "--optax" in sys.argv:
        from optax_names import write

        return write(public, signature)
    if "--counts" in sys.argv:
        for module in MODULES:
            print(f"{len(list(public(importlib.import_module('jax.' + module)))):4} {module}")
        return
    head = f"# Public names of jax {jax.__version__} (numpy {numpy.__version__}), by tools/api_names.py: do not edit.\n"
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(head + "\n".join(lines()) + "\n")


if __name__ == "__main__":
    main()
