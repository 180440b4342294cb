#include "strata/op/build.h"

#include <algorithm>
#include <numeric>

#include "strata/base/error.h"

namespace strata::op {
namespace {

Value* make(Builder& b, std::string_view name, Values operands, Attrs attrs = {}) {
  return b.create(def(name).info, std::move(operands), std::move(attrs)).result();
}
Value* make(Builder& b, std::string_view name, Values operands, Attrs attrs, Type result) {
  return b.create(def(name).info, std::move(operands), std::move(attrs), {}, {std::move(result)})
      .result();
}
Ints zero_list(int n) { return Ints(static_cast<std::size_t>(n), 0); }
Ints one_list(int n) { return Ints(static_cast<std::size_t>(n), 1); }
Ints counting(int n, std::int64_t first = 0) {
  Ints out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), first);
  return out;
}

}  // namespace

// ---- constants ---------------------------------------------------------------------------------

Value* constant(Builder& b, const Literal& value) {
  return make(b, "stablehlo.constant", {}, {{"value", value}});
}

Value* constant(Builder& b, const Type& type, double value) {
  Value* s = constant(b, Literal::full(Type::scalar(type.dtype()), value));
  return type.rank() == 0 ? s : broadcast_in_dim(b, s, type.shape(), {});
}
Value* scalar(Builder& b, DType dtype, double value) {
  return constant(b, Type::scalar(dtype), value);
}
Value* full_like(Builder& b, Value* like, double value) { return constant(b, like->type(), value); }
Value* zeros(Builder& b, const Type& type) { return constant(b, type, 0); }
Value* zeros_like(Builder& b, Value* like) { return zeros(b, like->type()); }

Value* iota(Builder& b, const Type& type, int dim) {
  return make(b, "stablehlo.iota", {}, {{"iota_dimension", std::int64_t{dim}}}, type);
}

// ---- elementwise -------------------------------------------------------------------------------

#define STRATA_UNARY(function, name) \
  Value* function(Builder& b, Value* x) { return make(b, name, {x}); }
STRATA_UNARY(abs, "stablehlo.abs")
STRATA_UNARY(cbrt, "stablehlo.cbrt")
STRATA_UNARY(ceil, "stablehlo.ceil")
STRATA_UNARY(cos, "stablehlo.cosine")
STRATA_UNARY(erf, "chlo.erf")
STRATA_UNARY(exp, "stablehlo.exponential")
STRATA_UNARY(expm1, "stablehlo.exponential_minus_one")
STRATA_UNARY(floor, "stablehlo.floor")
STRATA_UNARY(is_finite, "stablehlo.is_finite")
STRATA_UNARY(log, "stablehlo.log")
STRATA_UNARY(log1p, "stablehlo.log_plus_one")
STRATA_UNARY(logistic, "stablehlo.logistic")
STRATA_UNARY(neg, "stablehlo.negate")
STRATA_UNARY(not_, "stablehlo.not")
STRATA_UNARY(popcnt, "stablehlo.popcnt")
STRATA_UNARY(round_nearest_afz, "stablehlo.round_nearest_afz")
STRATA_UNARY(round_nearest_even, "stablehlo.round_nearest_even")
STRATA_UNARY(rsqrt, "stablehlo.rsqrt")
STRATA_UNARY(sign, "stablehlo.sign")
STRATA_UNARY(sin, "stablehlo.sine")
STRATA_UNARY(sqrt, "stablehlo.sqrt")
STRATA_UNARY(square, "chlo.square")
STRATA_UNARY(tan, "stablehlo.tan")
STRATA_UNARY(tanh, "stablehlo.tanh")
#undef STRATA_UNARY

#define STRATA_BINARY(function, name) \
  Value* function(Builder& b, Value* x, Value* y) { return make(b, name, {x, y}); }
STRATA_BINARY(add, "stablehlo.add")
STRATA_BINARY(and_, "stablehlo.and")
STRATA_BINARY(atan2, "stablehlo.atan2")
STRATA_BINARY(div, "stablehlo.divide")
STRATA_BINARY(max, "stablehlo.maximum")
STRATA_BINARY(min, "stablehlo.minimum")
STRATA_BINARY(mul, "stablehlo.multiply")
STRATA_BINARY(or_, "stablehlo.or")
STRATA_BINARY(pow, "stablehlo.power")
STRATA_BINARY(rem, "stablehlo.remainder")
STRATA_BINARY(shift_left, "stablehlo.shift_left")
STRATA_BINARY(shift_right_arithmetic, "stablehlo.shift_right_arithmetic")
STRATA_BINARY(shift_right_logical, "stablehlo.shift_right_logical")
STRATA_BINARY(sub, "stablehlo.subtract")
STRATA_BINARY(xor_, "stablehlo.xor")
#undef STRATA_BINARY

Value* add_or_null(Builder& b, Value* x, Value* y) {
  if (!x) return y;
  return y ? add(b, x, y) : x;
}

Value* compare(Builder& b, Value* x, Value* y, const std::string& direction) {
  const char* type = is_float(x->dtype()) || is_complex(x->dtype()) ? "FLOAT"
                     : is_signed(x->dtype())                        ? "SIGNED"
                                                                    : "UNSIGNED";
  return make(b, "stablehlo.compare", {x, y},
              {{"comparison_direction", direction}, {"compare_type", std::string(type)}});
}
Value* select(Builder& b, Value* pred, Value* x, Value* y) {
  return make(b, "stablehlo.select", {pred, x, y});
}
Value* clamp(Builder& b, Value* low, Value* x, Value* high) {
  return make(b, "stablehlo.clamp", {low, x, high});
}

Value* convert(Builder& b, Value* x, DType dtype) {
  if (x->dtype() == dtype) return x;
  return make(b, "stablehlo.convert", {x}, {}, x->type().with(dtype));
}

Value* bitcast_convert(Builder& b, Value* x, DType dtype) {
  std::vector<Dim> dims = x->shape().dims();
  int from = bit_width(x->dtype()), to = bit_width(dtype);
  if (from > to) dims.push_back(Dim(from / to));
  if (from < to && !dims.empty()) dims.pop_back();
  return make(b, "stablehlo.bitcast_convert", {x}, {}, Type(dtype, Shape(std::move(dims))));
}

// ---- shape -------------------------------------------------------------------------------------

Value* broadcast_in_dim(Builder& b, Value* x, const Shape& shape, const Ints& dims) {
  return make(b, "stablehlo.broadcast_in_dim", {x}, {{"broadcast_dimensions", dims}},
              x->type().with(shape));
}
Value* broadcast_to(Builder& b, Value* x, const Shape& shape) {
  if (x->shape() == shape) return x;
  if (x->rank() > shape.rank())
    throw Error("broadcast_to", "cannot broadcast {} to shape {}", x->type().to_string(),
                shape.to_string());
  return broadcast_in_dim(b, x, shape, counting(x->rank(), shape.rank() - x->rank()));
}
Value* broadcast_leading(Builder& b, Value* x, std::int64_t size) {
  std::vector<Dim> dims = x->shape().dims();
  dims.insert(dims.begin(), Dim(size));
  return broadcast_in_dim(b, x, Shape(std::move(dims)), counting(x->rank(), 1));
}

Value* reshape(Builder& b, Value* x, const Shape& shape) {
  if (x->shape() == shape) return x;
  return make(b, "stablehlo.reshape", {x}, {}, x->type().with(shape));
}

Value* transpose(Builder& b, Value* x, const Ints& permutation) {
  if (permutation == counting(x->rank())) return x;
  return make(b, "stablehlo.transpose", {x}, {{"permutation", permutation}});
}
Value* move_dim(Builder& b, Value* x, int from, int to) {
  Ints permutation = counting(x->rank());
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  return transpose(b, x, permutation);
}

Value* slice(Builder& b, Value* x, const Ints& start, const Ints& limit, const Ints& strides) {
  return make(b, "stablehlo.slice", {x},
              {{"start_indices", start},
               {"limit_indices", limit},
               {"strides", strides.empty() ? one_list(x->rank()) : strides}});
}
Value* slice_dim(Builder& b, Value* x, int dim, std::int64_t start, std::int64_t limit) {
  Ints starts = zero_list(x->rank()), limits = x->shape().sizes();
  starts.at(static_cast<std::size_t>(dim)) = start;
  limits.at(static_cast<std::size_t>(dim)) = limit;
  return slice(b, x, starts, limits);
}

Value* pad(Builder& b, Value* x, Value* value, const Ints& low, const Ints& high,
           const Ints& interior) {
  return make(b, "stablehlo.pad", {x, value},
              {{"edge_padding_low", low},
               {"edge_padding_high", high},
               {"interior_padding", interior.empty() ? zero_list(x->rank()) : interior}});
}
Value* concatenate(Builder& b, const Values& xs, int dim) {
  return make(b, "stablehlo.concatenate", xs, {{"dimension", std::int64_t{dim}}});
}
Value* reverse(Builder& b, Value* x, const Ints& dims) {
  return make(b, "stablehlo.reverse", {x}, {{"dimensions", dims}});
}
Values optimization_barrier(Builder& b, const Values& xs) {
  return b.create(def("stablehlo.optimization_barrier").info, xs).results();
}

// ---- sums --------------------------------------------------------------------------------------

Value* reduce_sum(Builder& b, Value* x, const Ints& dims) {
  return dims.empty() ? x : reduce(b, x, dims, Combiner::add);
}
Value* reduce_max(Builder& b, Value* x, const Ints& dims) {
  return dims.empty() ? x : reduce(b, x, dims, Combiner::max);
}

Value* sum_to(Builder& b, Value* x, const Shape& shape) {
  int extra = x->rank() - shape.rank();
  STRATA_CHECK(extra >= 0, "sum_to {} from {}", shape.to_string(), x->type().to_string());
  Ints dims = counting(extra);
  for (int d = 0; d < shape.rank(); ++d)
    if (!(shape.dim(d) == x->shape().dim(d + extra))) dims.push_back(d + extra);
  return reshape(b, reduce_sum(b, x, dims), shape);
}

// ---- for rules ---------------------------------------------------------------------------------

Op& again(Builder& b, const Op& op, std::span<Value* const> operands) {
  STRATA_CHECK(op.regions.empty(), "{} has regions", op.name());
  std::vector<Type> types;
  for (Value* r : op.results()) types.push_back(r->type());
  return b.create(op.info(), Values(operands.begin(), operands.end()), op.attrs, {},
                  std::move(types));
}

}  // namespace strata::op
