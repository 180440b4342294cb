"""Projections of arrays and trees, with gradients: from inside, from outside and on the edge."""
import jax.numpy as jnp

from .arrays import Numbers, arrays, numbers_tree
from .descent import TINY
from .kinds import Function

VECTOR, TREE = Numbers(3, (6,)), numbers_tree(TINY, 3)
SMALL = {k: v * 0.01 for k, v in arrays(TREE).items()}
NORMAL = numbers_tree(TINY, 8)
TIES = jnp.asarray([0.5, 0.5, -0.25, 0.5, 0.0, -0.0], jnp.float32)
SINGLE = jnp.asarray([-3.0], jnp.float32)
INSIDE = jnp.asarray([0.5, 0.25, 0.125, 0.125], jnp.float32)


def project(name, function, /, inputs, wrt=None, **options):
    return Function(name, "projections.projection_" + function, inputs, options, wrt or tuple(inputs)[:1])


def several(function, /, **more):
    """The same set for a vector, a tree, a tree well inside and numbers with ties."""
    inputs = {"vector": VECTOR, "tree": TREE, "small": SMALL, "ties": TIES, "single": SINGLE}
    return [project(f"{function}_{kind}", function, {"tree": x}, **more) for kind, x in inputs.items()]


def scaled(function):
    return [*several(function), project(function + "_scale", function, {"tree": TREE, "scale": jnp.float32(0.3)}, ("tree", "scale")),
            project(function + "_wide", function, {"tree": VECTOR}, scale=5.0)]


def arrays_only(function):
    """Upstream has no hypercube for trees: its lower bound is the number 0, which is no tree."""
    inputs = {"vector": VECTOR, "ties": TIES, "single": SINGLE}
    return [*[project(f"{function}_{kind}", function, {"tree": x}) for kind, x in inputs.items()],
            project(function + "_scale", function, {"tree": VECTOR, "scale": jnp.float32(0.3)}, ("tree", "scale"))]


PLANE = {"x": TREE, "a": NORMAL, "b": jnp.float32(0.5)}
CASES = [
    *several("non_negative"),
    *[project(f"box_{kind}", "box", {"tree": x}, lower=-0.25, upper=0.5) for kind, x in
      {"vector": VECTOR, "ties": TIES, "single": SINGLE}.items()],
    project("box_trees", "box", {"tree": TREE, "lower": SMALL, "upper": {k: v + 0.3 for k, v in SMALL.items()}},
            ("tree", "lower", "upper")),
    *arrays_only("hypercube"), *scaled("linf_ball"),
    *scaled("simplex"),
    project("simplex_inside", "simplex", {"tree": INSIDE}),
    *scaled("l1_sphere"), *scaled("l1_ball"), *scaled("l2_sphere"), *scaled("l2_ball"),
    project("vector", "vector", {"x": TREE, "a": NORMAL}, ("x", "a")),
    project("hyperplane", "hyperplane", PLANE, ("x", "a", "b")),
    project("halfspace_outside", "halfspace", {**PLANE, "b": jnp.float32(-2.0)}, ("x", "a", "b")),
    project("halfspace_inside", "halfspace", {**PLANE, "b": jnp.float32(5.0)}, ("x", "a", "b")),
]
