#include "strata/pass/dot/accumulator_folding.h"

#include <algorithm>
#include <unordered_map>

#include "strata/ir/uses.h"
#include "strata/op/build.h"
#include "strata/op/control/scan.h"
#include "strata/op/index/scatter.h"
#include "strata/op/kind.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/reduce.h"
#include "strata/op/reduce/reduce_order.h"
#include "strata/pass/dot/chunked_reduction.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;

/// Chunks of a reduction that are added one by one.
constexpr std::int64_t kMostChunks = 64;
constexpr const char* kMark = "carried_sum";

bool is_marked(const Op& op) { return op::kind::add(op) && op.attrs.has(kMark); }

bool is_scan(const Op& op) { return op::is_structured(op, op::Structured::Kind::scan); }

/// A number, or many of it, that is 0.
bool is_zero(const Value* v) {
  while (op::kind::broadcast_in_dim(v->op())) v = v->op()->operand(0);
  const ir::Attr* value = op::kind::constant(v->op()) ? v->op()->attrs.find("value") : nullptr;
  const auto* literal = value ? std::get_if<Literal>(value) : nullptr;
  return literal && literal->count() > 0 && (literal->count() == 1 || literal->is_splat()) &&
         is_float(literal->dtype()) && literal->number(0) == 0;
}

class FoldAccumulators {
 public:
  explicit FoldAccumulators(Block& block) : uses_(block) {}

  bool run(Block& block) {
    bool changed = false;
    ir::ValueMap map;
    std::vector<std::unique_ptr<Op>> ops = std::move(block.ops());
    block.ops().clear();
    Builder b(block);
    for (auto& op : ops) {
      op->operands = map(op->operands);
      for (auto& region : op->regions) {
        ir::replace_uses(*region, map);
        changed |= run(*region);
      }
      places_.emplace(op.get(), places_.size());
      b.set_location(op->where);
      Value* instead = nullptr;
      if (is_marked(*op)) {
        instead = carried(b, op->operand(0), op->operand(1));
        // Whoever tidied up before may have turned it round.
        if (!instead) instead = carried(b, op->operand(1), op->operand(0));
      }
      if (!instead) {
        block.append(std::move(op));
        continue;
      }
      map.set(op->result(), instead);
      dead_.push_back(std::move(op));
      changed = true;
    }
    block.results = map(block.results);
    return changed;
  }

 private:
  /// Whether `value` is a sum that can begin elsewhere than at zero.
  bool goes_on(const Value* value) const {
    if (uses_.count(value) != 1 || !value->op()) return false;
    const Op& op = *value->op();
    if (op::kind::dot_general(op))
      return value->dtype() == op::product_accumulator(op) && is_float(value->dtype()) &&
             !op::sum_pieces(op) && !op::sum_chains(op);
    if (op::kind::scatter(op))
      return op.regions.empty() && op.attr<std::string>("combiner") == "add" &&
             is_zero(op.operand(0)) && value->dtype() == DType::f32;
    if (op::is_reduction(op)) return has_whole_chunks(op);
    if (op::kind::transpose(op) || op::kind::reshape(op)) return goes_on(op.operand(0));
    if (!is_scan(op)) return false;
    const op::ScanParts parts(op);
    const auto k = static_cast<std::size_t>(value->index());
    if (k >= parts.carries) return goes_on(parts.body.results[k]);
    return is_zero(op.operand(static_cast<int>(parts.consts + k))) && carries_products(parts, k);
  }
  /// Whether a reduction adds up chunks that more of them may follow.
  static bool has_whole_chunks(const Op& op) {
    if (op.operands.size() != 2 || op.result()->dtype() != DType::f32 || !is_zero(op.operand(1)) ||
        op::combiner_of(op) != op::Combiner::add)
      return false;
    const std::vector<int> dims = op::reduced_dims(op);
    if (dims.empty() || op::reduce_order(op).is_long()) return false;
    const std::int64_t chunks = reduction_parts(op, dims.front());
    return chunks > 0 && chunks <= kMostChunks;
  }
  /// Whether a carry is a chain of products, as chunk_dots makes it.
  bool carries_products(const op::ScanParts& parts, std::size_t k) const {
    const Value* sums = parts.body.argument(static_cast<int>(parts.consts + k));
    const Op* next = parts.body.results[k]->op();
    return next && op::kind::dot_add(next) && next->operand(2) == sums && uses_.count(sums) == 1;
  }

  /// Whether a value is there before an operation of the same block is.
  bool is_before(const Value* v, const Op& op) const {
    if (!v->op()) return true;
    const auto made = places_.find(v->op()), then = places_.find(&op);
    return made != places_.end() && then != places_.end() && made->second < then->second;
  }

  /// `sums` + `value` as one sum; null where it cannot be.
  Value* carried(Builder& b, Value* sums, Value* value) {
    if (sums->type() != value->type() || !goes_on(value)) return nullptr;
    Op& op = *value->op();
    if (op::kind::dot_general(op)) {
      const op::Contraction c = op::contraction_of(op);
      const auto ints = [](const std::vector<int>& dims) { return Ints(dims.begin(), dims.end()); };
      return op::dot_add(
          b, op.operand(0), op.operand(1), sums,
          {ints(c.lhs_batch), ints(c.rhs_batch), ints(c.lhs_contract), ints(c.rhs_contract)});
    }
    if (op::is_reduction(op)) {
      Value* chunks = partial_reduction(b, op, op.operand(0));
      const std::int64_t count = chunks->shape()[0];
      for (std::int64_t i = 0; i < count; ++i) {
        Ints from(static_cast<std::size_t>(chunks->rank()), 0), to = chunks->shape().sizes();
        from[0] = i;
        to[0] = i + 1;
        Value* chunk = op::reshape(b, op::slice(b, chunks, from, to, {}), value->shape());
        sums = op::add(b, sums, chunk);
      }
      return sums;
    }
    if (op::kind::scatter(op))
      return b.create(op.info(), {sums, op::scatter_indices(op), op::scatter_updates(op)}, op.attrs)
          .result();
    if (op::kind::transpose(op)) {
      const Ints& permutation = op.attr<Ints>("permutation");
      Ints inverse(permutation.size());
      for (std::size_t i = 0; i < permutation.size(); ++i)
        inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
      // A scan stands before the sums that would be turned for it.
      if (op.operand(0)->op() && is_scan(*op.operand(0)->op())) return nullptr;
      Value* inside = carried(b, op::transpose(b, sums, inverse), op.operand(0));
      return inside ? op::transpose(b, inside, permutation) : nullptr;
    }
    if (op::kind::reshape(op)) {
      if (op.operand(0)->op() && is_scan(*op.operand(0)->op())) return nullptr;
      Value* inside = carried(b, op::reshape(b, sums, op.operand(0)->shape()), op.operand(0));
      return inside ? op::reshape(b, inside, value->shape()) : nullptr;
    }
    return is_before(sums, op) ? carried_through(op, sums, value) : nullptr;
  }

  /// Lets the scan begin with the sums, or read a slice of them in each iteration.
  Value* carried_through(Op& scan, Value* sums, Value* value) {
    const op::ScanParts parts(scan);
    const auto k = static_cast<std::size_t>(value->index());
    if (k < parts.carries) {
      scan.operands[parts.consts + k] = sums;
      return value;
    }
    Block& body = *scan.regions[0];
    const Type slice = body.results[k]->type();
    ir::Values operands = scan.operands;
    operands.push_back(sums);
    scan.operands = operands;
    Value* before = body.add_argument(slice);
    Builder inner(body);
    Value* added = op::add(inner, before, body.results[k]);
    mark_accumulator_add(*added->op());
    body.results[k] = added;
    run(body);
    return value;
  }

  ir::Uses uses_;
  std::unordered_map<const Op*, std::size_t> places_;  // lookup only
  std::vector<std::unique_ptr<Op>> dead_;              // the maps know them by address
};

}  // namespace

void mark_accumulator_add(Op& add) { add.attrs.set(kMark, true); }

bool fold_accumulators(Block& block) {
  bool any = false;
  ir::walk(block, [&](const Op& op) { any |= is_marked(op); });
  if (!any || !FoldAccumulators(block).run(block)) return false;
  ir::remove_dead(block);
  return true;
}

}  // namespace strata::pass
