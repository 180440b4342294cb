// What an operation is to the compiler, whatever its name: the kind of lowering that its definition
// has (def.h).
#pragma once

#include <algorithm>
#include <variant>
#include <vector>

#include "strata/op/def.h"

namespace strata::op {

/// Whether each element is computed for itself.
inline bool is_elemental(const ir::Op& op) {
  return std::holds_alternative<Elementwise>(def(op).lowering);
}
/// Whether an element of its result is one of each operand, from the same place, side by side:
/// parts of complex numbers.
inline bool is_interleaving(const ir::Op& op) {
  return def(op).traits.elementwise && std::holds_alternative<CustomKernel>(def(op).lowering);
}
/// Whether dimensions are reduced by a combiner.
inline bool is_reduction(const ir::Op& op) {
  return std::holds_alternative<Reduction (*)(const ir::Op&)>(def(op).lowering);
}
/// Whether it is a product with a sum over dimensions of both operands.
inline bool is_contraction(const ir::Op& op) {
  return std::holds_alternative<Contraction (*)(const ir::Op&)>(def(op).lowering);
}
/// Its dimensions by role.
inline Contraction contraction_of(const ir::Op& product) {
  return std::get<Contraction (*)(const ir::Op&)>(def(product).lowering)(product);
}
/// The dimensions of an operand of a contraction that are neither batching nor contracting,
/// ascending: a product's rows, or its columns.
template <class Number>
std::vector<Number> free_dims(int rank, const std::vector<Number>& batch,
                              const std::vector<Number>& contract) {
  auto in = [](const std::vector<Number>& list, Number d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  std::vector<Number> out;
  for (Number d = 0; d < rank; ++d)
    if (!in(batch, d) && !in(contract, d)) out.push_back(d);
  return out;
}

/// Whether it has an effect beyond its results, or anything in its regions has.
inline bool has_effect(const ir::Op& op) {
  bool found = op.info().has_effect;
  for (const auto& region : op.regions)
    ir::walk(*region, [&](const ir::Op& inner) { found |= inner.info().has_effect; });
  return found;
}

/// Whether it is a loop, a branch or a call of this kind.
inline bool is_structured(const ir::Op& op, Structured::Kind kind) {
  const auto* structured = std::get_if<Structured>(&def(op).lowering);
  return structured && structured->kind == kind;
}

}  // namespace strata::op
