// Functions of numpy/manipulation.h that have elements once more, or elsewhere.
#include <algorithm>

#include "strata/api/lax/slicing.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {

using internal::axis_of;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;

Array roll(const Operand& x, const Sizes& shift, const Axes& axis) {
  Site site(x);
  if (axis.all()) {
    if (shift.size() != 1) fail("roll", "{} shifts are given, and no axis", shift.size());
    return x->size() == 0 ? x.array : roll(ravel(x), shift, 0).reshape(x->shape());
  }
  const std::vector<std::int64_t>& axes = axis.given();
  const std::size_t count = std::max(shift.size(), axes.size());
  if ((shift.size() != count && shift.size() != 1) || (axes.size() != count && axes.size() != 1))
    fail("roll", "{} shifts are given for {} axes", shift.size(), axes.size());
  Array out = x;
  for (std::size_t i = 0; i < count; ++i) {
    const int dim = axis_of("roll", axes[axes.size() == 1 ? 0 : i], x->ndim());
    const std::int64_t n = x->shape()[dim], s = shift[shift.size() == 1 ? 0 : i],
                       by = n == 0 ? 0 : (s % n + n) % n;
    if (by != 0)
      out = concatenate(
          {lax::slice_in_dim(out, n - by, n, 1, dim), lax::slice_in_dim(out, 0, n - by, 1, dim)},
          dim);
  }
  return out;
}
Array repeat(const Operand& operand, std::int64_t times, std::optional<std::int64_t> axis) {
  Site site(operand);
  if (times < 0) fail("repeat", "the number of repetitions is at least 0, got {}", times);
  const Array x = axis ? operand.array : ravel(operand);
  const int dim = axis_of("repeat", axis.value_or(0), x.ndim());
  Ints wide = sizes(x), result = sizes(x);
  wide.insert(wide.begin() + dim + 1, times);
  result[static_cast<std::size_t>(dim)] *= times;
  return broadcast_to(expand_dims(x, dim + 1), wide).reshape(result);
}
Array repeat(const Operand& operand, const std::vector<std::int64_t>& times,
             std::optional<std::int64_t> axis, std::optional<std::int64_t> total) {
  Site site(operand);
  if (times.size() == 1 && !total) return repeat(operand, times[0], axis);
  const Array x = axis ? operand.array : ravel(operand);
  const int dim = axis_of("repeat", axis.value_or(0), x.ndim());
  const std::int64_t n = x.shape()[dim];
  if (times.size() != 1 && static_cast<std::int64_t>(times.size()) != n)
    fail("repeat", "{} numbers of repetitions are given for {} elements", times.size(), n);
  std::vector<std::int32_t> places;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t count = times[times.size() == 1 ? 0 : static_cast<std::size_t>(i)];
    if (count < 0) fail("repeat", "the number of repetitions is at least 0, got {}", count);
    places.insert(places.end(), static_cast<std::size_t>(count), static_cast<std::int32_t>(i));
  }
  if (total) places.resize(static_cast<std::size_t>(*total), static_cast<std::int32_t>(n - 1));
  return take(x, array(places), dim, {.mode = "clip"});
}
Array tile(const Operand& x, const Sizes& repetitions) {
  Site site(x);
  const std::size_t rank = std::max(repetitions.size(), static_cast<std::size_t>(x->ndim()));
  for (std::int64_t r : repetitions)
    if (r < 0) fail("tile", "the number of repetitions is at least 0, got {}", r);
  Ints own = sizes(x), times = repetitions;
  own.insert(own.begin(), rank - own.size(), 1);
  times.insert(times.begin(), rank - times.size(), 1);
  Ints split_sizes, wide, result;
  for (std::size_t i = 0; i < rank; ++i) {
    split_sizes.insert(split_sizes.end(), {1, own[i]});
    wide.insert(wide.end(), {times[i], own[i]});
    result.push_back(times[i] * own[i]);
  }
  return broadcast_to(x->reshape(split_sizes), wide).reshape(result);
}
Array resize(const Operand& x, const Sizes& new_shape) {
  Site site(x);
  std::int64_t count = 1;
  for (std::int64_t s : new_shape) {
    if (s < 0) fail("resize", "a size is at least 0, got {}", s);
    count *= s;
  }
  if (count == 0 || x->size() == 0) return zeros_like(x, {}, new_shape);
  const std::int64_t times = (count + x->size() - 1) / x->size();
  return lax::slice_in_dim(tile(ravel(x), times), 0, count).reshape(new_shape);
}

}  // namespace strata::numpy
