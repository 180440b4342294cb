#include "strata/nn/norm/weight_norm.h"

#include "strata/api/lax.h"
#include "strata/nn/dtypes.h"

namespace strata::nn::detail {

namespace {

/// The axes that a weight's lengths have.
std::vector<std::int64_t> length_axes(const std::vector<std::int64_t>& axes, const Array& weight) {
  return norm_axes("WeightNorm", axes, weight);
}

}  // namespace

std::map<std::string, WeightScale> first_scales(const tree::Tree& weights,
                                                const WeightNormOptions& o, Rngs* rngs) {
  std::map<std::string, WeightScale> out;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Array& weight = weights.value(i);
    std::vector<std::int64_t> shape;
    if (o.feature_axes)
      for (std::int64_t axis : length_axes(given_axes("WeightNorm", *o.feature_axes), weight))
        shape.push_back(weight.shape(static_cast<int>(axis)));
    if (o.scale_init && !rngs)
      strata::internal::fail("WeightNorm", "scale_init needs streams of keys: give Rngs");
    out[path_key(weights.entry(i))] = o.scale_init
                                          ? WeightScale((*o.scale_init)((*rngs)("params"), shape))
                                          : WeightScale(numpy::ones(shape, DType::f32));
  }
  return out;
}

tree::Tree of_length(const tree::Tree& weights, const std::map<std::string, WeightScale>& scales,
                     const WeightLengths& lengths) {
  return weights.map([&](const tree::Entry& entry, const Array& w) {
    const std::vector<std::int64_t> features = length_axes(lengths.feature_axes, w);
    std::vector<std::int64_t> reduced, shape(static_cast<std::size_t>(w.ndim()), 1);
    for (std::int64_t i = 0; i < w.ndim(); ++i) reduced.push_back(i);
    for (std::int64_t axis : features) {
      std::erase(reduced, axis);
      shape[static_cast<std::size_t>(axis)] = w.shape(static_cast<int>(axis));
    }
    const Array squares = numpy::sum(w * w, Reduce{.axis = Axes(reduced), .keepdims = true});
    const Array unit = w * lax::rsqrt(squares + lengths.epsilon);
    if (!lengths.use_scale) return astype(unit, canonicalize_dtype({w}, lengths.dtype));
    const auto scale = scales.find(path_key(entry));
    if (scale == scales.end())
      strata::internal::fail("WeightNorm", "there is no scale for {}", entry.name);
    return astype(unit * scale->second.reshape(shape),
                  canonicalize_dtype({w, scale->second}, lengths.dtype));
  });
}

}  // namespace strata::nn::detail
