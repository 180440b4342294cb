"""Rules in bf16 and with dtypes for moments: which dtype each number gets, and how it rounds."""
from .adam import LINEAR
from .calls import call, named
from .descent import TINY
from .kinds import rule

BF16, F32 = {"dtype": "bfloat16"}, {"dtype": "float32"}
KINDS = {"bf16": ("bfloat16", "bfloat16"), "bf16_params": ("bfloat16", "float32"), "bf16_gradients": ("float32", "bfloat16")}


def each(name, function, /, kinds=tuple(KINDS), **args):
    return [rule(f"{name}_{kind}", function, DTYPE=KINDS[kind][0], GRADIENT_DTYPE=KINDS[kind][1], SHAPES=TINY, STEPS=3,
                 EXPLAIN=True, **args) for kind in kinds]


CASES = [
    *each("adamw", "adamw", learning_rate=LINEAR, weight_decay=0.1),
    *each("adam_mu_bf16", "adam", learning_rate=0.1, mu_dtype=BF16, kinds=("bf16_gradients", "bf16_params")),
    *each("adam_mu_f32", "adam", learning_rate=0.1, mu_dtype=F32, kinds=("bf16",)),
    *each("nadam_mu_f32", "nadam", learning_rate=0.1, mu_dtype=F32, kinds=("bf16",)),
    *each("sgd_momentum", "sgd", learning_rate=0.1, momentum=0.9),
    *each("sgd_accumulator_f32", "sgd", learning_rate=LINEAR, momentum=0.9, accumulator_dtype=F32, kinds=("bf16",)),
    *each("sgd_accumulator_bf16", "sgd", learning_rate=0.1, momentum=0.9, accumulator_dtype=BF16,
          kinds=("bf16_gradients",)),
    *each("signum_f32", "signum", learning_rate=0.1, accumulator_dtype=F32, kinds=("bf16",)),
    *each("lion", "lion", learning_rate=0.1),
    *each("lion_mu_f32", "lion", learning_rate=0.1, mu_dtype=F32, kinds=("bf16",)),
    *each("amsgrad_mu_f32", "amsgrad", learning_rate=0.1, mu_dtype=F32, kinds=("bf16",)),
    *each("ema_f32", "ema", decay=0.9, accumulator_dtype=F32, kinds=("bf16",)),
    *each("rmsprop", "rmsprop", learning_rate=0.1, kinds=("bf16", "bf16_params")),
    *each("adagrad", "adagrad", learning_rate=0.1, kinds=("bf16", "bf16_params")),
    *each("adafactor", "adafactor", learning_rate=0.1, min_dim_size_to_factor=2, momentum=0.9,
          kinds=("bf16", "bf16_params")),
    *each("adafactor_momentum_bf16", "adafactor", learning_rate=0.1, momentum=0.9, dtype_momentum=BF16,
          kinds=("bf16_gradients",)),
    *each("clip_by_global_norm", "clip_by_global_norm", max_norm=1.0, kinds=("bf16",)),
    *each("lamb", "lamb", learning_rate=0.1, weight_decay=0.1, kinds=("bf16", "bf16_params")),
    *each("multi_steps", "MultiSteps", opt=call("sgd", learning_rate=0.1, momentum=0.9), every_k_schedule=2,
          kinds=("bf16",)),
    *each("multi_steps_bf16", "MultiSteps", opt=call("sgd", learning_rate=0.1), every_k_schedule=2, kinds=("bf16",),
          accumulator_dtype=BF16),
    *each("inject", "inject_hyperparams", inner_factory={"factory": "sgd"}, kinds=("bf16", "bf16_params"),
          arguments={"learning_rate": LINEAR, "momentum": 0.9}),
    *each("inject_f32", "inject_hyperparams", inner_factory={"factory": "sgd"}, kinds=("bf16",), hyperparam_dtype=F32,
          arguments={"learning_rate": 0.1}),
    *each("muon", "contrib.muon", learning_rate=0.1, kinds=("bf16",)),
    *each("flatten", "flatten", inner=call("adam", learning_rate=0.1), kinds=("bf16_params",)),
    *each("stateless", "stateless", f=named("halve"), kinds=("bf16_params",)),
]
