"""Dropout, PReLU, Sequential, pools, sow, perturb and capture.

Activations are in strata/api/goldens; here stands only how nnx.Sequential calls them.
"""
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from .describe import Key, Layer, Numbers, Seeds, function, packed
from .record import Call, answers, case, path_text, state_json, variants


def x(*shape, seed=1, **kwargs):
    return Call(Numbers(seed, shape), **kwargs)


def dropout(rate=0.4, **args):
    return Layer("Dropout", rate=rate, rngs="given", **args)


def dropouts():
    yield case("dropout", dropout(), x(3, 4), x(3, 4))
    yield case("dropout_rates", dropout(0.9), x(4, 4), grads=False)
    yield case("dropout_bf16_input", dropout(), x(3, 4).to("bfloat16"), grads=False)
    yield case("dropout_streams", dropout(), x(3, 4), grads=False, rngs={"params": 1, "dropout": 2})
    yield case("dropout_other_stream", dropout(rng_collection="noise"), x(3, 4), x(3, 4, rngs=Seeds({"noise": 9})),
               grads=False, rngs={"dropout": 2, "noise": 3})
    yield case("dropout_first_dim", dropout(broadcast_dims=(0,)), x(3, 4), grads=False)
    yield case("dropout_last_dims", dropout(broadcast_dims=(-1, 1)), x(3, 2, 4))
    yield case("dropout_all_dims", dropout(broadcast_dims=(0, 1)), x(2, 3), x(2, 3), x(2, 3), grads=False)
    yield case("dropout_none", dropout(0.0), x(2, 3), grads=False)
    yield case("dropout_everything", dropout(1.0), x(2, 3))
    yield case("dropout_deterministic", dropout(deterministic=True), x(2, 3), x(2, 3, deterministic=False),
               grads=False)
    given = [x(2, 3, rngs=Key(4)), x(2, 3, rngs=Seeds(4)), x(2, 3, rngs=Seeds({"dropout": 4}))]
    yield case("dropout_rngs_in_call", Layer("Dropout", rate=0.4, rngs=None), *given, grads=False)


def small():
    yield from variants("prelu", Layer("PReLU"), x(2, 5))
    yield case("prelu_slope", Layer("PReLU", negative_slope_init=0.3), x(2, 5), x(2, 5).to("bfloat16"),
               setting=False)
    linear = lambda a, b: Layer("Linear", in_features=a, out_features=b)
    mixed = Layer("Sequential", layers=[linear(4, 6), function("gelu"), Layer("LayerNorm", num_features=6),
                                        function("swish"), linear(6, 2)])
    yield from variants("sequential", mixed, x(2, 4))
    noisy = Layer("Sequential", layers=[linear(4, 4), dropout(0.5), function("relu")])
    yield case("sequential_dropout", noisy, x(2, 4), x(2, 4), rngs={"params": 1, "dropout": 2})
    yield case("sequential_rngs_in_call", noisy, x(2, 4, rngs=Seeds({"dropout": 8})), grads=False)
    yield case("sequential_tuple", Layer("Sequential", layers=[
        Layer("GRUCell", in_features=3, hidden_features=2), function("add")]),
        Call(Numbers(2, (2, 2)), Numbers(1, (2, 3))), grads=False)


def pools():
    image, line = Numbers(1, (2, 4, 5, 2)), Numbers(1, (2, 6, 3))
    for f in ("avg_pool", "max_pool", "min_pool"):
        yield answers(f, f, Call(image, window_shape=(2, 3)), grads=True)
        yield answers(f + "_strides", f, Call(image, window_shape=(2, 2), strides=(2, 2)), grads=True)
        yield answers(f + "_same", f, Call(image, window_shape=(3, 2), strides=(2, 1), padding="SAME"), grads=True)
        yield answers(f + "_pairs", f, Call(line, window_shape=(3,), strides=(2,), padding=((1, 2),)))
        yield answers(f + "_bf16", f, Call(line.to("bfloat16"), window_shape=(2,)))
        yield answers(f + "_no_batch", f, Call(Numbers(1, (6, 3)), window_shape=(2,)))
        yield answers(f + "_two_batches", f, Call(Numbers(1, (2, 2, 5, 2)), window_shape=(2,)))
    outside = {"window_shape": (3, 2), "strides": (2, 1), "padding": "SAME", "count_include_pad": False}
    yield answers("avg_pool_without_padding", "avg_pool", Call(image, **outside), grads=True)


class Inner(nnx.Module):
    """Sows its input twice and perturbs what it makes of it."""

    def __init__(self, rngs):
        self.linear = nnx.Linear(3, 3, rngs=rngs)

    def __call__(self, x):
        self.sow(nnx.Intermediate, "seen", x)
        y = self.perturb("change", self.linear(x))
        self.sow(nnx.Intermediate, "seen", y)
        self.sow(nnx.Intermediate, "total", jnp.sum(y), reduce_fn=lambda a, b: a + b,
                 init_fn=lambda: jnp.float32(0))
        return y


class Outer(nnx.Module):
    """Calls one Inner twice, another once, and sows beside them."""

    def __init__(self, rngs):
        self.blocks = nnx.List([Inner(rngs), Inner(rngs)])

    def __call__(self, x):
        y = self.blocks[1](self.blocks[0](self.blocks[0](x)))
        self.sow(nnx.Intermediate, "out", y)
        return y


PROGRAM = """Inner(rngs): linear = Linear(3, 3). Call: sow seen x; y = perturb change linear(x); sow seen y;
sow total sum(y), added up from 0; answer y. Outer(rngs): blocks = two Inner. Call:
y = blocks[1](blocks[0](blocks[0](x))); sow out y; answer y."""


def captured(name, kinds, model, inputs, **options):
    out, *states = nnx.capture(model, *[getattr(nnx, k) for k in kinds], **options)(inputs.array())
    return {"name": name, "program": PROGRAM, "capture": list(kinds), "inputs": [inputs.json()],
            "outputs": [packed(out)], "captured": [state_json(s) for s in states]}


def looking_inside():
    one, numbers = Inner(nnx.Rngs(0)), Numbers(1, (2, 3))
    start = {"inner": state_json(one), "outer": state_json(Outer(nnx.Rngs(0)))}
    yield {"name": "capture_models", "program": PROGRAM, "rngs": 0, "init": start}
    for name, kinds in (("intermediate", ["Intermediate"]), ("perturbation", ["Perturbation"]),
                        ("both", ["Intermediate", "Perturbation"]), ("other", ["Cache"])):
        yield captured("capture_inner_" + name, kinds, Inner(nnx.Rngs(0)), numbers) | {"model": "Inner"}
        if name != "perturbation" and name != "both":
            yield captured("capture_outer_" + name, kinds, Outer(nnx.Rngs(0)), numbers) | {"model": "Outer"}
    methods = captured("capture_outer_methods", ["Intermediate"], Outer(nnx.Rngs(0)), numbers,
                       method_outputs=nnx.Intermediate)
    yield methods | {"model": "Outer", "method_outputs": "Intermediate"}
    yield by_perturbation(Inner(nnx.Rngs(0)), numbers)


def by_perturbation(model, inputs):
    """The gradient of an intermediate: zeros from a first capture, then differentiated by them."""
    x = inputs.array()
    _, zeros = nnx.capture(model, nnx.Perturbation)(x)

    graphdef, state = nnx.split(model)

    def loss(zeros, x):
        inner = nnx.merge(graphdef, state, copy=True)
        out, _ = nnx.capture(inner, nnx.Perturbation, init=zeros)(x)
        return jnp.sum(jnp.square(out))

    value, grads = jax.value_and_grad(loss)(zeros, x)
    by_path = {path_text(p): packed(g[...]) for p, g in nnx.to_flat_state(grads)}
    return {"name": "gradient_of_intermediate", "program": PROGRAM, "model": "Inner", "inputs": [inputs.json()],
            "loss": "sum of squares of the output", "outputs": [packed(value)],
            "init": state_json(zeros), "grads": by_path}


def cases():
    yield from dropouts()
    yield from small()
    yield from pools()
    yield from looking_inside()
