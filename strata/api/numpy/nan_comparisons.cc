// Comparisons of numpy/elementwise.h that tell NaN from numbers.
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/floating.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {

using internal::as_inexact;
using internal::Site;

Array isclose(const Operand& left, const Operand& right, const Closeness& options) {
  Site site(left);
  const std::vector<Array> both = internal::broadcast_promoted("isclose", {left, right});
  const Array x = as_inexact(both[0]), y = as_inexact(both[1]);
  const Array near = isfinite(y) & (abs(x - y) <= options.atol + options.rtol * abs(y));
  const Array close = (x == y) | near;
  return options.equal_nan ? close | (isnan(x) & isnan(y)) : close;
}
Array allclose(const Operand& x, const Operand& y, const Closeness& options) {
  Site site(x);
  return all(isclose(x, y, options));
}
Array array_equal(const Operand& x, const Operand& y, bool equal_nan) {
  Site site(x);
  if (x->shape() != y->shape()) return Array::scalar(false);
  const Array same = x.array == y;
  return all(equal_nan ? same | (isnan(x) & isnan(y)) : same);
}
Array array_equiv(const Operand& x, const Operand& y) {
  Site site(x);
  return all(x.array == y);
}
Array fmax(const Operand& x, const Operand& y) {
  Site site(x);
  return where((x.array > y) | isnan(y), x, y);
}
Array fmin(const Operand& x, const Operand& y) {
  Site site(x);
  return where((x.array < y) | isnan(y), x, y);
}

}  // namespace strata::numpy
