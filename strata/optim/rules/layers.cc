#include "strata/optim/rules/layers.h"

#include "strata/optim/registry.h"
#include "strata/optim/rule.h"
#include "strata/optim/rules/trace.h"
#include "strata/optim/schedule/learning_rate.h"
#include "strata/optim/transform/clip.h"
#include "strata/optim/transform/decay.h"

namespace strata::optim {

GradientTransformation scale_by_trust_ratio(TrustRatioOptions o) {
  return detail::leafwise(
      detail::call_text("scale_by_trust_ratio", o), [=](const Array& g, const Array& p) {
        const Array weights = safe_norm(p, o.min_norm), update = safe_norm(g, o.min_norm);
        const Array ratio = o.trust_coefficient * weights / (update + o.eps);
        const Array zero = numpy::equal(weights, 0.0) | numpy::equal(update, 0.0);
        return g * numpy::where(zero, numpy::ones({}, p.dtype()), ratio);
      });
}
GradientTransformation scale_by_param_block_norm(Rate min_scale) {
  return detail::leafwise(
      "scale_by_param_block_norm(" + min_scale.text() + ")",
      [=](const Array& g, const Array& p) { return g * safe_norm(p, min_scale); });
}
GradientTransformation scale_by_param_block_rms(Rate min_scale) {
  return detail::leafwise(
      "scale_by_param_block_rms(" + min_scale.text() + ")",
      [=](const Array& g, const Array& p) { return g * safe_root_mean_squares(p, min_scale); });
}
GradientTransformation lars(Rate learning_rate, LarsOptions o) {
  return chain(
      add_decayed_weights(o.weight_decay, o.weight_decay_mask),
      masked(scale_by_trust_ratio({.trust_coefficient = o.trust_coefficient, .eps = o.eps}),
             o.trust_ratio_mask),
      scale_by_learning_rate(std::move(learning_rate)), trace(o.momentum, o.nesterov));
}
GradientTransformation fromage(Rate learning_rate, Rate min_norm) {
  const Rate k = 1.0 / sqrt(1.0 + learning_rate * learning_rate);
  return chain(scale_by_trust_ratio({.min_norm = min_norm}),
               scale_by_learning_rate(learning_rate * k), add_decayed_weights(k - 1.0));
}
GradientTransformation centralize() {
  return detail::leafwise("centralize()", [](const Array& g) {
    if (g.ndim() <= 1) return g;
    std::vector<std::int64_t> axes;
    for (int i = 1; i < g.ndim(); ++i) axes.push_back(i);
    return g - numpy::mean(g, {.axis = axes, .keepdims = true});
  });
}
GradientTransformation normalize_by_update_norm(Rate scale_factor, Rate eps) {
  return stateless("normalize_by_update_norm(" + scale_factor.text() + ")",
                   [=](const Tree& u, const Tree*) {
                     const Array norm = (trees::norm(u) + eps) / scale_factor;
                     return trees::map([&](const Array& g) { return g / norm; }, u);
                   });
}

GradientTransformation scale_by_distance_over_gradients(DistanceOverGradientsOptions o) {
  const auto norm = [](const Array& x) { return numpy::sqrt(numpy::sum(numpy::square(x))); };
  const auto state = [](const Tree& distance, const Tree& squares, const Tree& start) {
    return detail::state_of(detail::field("max_dist", distance),
                            detail::field("grad_sum_of_squares", squares),
                            detail::field("init_params", start));
  };
  return detail::rule(
      detail::call_text("scale_by_distance_over_gradients", o), {.params = true},
      [=](const Tree& params) {
        return state(
            trees::map([&](const Array& p) { return o.reps_rel * (1.0 + norm(p)); }, params),
            trees::map([](const Array&) { return numpy::zeros({1}); }, params),
            trees::cast(params, o.param_dtype));
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra&) {
        const Tree start = s.subtree("init_params");
        const Tree distance =
            trees::map([&](const Array& d, const Array& p,
                           const Array& p0) { return numpy::maximum(d, norm(p - p0)); },
                       s.subtree("max_dist"), *params, start);
        const Tree squares = trees::map(
            [](const Array& x, const Array& g) { return x + numpy::sum(numpy::square(g)); },
            s.subtree("grad_sum_of_squares"), u);
        const Tree out = trees::map(
            [&](const Array& g, const Array& d, const Array& sum) {
              return o.global_scale * (d / numpy::sqrt(sum + o.eps)) * g;
            },
            u, distance, squares);
        return std::pair(out, state(distance, squares, start));
      });
}

namespace detail {
void add_layers(Rules& r) {
  const std::string you = "You et al. (2017)", adafactor = "Shazeer and Stern (2018)";
  r.add("scale_by_trust_ratio", {}, &scale_by_trust_ratio, you,
        "Each leaf's update scaled by the norm of its weights over its own.");
  r.add("scale_by_param_block_norm", {"min_scale=1e-3"}, &scale_by_param_block_norm, "",
        "Updates times the norm of their weights.");
  r.add("scale_by_param_block_rms", {"min_scale=1e-3"}, &scale_by_param_block_rms, adafactor,
        "Updates times the root mean square of their weights.");
  r.add("lars", {"learning_rate"}, &lars, you, "Momentum with rates by leaf.");
  r.add("fromage", {"learning_rate", "min_norm=1e-6"}, &fromage, "Bernstein et al. (2020)",
        "Relative steps in each leaf.");
  r.add("centralize", {}, &centralize, "Yong et al. (2020)", "Gradients minus their row's mean.");
  r.add("normalize_by_update_norm", {"scale_factor=1.0", "eps=1e-6"}, &normalize_by_update_norm, "",
        "Updates over their norm.");
  r.add("scale_by_distance_over_gradients", {}, &scale_by_distance_over_gradients,
        "Ivgi et al. (2023)", "Rates from the distance that each leaf went.");
}
}  // namespace detail

}  // namespace strata::optim
