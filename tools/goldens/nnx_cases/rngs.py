"""Streams: keys and counts after calls, fork, split, broadcast, split_rngs, reseed; stacks.

A case is a list of steps on one Rngs or model; a step says what was done and holds every stream
behind it, by path, and what the step gave: keys, other streams.
"""
import jax
import jax.numpy as jnp
from flax import nnx

from .describe import formula, packed
from .models import MODELS, TEXT
from .record import path_text, state_json


def plain_filter(f):
    return "..." if f is ... else f


class Steps:
    """Collects steps on a node whose streams are looked at behind each of them."""

    def __init__(self, name, made, node):
        self.node = node
        self.case = {"name": name, "made": made, "start": streams(node), "steps": []}

    def add(self, do, result=None, **said):
        step = {"do": do, **said, "streams": streams(self.node)}
        if isinstance(result, jax.Array):
            step["result"] = packed(result)
        elif result is not None:
            step["made"] = streams(result)
        self.case["steps"].append(step)


def streams(node):
    """Key, count and tag of each stream by its path, in the order in which upstream goes over them."""
    found = {}
    for path, stream in nnx.iter_graph(node):
        if isinstance(stream, nnx.RngStream):
            found[path_text(path)] = {"tag": stream.tag, "key": packed(stream.key[...]),
                                      "count": packed(stream.count[...])}
    return found


def calls():
    for seeds in ({"default": 0}, {"default": 7, "params": 1}, {"params": 1, "dropout": 2, "carry": 3}):
        rngs = nnx.Rngs(**seeds)
        steps = Steps("calls_" + "_".join(seeds), {"rngs": seeds}, rngs)
        names = ["default", "params", "dropout", "params", "noise"] if "default" in seeds else [*seeds, *seeds]
        for n in names:
            steps.add("call", getattr(rngs, n)(), stream=n)
        if "default" in seeds:
            steps.add("call", rngs(), stream="")
        yield steps.case
    words = nnx.Rngs(params=jax.random.key(5), dropout=jax.random.PRNGKey(6))
    steps = Steps("calls_keys_given", {"rngs": {"params": {"key": 5}, "dropout": {"words of key": 6}}}, words)
    steps.add("call", words.params(), stream="params")
    steps.add("call", words.dropout(), stream="dropout")
    yield steps.case
    rngs = nnx.Rngs(0)
    steps = Steps("samplers", {"rngs": {"default": 0}}, rngs)
    steps.add("normal", rngs.normal((2, 3)), stream="", shape=[2, 3])
    steps.add("uniform", rngs.params.uniform((4,)), stream="params", shape=[4])
    steps.add("randint", rngs.randint((3,), 0, 10), stream="", shape=[3], low=0, high=10)
    steps.add("bernoulli", rngs.dropout.bernoulli(0.5, (6,)), stream="dropout", p=0.5, shape=[6])
    steps.add("lecun_normal", rngs.lecun_normal()((3, 4)), stream="", shape=[3, 4])
    steps.add("he_uniform", rngs.params.he_uniform()((2, 2)), stream="params", shape=[2, 2])
    steps.add("permutation", rngs.permutation(5), stream="", n=5)
    yield steps.case


def children():
    rngs = nnx.Rngs(0)
    steps = Steps("one_stream", {"rngs": {"default": 0}}, rngs)
    rngs.params()
    steps.add("call", stream="params")
    child = rngs.params.fork()
    steps.add("fork", child, stream="params")
    steps.add("call_made", child(), of=1)
    steps.add("split", rngs.params.split(3), stream="params", k=3)
    steps.add("split", rngs.params.split((2, 2)), stream="params", k=[2, 2])
    steps.add("broadcast", rngs.params.broadcast(2), stream="params", k=2)
    steps.add("fork_split", rngs.params.fork(split=2), stream="params", k=2)
    steps.add("call", rngs.params(), stream="params")
    yield steps.case
    rngs = nnx.Rngs(0, params=1, dropout=2)
    steps = Steps("many_streams", {"rngs": {"default": 0, "params": 1, "dropout": 2}}, rngs)
    steps.add("fork", rngs.fork())
    steps.add("fork_split", rngs.fork(split={"params": 2, ...: None}), splits=[["params", 2], ["...", None]])
    steps.add("fork_split", rngs.fork(split=3), splits=[["...", 3]])
    steps.add("split", rngs.split(2), splits=[["...", 2]])
    steps.add("split", rngs.split({"params": 3, ("dropout",): (2, 2)}), splits=[["params", 3], ["dropout", [2, 2]]])
    steps.add("broadcast", rngs.broadcast(2), splits=[["...", 2]])
    steps.add("broadcast", rngs.broadcast({"dropout": 2}), splits=[["dropout", 2]])
    yield steps.case


def on_models():
    for name in ("streams", "net", "attentive"):
        for only in (..., "dropout", "default", nnx.RngKey, nnx.RngState):
            for squeeze in (False, True):
                if squeeze and only not in (..., "dropout"):
                    continue
                node = MODELS[name]()
                said = plain_filter(only) if isinstance(only, str) or only is ... else {"of": only.__name__}
                label = said if isinstance(said, str) else said["of"]
                steps = Steps(f"split_rngs_{name}_{label.replace('...', 'all')}{'_squeeze' * squeeze}",
                              {"model": TEXT[name]}, node)
                made = nnx.split_rngs(node, splits=1 if squeeze else 3, only=only, squeeze=squeeze,
                                      graph=False, graph_updates=False)
                steps.add("split_rngs", made, splits=1 if squeeze else 3, only=said, squeeze=squeeze)
                yield steps.case
        node = MODELS[name]()
        steps = Steps(f"fork_rngs_{name}", {"model": TEXT[name]}, node)
        steps.add("fork_rngs", nnx.fork_rngs(node, graph=False, graph_updates=False))
        steps.add("fork_rngs", nnx.fork_rngs(node, split={"dropout": 2, ...: None}, graph=False,
                  graph_updates=False), splits=[["dropout", 2], ["...", None]])
        yield steps.case
    node = MODELS["streams"]()
    steps = Steps("with_rngs", {"model": TEXT["streams"]}, node)
    steps.add("with_rngs", nnx.with_rngs(node, split={"params": 2}, fork="dropout", graph=False),
              split=[["params", 2]], fork=["dropout"])
    steps.add("with_rngs", nnx.with_rngs(node, split={"params": 2}, broadcast={...: 3}, graph=False),
              split=[["params", 2]], broadcast=[["...", 3]])
    steps.add("with_rngs", nnx.with_rngs(node, split=2, only="dropout", graph=False), split=[["...", 2]],
              only="dropout")
    yield steps.case
    node = MODELS["net"]()
    steps = Steps("reseed", {"model": TEXT["net"]}, node)
    nnx.reseed(node, dropout=42)
    steps.add("reseed", seeds={"dropout": 42})
    node(formula(1, (2, 3)))
    steps.add("call", input={"numbers": 1, "shape": [2, 3], "dtype": "float32"})
    nnx.reseed(node, params=3, dropout=4)
    steps.add("reseed", seeds={"params": 3, "dropout": 4})
    yield steps.case
    node = nnx.split_rngs(MODELS["streams"](), splits=3, only="dropout", graph=False, graph_updates=False)
    steps = Steps("reseed_match_shape", {"model": TEXT["streams"] + ", then dropout by split_rngs in 3"}, node)
    nnx.reseed(node, policy="match_shape", dropout=5, params=6)
    steps.add("reseed", seeds={"dropout": 5, "params": 6}, policy="match_shape")
    yield steps.case


def stacks():
    for seeds, lead in (({"default": 0}, 0), ({"params": 1, "dropout": 2}, 2)):
        rngs = nnx.Rngs(**seeds)
        for _ in range(lead):
            rngs.params()
        steps = Steps("stack_" + "_".join(seeds), {"rngs": seeds, "calls of params before": lead}, rngs)
        parts = nnx.split_rngs(rngs, splits=3, graph=False, graph_updates=False)
        steps.add("split_rngs", parts, splits=3)
        make = nnx.vmap(lambda r: nnx.Linear(2, 3, rngs=r), in_axes=0, out_axes=0, graph=False)
        model = make(parts)
        steps.add("vmap_Linear", in_features=2, out_features=3)
        one = lambda i: nnx.Rngs({n: s.key[i] for n, s in parts.items()})
        loop = [nnx.Linear(2, 3, rngs=one(i)) for i in range(3)]
        same = bool(jnp.all(model.kernel[...] == jnp.stack([m.kernel[...] for m in loop])))
        yield steps.case | {"stack": state_json(model), "loop": [state_json(m) for m in loop],
                            "kernels_equal": same, "streams_after": streams(parts)}


def cases():
    yield from calls()
    yield from children()
    yield from on_models()
    yield from stacks()
