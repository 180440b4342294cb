#include "strata/nn/norm/statistics.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "strata/api/lax.h"
#include "strata/nn/dtypes.h"

namespace strata::nn {

std::string StatisticsOptions::static_text() const {
  return fmt::format("{}/{}/{}/{}", dtype ? strata::name(*dtype) : "none", use_fast_variance,
                     axis_name, axis_index_groups);
}

namespace {

/// |x|^2, which is real.
Array squared_magnitude(const Array& x) {
  if (!is_complex(x.dtype())) return lax::square(x);
  return lax::square(lax::real(x)) + lax::square(lax::imag(x));
}

/// Means over axes of the array and then over axes of vmap.
class Mean {
 public:
  Mean(const std::vector<std::int64_t>& axes, const StatisticsOptions& options,
       const std::optional<Array>& mask)
      : axes_(axes), options_(options), mask_(mask) {}

  Array operator()(const Array& x) const { return between(within(x)); }
  /// Both at once, so that a single exchange does.
  std::pair<Array, Array> operator()(const Array& x, const Array& y) const {
    const Array a = within(x), b = within(y);
    if (options_.axis_name.empty() || a.dtype() != b.dtype()) return {between(a), between(b)};
    const Array both = between(numpy::stack({a, b}));
    return {both[0], both[1]};
  }

 private:
  Array within(const Array& x) const {
    return numpy::mean(x, Reduce{.axis = Axes(axes_), .where = mask_});
  }
  Array between(const Array& mean) const {
    if (options_.axis_name.empty()) return mean;
    return lax::pmean(mean, AxisNames(options_.axis_name),
                      {.axis_index_groups = options_.axis_index_groups});
  }
  const std::vector<std::int64_t>& axes_;
  const StatisticsOptions& options_;
  const std::optional<Array>& mask_;
};

/// The shape of x with 1 along every axis that is (not) among these.
std::vector<std::int64_t> shape_with_ones(const Array& x, const std::vector<std::int64_t>& axes,
                                          bool among) {
  std::vector<std::int64_t> out = x.shape().sizes();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool found =
        std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (found == among) out[i] = 1;
  }
  return out;
}

}  // namespace

Moments moments(const Array& input, const std::vector<std::int64_t>& axes,
                const StatisticsOptions& options, const std::optional<Array>& mask, bool use_mean) {
  const Array x =
      astype(input, numpy::promote_types(options.dtype.value_or(input.dtype()), DType::f32));
  const Mean mean(axes, options, mask);
  if (!use_mean) {
    const Array var = mean(squared_magnitude(x));
    return {numpy::zeros_like(var), var};
  }
  if (!options.use_fast_variance) {
    const Array mu = mean(x);
    return {mu, mean(squared_magnitude(x - numpy::expand_dims(mu, Axes(axes))))};
  }
  const auto [mu, square] = mean(x, squared_magnitude(x));
  return {mu, numpy::maximum(0.0, square - squared_magnitude(mu))};
}

Array normalize(const Array& x, const Moments& m, const Array& scale, const Array& bias,
                const NormalizeOptions& o) {
  const std::vector<std::int64_t> one_each = shape_with_ones(x, o.reduction_axes, true);
  const std::vector<std::int64_t> features = shape_with_ones(x, o.feature_axes, false);
  Array factor = lax::rsqrt(m.var.reshape(one_each) + o.epsilon);
  if (scale.has_value()) factor = factor * scale.reshape(features);
  Array y = (x - m.mean.reshape(one_each)) * factor;
  if (bias.has_value()) y = y + bias.reshape(features);
  return astype(y, o.dtype.value_or(x.dtype()));
}

std::vector<std::int64_t> given_axes(const char* layer, const Axes& axes) {
  if (axes.all()) strata::internal::fail(layer, "reduction and feature axes must be given");
  return axes.given();
}

std::vector<std::int64_t> norm_axes(const char* layer, const std::vector<std::int64_t>& axes,
                                    const Array& x) {
  std::set<std::int64_t> out;
  for (std::int64_t axis : axes) {
    if (axis < -x.ndim() || axis >= x.ndim())
      strata::internal::fail(layer, "the input {} has no axis {}",
                             strata::internal::describe(x.type()), axis);
    out.insert(axis < 0 ? axis + x.ndim() : axis);
  }
  return {out.begin(), out.end()};
}

void check_features(const char* layer, const Array& x, const std::vector<std::int64_t>& axes,
                    const char* what, const Array& weight) {
  if (!weight.has_value()) return;
  std::int64_t features = 1;
  for (std::int64_t axis : axes) features *= x.shape(static_cast<int>(axis));
  if (features != weight.size())
    strata::internal::fail(layer, "the input {} has {} features along {} {}, the {} {}",
                           strata::internal::describe(x.type()), features,
                           axes.size() == 1 ? "axis" : "axes", fmt::join(axes, ", "), what,
                           weight.size());
}

}  // namespace strata::nn
