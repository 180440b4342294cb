#include "strata/api/initializers.h"

#include <algorithm>
#include <cmath>

#include "strata/api/trace/compose.h"
#include "strata/base/error.h"

namespace strata::nn::initializers {
namespace {

/// A number rounded to the dtype, as JAX rounds the factors of its initialisers.
Array number(double value, DType dtype) { return Array::scalar(value, dtype, false); }

/// How many inputs and outputs a weight of a shape has.
std::pair<double, double> fans(const Shape& shape, const FanAxes& axes) {
  const int rank = shape.rank();
  auto size = [&](std::int64_t axis) {
    const std::int64_t i = axis < 0 ? axis + rank : axis;
    if (i < 0 || i >= rank)
      throw Error("variance_scaling", "a weight of shape {} has no axis {}", shape.to_string(),
                  axis);
    return static_cast<double>(shape.sizes()[static_cast<std::size_t>(i)]);
  };
  const double in = size(axes.in_axis), out = size(axes.out_axis);
  double copies = 1;
  for (std::int64_t axis : axes.batch_axis) copies *= size(axis);
  if (shape.count() == 0)
    throw Error("variance_scaling", "a weight of shape {} has no inputs or no outputs",
                shape.to_string());
  const double field = static_cast<double>(shape.count()) / in / out / copies;
  return {in * field, out * field};
}

double denominator(Fan fan, double in, double out) {
  switch (fan) {
    case Fan::in: return in;
    case Fan::out: return out;
    case Fan::average: return (in + out) / 2;
    case Fan::geometric: return std::sqrt(in * out);
  }
  return 1;
}

}  // namespace

Array zeros(const random::Key&, const Sizes& shape, DType dtype) {
  return strata::zeros(shape, dtype);
}
Array ones(const random::Key&, const Sizes& shape, DType dtype) {
  return strata::ones(shape, dtype);
}
Initializer constant(const Operand& value, DType own) {
  return {[v = value.array](const random::Key&, const Sizes& shape, DType dtype) {
            return full(shape, v, dtype);
          },
          own};
}
Initializer uniform(double scale, DType own) {
  return {[=](const random::Key& key, const Sizes& shape, DType dtype) {
            return random::uniform(key, shape, dtype) * number(scale, dtype);
          },
          own};
}
Initializer normal(double stddev, DType own) {
  return {[=](const random::Key& key, const Sizes& shape, DType dtype) {
            return random::normal(key, shape, dtype) * number(stddev, dtype);
          },
          own};
}
Initializer truncated_normal(double stddev, DType own, double lower, double upper) {
  return {[=](const random::Key& key, const Sizes& shape, DType dtype) {
            return random::truncated_normal(key, lower, upper, shape, dtype) *
                   number(stddev, dtype);
          },
          own};
}

Initializer variance_scaling(double scale, Fan fan, Distribution distribution, FanAxes axes) {
  auto draw = [=](const random::Key& key, const Sizes& shape, DType dtype) {
    const auto [in, out] = fans(Shape::of(shape), axes);
    const Array variance = number(scale / denominator(fan, in, out), dtype);
    switch (distribution) {
      case Distribution::normal: return random::normal(key, shape, dtype) * sqrt(variance);
      case Distribution::uniform:
        return random::uniform(key, shape, dtype, number(-1, dtype), number(1, dtype)) *
               sqrt(number(3, dtype) * variance);
      case Distribution::truncated_normal: break;
    }
    constexpr double kCutDeviation =
        .87962566103423978;  // the standard deviation of a normal number between -2 and 2
    return random::truncated_normal(key, -2, 2, shape, dtype) *
           (sqrt(variance) / number(kCutDeviation, dtype));
  };
  return {draw, axes.dtype};
}

Initializer lecun_normal(FanAxes axes) {
  return variance_scaling(1, Fan::in, Distribution::truncated_normal, axes);
}
Initializer lecun_uniform(FanAxes axes) {
  return variance_scaling(1, Fan::in, Distribution::uniform, axes);
}
Initializer glorot_normal(FanAxes axes) {
  return variance_scaling(1, Fan::average, Distribution::truncated_normal, axes);
}
Initializer glorot_uniform(FanAxes axes) {
  return variance_scaling(1, Fan::average, Distribution::uniform, axes);
}
Initializer he_normal(FanAxes axes) {
  return variance_scaling(2, Fan::in, Distribution::truncated_normal, axes);
}
Initializer he_uniform(FanAxes axes) {
  return variance_scaling(2, Fan::in, Distribution::uniform, axes);
}

Initializer orthogonal(double scale, std::int64_t column_axis, DType own) {
  auto draw = [=](const random::Key& key, const Sizes& given, DType dtype) {
    const auto rank = static_cast<std::int64_t>(given.size());
    if (rank < 2)
      throw Error("orthogonal", "a weight has two axes at least, got {}",
                  Shape::of(given).to_string());
    const int axis = internal::axis_of("orthogonal", column_axis, static_cast<int>(rank));
    std::vector<std::int64_t> shape = given.get();
    const std::int64_t count = Shape::of(given).count(),
                       columns = shape[static_cast<std::size_t>(axis)];
    if (count == 0) return strata::zeros(shape, dtype);
    shape.erase(shape.begin() + axis);
    shape.push_back(columns);
    const Array q = random::orthogonal(key, count / columns, {}, dtype, columns).reshape(shape);
    return number(scale, dtype) * moveaxis(q, -1, axis);
  };
  return {draw, own};
}

Initializer delta_orthogonal(double scale, std::int64_t column_axis, DType own) {
  auto draw = [=](const random::Key& key, const Sizes& given, DType dtype) {
    const std::vector<std::int64_t>& shape = given.get();
    const std::size_t spatial = shape.size() < 3 || shape.size() > 5 ? 0 : shape.size() - 2;
    if (spatial == 0)
      throw Error("delta_orthogonal", "a kernel has 3 to 5 axes, got {}",
                  Shape::of(given).to_string());
    const std::int64_t in = shape[spatial], out = shape[spatial + 1];
    if (std::count(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(spatial), 0) > 0)
      throw Error("delta_orthogonal", "a kernel has a middle, got {}",
                  Shape::of(given).to_string());
    if (out < in)
      throw Error("delta_orthogonal", "a kernel has no more inputs than outputs, got {}",
                  Shape::of(given).to_string());
    if (Shape::of(given).count() == 0) return strata::zeros(shape, dtype);
    const Array middle = orthogonal(scale, column_axis, dtype)(key, {in, out}, dtype);
    std::vector<numpy::PadWidth> around(shape.size());
    std::vector<std::int64_t> ones(shape.size(), 1);
    for (std::size_t d = 0; d < spatial; ++d)
      around[d] = {(shape[d] - 1) / 2, shape[d] - 1 - (shape[d] - 1) / 2};
    ones[spatial] = in, ones[spatial + 1] = out;
    return numpy::pad(middle.reshape(ones), around);
  };
  return {draw, own};
}

}  // namespace strata::nn::initializers
