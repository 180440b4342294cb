#include "strata/pass/splat.h"

#include <cmath>

#include "strata/op/kind.h"

namespace strata::pass {

std::optional<Literal> splat(const ir::Value* v) {
  if (const ir::Op* broadcast = op::made_by(v, op::kind::broadcast_in_dim))
    return splat(broadcast->operand(0));
  const ir::Op* constant = op::made_by(v, op::kind::constant);
  if (!constant) return std::nullopt;
  const auto& value = constant->attr<Literal>("value");
  if (!has_storage(value.dtype()) || is_complex(value.dtype()) || !value.is_splat())
    return std::nullopt;
  return value;
}

bool is_splat(const ir::Value* v, double wanted) {
  std::optional<Literal> value = splat(v);
  if (!value || is_complex(v->dtype()) || is_bool(v->dtype())) return false;
  double x = is_float(v->dtype()) ? value->number(0) : static_cast<double>(value->integer(0));
  return x == wanted && (std::signbit(x) == std::signbit(wanted) || !is_float(v->dtype()));
}

bool is_bool_splat(const ir::Value* v, bool wanted) {
  std::optional<Literal> value = splat(v);
  return value && is_bool(v->dtype()) && (value->integer(0) != 0) == wanted;
}

}  // namespace strata::pass
