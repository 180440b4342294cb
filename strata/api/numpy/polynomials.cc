#include "strata/api/numpy/polynomials.h"

#include <algorithm>
#include <cmath>

#include "strata/api/index.h"
#include "strata/api/numpy/convolution.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/index/nonzero.h"
#include "strata/api/numpy/index/sized.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"
#include "strata/api/transform/control.h"

namespace strata::numpy {

using internal::cast;
using internal::describe;
using internal::fail;
using internal::Site;

namespace {

struct Two {
  Array x, y;
};

/// Both in the dtype in which they meet.
Two together(const char* name, const Array& x, const Array& y, bool to_inexact) {
  const Array both[] = {x, y};
  const WeakDType type = internal::promoted(name, both);
  const DType dtype = (to_inexact ? internal::inexact(type) : type).dtype;
  return {cast(x, {dtype, false}), cast(y, {dtype, false})};
}

void require_vector(const char* name, const Array& x) {
  if (x.ndim() != 1) fail(name, "coefficients are a vector, got {}", describe(x.type()));
}

/// m, m+1, ... times the m-1 numbers below each: what m derivatives bring in front of the powers m,
/// ..., n-1.
Array falling(std::int64_t m, std::int64_t n, DType dtype) {
  Array out = ones(std::max<std::int64_t>(0, n - m), dtype);
  for (std::int64_t i = 0; i < m; ++i)
    out = out * (arange(m, n).astype(dtype) - static_cast<double>(i)).astype(dtype);
  return out;
}

Array sum_of(const char* name, const Array& x, const Array& y) {
  require_vector(name, x);
  require_vector(name, y);
  const Two t = together(name, x, y, false);
  const Array &longer = t.y.size() <= t.x.size() ? t.x : t.y,
              &shorter = t.y.size() <= t.x.size() ? t.y : t.x;
  if (shorter.size() == 0)
    fail(name, "a polynomial has at least one coefficient, got {} and {}", describe(x.type()),
         describe(y.type()));
  return longer.at(slice(-shorter.size(), none)).add(shorter);
}

}  // namespace

Array poly(const Operand& roots) {
  Site site(roots);
  if (roots->ndim() > 1) fail("poly", "the roots are a vector, got {}", describe(roots->type()));
  const Array r =
      cast(atleast_1d(roots), {internal::inexact({roots->dtype(), false}).dtype, false});
  if (r.size() == 0) return ones({}, r.dtype());
  Array out = ones(1, r.dtype());
  for (std::int64_t k = 0; k < r.size(); ++k)
    out = convolve(out, concatenate({ones(1, r.dtype()), -r[slice(k, k + 1)]}));
  return out;
}

Array polyadd(const Operand& x, const Operand& y) {
  Site site(x);
  return sum_of("polyadd", x, y);
}
Array polysub(const Operand& x, const Operand& y) {
  Site site(x);
  const Two t = together("polysub", x, y, false);
  return sum_of("polysub", t.x, -t.y);
}

Array polymul(const Operand& x, const Operand& y, bool trim_leading_zeros) {
  Site site(x);
  require_vector("polymul", x);
  require_vector("polymul", y);
  Two t = together("polymul", x, y, true);
  if (trim_leading_zeros && (t.x.size() > 1 || t.y.size() > 1))
    t = {trim_zeros(t.x, "f"), trim_zeros(t.y, "f")};
  if (t.x.size() == 0) t.x = zeros(1, t.y.dtype());
  if (t.y.size() == 0) t.y = zeros(1, t.x.dtype());
  return convolve(t.x, t.y);
}

std::pair<Array, Array> polydiv(const Operand& u_, const Operand& v_, bool trim_leading_zeros) {
  Site site(u_);
  require_vector("polydiv", u_);
  require_vector("polydiv", v_);
  auto [u, v] = together("polydiv", u_, v_, true);
  if (v.size() == 0) fail("polydiv", "the divisor has no coefficients");
  const std::int64_t m = u.size() - 1, n = v.size() - 1;
  const Array scale = 1 / v[0];
  Array q = zeros(std::max<std::int64_t>(m - n + 1, 1), u.dtype());
  for (std::int64_t k = 0; k <= m - n; ++k) {
    const Array d = scale * u[k];
    q = q.at(k).set(d);
    u = u.at(slice(k, k + n + 1)).add(-d * v);
  }
  if (!trim_leading_zeros) return {q, u};
  internal::require_known("polydiv", u, "do not trim in jit, vmap and grad");
  const double tolerance = std::sqrt(u.dtype() == DType::f64 || u.dtype() == DType::c128 ? 0x1p-52
                                     : u.dtype() == DType::f16                           ? 0x1p-10
                                     : u.dtype() == DType::bf16                          ? 0x1p-7
                                                                                         : 0x1p-23);
  const std::vector<bool> matters = (abs(u) > tolerance).to_vector<bool>();
  return {q, u[slice(std::find(matters.begin(), matters.end(), true) - matters.begin(), none)]};
}

Array polyder(const Operand& p_, std::int64_t m) {
  Site site(p_);
  require_vector("polyder", p_);
  if (m < 0) fail("polyder", "the order is at least 0, got {}", m);
  const Array p = internal::as_inexact(p_);
  if (m == 0) return p;
  return p[slice(0, -m)] * flip(falling(m, p.size(), p.dtype()));
}

Array polyint(const Operand& p_, std::int64_t m, const std::optional<Operand>& k_) {
  Site site(p_);
  require_vector("polyint", p_);
  if (m < 0) fail("polyint", "the order is at least 0, got {}", m);
  const Two t = together("polyint", p_, k_ ? k_->array : Array(0), true);
  Array k = atleast_1d(t.y);
  if (k.size() == 1) k = broadcast_to(k[0], m);
  if (k.ndim() != 1 || k.size() != m)
    fail("polyint", "k is a scalar or {} numbers, got {}", m, describe(t.y.type()));
  if (m == 0) return t.x;
  // The power j came from the power j - m: divided by j (j-1) ... (j-m+1), of which only what is
  // above 0 counts.
  const std::int64_t n = t.x.size() + m;
  Array coefficient = ones(n, t.x.dtype());
  for (std::int64_t i = 0; i < m; ++i)
    coefficient = coefficient * maximum(arange(n) - i, 1).astype(t.x.dtype());
  return concatenate({t.x, k}) / flip(coefficient);
}

Array polyval(const Operand& p_, const Operand& x_) {
  Site site(p_);
  if (p_->ndim() == 0) fail("polyval", "coefficients have a first axis, got a scalar");
  const Array both[] = {p_.array, x_.array};
  const DType dtype = internal::promoted("polyval", both).dtype;
  const Array p = cast(p_, {dtype, false}), x = cast(x_, {dtype, false});
  const std::vector<std::int64_t> sizes = internal::sizes(p);
  const Array shapes[] = {zeros(std::vector<std::int64_t>(sizes.begin() + 1, sizes.end()), bool_),
                          x};
  const Array none_yet = zeros(internal::broadcast_shapes("polyval", shapes), dtype);
  if (p.shape(0) == 0) return none_yet;
  return scan([&](Array y, Array c) { return std::pair(y * x + c, nullptr); }, none_yet, p).first;
}

}  // namespace strata::numpy
