#include "strata/api/numpy/index/nonzero.h"

#include <algorithm>

#include "strata/api/index.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/histograms.h"
#include "strata/api/numpy/index/sized.h"
#include "strata/api/numpy/index/sorting.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::internal {

void require_known(const char* operation, const Array& x, const char* instead) {
  if (!x.is_traced()) return;
  const std::string from = origin(*x.state());
  fail(operation, "the shape of the result depends on the elements of {}{} which is traced; {}",
       from, from.back() == ',' ? "" : ",", instead);
}

std::int64_t length_of(const char* operation, const Array& x,
                       const std::optional<std::int64_t>& size) {
  if (size && *size < 0) fail(operation, "size is at least 0, got {}", *size);
  if (size) return *size;
  require_known(operation, x, "give size, or call it outside of jit, vmap and grad");
  const std::vector<std::complex<double>> values = x.to_vector<std::complex<double>>();
  return std::count_if(values.begin(), values.end(),
                       [](std::complex<double> v) { return v != 0.0; });
}

/// Entry k of the sums is how many true elements there are up to place k, so that the k-th true one
/// stands where so many sums are at most k: behind the last true element that is all of them, which
/// stands for 0.
Array places_of(const Array& mask, std::int64_t size) {
  if (mask.size() == 0 || size == 0) return numpy::zeros(size, index_dtype());
  const Array upto = numpy::cumsum(mask, {.dtype = index_dtype()});
  return numpy::remainder(
      numpy::cumsum(numpy::bincount(upto, {.length = size}), {.dtype = index_dtype()}),
      mask.size());
}

}  // namespace strata::internal

namespace strata::numpy {

using internal::describe;
using internal::fail;
using internal::index_dtype;
using internal::length_of;
using internal::Site;

namespace {

Array mask_of(const Array& x) { return is_bool(x.dtype()) ? x : not_equal(x, 0); }

/// fill_value of one axis.
Array fill_of(const char* operation, const Array& fill, int axis, int rank) {
  if (fill.ndim() == 0) return fill;
  if (fill.ndim() == 1 && fill.size() == rank) return fill[axis];
  fail(operation, "fill_value is a scalar or one number for each of {} axes, got {}", rank,
       describe(fill.type()));
}

std::vector<Array> nonzero_of(const char* operation, const Array& x, const Sized& options) {
  const std::int64_t length = length_of(operation, x, options.size);
  const std::vector<std::int64_t> sizes = internal::sizes(x);
  if (x.size() == 0 || length == 0)
    return std::vector<Array>(sizes.size(), zeros(length, index_dtype()));
  const Array mask = ravel(mask_of(x)), flat = internal::places_of(mask, length);
  std::vector<Array> out;
  std::int64_t stride = x.size();
  for (int d = 0; d < x.ndim(); ++d) {
    const std::int64_t size = sizes[static_cast<std::size_t>(d)];
    stride /= size;
    out.push_back(remainder(floor_divide(flat, stride), size));
  }
  if (!options.fill_value) return out;
  const Array missing = arange(length) >= sum(mask, {.dtype = index_dtype()});
  for (int d = 0; d < x.ndim(); ++d)
    out[static_cast<std::size_t>(d)] =
        where(missing, fill_of(operation, *options.fill_value, d, x.ndim()),
              out[static_cast<std::size_t>(d)]);
  return out;
}

/// The slices along the first axis where a known condition holds.
Array rows_where(const Array& x, const Array& condition) {
  const std::vector<bool> holds = condition.to_vector<bool>();
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < holds.size(); ++i)
    if (holds[i]) rows.push_back(static_cast<std::int32_t>(i));
  return rows.empty() ? x[slice(0)] : x[array(rows)];
}

Array compressed(const char* operation, const Array& given, const Array& x, const Sized& options) {
  if (given.ndim() != 1)
    fail(operation, "the condition is a vector, got {}", describe(given.type()));
  const std::int64_t common = std::min(given.size(), x.shape(0));
  const Array condition = mask_of(given)[slice(common)], rows = x[slice(common)];
  if (!options.size) {
    internal::require_known(operation, given,
                            "give size, or call it outside of jit, vmap and grad");
    if (length_of(operation, given, {}) > length_of(operation, condition, {}))
      fail(operation, "the condition {} holds beyond the {} slices of {}", describe(given.type()),
           common, describe(x.type()));
    return rows_where(rows, condition);
  }
  if (*options.size < 0 || *options.size > common)
    fail(operation, "size is from 0 to the {} slices of {}, got {}", common, describe(x.type()),
         *options.size);
  std::vector<std::int64_t> aligned(static_cast<std::size_t>(x.ndim()), 1);
  aligned[0] = common;
  const Array fill = internal::cast(options.fill_value.value_or(Array(0)), {x.dtype(), false});
  const Array filled = where(condition.reshape(aligned), rows, fill),
              order = argsort(condition.astype(uint8), {.descending = true});
  return filled[order][slice(*options.size)];
}

}  // namespace

std::vector<Array> nonzero(const Operand& x, const Sized& options) {
  Site site(x);
  if (x->ndim() == 0) fail("nonzero", "a scalar has no axes; use atleast_1d first");
  return nonzero_of("nonzero", x, options);
}

Array flatnonzero(const Operand& x, const Sized& options) {
  Site site(x);
  return nonzero_of("flatnonzero", ravel(x), options)[0];
}

Array argwhere(const Operand& x, const Sized& options) {
  Site site(x);
  if (x->ndim() == 0) return zeros({length_of("argwhere", x, options.size), 0}, index_dtype());
  return stack(nonzero_of("argwhere", x, options), -1);
}

Array compress(const Operand& condition, const Operand& x, std::optional<std::int64_t> axis,
               const Sized& options) {
  Site site(condition);
  if (!axis) return compressed("compress", condition, ravel(x), options);
  const int dim = internal::axis_of("compress", *axis, x->ndim());
  return moveaxis(compressed("compress", condition, moveaxis(x, dim, 0), options), 0, dim);
}

Array extract(const Operand& condition, const Operand& x, const Sized& options) {
  Site site(condition);
  return compressed("extract", ravel(condition), ravel(x), options);
}

std::pair<Array, Array> mask_indices(std::int64_t n,
                                     const std::function<Array(const Array&, std::int64_t)>& mask,
                                     std::int64_t k, const Sized& options, Where where) {
  Site site(where);
  const std::vector<Array> found = nonzero_of("mask_indices", mask(ones({n, n}), k), options);
  if (found.size() != 2)
    fail("mask_indices", "the mask of a matrix is a matrix, got {} axes", found.size());
  return {found[0], found[1]};
}

Array trim_zeros(const Operand& x, const std::string& trim, const Axes& axis) {
  Site site(x);
  if (trim.find_first_not_of("fbFB") != std::string::npos)
    fail("trim_zeros", "trim is of the letters f and b, got \"{}\"", trim);
  internal::require_known("trim_zeros", x, "call it outside of jit, vmap and grad");
  const bool front = trim.find_first_of("fF") != std::string::npos,
             back = trim.find_first_of("bB") != std::string::npos;
  std::vector<Index> index(static_cast<std::size_t>(x->ndim()), Index(Slice{}));
  for (std::int64_t d : internal::axes_of("trim_zeros", axis, x->ndim())) {
    std::vector<std::int64_t> others;
    for (int o = 0; o < x->ndim(); ++o)
      if (o != d) others.push_back(o);
    const std::vector<bool> any_there = any(mask_of(x), {.axis = others}).to_vector<bool>();
    const auto first = std::find(any_there.begin(), any_there.end(), true);
    const auto last = std::find(any_there.rbegin(), any_there.rend(), true);
    const std::int64_t size = x->shape()[static_cast<int>(d)];
    const bool none_there = first == any_there.end();
    index[static_cast<std::size_t>(d)] =
        none_there && (front || back) ? slice(0, 0)
                                      : slice(front ? first - any_there.begin() : 0,
                                              back ? size - (last - any_there.rbegin()) : size);
  }
  return x.array[Indices(index)];
}

}  // namespace strata::numpy
