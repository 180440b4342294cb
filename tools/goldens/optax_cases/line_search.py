"""Rules that look at the objective: Polyak's step, L-BFGS and the line searches."""
import optax

from .arrays import arrays, numbers_tree
from .calls import call, named
from .descent import TINY
from .kinds import Function, rule

START = {"x": numbers_tree({"x": (4,)}, 5)["x"]}
FAR = numbers_tree(TINY, 1)
ALL = ("value", "grad", "value_fn")


def value(step):
    """Values that fall, rise and end below f_min."""
    return {"value": {"number": str([2.5, 1.25, 1.5, 0.125, -0.5][step])}}


def searched(name, search, objective, /, start=FAR, steps=5, **args):
    """A line search behind plain descent."""
    transforms = [call("sgd", learning_rate=1.0), call(search, **args)]
    return rule(name, "chain", transforms=transforms, PARAMS=start, STEPS=steps, OBJECTIVE=objective, EXTRAS=ALL)


def lbfgs(name, objective, start=FAR, steps=6, **args):
    return rule(name, "lbfgs", PARAMS=start, STEPS=steps, OBJECTIVE=objective, EXTRAS=ALL, **args)


def reused(name, search, /, **args):
    """Values and gradients over three steps: the first found anew, the others from the state."""
    rule_of = call("chain", transforms=[call("sgd", learning_rate=1.0), call(search, **args)])

    def run(rule, objective):
        anew = optax.value_and_grad_from_state(objective)
        params = arrays(FAR)
        state, out = rule.init(params), {}
        for step in range(3):
            value, grad = anew(params, state=state)
            out[f"step_{step}"] = {"params": params, "value": value, "grad": grad}
            updates, state = rule.update(grad, state, params, value=value, grad=grad, value_fn=objective)
            params = optax.apply_updates(params, updates)
        return out

    return Function(name, "value_and_grad_from_state", {}, {"rule": rule_of, "objective": named("sines")}, run=run)


BACK, ZOOM = "scale_by_backtracking_linesearch", "scale_by_zoom_linesearch"
CASES = [
    rule("polyak_sgd", "polyak_sgd", SHAPES=TINY, EXTRA=value),
    rule("polyak_sgd_settings", "polyak_sgd", max_learning_rate=0.2, scaling=0.5, f_min=0.1, eps=0.1, variant="sps",
         SHAPES=TINY, EXTRA=value),
    rule("polyak_sgd_plus", "polyak_sgd", f_min=0.5, variant="sps+", SHAPES=TINY, EXTRA=value),
    rule("scale_by_polyak", "scale_by_polyak", max_learning_rate=0.3, SHAPES=TINY, EXTRA=value),
    rule("scale_by_lbfgs", "scale_by_lbfgs", memory_size=2, SHAPES=TINY, STEPS=6),
    rule("scale_by_lbfgs_plain_start", "scale_by_lbfgs", memory_size=3, scale_init_precond=False, SHAPES=TINY, STEPS=5),
    lbfgs("lbfgs_rosenbrock", "rosenbrock", START, memory_size=3),
    lbfgs("lbfgs_quadratic", "quadratic", memory_size=4),
    lbfgs("lbfgs_sines", "sines", memory_size=2, steps=4),
    lbfgs("lbfgs_rate", "quadratic", steps=4, memory_size=2, learning_rate=0.1, linesearch=None),
    lbfgs("lbfgs_backtracking", "sines", steps=4, memory_size=2,
          linesearch=call(BACK, max_backtracking_steps=15, store_grad=True)),
    searched("backtracking_rosenbrock", BACK, "rosenbrock", START, max_backtracking_steps=30),
    searched("backtracking_quadratic", BACK, "quadratic", max_backtracking_steps=15, max_learning_rate=2.0,
             increase_factor=2.0, decrease_factor=0.5),
    searched("backtracking_stored", BACK, "sines", max_backtracking_steps=15, store_grad=True, slope_rtol=0.1,
             increase_factor={"number": "inf"}),
    searched("backtracking_gives_up", BACK, "rosenbrock", START, max_backtracking_steps=2, atol=1e-3, rtol=1e-3),
    searched("backtracking_wall", BACK, "walled", max_backtracking_steps=3, max_learning_rate=10.0,
             decrease_factor=0.9),
    searched("zoom_rosenbrock", ZOOM, "rosenbrock", START, max_linesearch_steps=30),
    searched("zoom_quadratic", ZOOM, "quadratic", max_linesearch_steps=15, initial_guess_strategy="one"),
    searched("zoom_sines", ZOOM, "sines", max_linesearch_steps=15, curv_rtol=0.1, max_learning_rate=3.0),
    searched("zoom_gives_up", ZOOM, "rosenbrock", START, steps=3, max_linesearch_steps=3, curv_rtol=0.01),
    searched("zoom_tolerance", ZOOM, "sines", steps=3, max_linesearch_steps=15, tol=0.5, increase_factor=3.0,
             slope_rtol=0.2),
    searched("zoom_wall", ZOOM, "walled", steps=3, max_linesearch_steps=20, increase_factor=4.0),
    reused("value_and_grad_from_state", ZOOM, max_linesearch_steps=15),
    reused("value_and_grad_from_state_backtracking", BACK, max_backtracking_steps=15, store_grad=True),
]
