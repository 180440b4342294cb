#include "strata/api/numpy/integers.h"

#include "strata/api/compose.h"
#include "strata/api/control.h"

namespace strata::numpy {
namespace {

using internal::Binary;
using internal::Builder;
using internal::describe;
using internal::fail;
using internal::Site;
using internal::Value;

void require_integers(const char* name, const Array& x) {
  if (is_inexact(x.dtype())) fail(name, "operands are integers or booleans, got {}", describe(x.type()));
}

Array bitwise(const char* name, const Operand& x, const Operand& y, Binary f) {
  Site site(x);
  require_integers(name, x);
  require_integers(name, y);
  return internal::binary(name, x, y, f);
}

std::vector<Array> magnitudes(const char* name, const Array& x, const Array& y) {
  std::vector<Array> both = internal::broadcast_promoted(name, {x, y});
  if (!is_integer(both[0].dtype())) fail(name, "operands are integers, got {} and {}", describe(x.type()), describe(y.type()));
  return {abs(both[0]), abs(both[1])};
}

}  // namespace

Array invert(const Operand& x) {
  Site site(x);
  require_integers("invert", x);
  return internal::unary(x, op::not_);
}
Array bitwise_and(const Operand& x, const Operand& y) { return bitwise("bitwise_and", x, y, op::and_); }
Array bitwise_or(const Operand& x, const Operand& y) { return bitwise("bitwise_or", x, y, op::or_); }
Array bitwise_xor(const Operand& x, const Operand& y) { return bitwise("bitwise_xor", x, y, op::xor_); }
Array left_shift(const Operand& x, const Operand& y) { return bitwise("left_shift", x, y, op::shift_left); }
Array right_shift(const Operand& x, const Operand& y) {
  return bitwise("right_shift", x, y, [](Builder& b, Value* v, Value* n) {
    return is_unsigned(v->dtype()) ? op::shift_right_logical(b, v, n) : op::shift_right_arithmetic(b, v, n);
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
    return Pair{where(done, x, y), where(done, zeros_like(y), lax::rem(x, where(done, ones_like(y), y)))};
  };
  return while_loop(unfinished, step, Pair{both[0], both[1]}).first;
}
Array lcm(const Operand& left, const Operand& right) {
  Site site(left);
  const std::vector<Array> both = magnitudes("lcm", left, right);
  const Array divisor = gcd(both[0], both[1]);
  return where(divisor == 0, zeros_like(divisor), both[0] * floor_divide(both[1], where(divisor == 0, ones_like(divisor), divisor)));
}

}  // namespace strata::numpy
