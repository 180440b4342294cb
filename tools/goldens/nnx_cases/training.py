"""Optimizer, ModelAndOptimizer and EMA: twenty steps, the state behind each.

A check starts every step from the state behind the step before, as it stands here.
"""
import optax
from flax import nnx

from .describe import Numbers, packed
from .record import changed, path_text, set_constants, state_json

STEPS = 20


class Two(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(3, 4, rngs=rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.second = nnx.Linear(4, 2, rngs=rngs)


TEXT = "Two(Rngs(0)): first = Linear(3, 4), norm = BatchNorm(4), second = Linear(4, 2)"
RULES = {
    "adamw": ("adamw(0.02, weight_decay=0.1)", lambda: optax.adamw(0.02, weight_decay=0.1)),
    "sgd_momentum": ("sgd(0.05, momentum=0.9)", lambda: optax.sgd(0.05, momentum=0.9)),
    "chain": ("chain(clip_by_global_norm(1.0), adamw(0.02))",
              lambda: optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(0.02))),
}
KERNELS = nnx.All(nnx.Param, nnx.PathContains("kernel"))


def gradients(step, params):
    """Gradient i of a step, in order of paths, by the formula from seed 1000 + 20 step + i."""
    out = {p: Numbers(1000 + 20 * step + i, v.shape, v.dtype.name).array()
           for i, (p, v) in enumerate(nnx.to_flat_state(params))}
    return nnx.map_state(lambda p, v: v.replace(out[p]), params)


def made():
    model = Two(nnx.Rngs(0))
    said = set_constants(model, {})
    return model, {k: v.json() for k, v in said.items()}


def optimizer(name, rule, wrt, text, steps=STEPS, whole=False):
    model, said = made()
    first = state_json(model)
    tx = RULES[rule][1]()
    keeper = nnx.ModelAndOptimizer(model, tx) if whole else nnx.Optimizer(model, tx, wrt=wrt)
    case = {"name": name, "model": TEXT, "rule": RULES[rule][0], "wrt": text, "set": said, "init": first,
            "optimizer": state_json(keeper), "gradients": "seed 1000 + 20 step + place of the path", "steps": []}
    for step in range(steps):
        grads = gradients(step, nnx.state(model, wrt))
        held, old = state_json(keeper), state_json(model)
        updates = keeper.update(grads) if whole else keeper.update(model, grads)
        entry = {"optimizer": changed(held, state_json(keeper)), "params": changed(old, state_json(model))}
        if step == 0:
            flat = nnx.to_flat_state(updates)
            entry["updates"] = {path_text(p): packed(v[...] if isinstance(v, nnx.Variable) else v) for p, v in flat}
        case["steps"].append(entry)
    return case


def narrow():
    """Parameters in bf16: dtypes of moments and of results."""
    model = nnx.Linear(2, 3, param_dtype="bfloat16", rngs=nnx.Rngs(0))
    keeper = nnx.Optimizer(model, optax.adamw(0.02), wrt=nnx.Param)
    case = {"name": "adamw_bf16", "model": "Linear(2, 3, param_dtype=bf16, Rngs(0))", "rule": "adamw(0.02)",
            "wrt": {"of": "Param"}, "init": state_json(model), "optimizer": state_json(keeper),
            "gradients": "seed 1000 + 20 step + place of the path", "steps": []}
    for step in range(3):
        grads = gradients(step, nnx.state(model, nnx.Param))
        keeper.update(model, grads)
        case["steps"].append({"optimizer": state_json(keeper), "params": state_json(model)})
    return case


def average(name, model, text, decay, only, only_text):
    ema = nnx.EMA(model, decay, only=only)
    case = {"name": name, "model": text, "decay": decay, "only": only_text, "init": state_json(model),
            "start": state_json(ema), "steps": []}
    case["values"] = "step s writes seed 2000 + 20 s + place to Param and BatchStat in order of paths"
    for step in range(4):
        for i, (_, v) in enumerate(nnx.to_flat_state(nnx.state(model, (nnx.Param, nnx.BatchStat)))):
            v[...] = Numbers(2000 + 20 * step + i, v.shape, v.dtype.name).array()
        ema.update(model)
        case["steps"].append(state_json(ema))
    case["apply_to"] = state_json(ema.apply_to(model))
    case["model_after"] = state_json(model)
    return case


def cases():
    yield optimizer("adamw", "adamw", nnx.Param, {"of": "Param"})
    yield optimizer("sgd_momentum", "sgd_momentum", nnx.Param, {"of": "Param"}, 5)
    yield optimizer("chain", "chain", nnx.Param, {"of": "Param"}, 5)
    text = {"all": [{"of": "Param"}, {"path_contains": "kernel"}]}
    yield optimizer("adamw_kernels", "adamw", KERNELS, text, 3)
    yield optimizer("model_and_optimizer", "adamw", nnx.Param, {"of": "Param"}, 3, whole=True)
    yield narrow()
    yield average("ema", made()[0], TEXT, 0.9, ..., "...")
    yield average("ema_params", made()[0], TEXT, 0.75, nnx.Param, {"of": "Param"})
    half = nnx.Linear(2, 3, param_dtype="bfloat16", rngs=nnx.Rngs(0))
    yield average("ema_bf16", half, "Linear(2, 3, param_dtype=bf16, Rngs(0))", 0.9, nnx.Param, {"of": "Param"})


