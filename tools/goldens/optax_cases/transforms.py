"""Clipping, decay, noise, accumulation and what looks for numbers that are not finite."""
import jax.numpy as jnp
import numpy as np
import optax

from .adam import LINEAR
from .arrays import Numbers, numbers_tree
from .calls import call, mask
from .descent import TINY
from .kinds import Function, rule

RANKS = {"a": (3,), "b": (3, 4), "c": (2, 3, 2), "d": (2, 1, 3, 2), "e": (), "f": (1, 4, 1)}


def tiny(name, function, /, **args):
    return rule(name, function, **{"SHAPES": TINY, **args})


def poisoned(step):
    """Gradients with a NaN in step 1, an infinity in steps 2 and 3."""
    tree = numbers_tree(TINY, 10 + step)
    spoil = {1: np.nan, 2: np.inf, 3: -np.inf}
    return {**tree, "a": tree["a"].array().at[1].set(spoil[step])} if step in spoil else tree


def silent(step):
    return {"a": Numbers(10 + step, (3,)), "b": jnp.zeros((2, 2), jnp.float32)}


PER_EXAMPLE = {"a": Numbers(20, (4, 3)), "b": Numbers(21, (4, 2, 2))}
WITH_ZERO_ROW = {k: v.array().at[1].set(0.0) for k, v in PER_EXAMPLE.items()}
CASES = [
    tiny("clip", "clip", max_delta=0.3, STEPS=2),
    tiny("clip_by_block_rms", "clip_by_block_rms", threshold=0.5, STEPS=3),
    tiny("clip_by_global_norm", "clip_by_global_norm", max_norm=0.5, STEPS=3),
    tiny("clip_by_global_norm_wide", "clip_by_global_norm", max_norm=50.0, STEPS=2),
    rule("adaptive_grad_clip", "adaptive_grad_clip", clipping=0.1, SHAPES=RANKS, STEPS=3),
    rule("adaptive_grad_clip_eps", "adaptive_grad_clip", clipping=0.5, eps=1.5, SHAPES=RANKS, STEPS=2),
    rule("adaptive_grad_clip_axis", "adaptive_grad_clip", clipping=0.2, axis=1, SHAPES={"b": (3, 4), "c": (2, 3, 2)},
         STEPS=2),
    tiny("add_decayed_weights", "add_decayed_weights", weight_decay=0.2, STEPS=2),
    tiny("add_decayed_weights_schedule", "add_decayed_weights", weight_decay=LINEAR, mask=mask(a=False, b=True)),
    tiny("add_noise", "add_noise", eta=0.1, gamma=0.55, key={"key": 11}),
    tiny("ema", "ema", decay=0.9),
    tiny("ema_biased", "ema", decay=0.5, debias=False),
    tiny("trace", "trace", decay=0.9),
    tiny("trace_nesterov", "trace", decay=0.5, nesterov=True),
    tiny("zero_nans", "zero_nans", GRADIENTS=poisoned),
    tiny("keep_params_nonnegative", "keep_params_nonnegative", STEPS=3),
    tiny("apply_if_finite", "apply_if_finite", inner=call("sgd", learning_rate=0.1, momentum=0.9),
         max_consecutive_errors=2, GRADIENTS=poisoned, STEPS=6),
    tiny("apply_if_finite_strict", "apply_if_finite", inner=call("adam", learning_rate=0.1), max_consecutive_errors=0,
         GRADIENTS=poisoned, STEPS=3),
    tiny("clip_by_global_norm_of_zeros", "clip_by_global_norm", max_norm=0.5, STEPS=1,
         GRADIENTS=lambda step: {k: jnp.zeros(s, jnp.float32) for k, s in TINY.items()}),
    tiny("clip_by_block_rms_silent_leaf", "clip_by_block_rms", threshold=0.5, STEPS=1, GRADIENTS=silent),
    tiny("clip_by_global_norm_not_finite", "clip_by_global_norm", max_norm=0.5, GRADIENTS=poisoned, STEPS=4),
    *[Function(f"per_example_global_norm_clip_{c}", "per_example_global_norm_clip", {"grads": PER_EXAMPLE},
               {"l2_norm_clip": c}) for c in (0.5, 1.7, 10.0)],
    Function("per_example_global_norm_clip_zero_row", "per_example_global_norm_clip", {"grads": WITH_ZERO_ROW},
             {"l2_norm_clip": 0.5}),
    *[Function(f"per_example_layer_norm_clip_{c}_{uniform}", "per_example_layer_norm_clip", {"grads": PER_EXAMPLE},
               {"global_l2_norm_clip": c, "uniform": uniform}) for c in (1.0, 10.0) for uniform in (True, False)],
    *[Function(f"unitwise_norm_rank_{len(shape)}_{k}", "transforms.unitwise_norm", {"x": Numbers(31, shape)})
      for k, shape in enumerate([(), (5,), (3, 4), (2, 3, 2), (2, 1, 3, 2), (1, 2, 2, 3, 2), (1, 4, 1), (2, 2, 2, 2, 2)])],
    Function("unitwise_norm_axis", "transforms.unitwise_norm", {"x": Numbers(31, (3, 4))}, {"axis": {"tuple": [0, 1]}}),
    Function("unitwise_clip", "transforms.unitwise_clip",
             {"g_norm": Numbers(32, (3, 4)), "max_norm": Numbers(33, (3, 4)), "grad": Numbers(34, (3, 4))}),
    Function("safe_norm", "safe_norm", {"x": Numbers(35, (2, 3))}, {"min_norm": 1e-3, "axis": 1}, wrt=("x",)),
    Function("safe_norm_zero", "safe_norm", {"x": jnp.zeros((2, 3), jnp.float32)}, {"min_norm": 0.5}, wrt=("x",)),
    Function("safe_norm_one", "safe_norm", {"x": Numbers(35, (2, 3))},
             {"min_norm": 2.0, "ord": 1, "axis": 1, "keepdims": True}, wrt=("x",)),
    Function("safe_root_mean_squares", "safe_root_mean_squares", {"x": Numbers(35, (2, 3))}, {"min_rms": 1e-3},
             wrt=("x",)),
    Function("safe_root_mean_squares_zero", "safe_root_mean_squares", {"x": jnp.zeros((2, 3), jnp.float32)},
             {"min_rms": 1e-3}, wrt=("x",)),
    Function("global_norm", "global_norm", {"updates": PER_EXAMPLE}, wrt=("updates",)),
    Function("safe_increment", "safe_increment", {"count": jnp.int32(7)}),
    Function("safe_increment_saturated", "safe_increment", {"count": jnp.int32(2147483647)}),
    Function("apply_updates", "apply_updates", {"params": PER_EXAMPLE, "updates": WITH_ZERO_ROW}),
    Function("apply_updates_bf16", "apply_updates",
             {"params": {"a": Numbers(41, (5,), "bfloat16")}, "updates": {"a": Numbers(42, (5,))}}),
    Function("incremental_update", "incremental_update", {"new_tensors": PER_EXAMPLE, "old_tensors": WITH_ZERO_ROW},
             {"step_size": 0.3}),
    *[Function(f"periodic_update_{steps}", "periodic_update", {"new_tensors": PER_EXAMPLE, "old_tensors": WITH_ZERO_ROW},
               {"steps": steps, "update_period": 3},
               run=lambda steps, **more: optax.periodic_update(steps=jnp.int32(steps), **more))
      for steps in (2, 3)],
    Function("scale_gradient", "scale_gradient", {"inputs": PER_EXAMPLE}, {"scale": -0.5}, wrt=("inputs",)),
    Function("bias_correction", "bias_correction", {"moment": PER_EXAMPLE, "count": jnp.int32(3)}, {"decay": 0.999}),
    Function("update_moment", "update_moment", {"updates": PER_EXAMPLE, "moments": WITH_ZERO_ROW},
             {"decay": 0.9, "order": 2}),
    Function("update_moment_first", "update_moment", {"updates": PER_EXAMPLE, "moments": WITH_ZERO_ROW},
             {"decay": 0.9, "order": 1}),
    Function("update_moment_per_elem_norm", "update_moment_per_elem_norm",
             {"updates": PER_EXAMPLE, "moments": WITH_ZERO_ROW}, {"decay": 0.9, "order": 2}),
    Function("update_infinity_moment", "update_infinity_moment", {"updates": PER_EXAMPLE, "moments": WITH_ZERO_ROW},
             {"decay": 0.9, "eps": 1e-3}),
]
