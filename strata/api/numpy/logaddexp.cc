// logaddexp and logaddexp2 of numpy/elementwise.h.
#include "strata/api/lax/operations.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/floating.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/trace/compose.h"
#include "strata/api/transform/custom.h"

namespace strata::numpy {
namespace {

using internal::as_inexact;
using internal::cast;
using internal::Site;

Array logaddexp_of(const Array& a, const Array& b) {
  const Array top = maximum(a, b), apart = a - b;
  const Array equal_infinities = isnan(apart), distance = where(equal_infinities, 0, apart);
  return where(equal_infinities, a + b, top + log1p(exp(-abs(distance))));
}
/// The shares of both operands in the sum, so that there are derivatives of every order where they
/// are equal, too.
std::pair<Array, Array> logaddexp_rule(const std::tuple<Array, Array>& at,
                                       const std::tuple<Array, Array>& along) {
  auto finite = [](const Array& x) { return where(x == inf, 0, x); };
  const auto& [a, b] = at;
  const auto& [da, db] = along;
  const Array sum = logaddexp_of(a, b), of = finite(sum);
  return {sum, da * exp(finite(a) - of) + db * exp(finite(b) - of)};
}

}  // namespace

Array logaddexp(const Operand& x, const Operand& y) {
  Site site(x);
  const std::vector<Array> both = internal::broadcast_promoted("logaddexp", {x, y});
  const Array a = as_inexact(both[0]), b = as_inexact(both[1]);
  if (!internal::Trace::current()) return logaddexp_of(a, b);
  const Array sum = custom_jvp(
      logaddexp_of, [](const std::tuple<Array, Array>& at, const std::tuple<Array, Array>& along) {
        return logaddexp_rule(at, along);
      })(a, b);
  return cast(sum, {sum.dtype(), a.weak() && b.weak()});
}
Array logaddexp2(const Operand& x, const Operand& y) {
  Site site(x);
  const std::vector<Array> both = internal::broadcast_promoted("logaddexp2", {x, y});
  const Array a = as_inexact(both[0]), b = as_inexact(both[1]),
              top = lax::stop_gradient(maximum(a, b));
  const Array safe = where(isfinite(top), top, zeros_like(top));
  const Array result = log2(exp2(a - safe) + exp2(b - safe)) + safe;
  return cast(result, {result.dtype(), x->weak() && y->weak()});
}

}  // namespace strata::numpy
