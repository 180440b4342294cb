#include "strata/loop/math/math.h"

#include "strata/loop/math/angle.h"
#include "strata/loop/math/bessel.h"
#include "strata/loop/math/error_function.h"
#include "strata/loop/math/error_inverse.h"
#include "strata/loop/math/exponential.h"
#include "strata/loop/math/gamma.h"
#include "strata/loop/math/hyperbolic.h"
#include "strata/loop/math/logarithm.h"
#include "strata/loop/math/power.h"
#include "strata/loop/math/root.h"
#include "strata/loop/math/trigonometric.h"
#include "strata/loop/math/zeta.h"

namespace strata::loop::math {
namespace {

/// Whether this processor has fma as an instruction; elsewhere the C library's function gives the
/// same bits, slower.
#if defined(__x86_64__) && !defined(__FMA__)
#define STRATA_WITH_FMA __attribute__((target("fma"), flatten))
const bool kHasFma = __builtin_cpu_supports("fma");
#else
#define STRATA_WITH_FMA
constexpr bool kHasFma = true;
#endif

/// The number of a value, computing bf16 and f16 in f32.
template <class Function>
Inst* traced(Builder& b, Inst* x, const Function& function) {
  DType dtype = x->type.dtype;
  switch (dtype) {
    case DType::f32: return function(Traced<float>(b, x)).inst;
    case DType::f64: return function(Traced<double>(b, x)).inst;
    case DType::bf16:
    case DType::f16:
      return b.convert(dtype, function(Traced<float>(b, b.convert(DType::f32, x))).inst);
    default: STRATA_UNREACHABLE("an elementary function of {}", strata::name(dtype));
  }
}

template <class Function>
Inst* traced(Builder& b, Inst* x, Inst* y, const Function& function) {
  DType dtype = x->type.dtype;
  STRATA_CHECK(dtype == y->type.dtype, "an elementary function of {} and {}", strata::name(dtype),
               strata::name(y->type.dtype));
  auto single = [&](Inst* v) { return Traced<float>(b, b.convert(DType::f32, v)); };
  switch (dtype) {
    case DType::f32: return function(Traced<float>(b, x), Traced<float>(b, y)).inst;
    case DType::f64: return function(Traced<double>(b, x), Traced<double>(b, y)).inst;
    case DType::bf16:
    case DType::f16: return b.convert(dtype, function(single(x), single(y)).inst);
    default: STRATA_UNREACHABLE("an elementary function of {}", strata::name(dtype));
  }
}

}  // namespace

// The scalar forms in two instances, one for processors with fma, and the traced form.
#define STRATA_UNARY(name)                                                                         \
  STRATA_WITH_FMA static float name##_with_fma(float x) { return name(Plain<float>(x)).value; }    \
  STRATA_WITH_FMA static double name##_with_fma(double x) { return name(Plain<double>(x)).value; } \
  float name(float x) { return kHasFma ? name##_with_fma(x) : name(Plain<float>(x)).value; }       \
  double name(double x) { return kHasFma ? name##_with_fma(x) : name(Plain<double>(x)).value; }    \
  Inst* name(Builder& builder, Inst* x) {                                                          \
    return traced(builder, x, [](auto v) { return name(v); });                                     \
  }
#define STRATA_BINARY(name)                                                                  \
  STRATA_WITH_FMA static float name##_with_fma(float x, float y) {                           \
    return name(Plain<float>(x), Plain<float>(y)).value;                                     \
  }                                                                                          \
  STRATA_WITH_FMA static double name##_with_fma(double x, double y) {                        \
    return name(Plain<double>(x), Plain<double>(y)).value;                                   \
  }                                                                                          \
  float name(float x, float y) {                                                             \
    return kHasFma ? name##_with_fma(x, y) : name(Plain<float>(x), Plain<float>(y)).value;   \
  }                                                                                          \
  double name(double x, double y) {                                                          \
    return kHasFma ? name##_with_fma(x, y) : name(Plain<double>(x), Plain<double>(y)).value; \
  }                                                                                          \
  Inst* name(Builder& builder, Inst* x, Inst* y) {                                           \
    return traced(builder, x, y, [](auto u, auto v) { return name(u, v); });                 \
  }
#define STRATA_UNARY_FUNCTIONS(each)                                                              \
  each(exp) each(exp2) each(expm1) each(log) each(log2) each(log1p) each(sin) each(cos) each(tan) \
      each(tanh) each(logistic) each(sqrt) each(rsqrt) each(cbrt) each(erf) each(erfc)            \
          each(erf_inv) each(asin) each(acos) each(atan) each(sinh) each(cosh) each(asinh)        \
              each(acosh) each(atanh) each(lgamma) each(digamma) each(bessel_i0e) each(bessel_i1e)
#define STRATA_BINARY_FUNCTIONS(each) each(pow) each(atan2) each(zeta) each(polygamma)

STRATA_UNARY_FUNCTIONS(STRATA_UNARY)
STRATA_BINARY_FUNCTIONS(STRATA_BINARY)

std::span<const UnaryFunction> unary_functions() {
#define STRATA_ROW(name) UnaryFunction{#name, name, name, name},
  static const UnaryFunction table[] = {STRATA_UNARY_FUNCTIONS(STRATA_ROW)};
#undef STRATA_ROW
  return table;
}

std::span<const BinaryFunction> binary_functions() {
#define STRATA_ROW(name) BinaryFunction{#name, name, name, name},
  static const BinaryFunction table[] = {STRATA_BINARY_FUNCTIONS(STRATA_ROW)};
#undef STRATA_ROW
  return table;
}

}  // namespace strata::loop::math
