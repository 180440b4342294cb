"""Partition specs of metadata under three sets of rules, through a stack, without a mesh's devices."""
from flax import nnx

from .record import path_text

RULES = {
    "none": [],
    "data_and_model": [["batch", "data"], ["features", "model"], ["hidden", None], ["layers", None]],
    "tuples": [["features", ["model", "fsdp"]], ["hidden", "tensor"], ["layers", "stage"]],
}


class Sharded(nnx.Module):
    """first by kernel_metadata, second by an initializer that brings its names, third without."""

    def __init__(self, rngs):
        init = nnx.initializers
        self.first = nnx.Linear(4, 4, rngs=rngs, kernel_metadata={"out_sharding": ("features", "hidden")},
                                bias_metadata={"out_sharding": ("hidden",)})
        self.second = nnx.Linear(4, 2, rngs=rngs, kernel_init=nnx.with_partitioning(
            init.lecun_normal(), ("hidden", None)))
        self.third = nnx.Linear(2, 2, rngs=rngs)


TEXT = "Sharded: first = Linear(4, 4), kernel (features, hidden), bias (hidden); second = Linear(4, 2), kernel" \
    " (hidden, none) by with_partitioning; third = Linear(2, 2) without names"


def plain(spec):
    return [list(s) if isinstance(s, tuple) else s for s in spec]


def specs(state):
    found = nnx.get_partition_spec(state)
    return {path_text(p): plain(v.get_raw_value() if isinstance(v, nnx.Variable) else v)
            for p, v in nnx.to_flat_state(found)}


def names(state):
    return {path_text(p): list(v.get_metadata().get("out_sharding") or []) for p, v in nnx.to_flat_state(state)}


def made():
    return Sharded(nnx.Rngs(0))


def stacked(axis, name):
    """vmap of the constructor over three streams, the stack's axis named by transform_metadata."""
    build = nnx.transform_metadata(lambda r: Sharded(r), in_axes=0, out_axes=axis, partition=name, graph=False)
    run = nnx.vmap(build, in_axes=0, out_axes=axis, graph=False, graph_updates=False)
    return run(nnx.split_rngs(nnx.Rngs(0), splits=3, graph=False, graph_updates=False))


def cases():
    with nnx.use_eager_sharding(False):
        models = {"plain": ("", made()), "stack": ("; a stack of 3 along axis 0, layers", stacked(0, "layers"))}
        for kind, (more, model) in models.items():
            state = nnx.state(model, nnx.Param)
            for rules, pairs in RULES.items():
                given = [(a, tuple(b) if isinstance(b, list) else b) for a, b in pairs]
                with nnx.logical_axis_rules(given):
                    yield {"name": f"{kind}_{rules}", "model": TEXT + more, "rules": pairs, "names": names(state),
                           "specs": specs(state)}
