#include "strata/nn/conv/pool.h"

#include <limits>

namespace strata::nn {

namespace {
/// Infinity for floats, else the greatest number.
Array infinite(DType dtype, bool negative) {
  if (is_float(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return Array::scalar(negative ? -infinity : infinity, dtype, false);
  }
  const numpy::IntegerInfo info = numpy::iinfo(dtype);
  return negative ? Array::scalar(info.min, dtype, false) : Array::scalar(info.max, dtype, false);
}
}  // namespace

Array pool(const Array& x, const Array& init,
           const std::function<Array(const Array&, const Array&)>& reduce,
           const Sizes& window_shape, const PoolOptions& o) {
  const std::size_t axes = window_shape.size();
  if (static_cast<std::size_t>(x.ndim()) < axes + 1)
    strata::internal::fail("pool", "the input {} has {} axes, windows of {} need {}",
                           strata::internal::describe(x.type()), x.ndim(), axes, axes + 1);
  const std::size_t batch = static_cast<std::size_t>(x.ndim()) - axes - 1;
  const std::vector<std::int64_t> steps = for_each_axis("pool", "strides", o.strides, axes);
  std::vector<std::int64_t> window(batch, 1), strides(batch, 1);
  window.insert(window.end(), window_shape.begin(), window_shape.end());
  strides.insert(strides.end(), steps.begin(), steps.end());
  window.push_back(1);
  strides.push_back(1);
  lax::WindowPadding padding = o.padding.of("pool", axes);
  if (padding.name().empty()) {
    Padding::Pairs pairs(batch);
    pairs.insert(pairs.end(), padding.pairs().begin(), padding.pairs().end());
    pairs.emplace_back(0, 0);
    padding = std::move(pairs);
  }
  return lax::reduce_window(x, init, reduce, window,
                            {.window_strides = strides, .padding = padding});
}

Array avg_pool(const Array& x, const Sizes& window_shape, const PoolOptions& o) {
  const auto sums = [&](const Array& of) {
    return pool(
        of, Array::scalar(0.0, of.dtype(), false),
        [](const Array& a, const Array& b) { return a + b; }, window_shape, o);
  };
  const Array total = sums(x);
  if (o.count_include_pad) {
    std::int64_t count = 1;
    for (std::int64_t n : window_shape) count *= n;
    return total / count;
  }
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.ndim()), 1);
  const std::size_t first = shape.size() - 1 - window_shape.size();
  for (std::size_t i = first; i + 1 < shape.size(); ++i)
    shape[i] = x.shape(static_cast<std::int64_t>(i));
  return total / sums(numpy::ones(shape, x.dtype()));
}

Array max_pool(const Array& x, const Sizes& window_shape, const PoolOptions& o) {
  return pool(
      x, infinite(x.dtype(), true),
      [](const Array& a, const Array& b) { return numpy::maximum(a, b); }, window_shape, o);
}
Array min_pool(const Array& x, const Sizes& window_shape, const PoolOptions& o) {
  return pool(
      x, infinite(x.dtype(), false),
      [](const Array& a, const Array& b) { return numpy::minimum(a, b); }, window_shape, o);
}

}  // namespace strata::nn
