#include "strata/api/numpy/integers.h"

#include "strata/api/lax/operations.h"
#include "strata/api/lax_elementwise.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"
#include "strata/api/transform/control.h"

namespace strata::numpy {
namespace {

using internal::Binary;
using internal::Builder;
using internal::describe;
using internal::fail;
using internal::Site;
using internal::Value;

void require_integers(const char* name, const Array& x) {
  if (is_inexact(x.dtype()))
    fail(name, "operands are integers or booleans, got {}", describe(x.type()));
}

Array bitwise(const char* name, const Operand& x, const Operand& y, Binary f) {
  Site site(x);
  require_integers(name, x);
  require_integers(name, y);
  return internal::binary(name, x, y, f);
}

std::vector<Array> magnitudes(const char* name, const Array& x, const Array& y) {
  std::vector<Array> both = internal::broadcast_promoted(name, {x, y});
  if (!is_integer(both[0].dtype()))
    fail(name, "operands are integers, got {} and {}", describe(x.type()), describe(y.type()));
  return {abs(both[0]), abs(both[1])};
}

}  // namespace

Array invert(const Operand& x) {
  Site site(x);
  require_integers("invert", x);
  return internal::unary(x, op::not_);
}
Array bitwise_and(const Operand& x, const Operand& y) {
  return bitwise("bitwise_and", x, y, op::and_);
}
Array bitwise_or(const Operand& x, const Operand& y) {
  return bitwise("bitwise_or", x, y, op::or_);
}
Array bitwise_xor(const Operand& x, const Operand& y) {
  return bitwise("bitwise_xor", x, y, op::xor_);
}
Array left_shift(const Operand& x, const Operand& y) {
  return bitwise("left_shift", x, y, op::shift_left);
}
Array right_shift(const Operand& x, const Operand& y) {
  return bitwise("right_shift", x, y, [](Builder& b, Value* v, Value* n) {
    return is_unsigned(v->dtype()) ? op::shift_right_logical(b, v, n)
                                   : op::shift_right_arithmetic(b, v, n);
  });
}

Array bitwise_count(const Operand& x) {
  Site site(x);
  require_integers("bitwise_count", x);
  if (is_bool(x->dtype())) return x->astype(uint8);
  return internal::unary(abs(x), op::popcnt).astype(uint8);
}

/// Euclid's algorithm on all elements at once, until no remainder is left.
Array gcd(const Operand& left, const Operand& right) {
  Site site(left);
  const std::vector<Array> both = magnitudes("gcd", left, right);
  using Pair = std::pair<Array, Array>;
  auto unfinished = [](const Pair& p) { return any(p.second != 0); };
  auto step = [](const Pair& p) {
    const auto& [x, y] = p;
    const Array done = y == 0;
    return Pair{where(done, x, y),
                where(done, zeros_like(y), lax::rem(x, where(done, ones_like(y), y)))};
  };
  return while_loop(unfinished, step, Pair{both[0], both[1]}).first;
}
Array lcm(const Operand& left, const Operand& right) {
  Site site(left);
  const std::vector<Array> both = magnitudes("lcm", left, right);
  const Array divisor = gcd(both[0], both[1]);
  return where(divisor == 0, zeros_like(divisor),
               both[0] * floor_divide(both[1], where(divisor == 0, ones_like(divisor), divisor)));
}

namespace {

/// 7, 6, ..., 0, or the other way round: how far bit i of eight is shifted.
Array shifts(const char* name, const std::string& order) {
  if (order != "big" && order != "little")
    fail(name, "bitorder is \"big\" or \"little\", got \"{}\"", order);
  const Array up = lax::iota(DType::ui8, 8);
  return order == "big" ? flip(up) : up;
}
/// x with the axis last (flattened without one), and where it stood.
std::pair<Array, int> axis_last(const char* name, const Array& x,
                                const std::optional<std::int64_t>& axis) {
  if (!axis) return {ravel(x), 0};
  const int dim = internal::axis_of(name, *axis, x.ndim());
  return {swapaxes(x, dim, -1), dim};
}
/// The last axis cut off at a size, or filled up with zeros.
Array with_length(const Array& x, std::int64_t size) {
  std::vector<lax::Padding> config(static_cast<std::size_t>(x.ndim()));
  config.back().high = size - x.shape(-1);
  return lax::pad(x, Array::scalar(std::int64_t{0}, x.dtype(), false), config);
}
/// The sizes but the last, then more.
std::vector<std::int64_t> sizes_with(const Array& x, std::initializer_list<std::int64_t> more) {
  std::vector<std::int64_t> out = internal::sizes(x);
  out.pop_back();
  out.insert(out.end(), more);
  return out;
}

}  // namespace

Array packbits(const Operand& operand, const Bits& options) {
  Site site(operand);
  require_integers("packbits", operand);
  const Array by = shifts("packbits", options.bitorder);
  const auto [rows, dim] = axis_last("packbits", operand, options.axis);
  const std::int64_t bytes = (rows.shape(-1) + 7) / 8;
  const Array bits = with_length(not_equal(rows, 0).astype(uint8), 8 * bytes)
                         .reshape(sizes_with(rows, {bytes, 8}));
  return swapaxes(sum(left_shift(bits, by), {.axis = -1, .dtype = DType::ui8}), dim, -1);
}

Array unpackbits(const Operand& operand, const Bits& options) {
  Site site(operand);
  if (operand->dtype() != DType::ui8)
    fail("unpackbits", "the elements are ui8, got {}", describe(operand->type()));
  const Array by = shifts("unpackbits", options.bitorder);
  const auto [rows, dim] = axis_last("unpackbits", operand, options.axis);
  Array bits = bitwise_and(right_shift(expand_dims(rows, -1), by),
                           Array::scalar(std::int64_t{1}, DType::ui8, false))
                   .reshape(sizes_with(rows, {8 * rows.shape(-1)}));
  if (options.count && *options.count < 0)
    fail("unpackbits", "count is at least 0, got {}", *options.count);
  if (options.count) bits = with_length(bits, *options.count);
  return swapaxes(bits, dim, -1);
}

}  // namespace strata::numpy
