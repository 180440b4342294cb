#include "strata/optim/transform/clip.h"

#include "strata/api/numpy/linalg.h"
#include "strata/api/trace/trace.h"
#include "strata/optim/registry.h"
#include "strata/optim/rule.h"

namespace strata::optim {

namespace {
Array rms_of(const Array& x) { return numpy::sqrt(numpy::mean(abs_sq(x))); }

void check_examples(const char* name, const Tree& grads) {
  for (std::size_t i = 0; i < grads.size(); ++i)
    if (grads.value(i).ndim() < 1 || grads.value(i).shape(0) != grads.value(0).shape(0))
      throw Error(name, "axis 0 of every leaf counts the examples; {} is {}", grads.entry(i).name,
                  strata::internal::describe(grads.value(i).type()));
}
Array multipliers_of(const Array& norms, const Rate& bound) {
  const Array m = numpy::minimum(bound / norms, 1.0);
  return numpy::where(numpy::isnan(m), 1.0, m);
}
/// The squares of a leaf, summed for each example.
Array example_squares(const Array& g) {
  const Array rows = numpy::reshape(abs_sq(g), {g.shape(0), -1});
  return numpy::sum(rows, 1);
}
Array weighted_sum(const Array& weights, const Array& g) { return numpy::tensordot(weights, g, 1); }
}  // namespace

GradientTransformation clip(Rate max_delta) {
  return detail::leafwise("clip(" + max_delta.text() + ")", [=](const Array& g) {
    return numpy::clip(g, (-max_delta).array(), max_delta.array());
  });
}
GradientTransformation clip_by_block_rms(Rate threshold) {
  return detail::leafwise("clip_by_block_rms(" + threshold.text() + ")", [=](const Array& g) {
    return g / numpy::maximum(1.0, rms_of(g) / threshold);
  });
}
GradientTransformation clip_by_global_norm(Rate max_norm) {
  return stateless("clip_by_global_norm(" + max_norm.text() + ")", [=](const Tree& u, const Tree*) {
    const Array norm = trees::norm(u), below = norm < max_norm.array();
    return trees::map(
        [&](const Array& g) {
          return numpy::where(
              below, g, numpy::astype(g / numpy::astype(norm, g.dtype()) * max_norm, g.dtype()));
        },
        u);
  });
}
GradientTransformation adaptive_grad_clip(Rate clipping, Rate eps,
                                          std::optional<std::vector<std::int64_t>> axis) {
  return detail::leafwise(
      "adaptive_grad_clip(" + clipping.text() + ")", [=](const Array& g, const Array& p) {
        const Array bound = clipping * numpy::maximum(unitwise_norm(p, axis), eps.array());
        return unitwise_clip(unitwise_norm(g, axis), bound, g);
      });
}

Array unitwise_norm(const Array& x, const std::optional<std::vector<std::int64_t>>& axis) {
  int longer = 0;
  for (int i = 0; i < x.ndim(); ++i) longer += x.shape(i) != 1 ? 1 : 0;
  Axes axes;
  if (axis)
    axes = *axis;
  else if (longer <= 1)
    axes = Axes();
  else if (x.ndim() <= 3)
    axes = 0;
  else if (x.ndim() == 4)
    axes = {0, 1, 2};
  else if (x.ndim() == 5)
    axes = {0, 1, 2, 3};
  else
    throw Error("unitwise_norm", "needs the axes of a unit for {} axes", x.ndim());
  const Array squares = numpy::sum(abs_sq(x), {.axis = axes, .keepdims = true});
  return numpy::broadcast_to(numpy::sqrt(squares), x.shape().sizes());
}
Array unitwise_clip(const Array& g_norm, const Array& max_norm, const Array& grad, double div_eps) {
  if (g_norm.shape() != max_norm.shape() || g_norm.shape() != grad.shape())
    throw Error("unitwise_clip", "norms and gradients have one shape, got {}, {} and {}",
                strata::internal::describe(g_norm.type()),
                strata::internal::describe(max_norm.type()),
                strata::internal::describe(grad.type()));
  return numpy::where(g_norm < max_norm, grad, grad * (max_norm / numpy::maximum(g_norm, div_eps)));
}
std::pair<Tree, Array> per_example_global_norm_clip(const Tree& grads, Rate l2_norm_clip) {
  check_examples("per_example_global_norm_clip", grads);
  Array squares(0);
  for (const Array& g : grads.values()) squares = squares + example_squares(g);
  const Array m = multipliers_of(numpy::sqrt(squares), l2_norm_clip);
  return {trees::map([&](const Array& g) { return weighted_sum(m, g); }, grads),
          numpy::sum(m < 1.0)};
}
std::pair<Tree, Tree> per_example_layer_norm_clip(const Tree& grads, Rate bound, bool uniform) {
  check_examples("per_example_layer_norm_clip", grads);
  const auto elements = [](const Array& g) {
    return static_cast<double>(g.size()) / static_cast<double>(g.shape(0));
  };
  double total = 0;
  for (const Array& g : grads.values()) total += elements(g);
  const auto multipliers = [&](const Array& g) {
    const double share = uniform ? 1.0 / static_cast<double>(grads.size()) : elements(g) / total;
    return multipliers_of(numpy::sqrt(example_squares(g)), bound * Rate(std::sqrt(share)));
  };
  return {trees::map([&](const Array& g) { return weighted_sum(multipliers(g), g); }, grads),
          trees::map([&](const Array& g) { return numpy::sum(multipliers(g) < 1.0); }, grads)};
}

Array safe_norm(const Array& x, Rate min_norm, const SafeNorm& o) {
  const auto norm = [&](const Array& of, bool keepdims) {
    if (o.ord)
      return numpy::linalg::norm(of, {.ord = *o.ord, .axis = o.axis, .keepdims = keepdims});
    return numpy::sqrt(numpy::sum(abs_sq(of), {.axis = o.axis, .keepdims = keepdims}));
  };
  const Array whole = norm(x, true);
  const Array safe = numpy::where(whole <= min_norm.array(), numpy::ones_like(x), x);
  const Array size = o.keepdims ? whole : norm(x, false);
  return numpy::where(size <= min_norm.array(), min_norm.array(), norm(safe, o.keepdims));
}
Array safe_root_mean_squares(const Array& x, Rate min_rms) {
  const Array below = rms_of(x) <= min_rms.array();
  const Array safe = numpy::where(below, numpy::ones_like(x), x);
  return numpy::where(below, min_rms.array(), rms_of(safe));
}

namespace detail {
void add_clip(Rules& r) {
  r.add("clip", {"max_delta"}, &clip, "", "Elements within bounds.");
  r.add("clip_by_block_rms", {"threshold"}, &clip_by_block_rms,
        "Shazeer and Stern, Adafactor (2018)", "Leaves of a root mean square within a bound.");
  r.add("clip_by_global_norm", {"max_norm"}, &clip_by_global_norm,
        "Pascanu et al., On the difficulty of training recurrent neural networks (2013)",
        "All leaves scaled down together where their norm is above a bound.");
  r.add("adaptive_grad_clip", {"clipping", "eps=1e-3", "axis="}, &adaptive_grad_clip,
        "Brock et al. (2021)", "Units bounded by the norm of their weights.");
}
}  // namespace detail

}  // namespace strata::optim
