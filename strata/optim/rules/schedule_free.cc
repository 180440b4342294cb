#include "strata/optim/rules/schedule_free.h"

#include <cmath>
#include <limits>

#include "strata/optim/registry.h"
#include "strata/optim/rule.h"
#include "strata/optim/rules/sgd.h"
#include "strata/optim/rules/squares.h"
#include "strata/optim/schedule/learning_rate.h"
#include "strata/optim/schedule/schedules.h"
#include "strata/optim/transform/decay.h"

namespace strata::optim {

using detail::field;
using detail::state_of;

namespace {
/// x of parameters b1 x + (1 - b1) z.
Tree mean_of(const Tree& params, const Tree& z, const Rate& b1) {
  const Rate rest = 1.0 - b1;
  return trees::map([&](const Array& y, const Array& zi) { return (y - rest * zi) / b1; }, params,
                    z);
}
Rate warmed(Rate rate, const std::optional<std::int64_t>& steps) {
  return steps ? Rate(warmup_constant_schedule(0.0, rate.number(), *steps)) : rate;
}
}  // namespace

GradientTransformation schedule_free(GradientTransformation base_optimizer, Rate learning_rate,
                                     ScheduleFreeOptions o) {
  Needs needs = base_optimizer.rule().needs();
  needs.params = true;
  const auto state = [](const Array& b1, const Array& sum, const Array& step, const Array& max_lr,
                        const Tree& inner, const Tree& z) {
    return state_of(field("b1", b1), field("weight_sum", sum), field("step_count", step),
                    field("max_lr", max_lr), field("base_optimizer_state", inner), field("z", z));
  };
  return detail::rule(
      detail::call_text("schedule_free", o) + base_optimizer.text(), needs,
      [=](const Tree& params) {
        const DType dtype = trees::dtype(params, trees::Common::lowest);
        const Array zero = numpy::zeros({}, dtype);
        return state(numpy::astype(o.b1.array(), dtype), zero, numpy::ones({}, DType::i32), zero,
                     base_optimizer.init(params), trees::cast(params, o.state_dtype));
      },
      [=](const Tree& g, const Tree& s, const Tree* params, const Extra& extra) {
        const Array step = s["step_count"], old_lr = s["max_lr"];
        Array lr = learning_rate.at(step).array();
        if (learning_rate.is_schedule()) lr = numpy::astype(lr, old_lr.dtype());
        const Array max_lr = numpy::maximum(old_lr, lr);
        const Array weight = o.weight_lr_power.is(2.0) ? max_lr * max_lr
                             : o.weight_lr_power.is(1.0)
                                 ? max_lr
                                 : numpy::power(max_lr, o.weight_lr_power.array());
        const Array sum = s["weight_sum"] + weight;
        const Array quotient = weight / sum;
        const Array no_number = numpy::isnan(weight) | numpy::isnan(sum);
        const Array ck = numpy::where(no_number, std::numeric_limits<double>::quiet_NaN(),
                                      numpy::where(numpy::isnan(quotient), 0.0, quotient));
        auto [u, inner] =
            base_optimizer.update(g, s.subtree("base_optimizer_state"), *params, extra);
        const Tree old_z = s.subtree("z");
        const Tree z = apply_updates(old_z, u);
        const Rate rest = 1.0 - o.b1;
        const Tree out = trees::map(
            [&](const Array& before, const Array& zi, const Array& p) {
              const Array x = (1.0 - ck) * before + ck * zi;
              return o.b1 * x + rest * zi - p;
            },
            mean_of(*params, old_z, o.b1), z, *params);
        return std::pair(out, state(s["b1"], sum, safe_increment(step), max_lr, inner, z));
      });
}
Tree schedule_free_eval_params(const Tree& state, const Tree& params) {
  if (!state.contains("b1") || state.subtree("z").empty())
    throw Error("schedule_free_eval_params", "the state is not one of schedule_free");
  return mean_of(params, state.subtree("z"), state["b1"]);
}
GradientTransformation schedule_free_sgd(Rate learning_rate, ScheduleFreeSgdOptions o) {
  const Rate rate = warmed(std::move(learning_rate), o.warmup_steps);
  GradientTransformation tx = sgd(rate);
  if (o.weight_decay.has_value()) tx = chain(add_decayed_weights(o.weight_decay), tx);
  return schedule_free(
      tx, rate, {.b1 = o.b1, .weight_lr_power = o.weight_lr_power, .state_dtype = o.state_dtype});
}
GradientTransformation schedule_free_adamw(Rate learning_rate, ScheduleFreeAdamwOptions o) {
  const Rate rate = warmed(std::move(learning_rate), o.warmup_steps);
  return schedule_free(
      chain(scale_by_rms(
                {.decay = o.b2, .eps = o.eps, .eps_in_sqrt = false, .bias_correction = true}),
            add_decayed_weights(o.weight_decay), scale_by_learning_rate(rate)),
      rate, {.b1 = o.b1, .weight_lr_power = o.weight_lr_power, .state_dtype = o.state_dtype});
}

GradientTransformation mechanize(GradientTransformation base_optimizer, MechanizeOptions o) {
  if (o.num_betas < 1) throw Error("mechanize", "num_betas is 1 or more, got {}", o.num_betas);
  Needs needs = base_optimizer.rule().needs();
  needs.params = true;
  const auto state = [](const Tree& inner, const Array& count, const Array& r, const Array& m,
                        const Array& v, const Array& s, const Tree& x0) {
    return state_of(field("base_optimizer_state", inner), field("count", count), field("r", r),
                    field("m", m), field("v", v), field("s", s), field("x0", x0));
  };
  return detail::rule(
      detail::call_text("mechanize", o) + base_optimizer.text(), needs,
      [=](const Tree& params) {
        const DType dtype = trees::dtype(params, trees::Common::lowest);
        const Array zeros = numpy::zeros({o.num_betas}, dtype);
        return state(base_optimizer.init(params), detail::no_count(), zeros, zeros, zeros,
                     numpy::ones({o.num_betas}, dtype) * o.s_init, params);
      },
      [=](const Tree& g, const Tree& st, const Tree* params, const Extra& extra) {
        auto [u, inner] =
            base_optimizer.update(g, st.subtree("base_optimizer_state"), *params, extra);
        const Array old_s = st["s"], old_m = st["m"];
        const Tree x0 = trees::where(numpy::equal(st["count"], 0), *params, st.subtree("x0"));
        const Array sum = numpy::sum(old_s);
        const Array factor = o.weight_decay * sum * trees::norm(g) / (trees::norm(*params) + o.eps);
        const Tree decayed = trees::map(
            [&](const Array& gi, const Array& pi) { return gi + factor * pi; }, g, *params);
        const Tree before = trees::map(
            [&](const Array& p, const Array& p0) { return (p0 - p) / (sum + o.eps); }, *params, x0);
        const Tree delta = trees::sub(before, u);
        const Array h = trees::vdot(decayed, before);
        const Array clipped =
            numpy::minimum(numpy::maximum(numpy::ones_like(old_m) * h, -old_m), old_m);
        std::vector<double> beta;
        for (std::int64_t i = 1; i <= o.num_betas; ++i)
          beta.push_back(1.0 - std::pow(0.1, static_cast<double>(i)));
        const Array betas = numpy::astype(array(beta), old_s.dtype());
        const Array m = numpy::maximum(betas * old_m, numpy::abs(h) + o.eps);
        const Array v = betas * betas * st["v"] + h * h;
        const Array r = betas * st["r"] + clipped * old_s;
        const Rate share = o.s_init / static_cast<double>(o.num_betas);
        const Array wealth = share * m + numpy::maximum(0.0, r);
        const Array s = wealth / (numpy::sqrt(v) + o.eps);
        const Array all = numpy::sum(s);
        const Tree out = trees::map(
            [&](const Array& p0, const Array& d, const Array& p) { return p0 - all * d - p; }, x0,
            delta, *params);
        return std::pair(out, state(inner, safe_increment(st["count"]), r, m, v, s, x0));
      });
}

GradientTransformation reduce_on_plateau(PlateauOptions o) {
  const char* name = "reduce_on_plateau";
  if (!(o.factor > 0.0 && o.factor < 1.0))
    throw Error(name, "factor lies between 0 and 1, got {}", o.factor);
  if (o.rtol < 0.0 || o.atol < 0.0 || (o.rtol == 0.0 && o.atol == 0.0) || o.rtol > 1.0)
    throw Error(name,
                "rtol and atol are not negative, not both 0, and rtol is at most 1; got {} "
                "and {}",
                o.rtol, o.atol);
  const auto state = [](const Array& scale, const Array& best, const Array& plateau,
                        const Array& cooldown, const Array& count, const Array& average) {
    return state_of(field("scale", scale), field("best_value", best),
                    field("plateau_count", plateau), field("cooldown_count", cooldown),
                    field("count", count), field("avg_value", average));
  };
  return detail::rule(
      detail::call_text(name, o), {.value = true},
      [=](const Tree& params) {
        const DType low = trees::dtype(params, trees::Common::lowest),
                    high = trees::dtype(params, trees::Common::highest);
        const Array none = detail::no_count();
        return state(numpy::ones({}, low),
                     numpy::full({}, std::numeric_limits<double>::infinity(), high), none, none,
                     none, numpy::zeros({}, high));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra& extra) {
        const Array old_scale = s["scale"], best = s["best_value"], old_average = s["avg_value"],
                    cooldown = s["cooldown_count"], plateau = s["plateau_count"];
        const Array count = safe_increment(s["count"]), zero = detail::no_count();
        const Array average = numpy::astype(
            (s["count"] * old_average + numpy::astype(*extra.value, old_average.dtype())) / count,
            old_average.dtype());
        const Array full = numpy::equal(count, o.accumulation_size);
        const Array improved = average < (1.0 - o.rtol) * best - o.atol;
        const Array waited = numpy::where(improved, zero, safe_increment(plateau));
        const Array cooling = cooldown > 0, out_of_patience = numpy::equal(waited, o.patience);
        const Array next_plateau = numpy::where(cooling | out_of_patience, zero, waited);
        const Array fallen = numpy::maximum(
            numpy::where(out_of_patience, old_scale * o.factor, old_scale), o.min_scale);
        const Array next_cooldown = numpy::where(
            cooling, cooldown - 1,
            numpy::where(out_of_patience, Array::scalar(o.cooldown, DType::i32, false), zero));
        const Array scale = numpy::where(full & numpy::logical_not(cooling), fallen, old_scale);
        return std::pair(
            trees::map([&](const Array& g) { return scale * g; }, u),
            state(scale, numpy::where(full & improved, average, best),
                  numpy::where(full, next_plateau, plateau),
                  numpy::where(full, next_cooldown, cooldown), numpy::where(full, zero, count),
                  numpy::where(full, numpy::zeros_like(average), average)));
      });
}

namespace detail {
void add_schedule_free(Rules& r) {
  const std::string paper = "Defazio et al., The Road Less Scheduled (2024)";
  r.add("contrib.schedule_free", {"base_optimizer", "learning_rate"}, &schedule_free, paper,
        "A mean of weights in place of a schedule.");
  r.add("contrib.schedule_free_sgd", {"learning_rate=1.0"}, &schedule_free_sgd, paper,
        "Descent that needs no schedule.");
  r.add("contrib.schedule_free_adamw", {"learning_rate=0.0025"}, &schedule_free_adamw, paper,
        "AdamW that needs no schedule.");
  r.add("contrib.mechanize", {"base_optimizer"}, &mechanize, "Cutkosky et al. (2023)",
        "Finds the rate while it runs.");
  r.add("contrib.reduce_on_plateau", {}, &reduce_on_plateau, "",
        "A rate that falls where the loss does not.");
}
}  // namespace detail

}  // namespace strata::optim
