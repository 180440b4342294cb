"""The aliases without Adam's two moments: momentum, signs, mean squares, factors."""
from .adam import LINEAR
from .calls import mask, named
from .kinds import MATRICES, rule

TINY = {"a": (3,), "b": (2, 2)}
FIRST = mask(a=True, b=False)
WIDE = {"bias": (3,), "kernel": (4, 6), "tensor": (2, 5, 4)}

CASES = [
    rule("sgd", "sgd", learning_rate=0.1, STEPS=2),
    rule("sgd_momentum", "sgd", learning_rate=LINEAR, momentum=0.9),
    rule("sgd_nesterov", "sgd", learning_rate=0.1, momentum=0.8, nesterov=True),
    rule("sign_sgd", "sign_sgd", learning_rate=0.1, STEPS=2),
    rule("signum", "signum", learning_rate=0.1, SHAPES=TINY),
    rule("signum_settings", "signum", learning_rate=LINEAR, beta=0.5, SHAPES=TINY),
    rule("noisy_sgd", "noisy_sgd", learning_rate=0.1, key={"key": 3}),
    rule("noisy_sgd_settings", "noisy_sgd", learning_rate=LINEAR, eta=0.5, gamma=0.1, key=7, SHAPES=TINY),
    rule("optimistic_gradient_descent", "optimistic_gradient_descent", learning_rate=0.1),
    rule("optimistic_gradient_descent_settings", "optimistic_gradient_descent", learning_rate=LINEAR, alpha=0.7, beta=0.4,
         SHAPES=TINY),
    rule("adagrad", "adagrad", learning_rate=0.1),
    rule("adagrad_settings", "adagrad", learning_rate=LINEAR, initial_accumulator_value=0.0, eps=1e-3, SHAPES=TINY),
    rule("adadelta", "adadelta", learning_rate=0.1),
    rule("adadelta_without_rate", "adadelta", learning_rate=None, SHAPES=TINY),
    rule("adadelta_settings", "adadelta", learning_rate=LINEAR, rho=0.8, eps=1e-3, weight_decay=0.1, SHAPES=TINY,
         weight_decay_mask=FIRST),
    rule("rmsprop", "rmsprop", learning_rate=0.1),
    rule("rmsprop_centered", "rmsprop", learning_rate=0.1, centered=True, initial_scale=0.5, SHAPES=TINY),
    rule("rmsprop_settings", "rmsprop", learning_rate=LINEAR, decay=0.8, eps=1e-3, eps_in_sqrt=False, momentum=0.9,
         nesterov=True, bias_correction=True, SHAPES=TINY),
    rule("rmsprop_centered_corrected", "rmsprop", learning_rate=0.1, eps_in_sqrt=False, centered=True, momentum=0.5,
         bias_correction=True, SHAPES=TINY),
    rule("rprop", "rprop", learning_rate=0.1),
    rule("rprop_settings", "rprop", learning_rate=0.01, eta_minus=0.3, eta_plus=1.5, min_step_size=5e-3,
         max_step_size=0.02, SHAPES=TINY),
    rule("sm3", "sm3", learning_rate=0.1, SHAPES=WIDE),
    rule("sm3_momentum", "sm3", learning_rate=0.05, momentum=0.5, SHAPES=TINY),
    rule("fromage", "fromage", learning_rate=0.1),
    rule("fromage_min_norm", "fromage", learning_rate=0.05, min_norm=2.0, SHAPES=TINY),
    rule("lars", "lars", learning_rate=0.1),
    rule("lars_settings", "lars", learning_rate=LINEAR, weight_decay=0.1, weight_decay_mask=FIRST, trust_coefficient=0.1,
         eps=1e-3, trust_ratio_mask=named("matrices"), momentum=0.8, nesterov=True, SHAPES=TINY),
    rule("adafactor", "adafactor", learning_rate=0.1, SHAPES=TINY),
    rule("adafactor_factored", "adafactor", learning_rate=0.1, min_dim_size_to_factor=4, SHAPES=WIDE),
    rule("adafactor_without_rate", "adafactor", learning_rate=None, min_dim_size_to_factor=2, SHAPES=TINY),
    rule("adafactor_settings", "adafactor", learning_rate=LINEAR, min_dim_size_to_factor=3, decay_rate=0.7,
         decay_offset=-2, multiply_by_parameter_scale=False, clipping_threshold=0.5, momentum=0.9,
         weight_decay_rate=0.01, eps=1e-8, weight_decay_mask=named("matrices"), SHAPES=MATRICES),
    rule("adafactor_bare", "adafactor", learning_rate=0.1, clipping_threshold=None, factored=False,
         multiply_by_parameter_scale=False, SHAPES=TINY),
]
