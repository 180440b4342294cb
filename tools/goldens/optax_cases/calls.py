"""Describes calls of Optax as JSON, and makes what they describe.

    {"function": "adamw", "args": {...}}     a function of optax, or of a module as in contrib.muon
    {"schedule": "linear_schedule", "args"}  a schedule
    {"factory": "adamw"}                     the function itself
    {"named": "matrices"}                    a function of NAMED, which the manifest explains
    {"mask": {path: value}}  a tree of booleans or labels; a path may be an inner node
    {"dtype": "bfloat16"}, {"key": 3}, {"number": "inf"}
    {"tuple": [...]}, {"table": [[key, value], ...]}

Lists are lists, other dictionaries are dictionaries of described values.
"""
import functools

import jax
import jax.numpy as jnp
import optax

from . import arrays
from .named import NAMED

SPREAD = {"chain": "transforms", "named_chain": "transforms"}


def call(function, **args):
    return {"function": function, "args": args}


def schedule(name, **args):
    return {"schedule": name, "args": args}


def named(name):
    assert name in NAMED, name
    return {"named": name}


def mask(**nodes):
    """A tree by its paths, "__" for "/"."""
    return {"mask": {path.replace("__", "/"): value for path, value in nodes.items()}}


def found(name):
    return functools.reduce(getattr, name.split("."), optax)


def made_call(name, args):
    args = {key: made(value) for key, value in args.items()}
    if name == "MultiSteps":
        return optax.MultiSteps(args.pop("opt"), args.pop("every_k_schedule"), **args).gradient_transformation()
    if name in ("inject_hyperparams", "inject_stateful_hyperparams"):
        inner = args.pop("arguments")
        return found(name)(args.pop("inner_factory"), **args)(**inner)
    if name in SPREAD:
        return found(name)(*args[SPREAD[name]])
    return found(name)(**args)


def made(value):
    if isinstance(value, list):
        return [made(v) for v in value]
    if isinstance(value, arrays.Numbers):
        return value.array()
    if not isinstance(value, dict):
        return value
    if "function" in value:
        return made_call(value["function"], value["args"])
    if "schedule" in value:
        return made_call(value["schedule"], value["args"])
    simple = {"factory": found, "named": lambda n: NAMED[n][0], "mask": arrays.nested, "dtype": jnp.dtype,
              "key": jax.random.key, "number": float, "tuple": lambda v: tuple(made(x) for x in v),
              "table": lambda rows: {k: made(v) for k, v in rows}}
    if len(value) == 1 and next(iter(value)) in simple:
        kind, inside = next(iter(value.items()))
        return simple[kind](inside)
    return {k: made(v) for k, v in value.items()}


def plain(value):
    """A described value with its arrays encoded."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return arrays.encoded(value)


def named_in(value):
    """The names of functions that a described value uses."""
    if isinstance(value, dict):
        here = {value["named"]} if isinstance(value.get("named"), str) else set()
        return here.union(*map(named_in, value.values()))
    return set().union(*map(named_in, value)) if isinstance(value, (list, tuple)) else set()
