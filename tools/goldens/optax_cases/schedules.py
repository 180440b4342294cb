"""Schedules at many counts: before, at and after every edge, and far beyond the end."""
from .calls import schedule
from .kinds import Schedule

COUNTS = [*range(32), 49, 50, 51, 99, 100, 101, 999, 1000]


def at(name, function, /, COUNTS=COUNTS, **args):
    return Schedule(name, schedule(function, **args), COUNTS)


def linear(begin, end, steps):
    return schedule("linear_schedule", init_value=begin, end_value=end, transition_steps=steps)


def table(*rows):
    return {"table": [list(r) for r in rows]}


CASES = [
    at("constant", "constant_schedule", value=0.25),
    at("linear", "linear_schedule", init_value=0.1, end_value=0.7, transition_steps=12),
    at("linear_begin", "linear_schedule", init_value=0.7, end_value=0.1, transition_steps=7, transition_begin=5),
    at("linear_no_steps", "linear_schedule", init_value=0.7, end_value=0.1, transition_steps=0),
    at("linear_negative_begin", "linear_schedule", init_value=1.0, end_value=0.0, transition_steps=10,
       transition_begin=-3),
    at("polynomial", "polynomial_schedule", init_value=1.0, end_value=0.1, power=2, transition_steps=20),
    at("polynomial_root", "polynomial_schedule", init_value=0.0, end_value=2.0, power=0.5, transition_steps=15,
       transition_begin=3),
    at("polynomial_cubic", "polynomial_schedule", init_value=0.3, end_value=0.3, power=3.0, transition_steps=15),
    at("piecewise_constant", "piecewise_constant_schedule", init_value=0.8,
       boundaries_and_scales=table([3, 0.5], [10, 0.3], [50, 2.0])),
    at("piecewise_constant_unsorted", "piecewise_constant_schedule", init_value=0.8,
       boundaries_and_scales=table([10, 0.3], [3, 0.5])),
    at("piecewise_constant_bare", "piecewise_constant_schedule", init_value=0.8),
    at("piecewise_linear", "piecewise_interpolate_schedule", interpolate_type="linear", init_value=0.8,
       boundaries_and_scales=table([5, 0.5], [12, 3.0], [50, 0.1])),
    at("piecewise_cosine", "piecewise_interpolate_schedule", interpolate_type="cosine", init_value=0.8,
       boundaries_and_scales=table([5, 0.5], [12, 3.0], [50, 0.1])),
    at("exponential_decay", "exponential_decay", init_value=0.5, transition_steps=10, decay_rate=0.7),
    at("exponential_staircase", "exponential_decay", init_value=0.5, transition_steps=4, decay_rate=0.7,
       transition_begin=3, staircase=True),
    at("exponential_end", "exponential_decay", init_value=0.5, transition_steps=4, decay_rate=0.7, end_value=0.1),
    at("exponential_growth_end", "exponential_decay", init_value=0.5, transition_steps=4, decay_rate=1.5,
       transition_begin=2, end_value=2.0, COUNTS=COUNTS[:-4]),
    at("exponential_no_steps", "exponential_decay", init_value=0.5, transition_steps=0, decay_rate=0.7),
    at("exponential_no_rate", "exponential_decay", init_value=0.5, transition_steps=4, decay_rate=0.0),
    at("cosine_decay", "cosine_decay_schedule", init_value=0.5, decay_steps=25),
    at("cosine_decay_settings", "cosine_decay_schedule", init_value=0.5, decay_steps=15, alpha=0.1, exponent=2.0),
    at("linear_onecycle", "linear_onecycle_schedule", transition_steps=50, peak_value=1.0),
    at("linear_onecycle_settings", "linear_onecycle_schedule", transition_steps=30, peak_value=0.5, pct_start=0.2,
       pct_final=0.6, div_factor=10.0, final_div_factor=100.0),
    at("cosine_onecycle", "cosine_onecycle_schedule", transition_steps=50, peak_value=1.0),
    at("cosine_onecycle_settings", "cosine_onecycle_schedule", transition_steps=30, peak_value=0.5, pct_start=0.5,
       div_factor=10.0, final_div_factor=100.0),
    at("warmup_constant", "warmup_constant_schedule", init_value=0.1, peak_value=1.0, warmup_steps=10),
    at("warmup_constant_none", "warmup_constant_schedule", init_value=0.1, peak_value=1.0, warmup_steps=0),
    at("warmup_cosine", "warmup_cosine_decay_schedule", init_value=0.0, peak_value=0.3, warmup_steps=4, decay_steps=50,
       end_value=0.03),
    at("warmup_cosine_exponent", "warmup_cosine_decay_schedule", init_value=0.1, peak_value=0.3, warmup_steps=10,
       decay_steps=30, exponent=0.5),
    at("warmup_cosine_no_warmup", "warmup_cosine_decay_schedule", init_value=0.1, peak_value=0.3, warmup_steps=0,
       decay_steps=30),
    at("warmup_exponential", "warmup_exponential_decay_schedule", init_value=0.0, peak_value=0.5, warmup_steps=6,
       transition_steps=5, decay_rate=0.8),
    at("warmup_exponential_settings", "warmup_exponential_decay_schedule", init_value=0.1, peak_value=0.5,
       warmup_steps=6, transition_steps=5, decay_rate=0.8, transition_begin=4, staircase=True, end_value=0.2),
    at("warmup_exponential_no_warmup", "warmup_exponential_decay_schedule", init_value=0.1, peak_value=0.5,
       warmup_steps=0, transition_steps=5, decay_rate=0.8),
    at("sgdr", "sgdr_schedule", cosine_kwargs=[
        {"init_value": 0.0, "peak_value": 1.0, "decay_steps": 12, "warmup_steps": 3, "end_value": 0.1},
        {"init_value": 0.1, "peak_value": 0.5, "decay_steps": 20, "warmup_steps": 0, "end_value": 0.0, "exponent": 2.0},
        {"init_value": 0.0, "peak_value": 0.2, "decay_steps": 30, "warmup_steps": 5}]),
    at("join", "join_schedules", boundaries=[5, 11], schedules=[
        linear(0.0, 0.4, 5), schedule("constant_schedule", value=0.4),
        schedule("cosine_decay_schedule", init_value=0.4, decay_steps=6)]),
    at("join_at_zero", "join_schedules", boundaries=[0], schedules=[linear(0.0, 0.4, 5), linear(1.0, 0.0, 10)]),
    at("join_jump", "join_schedules", boundaries=[4, 4], schedules=[
        linear(0.0, 0.4, 5), linear(5.0, 6.0, 5), linear(1.0, 0.0, 10)]),
    Schedule("cube_root", {"named": "cube_root"}, COUNTS),
]
