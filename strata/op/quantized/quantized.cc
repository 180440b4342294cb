#include "strata/op/quantized/quantized.h"

#include <cmath>

#include "strata/ir/constraint.h"
#include "strata/ir/verify.h"
#include "strata/op/build.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

template <class F>
Literal per_slice(DType dtype, const Quantization& q, F&& value) {
  auto count = static_cast<std::int64_t>(q.scales.size());
  Literal out(q.axis < 0 ? Type::scalar(dtype) : Type(dtype, {count}));
  for (std::int64_t i = 0; i < count; ++i) value(out, i);
  return out;
}

/// A parameter beside each element.
Value* spread(Builder& b, const Literal& parameter, const Type& type) {
  Ints dims;
  if (type.quantization()->axis >= 0) dims.push_back(type.quantization()->axis);
  return broadcast_in_dim(b, constant(b, parameter), type.shape(), dims);
}
Value* scales(Builder& b, const Type& type) {
  const Quantization& q = *type.quantization();
  return spread(b,
                per_slice(q.expressed, q,
                          [&](Literal& out, std::int64_t i) {
                            out.set_number(i, q.scales[static_cast<std::size_t>(i)]);
                          }),
                type);
}
Value* zero_points(Builder& b, const Type& type, DType dtype) {
  const Quantization& q = *type.quantization();
  return spread(b,
                per_slice(dtype, q,
                          [&](Literal& out, std::int64_t i) {
                            std::int64_t z = q.zero_points[static_cast<std::size_t>(i)];
                            if (is_float(dtype))
                              out.set_number(i, static_cast<double>(z));
                            else
                              out.set_integer(i, z);
                          }),
                type);
}

bool has_zero_points(const Quantization& q) {
  for (std::int64_t z : q.zero_points)
    if (z != 0) return true;
  return false;
}

}  // namespace

bool is_quantized(const Op& op) {
  for (const Value* v : op.operands)
    if (v->type().is_quantized()) return true;
  for (const Value* v : op.results())
    if (v->type().is_quantized()) return true;
  return false;
}

bool takes_stored(const Op& op) {
  const Traits& traits = def(op).traits;
  return traits.takes_quantized || traits.moves_only || !op.regions.empty();
}

Value* dequantize(Builder& b, Value* stored, const Type& type) {
  const Quantization& q = *type.quantization();
  if (!type.shape().is_static())
    throw Error("dequantize", "{} has a dynamic shape", type.to_string()).unsupported();
  // The difference of two stored integers needs a bit more than they have.
  Value* q_less_z = convert(b, stored, bit_width(type.dtype()) < 32 ? DType::i32 : DType::i64);
  if (has_zero_points(q)) q_less_z = sub(b, q_less_z, zero_points(b, type, q_less_z->dtype()));
  return mul(b, convert(b, q_less_z, q.expressed), scales(b, type));
}

Value* quantize(Builder& b, Value* number, const Type& type, DType stored) {
  const Quantization& q = *type.quantization();
  if (!type.shape().is_static())
    throw Error("quantize", "{} has a dynamic shape", type.to_string()).unsupported();
  Value* scaled = div(b, number, scales(b, type));
  if (has_zero_points(q)) scaled = add(b, scaled, zero_points(b, type, q.expressed));
  Value* low = scalar(b, q.expressed, static_cast<double>(q.storage_min));
  Value* high = scalar(b, q.expressed, static_cast<double>(q.storage_max));
  return convert(b, round_nearest_even(b, clamp(b, low, scaled, high)), stored);
}

namespace quantized {
namespace {

std::string self(const Op& op) { return std::string(short_name(op.name())); }
std::string_view inferred_by(const Op& op) { return ir::inferred_by(op.info()); }
/// The constraint that an operand or a result breaks that does not go with those before it.
std::string_view broken_by(const Op& op, const Value* v) {
  return v->op() == &op ? inferred_by(op) : ir::agreement_of(op.info());
}

bool is_number(const Type& type) {
  return type.is_quantized() || (type.is_tensor() && is_float(type.dtype()));
}

/// Operands, then results.
std::vector<const Value*> all_values(const Op& op) {
  std::vector<const Value*> out(op.operands.begin(), op.operands.end());
  for (const Value* v : op.results()) out.push_back(v);
  return out;
}

bool per_axis(const Type& t) { return t.is_quantized() && t.quantization()->axis >= 0; }

void expect_types(const Op& op) {
  for (const Value* v : all_values(op))
    if (v->type().is_quantized()) expect_type(self(op), v->type());
}
/// Most operations take tensors that are quantised as a whole. Of a `list` of operands all are the
/// specification's input 1.
void expect_per_tensor(const Op& op, bool list) {
  expect_types(op);
  auto expect = [&](const Value* v, std::string_view constraint) {
    if (per_axis(v->type()))
      throw Error(self(op), "{} is quantised along an axis, which is not admitted ({})",
                  v->type().to_string(), constraint);
  };
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    expect(op.operands[i], fmt::format("I{}", list ? 1 : i + 1));
  for (const Value* v : op.results()) expect(v, inferred_by(op));
}

/// What the operation demands of plain types, asked of it on other types than its own.
void check_as(const Op& op, Type (*stand_in)(const Type&)) {
  Block block;
  Values operands;
  std::vector<Type> results;
  for (const Value* v : op.operands) operands.push_back(block.add_argument(stand_in(v->type())));
  for (const Value* v : op.results()) results.push_back(stand_in(v->type()));
  Builder b(block);
  if (op.info().verify) {
    b.create(op.info(), std::move(operands), op.attrs, {}, std::move(results));
    return;
  }
  if (!op.info().infer) return;
  std::vector<Type> inferred = op.info().infer(operands, op.attrs, op.regions);
  if (inferred.size() != results.size())
    throw Error(self(op), "has {} results, but {} are inferred", results.size(), inferred.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!ir::may_be_same(results[i], inferred[i]))
      throw Error(self(op), "result {} is {}, which does not go with the inferred {} ({})", i,
                  op.result(static_cast<int>(i))->type().to_string(), inferred[i].to_string(),
                  inferred_by(op));
}
Type expressed(const Type& type) { return type.expressed(); }
Type stored(const Type& type) { return type.is_tensor() ? type.storage() : type; }

[[noreturn]] void differ(const Op& op, std::string_view constraint, const Type& a, const Type& b) {
  throw Error(self(op), "{} and {} do not go together ({})", a.to_string(), b.to_string(),
              constraint);
}

bool same_storage(const Type& a, const Type& b) { return a.dtype() == b.dtype(); }
bool same_expressed(const Type& a, const Type& b) {
  return a.quantization()->expressed == b.quantization()->expressed;
}
/// Equal parameters, wherever the axis is.
bool same_parameters(const Type& a, const Type& b) {
  Quantization x = *a.quantization(), y = *b.quantization();
  x.axis = y.axis = std::min(std::max(x.axis, y.axis), 0);
  return a.dtype() == b.dtype() && x == y && per_axis(a) == per_axis(b);
}

/// Operand 0 and the result, which a mover of one array has; both quantised, with equal parameters.
std::pair<const Type*, const Type*> one_moved(const Op& op) {
  expect_types(op);
  check_as(op, stored);
  const Type &from = op.operand(0)->type(), &to = op.result()->type();
  if (!from.is_quantized() || !to.is_quantized()) differ(op, "C1", from, to);
  return {&from, &to};
}

std::int64_t make_dot(const Shape& shape, int from, int to) {
  std::int64_t n = 1;
  for (int d = from; d < to; ++d) n *= shape[d];
  return n;
}

}  // namespace

void expect_type(std::string_view op, const Type& type) {
  const Quantization& q = *type.quantization();
  auto broken = [&](const std::string& why) {
    throw Error(std::string(op), "{}: {}", type.to_string(), why);
  };
  if (!is_integer(type.dtype())) broken("the storage type must be an integer");
  auto [low, high] = storage_bounds(type.dtype());
  if (q.storage_min < low || q.storage_max > high ||
      q.storage_min >= q.storage_max)  // quantized_c1, quantized_c2, quantized_c3
    broken(fmt::format("bounds {} and {} are not in order within {}", q.storage_min, q.storage_max,
                       name(type.dtype())));
  if (!is_float(q.expressed)) broken("the expressed type must be a float");  // quantized_c4
  if (q.scales.size() != q.zero_points.size() || q.scales.empty())           // quantized_c9
    broken(fmt::format("{} scales and {} zero points", q.scales.size(), q.zero_points.size()));
  for (double s : q.scales)
    if (!std::isfinite(s) || s <= 0)
      broken(fmt::format("scale {} is not positive and finite", s));  // quantized_c5, quantized_c6
  for (std::int64_t z : q.zero_points)
    if (z < q.storage_min || z > q.storage_max)
      broken(fmt::format("zero point {} is outside of the bounds {} and {}", z, q.storage_min,
                         q.storage_max));  // quantized_c7
  if (q.axis < 0) {
    if (q.scales.size() != 1)
      broken(fmt::format("{} scales without an axis", q.scales.size()));  // quantized_c10
    return;
  }
  if (q.axis >= type.rank())
    broken(fmt::format("axis {} is no dimension", q.axis));  // quantized_c11, quantized_c12
  if (!may_equal(type.shape().dim(q.axis),
                 Dim(static_cast<std::int64_t>(q.scales.size()))))  // quantized_c13
    broken(fmt::format("{} scales along axis {}", q.scales.size(), q.axis));
}

bool same_baseline(const Type& a, const Type& b) {
  const Quantization &x = *a.quantization(), &y = *b.quantization();
  return same_storage(a, b) && x.storage_min == y.storage_min && x.storage_max == y.storage_max &&
         x.expressed == y.expressed && x.axis == y.axis;
}

void baseline(const Op& op) {
  expect_per_tensor(op, false);
  check_as(op, expressed);
  const Type* first = nullptr;
  for (const Value* v : all_values(op)) {
    if (!is_number(v->type())) continue;
    if (!v->type().is_quantized() || (first != nullptr && !same_baseline(*first, v->type())))
      differ(op, broken_by(op, v), first ? *first : op.operand(0)->type(), v->type());
    first = &v->type();
  }
}

void sum(const Op& op) {
  expect_types(op);
  if (op.operands.size() != 2 || op.num_results() != 1) return check_as(op, expressed);
  const Type& result = op.result()->type();
  bool axis = false;
  for (const Value* v : op.operands) {
    const Type& type = v->type();
    if (!type.is_quantized() || !result.is_quantized()) differ(op, "C2", type, result);
    if (!same_storage(type, result)) differ(op, "C3", type, result);
    if (!same_expressed(type, result)) differ(op, "C4", type, result);
    if (per_axis(type) && per_axis(result) &&
        type.quantization()->axis != result.quantization()->axis)
      differ(op, v == op.operand(0) ? "C6" : "C7", type, result);
    axis = axis || per_axis(type);
  }
  if (axis != per_axis(result)) differ(op, "C5", op.operand(0)->type(), result);
  check_as(op, expressed);
}

void moved(const Op& op) {
  expect_per_tensor(op, false);
  check_as(op, stored);
  const Type* first = nullptr;
  for (const Value* v : all_values(op)) {
    if (!v->type().is_quantized()) continue;
    if (first != nullptr && !same_parameters(*first, v->type()))
      differ(op, broken_by(op, v), *first, v->type());
    first = &v->type();
  }
  for (const Value* v : op.results())
    if (!v->type().is_quantized() && is_integer(v->dtype()) && first != nullptr)
      differ(op, inferred_by(op), *first, v->type());
}

void transposed(const Op& op) {
  auto [from, to] = one_moved(op);
  if (!same_parameters(*from, *to)) differ(op, "C1", *from, *to);
  if (per_axis(*to) &&
      op.attr<Ints>("permutation")[static_cast<std::size_t>(to->quantization()->axis)] !=
          from->quantization()->axis)
    differ(op, "C4", *from, *to);
}

void broadcast(const Op& op) {
  auto [from, to] = one_moved(op);
  if (!per_axis(*from)) {
    if (!same_parameters(*from, *to)) differ(op, "C1", *from, *to);
    return;
  }
  const Quantization &x = *from->quantization(), &y = *to->quantization();
  bool same = same_storage(*from, *to) && same_expressed(*from, *to) &&
              x.storage_min == y.storage_min && x.storage_max == y.storage_max;
  if (!same || y.axis < 0) differ(op, "C1", *from, *to);
  bool fits = op.attr<Ints>("broadcast_dimensions")[static_cast<std::size_t>(x.axis)] == y.axis;
  for (std::size_t i = 0; fits && i < y.scales.size(); ++i) {
    std::size_t j = x.scales.size() == 1 ? 0 : i;
    fits =
        j < x.scales.size() && x.scales[j] == y.scales[i] && x.zero_points[j] == y.zero_points[i];
  }
  if (!fits) differ(op, "C6", *from, *to);
}

void reshaped(const Op& op) {
  auto [from, to] = one_moved(op);
  if (!same_parameters(*from, *to)) differ(op, "C1", *from, *to);
  if (!per_axis(*from) || !from->shape().is_static() || !to->shape().is_static()) return;
  int a = from->quantization()->axis, b = to->quantization()->axis;
  if (make_dot(from->shape(), 0, a) != make_dot(to->shape(), 0, b) ||
      from->shape()[a] != to->shape()[b] ||
      make_dot(from->shape(), a + 1, from->rank()) != make_dot(to->shape(), b + 1, to->rank()))
    differ(op, "C3", *from, *to);
}

void reinterpreted(const Op& op) {
  expect_types(op);
  check_as(op, stored);
}

void as_stated(const Op& op) {
  expect_types(op);
  if (op.info().verify) return op.info().verify(op);
  if (!op.info().infer) return;
  std::vector<Type> inferred = op.info().infer(op.operands, op.attrs, op.regions);
  if (inferred.size() != static_cast<std::size_t>(op.num_results()))
    throw Error(self(op), "has {} results, but {} are inferred", op.num_results(), inferred.size());
  for (std::size_t i = 0; i < inferred.size(); ++i)
    if (const Type& stated = op.result(static_cast<int>(i))->type();
        !ir::may_be_same(stated, inferred[i]))
      differ(op, inferred_by(op), inferred[i], stated);
}

void per_tensor(const Op& op) {
  expect_per_tensor(op, true);
  as_stated(op);
}

namespace {

/// Numbers are dot_general's, (C14) and (C17) to (C20), or those higher by `shift`.
void check_product(const Op& op, int shift) {
  expect_types(op);
  auto unless = [&](bool holds, int number, const Type& a, const Type& b) {
    if (!holds) differ(op, fmt::format("C{}", number + shift), a, b);
  };
  if (op.operands.size() < 2 || op.num_results() != 1 || !op.operand(0)->type().is_tensor())
    return check_as(op, expressed);
  const Type &lhs = op.operand(0)->type(), &rhs = op.operand(1)->type(),
             &result = op.result()->type();
  unless(rhs.is_quantized() && lhs.is_quantized() == result.is_quantized(), 14,
         lhs.is_quantized() ? rhs : lhs, result);
  if (!lhs.is_quantized()) {
    DType number = rhs.quantization()->expressed;
    unless(lhs.dtype() == number && result.dtype() == number, 20, lhs, rhs);
    return check_as(op, expressed);
  }
  unless(same_storage(lhs, rhs), 17, lhs, rhs);
  unless(same_expressed(lhs, rhs) && same_expressed(lhs, result), 18, rhs, result);
  unless(per_axis(rhs) || !per_axis(result), 19, rhs, result);
  check_as(op, expressed);
}

}  // namespace

void product(const Op& op) { check_product(op, 0); }

void convolution(const Op& op) {
  check_product(op, 14);
  const Type &rhs = op.operand(1)->type(), &result = op.result()->type();
  auto off = [&](const Type& type, const char* dimension) {
    return per_axis(type) && type.quantization()->axis != op.attr<std::int64_t>(dimension);
  };
  if (off(rhs, "kernel_output_feature_dimension"))
    throw Error(self(op), "rhs {} is not quantised along its output features (C29)",
                rhs.to_string());
  if (off(result, "output_feature_dimension"))
    throw Error(self(op), "result {} is not quantised along its features (C30)",
                result.to_string());
}

}  // namespace quantized
}  // namespace strata::op
