#include "strata/pass/loop/loop_invariant_code_motion.h"

#include <algorithm>
#include <unordered_set>

#include "strata/op/build.h"
#include "strata/op/control/scan.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"
#include "strata/pass/data_movement/transpose_patterns.h"
#include "strata/pass/loop/build_scan.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;
using ir::Values;

/// Arithmetic operations for one element of the result from which an operation is worth memory of
/// its own.
constexpr double kMuchArithmetic = 8;
/// Bytes of an elementwise result that may be before a loop, which read it as it was computed and
/// may not turn at all.
constexpr std::int64_t kMostBytes = 16 << 20;
/// Elements from which the layout of a product's operand is worth memory of its own.
constexpr std::int64_t kWorthALayout = 32;

using op::is_contraction;
using op::is_elemental;
using op::is_reduction;
using op::is_structured;

std::int64_t bytes(const Value& v) {
  return v.shape().count() * static_cast<std::int64_t>(byte_width(v.dtype()));
}

bool is_much(const Op& op) {
  if (is_contraction(op) || is_reduction(op)) return true;
  const op::Traits& traits = op::def(op).traits;
  if (!is_elemental(op) || traits.cheap || traits.moves_only || op.operands.empty()) return false;
  const op::Cost cost = op::def(op).cost;
  const Value* v = op.result();
  if (!cost || !v->type().is_tensor() || !v->shape().is_static() || bytes(*v) > kMostBytes)
    return false;
  return cost(op).flops >=
         kMuchArithmetic * static_cast<double>(std::max<std::int64_t>(1, v->shape().count()));
}

/// Replaces carries that never change by their initial values. `before` gets the loop in its new
/// form, `map` its results.
std::unique_ptr<Op> without_constant_carries(std::unique_ptr<Op> op, ir::ValueMap& map,
                                             std::vector<std::unique_ptr<Op>>& dead) {
  Block &condition = op->region(0), &body = op->region(1);
  std::vector<bool> keep;
  for (std::size_t i = 0; i < op->operands.size(); ++i)
    keep.push_back(body.results[i] != body.argument(static_cast<int>(i)));
  auto kept = std::count(keep.begin(), keep.end(), true);
  if (kept == 0 || kept == static_cast<std::ptrdiff_t>(keep.size())) return op;
  Values operands, results;
  for (Block* region : {&condition, &body}) {
    ir::ValueMap outside;
    for (std::size_t i = 0; i < keep.size(); ++i)
      if (!keep[i]) outside.set(region->argument(static_cast<int>(i)), op->operands[i]);
    ir::replace_uses(*region, outside);
    region->filter_arguments(keep);
  }
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) operands.push_back(op->operands[i]), results.push_back(body.results[i]);
  body.results = results;
  Block scratch;
  Builder b(scratch);
  b.set_location(op->where);
  std::vector<std::unique_ptr<Block>> regions;
  for (auto& region : op->regions) regions.push_back(std::move(region));
  Op& made = b.create(op->info(), operands, op->attrs, std::move(regions));
  int next = 0;
  for (std::size_t i = 0; i < keep.size(); ++i)
    map.set(op->result(static_cast<int>(i)), keep[i] ? made.result(next++) : op->operands[i]);
  op->regions.clear();
  dead.push_back(std::move(op));
  std::unique_ptr<Op> out = std::move(scratch.ops()[0]);
  scratch.ops().clear();
  return out;
}

/// Moves work out of one loop, to where `b` stands.
class Hoist {
 public:
  Hoist(Builder& b, const Op& loop) : b_(b) {
    for (const auto& region : loop.regions) inside_.insert(region.get());
  }

  /// Says that an argument of the loop's region is `v` in each iteration.
  void know(const Value* argument, Value* v) {
    moves_.insert(argument);
    before_.set(argument, v);
  }

  /// Returns whether anything moved.
  bool run(Block& region) {
    bool moved = false;
    Builder in(region);
    std::vector<std::unique_ptr<Op>> ops = std::move(region.ops());
    region.ops().clear();
    for (auto& op : ops) {
      op->operands = here_(op->operands);
      for (auto& inner : op->regions) ir::replace_uses(*inner, here_);
      if (is_movable(*op)) {
        for (Value* v : op->results()) moves_.insert(v);
        if (is_much(*op)) {
          for (Value* v : op->results()) here_.set(v, outside(v));
          moved = true;
        }
      } else if (is_contraction(*op)) {
        for (Value*& v : op->operands)
          if (is_computed(v)) v = outside(v), moved = true;
        if (Value* v = with_layout(in, *op)) {
          here_.set(op->result(), v);
          moved = true;
        }
      }
      region.append(std::move(op));
    }
    region.results = here_(region.results);
    return moved;
  }

 private:
  /// Whether all it needs is there before the loop, or can be.
  bool is_movable(const Op& op) const {
    if (op.info().has_effect || !op.regions.empty() || op::def(op).traits.barrier) return false;
    return std::all_of(op.operands.begin(), op.operands.end(),
                       [&](const Value* v) { return is_constant(v); });
  }
  bool is_constant(const Value* v) const { return !inside_.count(v->block()) || moves_.count(v); }

  /// Whether a product's operand would be computed anew in each iteration: it is in memory then,
  /// however little arithmetic that takes, for products read what is moved at most.
  bool is_computed(const Value* v) const {
    if (!inside_.count(v->block()) || !moves_.count(v) || !v->op() ||
        v->shape().count() < kWorthALayout || bytes(*v) > kMostBytes)
      return false;
    const op::Traits& traits = op::def(*v->op()).traits;
    if (traits.moves_only) return !v->op()->operands.empty() && is_computed(v->op()->operand(0));
    return traits.elementwise;
  }

  /// The value as it is made before the loop, with all that it is made of.
  Value* outside(Value* v) {
    if (!inside_.count(v->block())) return v;
    if (Value* made = before_.find(v)) return made;
    for (Value* operand : v->op()->operands) before_.set(operand, outside(operand));
    ir::clone(b_, *v->op(), before_);
    return before_(v);
  }

  /// One operand of a product, and how many of its elements share a term of each sum.
  struct Side {
    Value* value;
    std::vector<int> batch, contract;
    std::int64_t free() const {
      std::int64_t out = 1;
      for (int d : op::free_dims(value->rank(), batch, contract)) out *= value->shape()[d];
      return out;
    }
  };

  /// A product in a loop whose right operand stays the same and runs along the sum: the same
  /// product of one that runs along the columns. Where columns are few, kernels take the left
  /// operand for the right one (compile/kernel/gemm/gemm_kernel.cc).
  Value* with_layout(Builder& in, const Op& op) {
    if (op.operands.size() != 2) return nullptr;
    op::Contraction dims = op::contraction_of(op);
    Side l{op.operand(0), dims.lhs_batch, dims.lhs_contract},
        r{op.operand(1), dims.rhs_batch, dims.rhs_contract};
    const bool few_columns = r.free() < 8 && l.free() >= 4 * r.free();
    if (!lay_out(few_columns ? l : r)) return nullptr;
    auto ints = [](const std::vector<int>& of) { return Ints(of.begin(), of.end()); };
    return op::product_like(in, op, l.value, r.value,
                            {ints(l.batch), ints(r.batch), ints(l.contract), ints(r.contract)});
  }
  /// Makes it one of the same elements that runs along its free dimensions, before the loop, if it
  /// is worth that.
  bool lay_out(Side& s) {
    if (!is_constant(s.value) || s.value->shape().count() < kWorthALayout ||
        is_complex(s.value->dtype()) || s.free() <= 1)
      return false;
    // What is transposed in the loop is read across there.
    const int along = along_memory(s.value, [&](const Op& transpose) {
      return inside_.count(transpose.result()->block()) != 0;
    });
    if (std::find(s.contract.begin(), s.contract.end(), along) == s.contract.end()) return false;
    const std::vector<int> free = op::free_dims(s.value->rank(), s.batch, s.contract);
    Ints order;
    for (std::vector<int>* part : {&s.batch, &s.contract})
      for (int& d : *part) {
        order.push_back(d);
        d = static_cast<int>(order.size()) - 1;
      }
    order.insert(order.end(), free.begin(), free.end());
    s.value = outside(s.value);
    if (!std::is_sorted(order.begin(), order.end())) s.value = op::transpose(b_, s.value, order);
    return true;
  }

  Builder& b_;
  std::unordered_set<const Block*> inside_;
  std::unordered_set<const Value*> moves_;  // of the loop, could be made before it
  ir::ValueMap before_;                     // those that are
  ir::ValueMap here_;                       // what the loop reads instead
};

/// A scan with its work moved out, or nothing where none moves.
Values without_work(Builder& b, const Op& op) {
  op::ScanParts parts(op);
  Block& body = op.region(0);
  auto arguments = [&](std::size_t first, std::size_t count) {
    Values out;
    for (std::size_t i = first; i < first + count; ++i)
      out.push_back(body.argument(static_cast<int>(i)));
    return out;
  };
  Hoist moving(b, op);
  ir::ValueMap outside;
  for (std::size_t i = 0; i < parts.consts; ++i) {
    moving.know(body.argument(static_cast<int>(i)), op.operands[i]);
    outside.set(body.argument(static_cast<int>(i)), op.operands[i]);
  }
  if (!moving.run(body)) return {};
  ir::replace_uses(body, outside);
  ir::remove_dead(body);
  Values all(op.operands.begin(), op.operands.end());
  return build_scan(b, body, arguments(parts.consts, parts.carries), parts.carry_part(all),
                    arguments(parts.consts + parts.carries, parts.xs), parts.xs_part(all),
                    {.length = parts.length, .reverse = parts.reverse});
}

}  // namespace

void hoist_loop_invariants(Block& block) {
  ir::ValueMap map;
  std::vector<std::unique_ptr<Op>> ops = std::move(block.ops()), dead;
  block.ops().clear();
  Builder b(block);
  for (auto& op : ops) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) {
      ir::replace_uses(*region, map);
      hoist_loop_invariants(*region);
    }
    if (is_structured(*op, op::Structured::Kind::scan)) {
      Values results = without_work(b, *op);
      for (std::size_t r = 0; r < results.size(); ++r)
        map.set(op->result(static_cast<int>(r)), results[r]);
      if (!results.empty()) {
        dead.push_back(std::move(op));
        continue;
      }
    }
    if (is_structured(*op, op::Structured::Kind::while_)) {
      op = without_constant_carries(std::move(op), map, dead);
      Hoist moving(b, *op);
      for (auto& region : op->regions) moving.run(*region);
    }
    block.append(std::move(op));
  }
  block.results = map(block.results);
}

}  // namespace strata::pass
