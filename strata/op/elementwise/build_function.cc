#include "strata/op/elementwise/function.h"

namespace strata::op {

#define STRATA_UNARY(function, name) \
  Value* function(Builder& b, Value* x) { return b.create(def(name).info, {x}).result(); }
STRATA_UNARY(acos, "chlo.acos")
STRATA_UNARY(acosh, "chlo.acosh")
STRATA_UNARY(asin, "chlo.asin")
STRATA_UNARY(asinh, "chlo.asinh")
STRATA_UNARY(atan, "chlo.atan")
STRATA_UNARY(atanh, "chlo.atanh")
STRATA_UNARY(bessel_i0e, "strata.bessel_i0e")
STRATA_UNARY(bessel_i1e, "chlo.bessel_i1e")
STRATA_UNARY(cosh, "chlo.cosh")
STRATA_UNARY(digamma, "chlo.digamma")
STRATA_UNARY(erf_inv, "chlo.erf_inv")
STRATA_UNARY(erfc, "chlo.erfc")
STRATA_UNARY(lgamma, "chlo.lgamma")
STRATA_UNARY(sinh, "chlo.sinh")
#undef STRATA_UNARY
Value* polygamma(Builder& b, Value* n, Value* x) {
  return b.create(def("chlo.polygamma").info, {n, x}).result();
}
Value* zeta(Builder& b, Value* s, Value* q) {
  return b.create(def("chlo.zeta").info, {s, q}).result();
}
Value* next_after(Builder& b, Value* x, Value* y) {
  return b.create(def("chlo.next_after").info, {x, y}).result();
}

}  // namespace strata::op
