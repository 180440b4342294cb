// Builder: indices as values, quotients and remainders, comparisons decided by ranges.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "strata/loop/loop.h"
#include "strata/loop/semantics.h"

namespace strata::loop {
namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && a % b < 0); }
std::int64_t gcd(std::int64_t a, std::int64_t b) { return std::gcd(a, b); }

/// index = divisor * quotient + rest, where the quotient takes the terms that the divisor divides.
/// The others stay as they are, so that quotients by different divisors are of the same rest, and
/// rejoin.
struct Split {
  Index quotient, rest;
};
Split split(const Index& index, std::int64_t divisor) {
  Split parts{0, index.constant()};
  for (const Index::Term& term : index.terms()) {
    bool whole = term.coefficient % divisor == 0;
    Index& part = whole ? parts.quotient : parts.rest;
    part =
        part + Index::of(term.variable) * (whole ? term.coefficient / divisor : term.coefficient);
  }
  return parts;
}

/// floor(index / unit) where the terms that `unit` does not divide never carry into it: index =
/// unit * high + low with low in [0, unit).
struct Carry {
  std::int64_t unit = 0;
  Index high, low;
};

std::optional<Carry> without_carry(const Index& index, std::int64_t unit) {
  Index high, low(index.constant());
  for (const Index::Term& term : index.terms()) {
    Index variable = Index::of(term.variable);
    if (term.coefficient % unit == 0)
      high = high + variable * (term.coefficient / unit);
    else
      low = low + variable * term.coefficient;
  }
  std::int64_t least = low.min(), most = low.max();
  if (least == INT64_MIN || most == INT64_MAX) return std::nullopt;
  std::int64_t carry = floor_div(least, unit);
  if (carry != floor_div(most, unit)) return std::nullopt;
  return Carry{unit, high + carry, low - carry * unit};
}

/// The largest unit above 1 that splits `index` without carry and divides `multiple` (0: any).
std::optional<Carry> best_unit(const Index& index, std::int64_t multiple) {
  std::vector<std::int64_t> sizes;
  for (const Index::Term& term : index.terms())
    if (term.coefficient != INT64_MIN) sizes.push_back(std::abs(term.coefficient));
  std::sort(sizes.rbegin(), sizes.rend());
  std::int64_t unit = multiple;
  for (std::int64_t size : sizes) {
    unit = gcd(unit, size);
    if (unit == 1) return std::nullopt;
    if (auto carry = without_carry(index, unit)) return carry;
  }
  return std::nullopt;
}

/// Whether every value of the index is known to be one of the type, and so small that sums of two
/// cannot wrap.
bool fits(const Index& index, DType dtype) {
  constexpr std::int64_t kSmall = std::int64_t{1} << 61;
  std::int64_t low = index.min(), high = index.max();
  if (low < -kSmall || high > kSmall) return false;
  if (is_unsigned(dtype) && low < 0) return false;
  auto kept = [&](std::int64_t n) {
    return semantics::as_int(dtype, semantics::trim(dtype, static_cast<std::uint64_t>(n))) == n;
  };
  return kept(low) && kept(high);
}

}  // namespace

Inst* Builder::value(const Index& index) {
  if (index.is_constant()) return constant_int(DType::i64, index.constant());
  const Index::Term& first = index.terms()[0];
  if (index.terms().size() == 1 && first.coefficient == 1 && index.constant() == 0 &&
      !first.variable->is_variable)
    return first.variable;
  Inst inst(Opcode::index, {DType::i64, index.lanes()});
  inst.index = index;
  inst.low = index.min();
  inst.high = index.max();
  return shared(std::move(inst));
}

/// The index, if none of its values is lost in `dtype`: then the arithmetic that made it did not
/// wrap.
std::optional<Index> Builder::as_index(Inst* value, int depth) const {
  DType dtype = value->type.dtype;
  if (!is_integer(dtype) || depth == 0) return std::nullopt;
  auto arg = [&](std::size_t i) { return as_index(value->args[i], depth - 1); };
  std::optional<Index> found;
  if (value->code == Opcode::constant) found = Index(semantics::as_int(dtype, value->bits));
  if (value->code == Opcode::index) found = value->is_variable ? Index::of(value) : value->index;
  if (value->code == Opcode::convert) found = arg(0);
  if (value->code == Opcode::add || value->code == Opcode::sub || value->code == Opcode::mul) {
    auto a = arg(0), b = arg(1);
    if (a && b && value->code == Opcode::add) found = *a + *b;
    if (a && b && value->code == Opcode::sub) found = *a - *b;
    if (a && b && value->code == Opcode::mul && a->is_constant()) found = *b * a->constant();
    if (a && b && value->code == Opcode::mul && b->is_constant()) found = *a * b->constant();
  }
  if (found && fits(*found, dtype)) return found;
  bool opaque =
      dtype == DType::i64 && value->code != Opcode::index && value->code != Opcode::constant;
  return opaque && fits(Index::of(value), dtype) ? std::optional(Index::of(value)) : std::nullopt;
}

Index Builder::index_of(Inst* value, std::int64_t low, std::int64_t high) {
  STRATA_CHECK(low <= high, "index in [{}, {}]", low, high);
  STRATA_CHECK(is_integer(value->type.dtype), "index of {}", strata::name(value->type.dtype));
  if (options_.fold) {
    if (auto index = as_index(value); index && index->min() >= low && index->max() <= high)
      return *index;
    if (low == high) return low;
  }
  Inst* variable = convert(DType::i64, value);
  if (variable->code == Opcode::constant) return static_cast<std::int64_t>(variable->bits);
  variable->low = std::max(variable->low, low);
  variable->high = std::max(variable->low, std::min(variable->high, high));
  return Index::of(variable);
}

/// index / divisor or index % divisor as an instruction; the index is not negative.
Inst* Builder::i64_op(Opcode code, const Index& index, std::int64_t divisor) {
  Inst* result = binary(code, value(index), constant_int(DType::i64, divisor));
  std::int64_t least = std::max<std::int64_t>(0, index.min()), most = std::max(least, index.max());
  bool quotient = code == Opcode::div;
  result->low = std::max(result->low, quotient ? least / divisor : 0);
  result->high = std::min(result->high, quotient ? most / divisor : std::min(most, divisor - 1));
  return result;
}

Index Builder::div(const Index& index, std::int64_t divisor) {
  STRATA_CHECK(divisor > 0, "division of an index by {}", divisor);
  if (divisor == 1) return index;
  if (index.is_constant()) return floor_div(index.constant(), divisor);
  if (!options_.fold) return Index::of(i64_op(Opcode::div, index, divisor));
  auto [quotient, rest] = split(index, divisor);
  if (auto whole = without_carry(rest, divisor)) return quotient + whole->high;
  if (rest.min() == INT64_MIN) return Index::of(i64_op(Opcode::div, index, divisor));
  if (auto carry = best_unit(rest, divisor))
    return quotient + div(carry->high, divisor / carry->unit);
  std::int64_t turns =
      rest.min() < 0 ? floor_div(rest.min(), divisor) : 0;  // of no consequence to a multiple of it
  return quotient + turns + Index::of(i64_op(Opcode::div, rest - turns * divisor, divisor));
}

Index Builder::mod(const Index& index, std::int64_t divisor) {
  STRATA_CHECK(divisor > 0, "remainder of an index by {}", divisor);
  if (divisor == 1) return 0;
  if (index.is_constant()) return index.constant() - floor_div(index.constant(), divisor) * divisor;
  if (!options_.fold) return Index::of(i64_op(Opcode::rem, index, divisor));
  Index rest = split(index, divisor).rest;
  if (auto whole = without_carry(rest, divisor)) return whole->low;
  if (rest.min() == INT64_MIN) return Index::of(i64_op(Opcode::rem, index, divisor));
  if (auto carry = best_unit(rest, divisor))
    return mod(carry->high, divisor / carry->unit) * carry->unit + carry->low;
  std::int64_t turns = rest.min() < 0 ? floor_div(rest.min(), divisor) : 0;
  return Index::of(i64_op(Opcode::rem, rest - turns * divisor, divisor));
}

Inst* Builder::not_negative(const Index& index) {
  if (index.min() >= 0 || index.max() < 0) return constant_int(DType::i1, index.min() >= 0);
  if (auto carry = best_unit(index, 0)) return not_negative(carry->high);
  Index moving = index - index.constant();
  std::int64_t bound = -index.constant();
  bool falling =
      moving.terms()[0].coefficient < 0;  // -x >= b reads better, and shares more, as x <= -b
  if (falling) {
    moving = moving * -1;
    bound = -bound;
  }
  auto narrow = [](std::int64_t n) { return n >= INT32_MIN && n <= INT32_MAX; };
  DType dtype =
      narrow(moving.min()) && narrow(moving.max()) && narrow(bound) ? DType::i32 : DType::i64;
  Inst inst(Opcode::cmp, {DType::i1, index.lanes()});
  inst.compare = falling ? Compare::le : Compare::ge;
  inst.args = {convert(dtype, value(moving)), constant_int(dtype, bound)};
  return shared(std::move(inst));
}

Inst* Builder::less(const Index& a, const Index& b) {
  Index ahead = b - a - 1;
  if (options_.fold && fits(ahead, DType::i64)) return not_negative(ahead);
  return compare(Compare::lt, value(a), value(b));
}

}  // namespace strata::loop
