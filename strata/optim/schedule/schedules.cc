#include "strata/optim/schedule/schedules.h"

#include <algorithm>

#include "strata/base/error.h"
#include "strata/optim/registry.h"

namespace strata::optim {

namespace {
Array as_f32(const Array& count) { return numpy::astype(count, DType::f32); }

void check_factors(const char* name, const Boundaries& boundaries) {
  for (const auto& [step, factor] : boundaries) {
    if (step < 0) throw Error(name, "the boundary {} lies before the first step, which is 0", step);
    if (!(factor >= 0.0)) throw Error(name, "the factor {} at step {} is negative", factor, step);
  }
}
}  // namespace

Schedule polynomial_schedule(double init_value, double end_value, double power,
                             std::int64_t transition_steps, PolynomialOptions options) {
  if (transition_steps < 0)
    throw Error("polynomial_schedule", "a schedule has a count of steps, got {}", transition_steps);
  if (transition_steps == 0) return constant_schedule(init_value);
  const std::int64_t begin = std::max<std::int64_t>(options.transition_begin, 0);
  return [=](const Array& count) {
    const Array x = numpy::clip(count - begin, 0, transition_steps);
    const Array rest = 1.0 - as_f32(x) / static_cast<double>(transition_steps);
    const Array part = power == 1.0 ? rest : power == 2.0 ? rest * rest : numpy::power(rest, power);
    return (init_value - end_value) * part + end_value;
  };
}
Schedule linear_schedule(double init_value, double end_value, std::int64_t transition_steps,
                         PolynomialOptions options) {
  return polynomial_schedule(init_value, end_value, 1.0, transition_steps, options);
}

Schedule piecewise_constant_schedule(double init_value, Boundaries boundaries) {
  check_factors("piecewise_constant_schedule", boundaries);
  if (boundaries.empty()) return constant_schedule(init_value);
  return [=](const Array& count) {
    Array v(init_value);
    for (const auto& [step, factor] : boundaries) {
      const Array before =
          numpy::maximum(0.0, numpy::astype(numpy::sign(step - count), DType::f32));
      v = v * before + (1.0 - before) * factor * v;
    }
    return v;
  };
}

Schedule piecewise_interpolate_schedule(const std::string& interpolate_type, double init_value,
                                        Boundaries boundaries) {
  const char* name = "piecewise_interpolate_schedule";
  if (interpolate_type != "linear" && interpolate_type != "cosine")
    throw Error(name, "interpolate_type is linear or cosine, got {}", interpolate_type);
  check_factors(name, boundaries);
  const bool linear = interpolate_type == "linear";
  // Values and sizes are f32 numbers, product by product, as upstream computes them.
  std::vector<std::int64_t> bounds{0};
  std::vector<float> values{static_cast<float>(init_value)};
  for (const auto& [step, factor] : boundaries) {
    bounds.push_back(step);
    values.push_back(values.back() * static_cast<float>(factor));
  }
  return [=](const Array& count) {
    Array out(0.0);
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
      const Array inside = (bounds[i] <= count) & (count < bounds[i + 1]);
      const double size = static_cast<double>(std::max<std::int64_t>(bounds[i + 1] - bounds[i], 1));
      const Array pct = as_f32(count - bounds[i]) / size;
      const float start = values[i], end = values[i + 1];
      const Array value = linear ? (end - start) * pct + start
                                 : end + (start - end) / 2.0f * (numpy::cos(pi * pct) + 1.0);
      out = out + numpy::where(inside, value, 0.0);
    }
    return out + numpy::where(bounds.back() <= count, Array(values.back()), 0.0);
  };
}

Schedule exponential_decay(double init_value, std::int64_t transition_steps, double decay_rate,
                           ExponentialOptions options) {
  if (transition_steps < 0)
    throw Error("exponential_decay", "a schedule has a count of steps, got {}", transition_steps);
  if (transition_steps == 0 || decay_rate == 0) return constant_schedule(init_value);
  const std::int64_t begin = std::max<std::int64_t>(options.transition_begin, 0);
  return [=](const Array& count) {
    const Array x = count - begin;
    Array p = as_f32(x) / static_cast<double>(transition_steps);
    if (options.staircase) p = numpy::floor(p);
    Array value =
        numpy::where(x <= 0, Array(init_value), init_value * numpy::power(Array(decay_rate), p));
    if (options.end_value)
      value = decay_rate < 1.0 ? numpy::maximum(value, *options.end_value)
                               : numpy::minimum(value, *options.end_value);
    return value;
  };
}

Schedule cosine_decay_schedule(double init_value, std::int64_t decay_steps,
                               CosineDecayOptions options) {
  if (decay_steps <= 0)
    throw Error("cosine_decay_schedule", "needs a step or more to decay, got {}", decay_steps);
  return [=](const Array& count) {
    const double steps = static_cast<double>(decay_steps);
    const Array x = numpy::minimum(as_f32(count), steps);
    const Array half = 0.5 * (1.0 + numpy::cos(pi * x / steps));
    const Array part = options.exponent == 1.0 ? half : numpy::power(half, options.exponent);
    return init_value * ((1.0 - options.alpha) * part + options.alpha);
  };
}
Schedule cosine_decay_schedule(double init_value, std::int64_t decay_steps, double alpha) {
  return cosine_decay_schedule(init_value, decay_steps, CosineDecayOptions{.alpha = alpha});
}

Schedule linear_onecycle_schedule(std::int64_t transition_steps, double peak_value,
                                  LinearOnecycleOptions o) {
  if (transition_steps <= 0)
    throw Error("linear_onecycle_schedule", "needs a step or more, got {}", transition_steps);
  const double steps = static_cast<double>(transition_steps);
  Boundaries at;
  at[static_cast<std::int64_t>(o.pct_start * steps)] = o.div_factor;
  at[static_cast<std::int64_t>(o.pct_final * steps)] = 1.0 / o.div_factor;
  at[transition_steps] = 1.0 / o.final_div_factor;
  return piecewise_interpolate_schedule("linear", peak_value / o.div_factor, std::move(at));
}
Schedule cosine_onecycle_schedule(std::int64_t transition_steps, double peak_value,
                                  CosineOnecycleOptions o) {
  if (transition_steps <= 0)
    throw Error("cosine_onecycle_schedule", "needs a step or more, got {}", transition_steps);
  Boundaries at;
  at[static_cast<std::int64_t>(o.pct_start * static_cast<double>(transition_steps))] = o.div_factor;
  at[transition_steps] = 1.0 / (o.div_factor * o.final_div_factor);
  return piecewise_interpolate_schedule("cosine", peak_value / o.div_factor, std::move(at));
}

Schedule warmup_constant_schedule(double init_value, double peak_value, std::int64_t warmup_steps) {
  return linear_schedule(init_value, peak_value, warmup_steps);
}
Schedule warmup_cosine_decay_schedule(double init_value, double peak_value,
                                      std::int64_t warmup_steps, std::int64_t decay_steps,
                                      WarmupCosineOptions options) {
  const double alpha = peak_value == 0.0 ? 0.0 : options.end_value / peak_value;
  return join_schedules({linear_schedule(init_value, peak_value, warmup_steps),
                         cosine_decay_schedule(peak_value, decay_steps - warmup_steps,
                                               {.alpha = alpha, .exponent = options.exponent})},
                        {warmup_steps});
}
Schedule warmup_cosine_decay_schedule(double init_value, double peak_value,
                                      std::int64_t warmup_steps, std::int64_t decay_steps,
                                      double end_value) {
  return warmup_cosine_decay_schedule(init_value, peak_value, warmup_steps, decay_steps,
                                      WarmupCosineOptions{.end_value = end_value});
}
Schedule warmup_exponential_decay_schedule(double init_value, double peak_value,
                                           std::int64_t warmup_steps, std::int64_t transition_steps,
                                           double decay_rate, ExponentialOptions options) {
  return join_schedules({linear_schedule(init_value, peak_value, warmup_steps),
                         exponential_decay(peak_value, transition_steps, decay_rate, options)},
                        {warmup_steps});
}

Schedule sgdr_schedule(const std::vector<SgdrCycle>& cycles) {
  std::vector<Schedule> schedules;
  std::vector<std::int64_t> boundaries;
  std::int64_t step = 0;
  for (const SgdrCycle& c : cycles) {
    if (!schedules.empty()) boundaries.push_back(step);
    schedules.push_back(
        warmup_cosine_decay_schedule(c.init_value, c.peak_value, c.warmup_steps, c.decay_steps,
                                     {.end_value = c.end_value, .exponent = c.exponent}));
    step += c.decay_steps;
  }
  return join_schedules(std::move(schedules), std::move(boundaries));
}

namespace {
// {step: factor} as a list of pairs, or a table by the step's digits.
void read(const Option& given, const std::string& where, Boundaries& into) {
  into.clear();
  if (given.is_none()) return;
  if (const Options* table = given.table()) {
    for (const auto& [step, factor] : *table) optim::read(factor, where, into[std::stoll(step)]);
    return;
  }
  const auto* list = given.as<std::vector<Option>>();
  if (!list)
    throw Error("optim", "{} is a table of steps and factors, got {}", where, given.text());
  for (const Option& pair : *list) {
    const auto* two = pair.as<std::vector<Option>>();
    if (!two || two->size() != 2)
      throw Error("optim", "{} is a list of pairs of a step and a factor", where);
    std::int64_t step = 0;
    optim::read((*two)[0], where, step);
    optim::read((*two)[1], where, into[step]);
  }
}
void read(const Option& given, const std::string& where, SgdrCycle& into) {
  const Options* table = given.table();
  if (!table) throw Error("optim", "{} is a list of tables, got {}", where, given.text());
  detail::for_each_option(into, [&](const std::string& name, auto& v) {
    if (const auto it = table->find(name); it != table->end())
      optim::read(it->second, where + ": " + name, v);
  });
}
Schedule piecewise_by_name(Option init_value, Option boundaries) {
  double init = 0;
  Boundaries at;
  optim::read(init_value, "piecewise_constant_schedule: init_value", init);
  read(boundaries, "piecewise_constant_schedule: boundaries_and_scales", at);
  return piecewise_constant_schedule(init, std::move(at));
}
Schedule interpolate_by_name(std::string interpolate_type, Option init_value, Option boundaries) {
  double init = 0;
  Boundaries at;
  optim::read(init_value, "piecewise_interpolate_schedule: init_value", init);
  read(boundaries, "piecewise_interpolate_schedule: boundaries_and_scales", at);
  return piecewise_interpolate_schedule(interpolate_type, init, std::move(at));
}
Schedule sgdr_by_name(Option cycles) {
  std::vector<SgdrCycle> all;
  if (const auto* list = cycles.as<std::vector<Option>>())
    for (const Option& one : *list) read(one, "sgdr_schedule: cosine_kwargs", all.emplace_back());
  return sgdr_schedule(all);
}
}  // namespace

namespace detail {
void add_schedules(Schedules& s) {
  const std::string sgdr = "Loshchilov and Hutter, SGDR (2017)",
                    cycle = "Smith and Topin, Super-convergence (2017)";
  s.add("constant_schedule", {"value"}, &constant_schedule, "", "The same value at each step.");
  s.add("polynomial_schedule", {"init_value", "end_value", "power", "transition_steps"},
        &polynomial_schedule, "", "A power of what is left of the steps.");
  s.add("linear_schedule", {"init_value", "end_value", "transition_steps"}, &linear_schedule, "",
        "Straight from one value to another.");
  s.add("piecewise_constant_schedule", {"init_value", "boundaries_and_scales="}, &piecewise_by_name,
        "", "Constant, times a factor from each boundary on.");
  s.add("piecewise_interpolate_schedule",
        {"interpolate_type", "init_value", "boundaries_and_scales="}, &interpolate_by_name, "",
        "Lines or cosines between values at boundaries.");
  s.add("exponential_decay", {"init_value", "transition_steps", "decay_rate"}, &exponential_decay,
        "", "A power of the step, perhaps in stairs.");
  s.add("cosine_decay_schedule", {"init_value", "decay_steps"},
        static_cast<Schedule (*)(double, std::int64_t, CosineDecayOptions)>(&cosine_decay_schedule),
        sgdr, "Down along half a cosine.");
  s.add("linear_onecycle_schedule", {"transition_steps", "peak_value"}, &linear_onecycle_schedule,
        cycle, "Up to the peak, down, and further down, in lines.");
  s.add("cosine_onecycle_schedule", {"transition_steps", "peak_value"}, &cosine_onecycle_schedule,
        cycle, "Up to the peak and down along cosines.");
  s.add("warmup_constant_schedule", {"init_value", "peak_value", "warmup_steps"},
        &warmup_constant_schedule, "", "Straight up to a value that stays.");
  s.add("warmup_cosine_decay_schedule", {"init_value", "peak_value", "warmup_steps", "decay_steps"},
        static_cast<Schedule (*)(double, double, std::int64_t, std::int64_t, WarmupCosineOptions)>(
            &warmup_cosine_decay_schedule),
        sgdr, "Straight up, then down along half a cosine.");
  s.add("warmup_exponential_decay_schedule",
        {"init_value", "peak_value", "warmup_steps", "transition_steps", "decay_rate"},
        &warmup_exponential_decay_schedule, "", "Straight up, then an exponential decay.");
  s.add("sgdr_schedule", {"cosine_kwargs"}, &sgdr_by_name, sgdr, "Warm restarts of cosines.");
  s.add("join_schedules", {"schedules", "boundaries"}, &join_schedules, "",
        "Schedules one after the other, each counted anew.");
}
}  // namespace detail

}  // namespace strata::optim
