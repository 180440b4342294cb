#include "strata/api/numpy/convolution.h"

#include <cmath>

#include "strata/api/index.h"
#include "strata/api/lax/convolution.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/index/sized.h"
#include "strata/api/numpy/index/sorting.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/numpy/statistics.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {

using internal::cast;
using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;

namespace {

/// sum over j of x[i + j] y[j] for all i, x padded by zeros.
Array slide(const Array& x, const Array& y, std::int64_t low, std::int64_t high,
            const Convolve& options) {
  return lax::conv_general_dilated(x.reshape({1, 1, -1}), y.reshape({1, 1, -1}), {1}, {{low, high}},
                                   {.precision = options.precision,
                                    .preferred_element_type = options.preferred_element_type})
      .reshape({-1});
}

Array slide(const char* name, const Operand& given, const Operand& other, const std::string& mode,
            const Convolve& options, bool reversed) {
  Site site(given);
  const Array both[] = {given.array, other.array};
  const WeakDType promoted = internal::promoted(name, both);
  const DType dtype =
      (options.preferred_element_type ? promoted : internal::inexact(promoted)).dtype;
  Array x = cast(given, {dtype, false}), y = cast(other, {dtype, false});
  if (x.ndim() != 1 || y.ndim() != 1)
    fail(name, "vectors are needed, got {} and {}", describe(given->type()),
         describe(other->type()));
  if (x.size() == 0 || y.size() == 0)
    fail(name, "vectors with elements are needed, got {} and {}", describe(given->type()),
         describe(other->type()));
  if (!reversed && is_complex(dtype)) y = conj(y);
  const bool exchanged = x.size() < y.size();
  if (exchanged) std::swap(x, y);
  if (reversed) y = flip(y);
  const std::int64_t n = y.size();
  std::int64_t low = 0, high = 0;
  if (mode == "same")
    low = n / 2, high = n - n / 2 - 1;
  else if (mode == "full")
    low = high = n - 1;
  else if (mode != "valid")
    fail(name, "mode is \"full\", \"same\" or \"valid\", got \"{}\"", mode);
  const Array out = slide(x, y, low, high, options);
  return exchanged && !reversed ? flip(out) : out;
}

}  // namespace

Array convolve(const Operand& x, const Operand& y, const std::string& mode,
               const Convolve& options) {
  return slide("convolve", x, y, mode, options, true);
}
Array correlate(const Operand& x, const Operand& y, const std::string& mode,
                const Convolve& options) {
  return slide("correlate", x, y, mode, options, false);
}

namespace {
/// One unit in the last place of one unit in the last place of 1.
double negligible(DType dtype) {
  const double unit = dtype == DType::f64    ? 0x1p-52
                      : dtype == DType::f16  ? 0x1p-10
                      : dtype == DType::bf16 ? 0x1p-7
                                             : 0x1p-23;
  return unit * unit;
}
void check_way(const std::optional<Beyond>& beyond) {
  if (beyond && !beyond->value() && beyond->way() != "extrapolate")
    fail("interp", "beyond an end is a number or \"extrapolate\", got \"{}\"", beyond->way());
}
}  // namespace

Array interp(const Operand& x_, const Operand& xp_, const Operand& fp_, const Interp& options) {
  Site site(x_);
  if (xp_->ndim() != 1 || xp_->shape() != fp_->shape())
    fail("interp", "the points are two vectors of one size, got {} and {}", describe(xp_->type()),
         describe(fp_->type()));
  if (xp_->size() == 0) fail("interp", "needs at least one point");
  check_way(options.left);
  check_way(options.right);
  const Array both[] = {x_.array, xp_.array};
  const WeakDType type = internal::inexact(internal::promoted("interp", both));
  internal::require_real("interp", cast(x_, type));
  Array x = cast(x_, type), xp = cast(xp_, {type.dtype, false}), fp = internal::as_inexact(fp_);
  if (options.period) {
    if (options.period->ndim() != 0)
      fail("interp", "the period is a scalar, got {}", describe(options.period->type()));
    const Array period = cast(abs(*options.period), {type.dtype, false});
    x = remainder(x, period);
    xp = remainder(xp, period);
    const Array order = argsort(xp);
    xp = xp[order];
    fp = fp[order];
    xp = concatenate({xp[slice(-1, none)] - period, xp, xp[slice(1)] + period});
    fp = concatenate({fp[slice(-1, none)], fp, fp[slice(1)]});
  }
  const Array right = clip(searchsorted(xp, x, "right"), 1, xp.size() - 1), left = right - 1;
  const Array f0 = take(fp, left, 0, {.mode = "clip"}),
              df = take(fp, right, 0, {.mode = "clip"}) - f0;
  const Array x0 = take(xp, left, 0, {.mode = "clip"}),
              dx = take(xp, right, 0, {.mode = "clip"}) - x0;
  const Array together = abs(dx) <= Array::scalar(negligible(type.dtype), type.dtype, false);
  Array f = where(together, f0, f0 + (x - x0) / where(together, 1, dx) * df);
  const auto end = [&](const std::optional<Beyond>& beyond, const Array& last) {
    return beyond ? *beyond->value() : last;
  };
  const auto bounded = [&](const std::optional<Beyond>& beyond) {
    return !options.period && !(beyond && !beyond->value());
  };
  if (bounded(options.left)) f = where(x < xp[0], end(options.left, fp[0]), f);
  if (bounded(options.right)) f = where(x > xp[-1], end(options.right, fp[-1]), f);
  return f;
}

Array unwrap(const Operand& given, const Unwrap& options) {
  Site site(given);
  const Array both[] = {given.array, options.period.value_or(Array(2 * pi))};
  const WeakDType type = internal::promoted("unwrap", both);
  if (is_complex(type.dtype)) fail("unwrap", "angles are real, got {}", describe(given->type()));
  const Array x = cast(given, type), period = cast(both[1], {type.dtype, false});
  const int axis = internal::axis_of("unwrap", options.axis, x.ndim());
  if (x.shape(axis) == 0) return x;
  const Array interval = is_integer(type.dtype) ? floor_divide(period, 2) : period / 2;
  const Array discont = options.discont.value_or(period / 2);
  const Array step = diff(x, {.axis = axis});
  Array within = remainder(step + interval, period) - interval;
  within = where(equal(within, -interval) & (step > 0), interval, within);
  const Array added =
      where(abs(step) < discont, cast(Array(0), {type.dtype, false}), within - step);
  return concatenate({lax::slice_in_dim(x, 0, 1, 1, axis),
                      lax::slice_in_dim(x, 1, x.shape(axis), 1, axis) + cumsum(added, axis)},
                     axis);
}

}  // namespace strata::numpy
