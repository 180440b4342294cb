"""The parts that rules are chained from: scale_by_* and what else goes leaf by leaf."""
from .adam import LINEAR
from .arrays import numbers_tree
from .calls import call, named
from .descent import TINY, WIDE
from .kinds import MATRICES, rule


def tiny(name, function, /, **args):
    return rule(name, function, **{"SHAPES": TINY, **args})


def with_zeros(step):
    """Gradients with a leaf of zeros in every other step."""
    tree = numbers_tree(TINY, 10 + step)
    return {**tree, "b": tree["b"].array() * (step % 2)}


CASES = [
    tiny("adam", "scale_by_adam"),
    tiny("adam_settings", "scale_by_adam", b1=0.8, b2=0.95, eps=1e-3, eps_root=1e-4, nesterov=True),
    tiny("amsgrad", "scale_by_amsgrad"),
    tiny("adamax", "scale_by_adamax"),
    tiny("belief", "scale_by_belief"),
    tiny("yogi", "scale_by_yogi", eps_root=1e-3, initial_accumulator_value=0.1),
    tiny("radam", "scale_by_radam", b2=0.9),
    tiny("adan", "scale_by_adan"),
    tiny("lion", "scale_by_lion"),
    tiny("lion_smooth", "scale_by_lion", mode="smooth", smooth_beta=2.0),
    tiny("lion_refined", "scale_by_lion", mode="refined", b1=0.5),
    tiny("novograd", "scale_by_novograd", weight_decay=0.1),
    tiny("rss", "scale_by_rss"),
    tiny("rss_zero", "scale_by_rss", initial_accumulator_value=0.0, GRADIENTS=with_zeros),
    tiny("rms", "scale_by_rms"),
    tiny("rms_settings", "scale_by_rms", decay=0.8, eps=1e-3, initial_scale=0.5, eps_in_sqrt=False,
         bias_correction=True),
    tiny("stddev", "scale_by_stddev"),
    tiny("stddev_settings", "scale_by_stddev", decay=0.8, eps=1e-3, initial_scale=0.5, eps_in_sqrt=False,
         bias_correction=True),
    tiny("adadelta", "scale_by_adadelta"),
    tiny("rprop", "scale_by_rprop", learning_rate=0.1, GRADIENTS=with_zeros),
    tiny("sm3", "scale_by_sm3", b1=0.8, b2=0.9),
    rule("sm3_tensor", "scale_by_sm3", SHAPES=WIDE, STEPS=3),
    rule("factored_rms", "scale_by_factored_rms", min_dim_size_to_factor=4, SHAPES=WIDE, STEPS=3),
    rule("factored_rms_equal_axes", "scale_by_factored_rms", min_dim_size_to_factor=3, epsilon=1e-8, STEPS=3,
         SHAPES={"cube": (3, 3, 3), "square": (4, 4)}),
    rule("factored_rms_rate_fn", "scale_by_factored_rms", min_dim_size_to_factor=4, decay_rate=0.9, STEPS=3,
         decay_rate_fn=named("one_minus_reciprocal"), SHAPES=MATRICES),
    tiny("factored_rms_off", "scale_by_factored_rms", factored=False, step_offset=-3),
    tiny("trust_ratio", "scale_by_trust_ratio", GRADIENTS=with_zeros, STEPS=3),
    tiny("trust_ratio_settings", "scale_by_trust_ratio", min_norm=2.0, trust_coefficient=0.5, eps=0.1, STEPS=2),
    tiny("param_block_norm", "scale_by_param_block_norm", STEPS=2),
    tiny("param_block_norm_min", "scale_by_param_block_norm", min_scale=5.0, STEPS=2),
    tiny("param_block_rms", "scale_by_param_block_rms", STEPS=2),
    tiny("param_block_rms_min", "scale_by_param_block_rms", min_scale=0.6, STEPS=2),
    tiny("optimistic_gradient", "scale_by_optimistic_gradient", alpha=0.5, beta=0.25),
    tiny("sign", "scale_by_sign", GRADIENTS=with_zeros, STEPS=2),
    tiny("schedule", "scale_by_schedule", step_size_fn=LINEAR),
    tiny("learning_rate", "scale_by_learning_rate", learning_rate=0.1, STEPS=2),
    tiny("learning_rate_schedule", "scale_by_learning_rate", learning_rate=LINEAR),
    tiny("learning_rate_kept_sign", "scale_by_learning_rate", learning_rate=0.1, flip_sign=False, STEPS=2),
    tiny("learning_rate_none", "scale_by_learning_rate", learning_rate=None, STEPS=2),
    tiny("scale", "scale", step_size=-0.3, STEPS=2),
    tiny("identity", "identity", STEPS=2),
    tiny("set_to_zero", "set_to_zero", STEPS=2),
    tiny("stateless", "stateless", f=named("halve"), STEPS=2),
    tiny("stateless_with_tree_map", "stateless_with_tree_map", f=named("away_from"), STEPS=2),
    tiny("with_extra_args_support", "with_extra_args_support", tx=call("trace", decay=0.9), STEPS=2),
    tiny("distance_over_gradients", "scale_by_distance_over_gradients"),
    tiny("distance_over_gradients_settings", "scale_by_distance_over_gradients", reps_rel=1e-2, eps=1e-4,
         global_scale=0.5),
    rule("centralize", "centralize", SHAPES=WIDE, STEPS=2),
    tiny("normalize_by_update_norm", "normalize_by_update_norm", STEPS=2),
    tiny("normalize_by_update_norm_settings", "normalize_by_update_norm", scale_factor=3.0, eps=1e-2, STEPS=2),
    tiny("apply_every", "apply_every", k=3, STEPS=7),
    tiny("apply_every_one", "apply_every", STEPS=2),
]
