"""Wrappers: chains, masks, groups, injected hyperparameters, accumulation, conditions."""
import jax.numpy as jnp
import optax
from optax.experimental import aggregating

from .adam import LINEAR
from .arrays import arrays, numbers_tree
from .calls import call, mask, named, schedule
from .descent import TINY
from .kinds import rule
from .transforms import poisoned

ADAM = call("adam", learning_rate=0.1)
MOMENTUM = call("sgd", learning_rate=0.1, momentum=0.9)
SGD = call("sgd", learning_rate=0.1)


def tiny(name, function, /, **args):
    return rule(name, function, **{"SHAPES": TINY, **args})


def inject(name, inner, /, arguments, **args):
    return tiny(name, "inject_hyperparams", inner_factory={"factory": inner}, arguments=arguments, **args)


def new_rate(step, state):
    """Sets another rate before step 2."""
    if step == 2:
        state.hyperparams["learning_rate"] = jnp.float32(0.5)
    return state


def value(step):
    return {"value": {"number": str([2.5, 0.5, 1.5, 0.125, 0.75][step])}}


def plateau(values):
    return lambda step: {"value": {"number": str(values[step])}}


def exploding(step):
    """Gradients of ordinary size, in step 1 an infinity that overflows an average."""
    tree = arrays(numbers_tree(TINY, 10 + step))
    return {**tree, "a": tree["a"].at[0].set(jnp.inf)} if step == 1 else tree


def examples(step):
    """Gradients of four examples."""
    return numbers_tree({k: (4, *shape) for k, shape in TINY.items()}, 10 + step)


LOOKAHEAD = optax.LookaheadParams(fast=numbers_tree(TINY, 1), slow=numbers_tree(TINY, 1))
APART = optax.LookaheadParams(fast=numbers_tree(TINY, 1), slow=numbers_tree(TINY, 2))
ADVERSE = call("chain", transforms=[call("contrib.normalize"), call("sgd", learning_rate=0.05)])
EVAL = optax.contrib.schedule_free_eval_params
BAD = [2.0, 1.0, 1.5, 0.99999, 1.25, 0.5, 0.75, 0.8, 0.9]
CASES = [
    tiny("chain", "chain", transforms=[call("clip", max_delta=0.5), call("trace", decay=0.9), call("scale", step_size=-0.1)]),
    tiny("chain_nested", "chain", STEPS=3, transforms=[
        call("chain", transforms=[call("scale_by_adam"), call("add_decayed_weights", weight_decay=0.1)]), SGD]),
    tiny("chain_hands_value_on", "chain", transforms=[SGD, call("scale_by_polyak"), call("scale", step_size=2.0)],
         EXTRA=value, STEPS=3),
    tiny("named_chain", "named_chain", transforms=[
        {"tuple": ["second", call("scale_by_adam")]}, {"tuple": ["first", call("scale", step_size=-0.1)]}]),
    rule("masked", "masked", inner=MOMENTUM, mask=mask(a=True, b__w=False, b__e=True), STEPS=3),
    rule("masked_prefix", "masked", inner=ADAM, mask=mask(a=True, b=False), STEPS=3),
    rule("masked_function", "masked", inner=ADAM, mask=named("matrices"), STEPS=3),
    tiny("masked_nothing", "masked", inner=ADAM, mask=mask(a=False, b=False), STEPS=2),
    rule("partition", "partition", transforms={"slow": MOMENTUM, "fast": ADAM},
         param_labels=mask(a="slow", b__w="fast", b__e="slow"), STEPS=3),
    rule("partition_prefix", "partition", transforms={"x": ADAM, "frozen": call("set_to_zero")},
         param_labels=mask(a="frozen", b="x"), STEPS=3),
    rule("partition_function", "multi_transform", param_labels=named("by_rank"), STEPS=3,
         transforms={"matrix": call("adamw", learning_rate=0.1, weight_decay=0.1), "other": SGD, "unused": ADAM}),
    rule("freeze", "freeze", mask=mask(a=True, b__w=False, b__e=True), STEPS=2),
    rule("selective_transform", "selective_transform", optimizer=ADAM, freeze_mask=mask(a=True, b__w=False, b__e=True),
         STEPS=3),
    rule("flatten", "flatten", inner=call("adamw", learning_rate=0.1, weight_decay=0.1), STEPS=3),
    rule("flatten_norm", "flatten", inner=call("clip_by_block_rms", threshold=0.3), STEPS=2),
    inject("inject", "adamw", {"learning_rate": 0.1, "weight_decay": 0.01}, STEPS=3),
    inject("inject_schedules", "adam", {"learning_rate": LINEAR, "b1": schedule(
        "linear_schedule", init_value=0.9, end_value=0.5, transition_steps=3)}, static_args=["eps_root"]),
    inject("inject_set_rate", "sgd", {"learning_rate": 0.1, "momentum": 0.9}, ASSIGN=new_rate, STEPS=4),
    inject("inject_set_scheduled_rate", "sgd", {"learning_rate": LINEAR}, ASSIGN=new_rate, STEPS=4),
    inject("inject_static_function", "add_decayed_weights", {"weight_decay": 0.1, "mask": named("matrices")},
           static_args="mask", STEPS=2),
    tiny("inject_stateful", "inject_stateful_hyperparams", inner_factory={"factory": "scale_by_rms"},
         arguments={"decay": LINEAR}, STEPS=2),
    tiny("multi_steps", "MultiSteps", opt=MOMENTUM, every_k_schedule=3, STEPS=7),
    tiny("multi_steps_sum", "MultiSteps", opt=ADAM, every_k_schedule=2, use_grad_mean=False, STEPS=5),
    tiny("multi_steps_schedule", "MultiSteps", opt=SGD, every_k_schedule=named("k_grows"), STEPS=6),
    tiny("multi_steps_skips_not_finite", "MultiSteps", opt=ADAM, every_k_schedule=2, GRADIENTS=poisoned, STEPS=6,
         should_skip_update_fn=named("skip_not_finite")),
    tiny("multi_steps_skips_large", "MultiSteps", opt=SGD, every_k_schedule=2, STEPS=5,
         should_skip_update_fn=named("skip_large")),
    tiny("multi_steps_infinity", "MultiSteps", opt=SGD, every_k_schedule=3, GRADIENTS=exploding, STEPS=3),
    tiny("multi_steps_one", "MultiSteps", opt=ADAM, every_k_schedule=1, STEPS=2),
    tiny("apply_if_finite_chain", "apply_if_finite", inner=call("adamw", learning_rate=LINEAR), GRADIENTS=poisoned,
         max_consecutive_errors=1, STEPS=5),
    tiny("conditionally_transform", "conditionally_transform", inner=ADAM, should_transform_fn=named("every_other")),
    tiny("conditionally_transform_value", "conditionally_transform", inner=SGD, forward_extra_args=True, EXTRA=value,
         should_transform_fn=named("value_below_one"), STEPS=4),
    tiny("conditionally_mask", "conditionally_mask", inner=MOMENTUM, should_transform_fn=named("from_second")),
    rule("lookahead", "lookahead", fast_optimizer=MOMENTUM, sync_period=2, slow_step_size=0.5, PARAMS=LOOKAHEAD,
         SHAPES=TINY),
    rule("lookahead_reset", "lookahead", fast_optimizer=ADAM, sync_period=3, slow_step_size=0.25, reset_state=True,
         PARAMS=APART, SHAPES=TINY, STEPS=4),
    tiny("snapshot", "chain", transforms=[call("snapshot", measure_name="before", measure=named("norm")), SGD], STEPS=2),
    tiny("monitor", "monitor", STEPS=3, measures={"norm": named("norm"), "above": call(
        "measure_with_ema", measure=named("norm_above_one"), decay=0.9, accumulator_dtype={"dtype": "float32"})}),
    tiny("measure_with_ema", "monitor", measures={"ema": call(
        "measure_with_ema", measure=named("norm"), decay=0.5, debias=False)}, STEPS=3),
    tiny("mechanize", "contrib.mechanize", base_optimizer=SGD),
    tiny("mechanize_settings", "contrib.mechanize", base_optimizer=call("adamw", learning_rate=LINEAR),
         weight_decay=0.1, eps=1e-6, s_init=1e-2, num_betas=3),
    tiny("sam", "contrib.sam", optimizer=MOMENTUM, adv_optimizer=ADVERSE),
    tiny("sam_period", "contrib.sam", optimizer=ADAM, adv_optimizer=call("sgd", learning_rate=0.05, momentum=0.9),
         sync_period=3, reset_state=False),
    rule("sam_opaque", "contrib.sam", optimizer=MOMENTUM, adv_optimizer=ADVERSE, sync_period=3, opaque_mode=True,
         SHAPES=TINY, EXTRA=lambda step: {"grad_fn": named("quadratic_gradient")}, STEPS=3),
    tiny("schedule_free", "contrib.schedule_free", base_optimizer=SGD, learning_rate=0.1, EVALUATE=EVAL),
    tiny("schedule_free_settings", "contrib.schedule_free", base_optimizer=call("adam", learning_rate=LINEAR, b1=0.0),
         learning_rate=LINEAR, b1=0.8, weight_lr_power=1.0, state_dtype={"dtype": "bfloat16"}, EVALUATE=EVAL),
    tiny("schedule_free_sgd", "contrib.schedule_free_sgd", EVALUATE=EVAL, STEPS=3),
    tiny("schedule_free_sgd_settings", "contrib.schedule_free_sgd", learning_rate=0.5, warmup_steps=3, b1=0.8,
         weight_decay=0.1, EVALUATE=EVAL),
    tiny("schedule_free_adamw", "contrib.schedule_free_adamw", EVALUATE=EVAL),
    tiny("schedule_free_adamw_settings", "contrib.schedule_free_adamw", learning_rate=0.1, warmup_steps=2, b1=0.95,
         b2=0.9, eps=1e-3, weight_decay=0.1, EVALUATE=EVAL),
    tiny("plateau", "contrib.reduce_on_plateau", factor=0.5, patience=2, cooldown=1, min_scale=0.2, STEPS=9,
         EXTRA=plateau(BAD), GRADIENTS=lambda step: numbers_tree(TINY, 10)),
    tiny("plateau_accumulates", "contrib.reduce_on_plateau", factor=0.1, patience=1, rtol=0.0, atol=0.1,
         accumulation_size=2, STEPS=8, EXTRA=plateau(BAD), GRADIENTS=lambda step: numbers_tree(TINY, 10)),
    rule("split_real_and_imaginary", "contrib.split_real_and_imaginary", inner=ADAM, STEPS=3,
         PARAMS={"c": numbers_tree({"c": (2, 2)}, 1, "float32")["c"].array() * (1 + 0.5j), "r": numbers_tree(TINY, 3)["a"]},
         GRADIENTS=lambda step: {"c": numbers_tree({"c": (2, 2)}, step)["c"].array() * (0.5 - 1j),
                                 "r": numbers_tree(TINY, step)["a"]}),
    tiny("aggregating_average", "experimental.aggregating.average_per_element_updates", STEPS=2,
         GRADIENTS=examples),
    tiny("aggregating_accumulate", "experimental.aggregating.accumulate_avg_updates", accumulation_steps=2, STEPS=4),
    tiny("aggregating_process", "experimental.aggregating.process", preprocessor=call("clip", max_delta=0.5), STEPS=4,
         aggregator=call("experimental.aggregating.average_incrementally_updates", per_elt_axis=0, accumulation_steps=2),
         postprocessor=ADAM, GRADIENTS=examples),
    *[tiny(f"aggregating_mean_and_variance_{n}", "experimental.aggregating.add_mean_variance_to_opt", opt=SGD,
           ema_decay=0.8, accumulation_steps=n, STEPS=2 * n, GRADIENTS=examples,
           EVALUATE=lambda state, params: aggregating.get_unbiased_mean_and_variance_ema(state)) for n in (1, 2)],
]
