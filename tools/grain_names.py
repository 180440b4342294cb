"""The public names of Grain 0.2.18 with their signatures, for tools/api_names.py --grain.

Writes strata/data/names/grain.txt: what grain and its public modules export, and the public methods of its data sets, iterators and loader. What
several modules say is listed once; the others are `NAME = path`. grain_not_applicable.tsv beside it, written by hand, says which make
no sense in C++ and why; a reason holds for the other names of the same thing.
"""
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "strata" / "data" / "names"
MODULES = ["", "checkpoint", "constants", "experimental", "monitoring", "multiprocessing", "samplers", "sharding", "sources", "transforms"]
CLASSES = ["MapDataset", "IterDataset", "DatasetIterator", "DataLoader", "DataLoaderIterator"]


def lines(public, signature):
    import grain

    seen = {}
    for module in MODULES:
        for name, value in public(getattr(grain, module) if module else grain):
            path = f"{module}.{name}" if module else name
            text = re.sub(r" at 0x[0-9a-f]+", "", signature(value))
            # Constants are equal texts, not one thing.
            first = seen.setdefault(id(value), path) if callable(value) else path
            yield f"{path} = {first}" if first != path else f"{path}{text}"
            if path in CLASSES:
                # Makers such as MapDataset.range are methods of the metaclass.
                of_class = {n for n in dir(value) if not n.startswith("_")}
                made = {n for c in type(value).__mro__ if c.__module__.startswith("grain") for n in vars(c) if not n.startswith("_")}
                for method in sorted(of_class | made):
                    found = getattr(value, method)
                    yield f"{path}.{method}{re.sub(' at 0x[0-9a-f]+', '', signature(found))}"


def check(listed):
    """Each reason is one of a listed name."""
    paths = {re.split(r"[ (]", line)[0] for line in listed}
    reasons = (FOLDER / "grain_not_applicable.tsv").read_text().splitlines()[1:]
    return [line for line in reasons if line.split("\t")[0] not in paths or not line.partition("\t")[2]]


def write(public, signature):
    import grain

    listed = list(lines(public, signature))
    head = f"# Public names of grain {grain.__version__}, by tools/api_names.py --grain: do not edit.\n"
    (FOLDER / "grain.txt").write_text(head + "\n".join(listed) + "\n")
    if wrong := check(listed):
        sys.exit("grain_not_applicable.tsv gives reasons for what is not listed:\n" + "\n".join(wrong))
