// Kinds of operations, interned: whether an operation is an addition is one comparison of pointers.
//
//   if (op::kind::add(op)) ...                                  // no string is looked at
//   if (const Op* inner = op::made_by(v, op::kind::reshape)) ...
//
// Passes ask for traits (def.h) where a rule is about what many operations are, and for a kind only
// where it is about that operation.
#pragma once

#include <atomic>
#include <initializer_list>

#include "strata/op/def.h"

namespace strata::op {

/// The kind of an operation. Its name is looked up in the catalog once.
class Kind {
 public:
  constexpr explicit Kind(const char* name) : name_(name) {}
  Kind(const Kind&) = delete;
  Kind& operator=(const Kind&) = delete;

  /// Whether the operation is of this kind.
  bool operator()(const Op& op) const { return &op.info() == &info(); }
  /// The same of one that may not be there.
  bool operator()(const Op* op) const { return op != nullptr && (*this)(*op); }
  const ir::OpInfo& info() const {
    const ir::OpInfo* found = info_.load(std::memory_order_acquire);
    if (found == nullptr) {
      found = &def(name_).info;
      info_.store(found, std::memory_order_release);
    }
    return *found;
  }

 private:
  const char* name_;
  mutable std::atomic<const ir::OpInfo*> info_{nullptr};
};

/// The operation of that kind whose result `v` is; null where another one, or none, made it.
inline const Op* made_by(const Value* v, const Kind& kind) {
  return kind(v->op()) ? v->op() : nullptr;
}

/// Whether the operation is of one of these kinds.
inline bool is_any(const Op& op, std::initializer_list<const Kind*> kinds) {
  for (const Kind* kind : kinds)
    if ((*kind)(op)) return true;
  return false;
}

namespace kind {
#define STRATA_KIND(name, text) inline constinit const Kind name(text);
STRATA_KIND(abs, "stablehlo.abs")
STRATA_KIND(add, "stablehlo.add")
STRATA_KIND(and_, "stablehlo.and")
STRATA_KIND(broadcast_in_dim, "stablehlo.broadcast_in_dim")
STRATA_KIND(case_, "stablehlo.case")
STRATA_KIND(compare, "stablehlo.compare")
STRATA_KIND(concatenate, "stablehlo.concatenate")
STRATA_KIND(constant, "stablehlo.constant")
STRATA_KIND(convert, "stablehlo.convert")
STRATA_KIND(divide, "stablehlo.divide")
STRATA_KIND(dot_add, "strata.dot_add")
STRATA_KIND(dot_general, "stablehlo.dot_general")
STRATA_KIND(dynamic_slice, "stablehlo.dynamic_slice")
STRATA_KIND(dynamic_update_slice, "stablehlo.dynamic_update_slice")
STRATA_KIND(exponential, "stablehlo.exponential")
STRATA_KIND(gather, "stablehlo.gather")
STRATA_KIND(if_, "stablehlo.if")
STRATA_KIND(iota, "stablehlo.iota")
STRATA_KIND(multiply, "stablehlo.multiply")
STRATA_KIND(negate, "stablehlo.negate")
STRATA_KIND(not_, "stablehlo.not")
STRATA_KIND(optimization_barrier, "stablehlo.optimization_barrier")
STRATA_KIND(or_, "stablehlo.or")
STRATA_KIND(pad, "stablehlo.pad")
STRATA_KIND(reduce, "stablehlo.reduce")
STRATA_KIND(reshape, "stablehlo.reshape")
STRATA_KIND(reverse, "stablehlo.reverse")
STRATA_KIND(scatter, "stablehlo.scatter")
STRATA_KIND(select, "stablehlo.select")
STRATA_KIND(slice, "stablehlo.slice")
STRATA_KIND(sort, "stablehlo.sort")
STRATA_KIND(subtract, "stablehlo.subtract")
STRATA_KIND(tanh, "stablehlo.tanh")
STRATA_KIND(transpose, "stablehlo.transpose")
#undef STRATA_KIND
}  // namespace kind

}  // namespace strata::op
