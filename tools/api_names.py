#!/usr/bin/env python3
"""Writes public names of JAX 0.10.2 and flax.nnx 0.12.8 that Strata answers to, with signatures.

    tools/api_names.py            # rewrites strata/api/names/upstream.txt, names of JAX
    tools/api_names.py --nnx      # rewrites strata/nn/names/nnx.txt and nnx_methods.txt
    tools/api_names.py --counts   # how many names each module of JAX has
    tools/api_names.py --optax    # rewrites strata/optim/names/optax.txt, with optax 0.2.8 (tools/optax_names.py)
    tools/api_names.py --grain    # rewrites strata/data/names/grain.txt, with grain 0.2.18 (tools/grain_names.py)

A line is a name and what Python's inspect says of its parameters. Names of other modules,
primitives (`*_p`) and what begins with an underscore are left out. Makes build/peers with
jax 0.10.2 and flax 0.12.8 when this Python has none.
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
NNX = ROOT / "strata" / "nn" / "names"

try:
    import flax
    import jax
except ImportError:
    sys.path.insert(0, str(ROOT / "tools" / "goldens"))
    from peers import again_with

    again_with("jax==0.10.2", "flax==0.12.8")

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


# Modules of flax.nnx whose names count beside those at its top; of the libraries, what the top lacks.
NNX_MODULES = "metrics initializers spmd statelib filterlib rnglib".split()


def constructor(value):
    """The signature of a class's __init__ without self, as metaclasses of flax.nnx hide it."""
    if not isinstance(value, type) or value.__init__ is object.__init__:
        return signature(value)
    return signature(value.__init__).replace("(self, /, ", "(").replace("(self, ", "(").replace("(self)", "()")


def settled(line):
    """A line without addresses of Python's objects and without names of inner functions."""
    line = re.sub(r"\.\.\w+ at 0x[0-9a-f]+>?", "", line)
    return re.sub(r"\w+>", "function", re.sub(r"(flax\.typing\.Missing|\w+) at 0x[0-9a-f]+>?", r"\1", line))


def nnx_values():
    """Public names of flax.nnx with what they stand for."""
    nnx = importlib.import_module("flax.nnx")
    top = dict(public(nnx))
    yield from ((f"nnx.{name}", value) for name, value in top.items())
    for module in NNX_MODULES:
        for name, value in public(getattr(nnx, module)):
            home = str(getattr(value, "__module__", ""))
            own = module == "initializers" or home in (f"flax.nnx.{module}", f"flax.nnx.training.{module}")
            known = any(value is v for v in top.values()) or not callable(value)
            if own and not known and type(value).__name__ != "TypeVar" and name not in ("NotKey", "deprecated"):
                yield f"nnx.{module}.{name}", value


def nnx_methods(skipped):
    """Public methods that classes of flax.nnx define themselves, without classes that do not apply."""
    for path, value in nnx_values():
        if isinstance(value, type) and path not in skipped:
            for name, method in sorted(vars(value).items()):
                if inspect.isfunction(method) and (not name.startswith("_") or name == "__call__"):
                    yield f"{path}.{name}{signature(method)}"


def write_nnx():
    head = f"flax {flax.__version__} (jax {jax.__version__}), by tools/api_names.py --nnx: do not edit."
    skipped = {line.split("\t")[0] for line in (NNX / "nnx_not_applicable.tsv").read_text().splitlines()}
    names = [f"{path}{constructor(value)}" for path, value in nnx_values()]
    (NNX / "nnx.txt").write_text(f"# Public names of {head}\n" + "\n".join(map(settled, names)) + "\n")
    methods = list(nnx_methods(skipped))
    (NNX / "nnx_methods.txt").write_text(f"# Methods of classes of {head}\n" + "\n".join(map(settled, methods)) + "\n")
    known = {p for p, _ in nnx_values()} | {m.split("(")[0] for m in methods}
    unknown = sorted(n for n in skipped - known if not n.startswith("#"))
    assert not unknown, unknown
    print(f"{len(names)} names, {len(methods)} methods, {len(skipped) - 1} names that do not apply")


def main():
    if "--nnx" in sys.argv:
        write_nnx()
        return
    if "--optax" in sys.argv:
        from optax_names import write

        return write(public, signature)
    if "--grain" in sys.argv:
        from grain_names import write

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
