"""Rules of optax.contrib that follow gradients, parameters and values, and no wrappers."""
from .adam import LINEAR
from .arrays import Numbers, numbers_tree
from .calls import call, named
from .descent import TINY, FIRST
from .kinds import rule

WEIGHTS = {"bias": (4,), "down": (6, 4), "square": (4, 4), "up": (4, 6)}
TENSORS = {"bias": (4,), "tensor": (2, 3, 4)}


def tiny(name, function, /, **args):
    return rule(name, "contrib." + function, **{"SHAPES": TINY, **args})


def weights(name, function, /, **args):
    return rule(name, "contrib." + function, **{"SHAPES": WEIGHTS, "STEPS": 3, **args})


def value(step):
    return {"value": {"number": str([2.5, 1.25, 1.5, 0.125, 0.75][step])}}


def batch(step):
    """Gradients of four examples."""
    return {"a": Numbers(10 + step, (4, 3)), "b": Numbers(110 + step, (4, 2, 2))}


def sophia(name, function, /, **args):
    return rule(name, "contrib." + function, **{"PARAMS": numbers_tree(TINY, 1), "OBJECTIVE": "sines",
                                                 "EXTRAS": ("obj_fn",), "STEPS": 4, **args})


DION = [[4.0848, -6.8946, 2.9270], [3.9505, -6.3029, 2.6377], [3.7418, -5.5913, 2.3037]]
CASES = [
    tiny("acprop", "acprop", learning_rate=0.1),
    tiny("acprop_settings", "acprop", learning_rate=LINEAR, b1=0.8, b2=0.9, eps=1e-3, eps_root=1e-3, weight_decay=0.1,
         mask=FIRST),
    tiny("scale_by_acprop", "scale_by_acprop", STEPS=3),
    tiny("ademamix", "ademamix", learning_rate=0.1),
    tiny("ademamix_settings", "ademamix", learning_rate=LINEAR, b1=0.8, b2=0.9, b3=named("one_minus_half"),
         alpha=LINEAR, eps=1e-3, eps_root=1e-4, weight_decay=0.1, mask=FIRST),
    tiny("scale_by_ademamix", "scale_by_ademamix", b3=0.9, STEPS=3),
    tiny("simplified_ademamix", "simplified_ademamix", learning_rate=0.1),
    tiny("simplified_ademamix_settings", "simplified_ademamix", learning_rate=LINEAR, b1=0.8, b2=0.9, alpha=2.0,
         eps=1e-3, eps_root=1e-4, weight_decay=0.1, mask=FIRST),
    tiny("scale_by_simplified_ademamix", "scale_by_simplified_ademamix", alpha=1.0, STEPS=3),
    tiny("adopt", "adopt", learning_rate=0.1),
    tiny("adopt_nesterov", "adopt", learning_rate=LINEAR, b1=0.8, b2=0.99, eps=1e-2, nesterov=True,
         clip_value_fn=named("clip_by_root")),
    tiny("adopt_unclipped", "adopt", learning_rate=0.1, use_clipping=False),
    tiny("scale_by_adopt", "scale_by_adopt", STEPS=3),
    tiny("cocob", "cocob"),
    tiny("cocob_settings", "cocob", learning_rate=0.5, alpha=10.0, eps=1e-3, weight_decay=0.1, mask=FIRST),
    tiny("scale_by_cocob", "scale_by_cocob", STEPS=3),
    tiny("dadapt_adamw", "dadapt_adamw"),
    tiny("dadapt_adamw_settings", "dadapt_adamw", learning_rate=LINEAR, betas={"tuple": [0.8, 0.95]}, eps=1e-4,
         estim_lr0=1e-2, weight_decay=0.1),
    tiny("prodigy", "prodigy"),
    tiny("prodigy_settings", "prodigy", learning_rate=LINEAR, betas={"tuple": [0.8, 0.95]}, beta3=0.9, eps=1e-4,
         estim_lr0=1e-2, estim_lr_coef=0.5, weight_decay=0.1, safeguard_warmup=True),
    tiny("dog", "dog"),
    tiny("dog_settings", "dog", learning_rate=LINEAR, init_step={"tuple": ["learning_rate", 0.1]}, eps=1e-3,
         weight_decay=0.1, mask=FIRST),
    tiny("dog_distance", "dog", init_step={"tuple": ["distance", 0.1]}, STEPS=3),
    tiny("dowg", "dowg"),
    tiny("dowg_settings", "dowg", learning_rate=LINEAR, init_estim_sq_dist=0.1, eps=1e-3, weight_decay=0.1, mask=FIRST),
    tiny("madgrad", "madgrad", learning_rate=0.1),
    tiny("madgrad_settings", "madgrad", learning_rate=LINEAR, momentum=0.5, weight_decay=0.1, eps=1e-3),
    tiny("scale_by_madgrad", "scale_by_madgrad", learning_rate=0.1, STEPS=3),
    tiny("momo", "momo", EXTRA=value),
    tiny("momo_settings", "momo", learning_rate=LINEAR, beta=0.8, lower_bound=0.1, weight_decay=0.1, EXTRA=value),
    tiny("momo_adaptive", "momo", lower_bound=1.0, adapt_lower_bound=True, EXTRA=value),
    tiny("momo_adam", "momo_adam", EXTRA=value),
    tiny("momo_adam_settings", "momo_adam", learning_rate=LINEAR, b1=0.8, b2=0.95, eps=1e-4, lower_bound=0.1,
         weight_decay=0.1, EXTRA=value),
    tiny("momo_adam_adaptive", "momo_adam", learning_rate=0.1, lower_bound=1.0, adapt_lower_bound=True, EXTRA=value),
    tiny("normalize", "normalize", STEPS=2),
    weights("muon", "muon", learning_rate=0.1),
    weights("muon_plain", "muon", learning_rate=LINEAR, nesterov=False, weight_decay=0.1, beta=0.8, ns_steps=3,
            adam_b1=0.8, adam_b2=0.95, adam_eps_root=1e-4, adam_weight_decay=0.2, adam_learning_rate=0.05),
    weights("muon_adaptive", "muon", learning_rate=0.1, adaptive=True, weight_decay=0.1, consistent_rms=0.2,
            weight_decay_mask=named("matrices")),
    weights("muon_spectral", "muon", learning_rate=0.1, preconditioning="spectral"),
    weights("muon_aol", "muon", learning_rate=0.1, preconditioning="aol"),
    weights("muon_schatten", "muon", learning_rate=0.1, preconditioning="schatten"),
    weights("muon_dion", "muon", learning_rate=0.1, ns_coeffs="dion"),
    weights("muon_rows", "muon", learning_rate=0.1, ns_coeffs={"tuple": [{"tuple": r} for r in DION]}, ns_steps=3),
    weights("muon_batches", "muon", learning_rate=0.1, SHAPES=TENSORS,
            muon_weight_dimension_numbers=named("muon_all_leaves")),
    weights("muon_several_axes", "muon", learning_rate=0.1, SHAPES=TENSORS,
            muon_weight_dimension_numbers=named("muon_tensors")),
    weights("scale_by_muon", "scale_by_muon", weight_dimension_numbers=named("muon_all_leaves"), SHAPES={"down": (6, 4), "up": (4, 6)}),
    weights("galore", "galore", learning_rate=0.1, rank=2, update_proj_gap=2),
    weights("galore_settings", "galore", learning_rate=LINEAR, rank=3, update_proj_gap=3, scale=0.25, weight_decay=0.1,
            base_optimizer=call("scale_by_rms", decay=0.8)),
    weights("galore_tensor", "galore", learning_rate=0.1, rank=2, update_proj_gap=1, SHAPES=TENSORS,
            weight_dimension_numbers=named("galore_tensors")),
    weights("scale_by_galore", "scale_by_galore", rank=2, update_proj_gap=1, SHAPES={"up": (4, 6)}),
    sophia("sophia", "sophia", learning_rate=0.1,
           hessian_diagonal_fn=call("contrib.hutchinson_estimator_diag_hessian", random_seed={"key": 5})),
    sophia("sophia_settings", "sophia", learning_rate=LINEAR, b1=0.8, b2=0.9, eps=1e-4, weight_decay=0.1,
           weight_decay_mask=named("matrices"), gamma=0.1, clip_threshold=0.5, update_interval=2,
           hessian_diagonal_fn=call("contrib.hutchinson_estimator_diag_hessian", random_seed={"key": 6})),
    sophia("sophia_unclipped", "sophia", learning_rate=1e-3, clip_threshold=None, update_interval=1,
           hessian_diagonal_fn=call("contrib.hutchinson_estimator_diag_hessian", random_seed={"key": 7})),
    sophia("hutchinson", "hutchinson_estimator_diag_hessian", random_seed={"key": 8}),
    tiny("differentially_private_aggregate", "differentially_private_aggregate", l2_norm_clip=1.0, noise_multiplier=0.5,
         key={"key": 9}, GRADIENTS=batch, STEPS=3),
    tiny("dpsgd", "dpsgd", learning_rate=0.1, l2_norm_clip=0.5, noise_multiplier=1.0, seed=4, momentum=0.9,
         nesterov=True, GRADIENTS=batch, STEPS=3),
    tiny("reduce_on_plateau", "reduce_on_plateau", factor=0.5, patience=1, EXTRA=value),
]
