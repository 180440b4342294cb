// Recognises the combiner of argmax and argmin (reduce.h).
#include "strata/ir/made_by.h"
#include "strata/op/reduce/reduce.h"

namespace strata::op {
namespace {

using ir::made_by;

std::string_view mirrored(std::string_view direction) {
  if (direction == "GT") return "LT";
  if (direction == "LT") return "GT";
  return direction;
}

/// x `direction` y, or the same written from y's side. A total order on floats is another
/// comparison.
bool compares(const Value* v, std::string_view direction, const Value* x, const Value* y) {
  const Op* op = made_by(v, "stablehlo.compare");
  if (op == nullptr || op->attrs.get_or<std::string>("compare_type", "") == "TOTALORDER")
    return false;
  const std::string& actual = op->attr<std::string>("comparison_direction");
  if (op->operand(0) == x && op->operand(1) == y) return actual == direction;
  return op->operand(0) == y && op->operand(1) == x && actual == mirrored(direction);
}

struct Arguments {
  const Value *value, *index, *other_value, *other_index;
};

/// v > w or v != v. Integers and truth values have no NaN, so there the comparison alone will do.
bool is_first(const Value* p, const Arguments& a, std::string_view direction) {
  if (!is_float(a.value->dtype()) && compares(p, direction, a.value, a.other_value)) return true;
  const Op* either = made_by(p, "stablehlo.or");
  if (either == nullptr) return false;
  auto matches = [&](int i) {
    return compares(either->operand(i), direction, a.value, a.other_value) &&
           compares(either->operand(1 - i), "NE", a.value, a.value);
  };
  return matches(0) || matches(1);
}

/// v == w and i < j.
bool is_tie(const Value* p, const Arguments& a) {
  const Op* both = made_by(p, "stablehlo.and");
  if (both == nullptr) return false;
  auto matches = [&](int i) {
    return compares(both->operand(i), "EQ", a.value, a.other_value) &&
           compares(both->operand(1 - i), "LT", a.index, a.other_index);
  };
  return matches(0) || matches(1);
}

bool is_extremum(const Block& region, const Arguments& a, std::string_view direction) {
  const Op* value = made_by(region.results[0], "stablehlo.select");
  const Op* index = made_by(region.results[1], "stablehlo.select");
  if (value == nullptr || index == nullptr) return false;
  if (value->operand(1) != a.value || value->operand(2) != a.other_value) return false;
  if (index->operand(1) != a.index || index->operand(2) != a.other_index) return false;
  if (!is_first(value->operand(0), a, direction)) return false;
  const Op* chosen = made_by(index->operand(0), "stablehlo.or");
  if (chosen == nullptr) return false;
  auto matches = [&](int i) {
    return is_first(chosen->operand(i), a, direction) && is_tie(chosen->operand(1 - i), a);
  };
  return matches(0) || matches(1);
}

}  // namespace

std::optional<ArgExtremum> arg_extremum(const Block& region) {
  if (region.num_arguments() != 4 || region.results.size() != 2) return std::nullopt;
  Arguments a{region.argument(0), region.argument(1), region.argument(2), region.argument(3)};
  for (const auto& argument : region.arguments())
    if (argument->rank() != 0) return std::nullopt;
  if (!is_integer(a.index->dtype()) ||
      !(is_integer(a.value->dtype()) || is_bool(a.value->dtype()) || is_float(a.value->dtype())))
    return std::nullopt;
  if (is_extremum(region, a, "GT")) return ArgExtremum{true};
  if (is_extremum(region, a, "LT")) return ArgExtremum{false};
  return std::nullopt;
}

std::vector<loop::Inst*> lower_extremum(loop::Builder& b, bool maximum,
                                        std::span<loop::Inst* const> state,
                                        std::span<loop::Inst* const> element) {
  using loop::Compare;
  auto both = [&](loop::Inst* x, loop::Inst* y) { return b.binary(loop::Opcode::and_, x, y); };
  auto either = [&](loop::Inst* x, loop::Inst* y) { return b.binary(loop::Opcode::or_, x, y); };
  DType wide = accumulator(element[0]->type.dtype);
  loop::Inst *v = b.convert(wide, element[0]), *w = b.convert(wide, state[0]);
  loop::Inst *ahead = b.compare(maximum ? Compare::gt : Compare::lt, v, w),
             *level = b.compare(Compare::eq, v, w);
  if (is_float(wide)) {
    loop::Inst *v_nan = b.compare(Compare::ne, v, v), *w_nan = b.compare(Compare::ne, w, w);
    ahead = either(ahead, both(v_nan, b.unary(loop::Opcode::not_, w_nan)));
    level = either(level, both(v_nan, w_nan));
  }
  loop::Inst* take = either(ahead, both(level, b.compare(Compare::lt, element[1], state[1])));
  return {b.select(take, element[0], state[0]), b.select(take, element[1], state[1])};
}

std::vector<loop::Inst*> lower_later_extremum(loop::Builder& b, bool maximum,
                                              std::span<loop::Inst* const> state,
                                              std::span<loop::Inst* const> element) {
  using loop::Compare;
  DType wide = accumulator(element[0]->type.dtype);
  loop::Inst *v = b.convert(wide, element[0]), *w = b.convert(wide, state[0]);
  loop::Inst* take = b.compare(maximum ? Compare::gt : Compare::lt, v, w);
  // Of floats: beats it or is no number, and the state is one.
  if (is_float(wide))
    take =
        b.binary(loop::Opcode::and_,
                 b.unary(loop::Opcode::not_, b.compare(maximum ? Compare::le : Compare::ge, v, w)),
                 b.compare(Compare::eq, w, w));
  return {b.select(take, element[0], state[0]), b.select(take, element[1], state[1])};
}

}  // namespace strata::op
