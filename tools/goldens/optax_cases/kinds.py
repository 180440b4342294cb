"""The kinds of cases: rules in steps, schedules at counts, functions with gradients."""
import dataclasses
import typing

import jax
import jax.numpy as jnp
import optax

from . import arrays
from .calls import call, made, named_in, plain

TREE = {"a": (3,), "b/w": (3, 4), "b/e": ()}
MATRICES = {"bias": (4,), "down": (6, 4), "up": (4, 6)}
POINT = {"x": (4,)}


def given(step, shapes, dtype="float32"):
    """The gradients of a step, from 0."""
    return arrays.numbers_tree(shapes, 10 + step, dtype)


@dataclasses.dataclass
class Rule:
    """A transformation over some steps; gradients are given, or those of `objective`."""

    name: str
    call: dict
    shapes: dict = dataclasses.field(default_factory=lambda: TREE)
    steps: int = 5
    dtype: str = "float32"  # of the parameters
    gradient_dtype: str = "float32"
    gradients: typing.Optional[typing.Callable] = None  # of the step, instead of `given`
    params: typing.Any = None  # a tree of inputs, instead of numbers of `shapes`
    extra: typing.Optional[typing.Callable] = None  # of step, params and gradients: described extra arguments
    objective: typing.Optional[str] = None  # a function of NAMED that gives gradients, and value, grad, value_fn
    extras: tuple = ()  # which of value, grad, value_fn, obj_fn the objective gives
    assign: typing.Optional[typing.Callable] = None  # of step and state: another state, where a user sets it
    needs_params: bool = True
    evaluate: typing.Optional[typing.Callable] = None  # of state and params: a tree that is stored as "evaluated"
    explain: bool = False  # also stores params_after, for rules of dtypes

    def uses(self):
        used = named_in(self.call)
        for step in range(self.steps if self.extra else 0):
            used |= named_in(self.extra(step))
        return used | ({self.objective} if self.objective else set())

    def extras_of(self, step, params, gradients):
        """The described extra arguments and the made ones."""
        said, args = {}, {}
        if self.objective:
            f = made({"named": self.objective})
            forms = {"value": (None, f(params)), "grad": ("gradients", gradients),
                     "value_fn": ({"named": self.objective}, f), "obj_fn": ({"named": self.objective}, f)}
            for name in self.extras:
                words, args[name] = forms[name]
                said[name] = words if words else arrays.encoded(args[name])
        for name, value in (self.extra(step) if self.extra else {}).items():
            said[name], args[name] = plain(value), made(value)
        return said, args

    def stored(self):
        rule = made(self.call)
        start = self.params if self.params is not None else arrays.numbers_tree(self.shapes, 1, self.dtype)
        params = arrays.arrays(start)
        state = rule.init(params)
        case = {"name": self.name, "call": plain(self.call), "params": arrays.encoded_tree(params)}
        if not self.needs_params:
            case["needs_params"] = False
        case["steps"] = steps = []
        for step in range(self.steps):
            entry = {}
            before = arrays.encoded_tree(state)  # now: to assign may change the state in place
            if self.assign:
                state = self.assign(step, state)
            if self.objective:
                inputs = gradients = jax.grad(made({"named": self.objective}))(params)
            else:
                inputs = self.gradients(step) if self.gradients else given(step, self.shapes, self.gradient_dtype)
                gradients = arrays.arrays(inputs)
            entry["gradients"] = arrays.encoded_tree(inputs)
            said, extra = self.extras_of(step, params, gradients)
            if said:
                entry["extra"] = said
            if step == 0 or before != arrays.encoded_tree(state):
                entry["state_before"] = arrays.encoded_tree(state)
            updates, state = optax.with_extra_args_support(rule).update(gradients, state, params, **extra)
            entry["updates"] = arrays.encoded_tree(updates)
            entry["state_after"] = arrays.encoded_tree(state)
            params = optax.apply_updates(params, updates)
            if self.explain:
                entry["params_after"] = arrays.encoded_tree(params)
            if self.evaluate:
                entry["evaluated"] = arrays.encoded_tree(self.evaluate(state, params))
            steps.append(entry)
        return case


def rule(name, function, /, **args):
    """A rule of the function's name; keywords in capitals are fields of Rule."""
    fields = {k.lower(): args.pop(k) for k in list(args) if k.isupper()}
    return Rule(name, call(function, **args), **fields)


@dataclasses.dataclass
class Schedule:
    """A schedule at counts."""

    name: str
    call: dict
    counts: list

    def uses(self):
        return named_in(self.call)

    def stored(self):
        f = made(self.call)
        values = jnp.stack([jnp.asarray(f(jnp.int32(c)), jnp.float32) for c in self.counts])
        return {"name": self.name, "call": plain(self.call), "counts": self.counts, "values": arrays.encoded(values)}


@dataclasses.dataclass
class Function:
    """A function of inputs (arrays or trees) with options; `wrt` are the inputs it is derived by.

    The stored gradients are those of the sum over all results of result times cotangent; the
    cotangent of leaf k of the results is the numbers of seed 900 + k.
    """

    name: str
    function: str
    inputs: dict
    options: dict = dataclasses.field(default_factory=dict)
    wrt: tuple = ()
    run: typing.Optional[typing.Callable] = None  # of inputs and options, instead of upstream's function
    positional: bool = False

    def uses(self):
        return named_in(self.options)

    def stored(self):
        inputs = {k: arrays.arrays(v) for k, v in self.inputs.items()}
        options = {k: made(v) for k, v in self.options.items()}

        def f(**inputs):
            if self.run:
                return self.run(**inputs, **options)
            function = made({"factory": self.function})
            return function(*inputs.values(), **options) if self.positional else function(**inputs, **options)

        out = f(**inputs)
        case = {"name": self.name, "call": {"function": self.function, "args": plain(self.options)},
                "inputs": {k: arrays.encoded_tree(v) for k, v in self.inputs.items()},
                "results": arrays.encoded_tree(out)}
        if self.wrt:
            def weighted(part):
                total = jnp.float32(0)
                for k, leaf in enumerate(jax.tree.leaves(f(**{**inputs, **part}))):
                    total += jnp.sum(leaf * jnp.asarray(arrays.numbers(900 + k, leaf.shape)))
                return total

            gradients = jax.grad(weighted)({k: inputs[k] for k in self.wrt})
            case["gradients"] = {k: arrays.encoded_tree(v) for k, v in gradients.items()}
        return case
