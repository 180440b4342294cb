#include "strata/optim/rules/adafactor.h"

#include <algorithm>
#include <numeric>

#include "strata/optim/registry.h"
#include "strata/optim/rule.h"
#include "strata/optim/rules/layers.h"
#include "strata/optim/rules/trace.h"
#include "strata/optim/schedule/learning_rate.h"
#include "strata/optim/transform/clip.h"
#include "strata/optim/transform/decay.h"

namespace strata::optim {

namespace {
/// The second largest axis and the largest; none where the leaf is not factored.
std::optional<std::pair<int, int>> factored_axes(const Array& p, const FactoredRmsOptions& o) {
  if (!o.factored || p.ndim() < 2) return std::nullopt;
  std::vector<int> axes(static_cast<std::size_t>(p.ndim()));
  std::iota(axes.begin(), axes.end(), 0);
  std::sort(axes.begin(), axes.end(),
            [&](int a, int b) { return std::pair(p.shape(a), a) < std::pair(p.shape(b), b); });
  const int second = axes[axes.size() - 2], first = axes.back();
  if (p.shape(second) < o.min_dim_size_to_factor) return std::nullopt;
  return std::pair(second, first);
}
Array zeros_without(const Array& p, int axis) {
  std::vector<std::int64_t> shape = p.shape().sizes();
  shape.erase(shape.begin() + axis);
  return numpy::zeros(shape, p.dtype());
}
Array decay_by_power(const Array& step, const Rate& exponent) {
  const Array t = numpy::astype(step + 1, DType::f32);
  return 1.0 - numpy::power(t, (-exponent).array());
}
}  // namespace

GradientTransformation scale_by_factored_rms(FactoredRmsOptions o) {
  const auto state = [](const Array& count, const Tree& row, const Tree& col, const Tree& v) {
    return detail::state_of(detail::field("count", count), detail::field("v_row", row),
                            detail::field("v_col", col), detail::field("v", v));
  };
  return detail::rule(
      detail::call_text("scale_by_factored_rms", o), {.params = true},
      [=](const Tree& params) {
        const auto none = [](const Array& p) { return numpy::zeros({1}, p.dtype()); };
        const auto of = [&](auto f) {
          return trees::map(
              [&](const Array& p) {
                const auto axes = factored_axes(p, o);
                return f(p, axes);
              },
              params);
        };
        return state(
            detail::no_count(), of([&](const Array& p, const auto& a) {
              return a ? zeros_without(p, a->second) : none(p);
            }),
            of([&](const Array& p, const auto& a) {
              return a ? zeros_without(p, a->first) : none(p);
            }),
            of([&](const Array& p, const auto& a) { return a ? none(p) : numpy::zeros_like(p); }));
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra&) {
        const Array step = s["count"] - o.step_offset;
        const Array decay = o.decay_rate_fn ? o.decay_rate_fn(step, o.decay_rate)
                                            : decay_by_power(step, o.decay_rate);
        const Tree rows = s.subtree("v_row"), cols = s.subtree("v_col"), vs = s.subtree("v");
        std::vector<Array> out, new_rows, new_cols, new_vs;
        for (std::size_t i = 0; i < u.size(); ++i) {
          const Array &g = u.value(i), &p = params->value(i);
          const DType dtype = p.dtype();
          const Array square = abs_sq(g) + o.epsilon, none = numpy::zeros({1}, dtype);
          const auto mean = [&](const Array& old, const Array& now) {
            return numpy::astype(decay * old + (1.0 - decay) * now, dtype);
          };
          if (const auto axes = factored_axes(p, o)) {
            const auto [d1, d0] = *axes;
            const Array row = mean(rows.value(i), numpy::mean(square, d0));
            const Array col = mean(cols.value(i), numpy::mean(square, d1));
            const int reduced = d1 > d0 ? d1 - 1 : d1;
            const Array all = numpy::mean(row, {.axis = reduced, .keepdims = true});
            out.push_back(g * numpy::expand_dims(numpy::power(row / all, -0.5), d0) *
                          numpy::expand_dims(numpy::power(col, -0.5), d1));
            new_rows.push_back(row);
            new_cols.push_back(col);
            new_vs.push_back(none);
          } else {
            const Array v = mean(vs.value(i), square);
            out.push_back(g * numpy::power(v, -0.5));
            new_rows.push_back(none);
            new_cols.push_back(none);
            new_vs.push_back(v);
          }
        }
        return std::pair(
            u.with_values(std::move(out)),
            state(safe_increment(s["count"]), rows.with_values(std::move(new_rows)),
                  cols.with_values(std::move(new_cols)), vs.with_values(std::move(new_vs))));
      });
}

GradientTransformation adafactor(Rate learning_rate, AdafactorOptions o) {
  std::vector<GradientTransformation> parts{
      scale_by_factored_rms({.factored = o.factored,
                             .decay_rate = o.decay_rate,
                             .step_offset = o.decay_offset,
                             .min_dim_size_to_factor = o.min_dim_size_to_factor,
                             .epsilon = o.eps})};
  if (o.clipping_threshold.has_value()) parts.push_back(clip_by_block_rms(o.clipping_threshold));
  if (learning_rate.has_value())
    parts.push_back(scale_by_learning_rate(std::move(learning_rate), false));
  if (o.multiply_by_parameter_scale) parts.push_back(scale_by_param_block_rms());
  if (o.momentum.has_value()) parts.push_back(ema(o.momentum, false, o.dtype_momentum));
  if (o.weight_decay_rate.has_value())
    parts.push_back(add_decayed_weights(o.weight_decay_rate, o.weight_decay_mask));
  parts.push_back(scale(-1.0));
  return chain(std::move(parts));
}

namespace detail {
void add_adafactor(Rules& r) {
  const std::string paper = "Shazeer and Stern, Adafactor (2018)";
  r.add("scale_by_factored_rms", {}, &scale_by_factored_rms, paper,
        "Updates by second moments that are kept as a row and a column.");
  r.add("adafactor", {"learning_rate="}, &adafactor, paper,
        "Adam's second moments in the memory of a row and a column.");
}
}  // namespace detail

}  // namespace strata::optim
