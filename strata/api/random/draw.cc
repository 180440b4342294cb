#include "strata/api/random/draw.h"

#include <cmath>

namespace strata::random {
namespace {

using internal::describe;
using internal::fail;

struct Format {
  int mantissa, smallest;
};
Format format_of(DType dtype) {
  switch (dtype) {
    case DType::bf16: return {7, -126};
    case DType::f16: return {10, -14};
    case DType::f32: return {23, -126};
    case DType::f64: return {52, -1022};
    default: fail("random", "floats are bf16, f16, f32 or f64, got {}", name(dtype));
  }
}

}  // namespace

int mantissa_bits(DType dtype) { return format_of(dtype).mantissa; }
double epsilon(DType dtype) { return std::ldexp(1, -format_of(dtype).mantissa); }
double tiny(DType dtype) { return std::ldexp(1, format_of(dtype).smallest); }

Array safely_as(const char* operation, const Array& x, DType dtype) {
  const Array both[] = {x, number(dtype, 0)};
  if (internal::promoted(operation, both).dtype != dtype)
    fail(operation, "{} does not hold every number of {}", strata::name(dtype), describe(x.type()));
  return as(x, dtype);
}

DType float_type(const char* operation, DType wanted) {
  if (!is_float(wanted)) fail(operation, "the dtype is a float, got {}", strata::name(wanted));
  return canonical(wanted, x64_enabled());
}
DType integer_type(const char* operation, DType wanted) {
  if (!is_integer(wanted)) fail(operation, "the dtype is an integer, got {}", strata::name(wanted));
  return canonical(wanted, x64_enabled());
}

Sizes sample_shape(const char* operation, const SampleShape& given,
                   const std::vector<Shape>& parameters) {
  const Sizes common = numpy::broadcast_shapes({parameters.begin(), parameters.end()});
  if (!given) return common;
  const Sizes& wanted = *given;
  if (numpy::broadcast_shapes({common, wanted}) != wanted.get())
    fail(operation, "parameters of shape {} do not broadcast to the shape {}",
         describe(Shape::of(common)), describe(Shape::of(wanted)));
  return wanted;
}

Array broadcast(const Array& x, const Sizes& shape) { return numpy::broadcast_to(x, shape); }

}  // namespace strata::random
