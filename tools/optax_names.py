"""The public names of Optax 0.2.8 with their signatures, for tools/api_names.py --optax.

Writes strata/optim/names/optax.txt. What several modules say is listed once, under the module of
its subject; the others are `NAME = path`. optax.tree_utils is left out, it repeats optax.tree.
optax_not_applicable.tsv beside it, written by hand, says which make no sense in C++ and why; a
reason holds for the other names of the same thing.
"""
import importlib
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "strata" / "optim" / "names"
MODULES = """contrib losses schedules projections assignment perturbations second_order transforms tree microbatching
    experimental.aggregating""".split()
# Modules whose file imports more than its users are to see.
OF_FILE = {"experimental.aggregating"}


def names_of(name, public):
    import optax

    if not name:
        return list(public(optax))
    parent, _, last = f"optax.{name}".rpartition(".")
    module = getattr(importlib.import_module(parent), last)
    if name in OF_FILE:
        return [(n, v) for n, v in public(module) if getattr(v, "__module__", "") == module.__name__]
    return list(public(module))


def lines(public, signature):
    import optax

    seen = {id(optax.EmptyState): "EmptyState"}
    for module in [*MODULES, ""]:
        for name, value in names_of(module, public):
            path = f"{module}.{name}" if module else name
            first = seen.setdefault(id(value), path)
            text = re.sub(r" at 0x[0-9a-f]+", "", signature(value))
            text = re.sub(r"GradientTransformationExtraArgs\(init=(\w+)\.[^)]*\)", r"\1(...)", text)
            yield f"{path} = {first}" if first != path else f"{path}{text}"


def check(listed):
    """Each reason is one of a listed name."""
    paths = {re.split(r"[ (]", line)[0] for line in listed}
    reasons = (FOLDER / "optax_not_applicable.tsv").read_text().splitlines()[1:]
    return [line for line in reasons if line.split("\t")[0] not in paths or not line.partition("\t")[2]]


def write(public, signature):
    import optax

    FOLDER.mkdir(parents=True, exist_ok=True)
    listed = list(lines(public, signature))
    head = f"# Public names of optax {optax.__version__}, by tools/api_names.py --optax: do not edit.\n"
    (FOLDER / "optax.txt").write_text(head + "\n".join(listed) + "\n")
    if wrong := check(listed):
        sys.exit("optax_not_applicable.tsv gives reasons for what is not listed:\n" + "\n".join(wrong))
    print(f"{len(listed)} names, {sum(' = ' not in line.partition('(')[0] for line in listed)} of them different")
