#include "strata/optim/transform/multi_steps.h"

#include "strata/api/transform/control.h"
#include "strata/optim/registry.h"
#include "strata/optim/rule.h"

namespace strata::optim {

using detail::field;

std::pair<Array, Tree> skip_not_finite(const Tree& updates, const Array&, const Tree*) {
  Array count = detail::no_count();
  for (const Array& g : updates.values())
    count = count + numpy::sum(numpy::logical_not(numpy::isfinite(g)));
  const Array skip = count > 0;
  return {skip, Tree({{"num_not_finite", count}, {"should_skip", skip}})};
}
ShouldSkip skip_large_updates(double max_squared_norm) {
  return [=](const Tree& updates, const Array&, const Tree*) {
    Array total;
    for (const Array& g : updates.values()) {
      const Array square = numpy::sum(g * g);
      total = total.has_value() ? total + square : square;
    }
    const Array skip = numpy::logical_not(total < max_squared_norm);
    return std::pair(skip, Tree({{"norm_squared", total}, {"should_skip", skip}}));
  };
}

EveryK::EveryK(std::int64_t k)
    : f_([k](const Array&) { return Array::scalar(k, DType::i32, false); }) {
  if (k < 1) throw Error("multi_steps", "an update has a step or more, got {}", k);
}

GradientTransformation multi_steps(GradientTransformation opt, EveryK every_k,
                                   MultiStepsOptions o) {
  const auto state = [](const Array& mini, const Array& gradient, const Tree& inner,
                        const Tree& acc, const Tree& skip) {
    return detail::state_of(field("mini_step", mini), field("gradient_step", gradient),
                            field("inner_opt_state", inner), field("acc_grads", acc),
                            field("skip_state", skip));
  };
  return detail::rule(
      "MultiSteps(" + opt.text() + ")", opt.rule().needs(),
      [=](const Tree& params) {
        const Array step = detail::no_count();
        Tree skip;
        if (o.should_skip_update_fn)
          skip = o.should_skip_update_fn(trees::zeros_like(params), step, &params).second;
        return state(step, step, opt.init(params), trees::zeros_like(params, o.accumulator_dtype),
                     skip);
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        const Array mini = s["mini_step"], gradient = s["gradient_step"];
        const Array k = every_k(gradient);
        const Tree old = s.subtree("acc_grads"), inner = s.subtree("inner_opt_state");
        const Tree acc = trees::map(
            [&](const Array& g, const Array& a) {
              return o.use_grad_mean ? a + (g - a) / (mini + 1) : g + a;
            },
            u, old);
        Array counts = numpy::full({}, true);
        Tree skip;
        if (o.should_skip_update_fn) {
          auto [left_out, kept] = o.should_skip_update_fn(u, gradient, params);
          counts = numpy::logical_not(left_out);
          skip = std::move(kept);
        }
        const Array emit = counts & numpy::equal(mini, k - 1);
        auto [out, next] = detail::update_when(emit, opt, detail::Otherwise::zeros,
                                               trees::cast_like(acc, u), inner, params, extra);
        const Tree zeros = trees::zeros_like(old);
        const Tree after = trees::where(
            counts, trees::where(emit, zeros, trees::cast(acc, o.accumulator_dtype)), old);
        const Array next_mini =
            numpy::where(counts, numpy::remainder(safe_increment(mini), k), mini);
        return std::pair(
            out, state(next_mini, numpy::where(emit, safe_increment(gradient), gradient), next,
                       after, skip));
      });
}
Array has_updated(const Tree& state) {
  return numpy::equal(state["mini_step"], 0) & (state["gradient_step"] > 0);
}

namespace {
GradientTransformation multi_steps_by_name(GradientTransformation opt, Option k,
                                           MultiStepsOptions o) {
  if (const auto* number = k.as<std::int64_t>()) return multi_steps(opt, *number, o);
  if (const auto* f = k.object<std::function<Array(const Array&)>>())
    return multi_steps(opt, *f, o);
  throw Error("MultiSteps", "every_k_schedule is a whole number or a function, got {}", k.text());
}
}  // namespace

namespace detail {
void add_multi_steps(Rules& r) {
  r.add("MultiSteps", {"opt", "every_k_schedule"}, &multi_steps_by_name, "",
        "An update by the gradients of several steps.");
}
}  // namespace detail

}  // namespace strata::optim
