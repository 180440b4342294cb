#include "strata/pass/data_movement/transpose_sinking.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "strata/ir/uses.h"
#include "strata/op/build.h"
#include "strata/op/def.h"
#include "strata/op/kind.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/combiner.h"
#include "strata/pass/data_movement/transpose_patterns.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;
using ir::Values;

constexpr std::int64_t kLarge = 1 << 16;  // elements of a product whose order matters

std::int64_t entry(const Ints& list, std::int64_t i) { return list[static_cast<std::size_t>(i)]; }

class Sink {
 public:
  explicit Sink(const ir::Block& block) : uses_(block, ir::Uses::Regions::entered) {}

  Values instead(Builder& b, const Op& op) {
    if (op.num_results() != 1 || !op.result()->type().is_tensor() ||
        !op.result()->shape().is_static() || op.info().has_effect || !op.regions.empty())
      return {};
    if (op::kind::transpose(op)) return transposed(b, op);
    if (op::is_contraction(op)) return product(b, op);
    if (op::is_reduction(op)) return reduction(b, op);
    if (op::def(op).traits.elementwise && !op::def(op).traits.barrier) return elementwise(b, op);
    return {};
  }

 private:
  /// v = transpose(value, permutation).
  using Moved = Transposed;
  const Moved* moved(const Value* v) const {
    auto found = moved_.find(v);
    return found == moved_.end() ? nullptr : &found->second;
  }
  /// The transposition of `of`, of which is known what it is.
  Value* move(Builder& b, Value* of, const Ints& permutation) {
    if (is_iota(permutation)) return of;
    Value* out = op::transpose(b, of, permutation);
    moved_[out] = {of, permutation};
    return out;
  }

  /// Those that are made element by element of a large product begin to sink; what sinks goes on.
  Values transposed(Builder& b, const Op& op) {
    const Ints& permutation = op.attr<Ints>("permutation");
    if (const Moved* m = moved(op.operand(0))) {
      Ints both;
      for (std::int64_t d : permutation) both.push_back(entry(m->permutation, d));
      return {move(b, m->value, both)};
    }
    const auto uses = uses_.of(op.result());
    if (!is_iota(permutation) && ends_in_products(op.result(), permutation) &&
        std::any_of(uses.begin(), uses.end(), [](const auto& use) { return is_map(use.op); }))
      moved_[op.result()] = {op.operand(0), permutation};
    const bool keeps_rows = !permutation.empty() && permutation.back() == op.result()->rank() - 1 &&
                            !is_iota(permutation);
    if (keeps_rows && op.result()->shape().count() >= kLarge && is_of_product(op.operand(0)))
      moved_[op.result()] = {op.operand(0), permutation};
    return {};
  }
  static bool is_map(const Op* op) {
    return op->num_results() == 1 && op->regions.empty() && !op->info().has_effect &&
           op::def(*op).traits.elementwise && !op::def(*op).traits.barrier;
  }
  /// Whether all that is made of v, a transposed value, element by element with what is broadcast
  /// ends in products of this block, or is transposed again. Their own results' order must not
  /// change by it.
  bool ends_in_products(const Value* v, const Ints& permutation, int depth = 0) const {
    constexpr int kDeepest = 6;
    constexpr std::size_t kMostUsers = 4;
    const auto uses = uses_.of(v);
    if (uses.empty() || uses.size() > kMostUsers || uses_.is_result(v) || depth == kDeepest)
      return false;
    return std::all_of(uses.begin(), uses.end(), [&](const ir::Uses::Use& use) {
      const Op* user = use.op;
      if (user->num_results() != 1 || user->result()->block() != v->block() ||
          !user->result()->type().is_tensor() || !user->result()->shape().is_static())
        return false;
      if (op::kind::transpose(user)) return true;
      if (op::is_contraction(*user))
        return user->operands.size() == 2 && keeps_order(*user, v, permutation);
      auto goes_along = [&](const Value* other) {
        return other == v ||
               (other->shape() == v->shape() && op::made_by(other, op::kind::broadcast_in_dim));
      };
      return is_map(user) && user->result()->shape() == v->shape() &&
             std::all_of(user->operands.begin(), user->operands.end(), goes_along) &&
             ends_in_products(user->result(), permutation, depth + 1);
    });
  }
  /// Whether the dimensions that only this operand has come in the same order if it is read as it
  /// was before.
  static bool keeps_order(const Op& product, const Value* v, const Ints& permutation) {
    const op::Contraction c = op::contraction_of(product);
    for (int side = 0; side < 2; ++side) {
      if (product.operand(side) != v) continue;
      const std::vector<int>&batch = side == 0 ? c.lhs_batch : c.rhs_batch,
            &contract = side == 0 ? c.lhs_contract : c.rhs_contract;
      Ints free;
      for (int d : op::free_dims(v->rank(), batch, contract)) free.push_back(entry(permutation, d));
      if (!std::is_sorted(free.begin(), free.end())) return false;
    }
    return true;
  }
  static bool is_of_product(const Value* v) {
    constexpr int kMost = 4;
    for (int steps = 0; v->op() && steps < kMost; ++steps) {
      const Op& op = *v->op();
      if (op::is_contraction(op)) return true;
      if (!op::def(op).traits.elementwise) return false;
      const Value* next = nullptr;
      for (const Value* operand : op.operands)
        if (!op::made_by(operand, op::kind::broadcast_in_dim)) next = operand;
      if (!next) return false;
      v = next;
    }
    return false;
  }

  /// u with v = transpose(u, permutation), where it is at hand: what sinks by the same, and what is
  /// broadcast.
  Value* before(Builder& b, Value* v, const Ints& permutation) const {
    if (const Moved* m = moved(v); m && m->permutation == permutation) return m->value;
    const Op* broadcast = op::made_by(v, op::kind::broadcast_in_dim);
    if (!broadcast || !v->shape().is_static()) return nullptr;
    std::vector<Dim> shape(permutation.size(), Dim(1));
    for (std::size_t i = 0; i < permutation.size(); ++i)
      shape[static_cast<std::size_t>(permutation[i])] = v->shape().dim(static_cast<int>(i));
    Value* x = broadcast->operand(0);
    const Ints& dims = broadcast->attr<Ints>("broadcast_dimensions");
    const Moved* m = moved(x);
    Ints to(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i)
      to[m ? static_cast<std::size_t>(m->permutation[i]) : i] = entry(permutation, dims[i]);
    return op::broadcast_in_dim(b, m ? m->value : x, Shape(shape), to);
  }

  Values elementwise(Builder& b, const Op& op) {
    const Moved* first = nullptr;
    for (const Value* v : op.operands) {
      if (v->rank() != op.result()->rank() || v->shape() != op.result()->shape()) return {};
      if (const Moved* m = moved(v); m && !first) first = m;
    }
    if (!first) return {};
    const Ints permutation = first->permutation;
    for (const Value* v : op.operands)
      if (const Moved* m = moved(v);
          m ? m->permutation != permutation : !op::made_by(v, op::kind::broadcast_in_dim))
        return {};
    const Shape shape = first->value->shape();
    Values operands;
    for (Value* v : op.operands) operands.push_back(before(b, v, permutation));
    Value* out =
        b.create(op.info(), operands, op.attrs, {}, {op.result()->type().with(shape)}).result();
    return {move(b, out, permutation)};
  }

  /// Over one dimension, which is the last of both or of none.
  Values reduction(Builder& b, const Op& op) {
    const Moved* m = op.operands.size() == 2 ? moved(op.operand(0)) : nullptr;
    const Ints& dims = m ? op.attr<Ints>("dimensions") : Ints{};
    if (!m || dims.size() != 1 || op::combiner_of(op) == op::Combiner::region) return {};
    const std::int64_t last = op.operand(0)->rank() - 1, d = dims[0],
                       from = entry(m->permutation, d);
    if ((d == last) != (from == last)) return {};
    const Transposed out = reduction_of_untransposed(b, op, m->value, m->permutation);
    return {move(b, out.value, out.permutation)};
  }

  /// A product reads its operands in any order; its own dimensions are theirs.
  Values product(Builder& b, const Op& op) {
    if (op.operands.size() != 2 || (!moved(op.operand(0)) && !moved(op.operand(1)))) return {};
    const op::Contraction c = op::contraction_of(op);
    Ints batch[2], contract[2], order[2];  // order: for each free dimension that the result had,
                                           // which one of the operand's it is now
    Value* operands[2];
    for (int side = 0; side < 2; ++side) {
      Value* v = op.operand(side);
      const Moved* m = moved(v);
      operands[side] = m ? m->value : v;
      auto now = [&](std::int64_t d) { return m ? entry(m->permutation, d) : d; };
      const std::vector<int>&was_batch = side == 0 ? c.lhs_batch : c.rhs_batch,
            &was_contract = side == 0 ? c.lhs_contract : c.rhs_contract;
      for (int d : was_batch) batch[side].push_back(now(d));
      for (int d : was_contract) contract[side].push_back(now(d));
      Ints free;
      for (int d : op::free_dims(v->rank(), was_batch, was_contract)) free.push_back(now(d));
      Ints sorted = free;
      std::sort(sorted.begin(), sorted.end());
      for (std::int64_t d : free)
        order[side].push_back(std::find(sorted.begin(), sorted.end(), d) - sorted.begin());
    }
    Value* out = op::product_like(b, op, operands[0], operands[1],
                                  {batch[0], batch[1], contract[0], contract[1]});
    Ints permutation;
    for (std::size_t i = 0; i < batch[0].size(); ++i)
      permutation.push_back(static_cast<std::int64_t>(i));
    for (std::int64_t i : order[0])
      permutation.push_back(static_cast<std::int64_t>(batch[0].size()) + i);
    for (std::int64_t i : order[1])
      permutation.push_back(static_cast<std::int64_t>(batch[0].size() + order[0].size()) + i);
    return {move(b, out, permutation)};
  }

  ir::Uses uses_;                                  // of the program as it was
  std::unordered_map<const Value*, Moved> moved_;  // all of them looked up, never walked
};

}  // namespace

bool sink_transposes(ir::Block& block) {
  Sink sink(block);
  return rewrite(block, [&](Builder& b, const Op& op) { return sink.instead(b, op); });
}

}  // namespace strata::pass
