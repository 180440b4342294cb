// The methods of Array that are functions of numpy.h.
#include <algorithm>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/numpy.h"
#include "strata/api/trace/trace.h"

namespace strata {

using internal::Site;

#define STRATA_REDUCTION(name, function, Options)                \
  Array Array::name(Where where) const {                         \
    return numpy::function(Operand(*this, where), Options());    \
  }                                                              \
  Array Array::name(const Options& options, Where where) const { \
    return numpy::function(Operand(*this, where), options);      \
  }
STRATA_REDUCTION(sum, sum, Reduce)
STRATA_REDUCTION(prod, prod, Reduce)
STRATA_REDUCTION(mean, mean, Reduce)
STRATA_REDUCTION(max, max, Reduce)
STRATA_REDUCTION(min, min, Reduce)
STRATA_REDUCTION(any, any, Reduce)
STRATA_REDUCTION(all, all, Reduce)
STRATA_REDUCTION(var, var, Variance)
STRATA_REDUCTION(std, std_, Variance)
STRATA_REDUCTION(argmax, argmax, numpy::Position)
STRATA_REDUCTION(argmin, argmin, numpy::Position)
STRATA_REDUCTION(cumsum, cumsum, numpy::Cumulative)
STRATA_REDUCTION(cumprod, cumprod, numpy::Cumulative)
STRATA_REDUCTION(sort, sort, numpy::Sort)
STRATA_REDUCTION(argsort, argsort, numpy::Sort)
#undef STRATA_REDUCTION

Array Array::argmax(std::int64_t axis, Where where) const { return argmax({.axis = axis}, where); }
Array Array::argmin(std::int64_t axis, Where where) const { return argmin({.axis = axis}, where); }
Array Array::cumsum(std::int64_t axis, Where where) const { return cumsum({.axis = axis}, where); }
Array Array::cumprod(std::int64_t axis, Where where) const {
  return cumprod({.axis = axis}, where);
}
Array Array::sort(std::int64_t axis, Where where) const { return sort({.axis = axis}, where); }
Array Array::argsort(std::int64_t axis, Where where) const {
  return argsort({.axis = axis}, where);
}
Array Array::argpartition(std::int64_t kth, std::int64_t axis, Where where) const {
  return numpy::argpartition(Operand(*this, where), kth, axis);
}
Array Array::searchsorted(const Array& v, const std::string& side, Where where) const {
  return numpy::searchsorted(Operand(*this, where), Operand(v, where), side);
}

Array Array::astype(DType dtype, Where where) const {
  return numpy::astype(Operand(*this, where), dtype);
}
Array Array::view(DType dtype, Where where) const {
  const Site site(where);
  const DType to = canonical(dtype, x64_enabled());
  const int from_bits = bit_width(this->dtype()), to_bits = bit_width(to);
  if (from_bits == to_bits) return lax::bitcast_convert_type(*this, to);
  if (ndim() == 0)
    internal::fail("view", "a scalar of {} has no axis to become {} along",
                   strata::name(this->dtype()), strata::name(to));
  std::vector<std::int64_t> sizes = shape().sizes();
  std::int64_t& last = sizes.back();
  if (last * from_bits % to_bits != 0)
    internal::fail("view", "the last axis of {} does not fill whole elements of {}",
                   internal::describe(type()), strata::name(to));
  if (from_bits > to_bits) {
    last = last * from_bits / to_bits;
    return lax::bitcast_convert_type(*this, to).reshape(sizes);
  }
  last = last * from_bits / to_bits;
  std::vector<std::int64_t> parts = sizes;
  parts.push_back(to_bits / from_bits);
  return lax::bitcast_convert_type(reshape(parts), to);
}
Array Array::copy(Where where) const { return numpy::copy(Operand(*this, where)); }
Array Array::reshape(const Sizes& sizes, Where where) const {
  return numpy::reshape(Operand(*this, where), sizes);
}
Array Array::ravel(Where where) const { return numpy::ravel(Operand(*this, where)); }
Array Array::transpose(const Sizes& axes, Where where) const {
  return numpy::transpose(Operand(*this, where), axes);
}
Array Array::mT(Where where) const { return numpy::matrix_transpose(Operand(*this, where)); }
Array Array::swapaxes(std::int64_t axis1, std::int64_t axis2, Where where) const {
  return numpy::swapaxes(Operand(*this, where), axis1, axis2);
}
Array Array::squeeze(const Axes& axis, Where where) const {
  return numpy::squeeze(Operand(*this, where), axis);
}
Array Array::repeat(std::int64_t times, std::optional<std::int64_t> axis, Where where) const {
  return numpy::repeat(Operand(*this, where), times, axis);
}
Array Array::diagonal(std::int64_t offset, std::int64_t axis1, std::int64_t axis2,
                      Where where) const {
  return numpy::diagonal(Operand(*this, where), {.offset = offset, .axis1 = axis1, .axis2 = axis2});
}
Array Array::trace(std::int64_t offset, std::int64_t axis1, std::int64_t axis2, Where where) const {
  return numpy::trace(Operand(*this, where), {.offset = offset, .axis1 = axis1, .axis2 = axis2});
}

Array Array::dot(const Array& y, Where where) const {
  return numpy::dot(Operand(*this, where), Operand(y, where));
}
Array Array::clip(const std::optional<Array>& low, const std::optional<Array>& high,
                  Where where) const {
  auto bound = [](const std::optional<Array>& b) {
    return b ? std::optional<Operand>(*b) : std::nullopt;
  };
  return numpy::clip(Operand(*this, where), bound(low), bound(high));
}
Array Array::round(std::int64_t decimals, Where where) const {
  return numpy::round(Operand(*this, where), decimals);
}
Array Array::conj(Where where) const { return numpy::conj(Operand(*this, where)); }
Array Array::real(Where where) const { return numpy::real(Operand(*this, where)); }
Array Array::imag(Where where) const { return numpy::imag(Operand(*this, where)); }
Array Array::take(const Array& indices, std::optional<std::int64_t> axis, Where where) const {
  return numpy::take(Operand(*this, where), Operand(indices, where), axis);
}
Array Array::choose(const std::vector<Array>& choices, const std::string& mode, Where where) const {
  return numpy::choose(Operand(*this, where), choices, mode);
}
Array Array::compress(const Array& condition, std::optional<std::int64_t> axis, Where where) const {
  return numpy::compress(Operand(condition, where), Operand(*this, where), axis);
}
std::vector<Array> Array::nonzero(Where where) const {
  return numpy::nonzero(Operand(*this, where));
}

Array::Rows Array::begin(Where where) const {
  const Site site(where);
  if (ndim() == 0) internal::fail("begin", "a scalar has no rows: {}", internal::describe(type()));
  return {*this, 0, where};
}
Array::Rows Array::end(Where where) const { return {Array(), ndim() == 0 ? 0 : shape(0), where}; }
Array Array::Rows::operator*() const { return array_[Indices(at_, where_)]; }

}  // namespace strata
