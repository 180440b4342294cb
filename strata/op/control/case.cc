// stablehlo.case and stablehlo.if: one of several regions, chosen by an index or a predicate.
//
// Contract (StableHLO, case): (I1) one operand, a scalar i32; (C1) at least one branch; (C2)
// branches have no arguments and (C3) return equal types, (C4) which are those of the results. Of
// `if`: (I1) a scalar i1, two branches, the first for true; (C1) they have no arguments and (C2)
// return equal types, (C3) which are those of the results. An index out of range chooses the last
// branch. Branches may use values from outside; rules see the closed form (calculus/closed.h):
// those values are operands behind the index and arguments of each branch.
#include <algorithm>

#include "strata/base/error.h"
#include "strata/ir/constraint.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/linearize.h"
#include "strata/op/calculus/support.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/control.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {

const OpDef& if_def();
const OpDef& case_def();
namespace {

using Flags = std::vector<bool>;
using Branches = std::vector<BlockPtr>;

// ---- contract ----------------------------------------------------------------------------------

/// What the specification calls the constraints on what branches take and return.
struct BranchConstraints {
  const char *inputs, *outputs;
};

std::vector<Type> infer_branches(const char* name, std::span<const BlockPtr> branches,
                                 const BranchConstraints& n) {
  std::vector<Type> types = branches[0]->result_types();
  for (std::size_t i = 0; i < branches.size(); ++i) {
    if (branches[i]->num_arguments() != 0)
      throw Error(name, "branch {} has {} arguments, it may have none ({})", i,
                  branches[i]->num_arguments(), n.inputs);
    std::vector<Type> other = branches[i]->result_types();
    if (other.size() != types.size())
      throw Error(name, "branch 0 returns {} values, branch {} {} ({})", types.size(), i,
                  other.size(), n.outputs);
    for (std::size_t r = 0; r < types.size(); ++r)
      if (other[r] != types[r])
        throw Error(name, "result {} is {} in branch 0 and {} in branch {} ({})", r,
                    types[r].to_string(), other[r].to_string(), i, n.outputs);
  }
  return types;
}

void check_operand(const char* name, std::span<Value* const> operands, DType dtype) {
  expect_operands(name, operands, 1);
  if (operands[0]->type() != Type::scalar(dtype))
    throw Error(name, "the operand must be {}, got {} (I1)", Type::scalar(dtype).to_string(),
                operands[0]->type().to_string());
}

std::vector<Type> infer_case(std::span<Value* const> operands, const Attrs&,
                             std::span<const BlockPtr> branches) {
  check_operand("case", operands, DType::i32);
  if (branches.empty()) throw Error("case", "needs a branch, got {} (C1)", branches.size());
  return infer_branches("case", branches, {"C2", "C3"});
}

std::vector<Type> infer_if(std::span<Value* const> operands, const Attrs&,
                           std::span<const BlockPtr> branches) {
  check_operand("if", operands, DType::i1);
  if (branches.size() != 2) throw Error("if", "needs two branches, got {}", branches.size());
  return infer_branches("if", branches, {"C1", "C2"});
}

bool is_if(const Op& op) { return &op.info() == &if_def().info; }

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  std::int64_t n = static_cast<std::int64_t>(op.regions.size()), index = operands[0].integer(0);
  if (is_if(op)) index = index != 0 ? 0 : 1;
  if (index < 0 || index >= n) index = n - 1;
  return evaluator.run(op.region(static_cast<int>(index)), {});
}

Work cost(const Op& op) {
  Work most;
  for (const auto& branch : op.regions) {
    Work w = cost_of(*branch);
    most.flops = std::max(most.flops, w.flops);
    most.bytes = std::max(most.bytes, w.bytes);
  }
  return most;
}

// ---- rules -------------------------------------------------------------------------------------

Values emit(Builder& b, const Op& like, Value* index, Branches branches) {
  for (auto& branch : branches) ir::remove_dead(*branch);
  return b.create(like.info(), {index}, {}, std::move(branches)).results();
}

template <class T>
std::vector<T> behind_index(const std::vector<T>& all) {
  return part(all, 1, all.size() - 1);
}
Values behind_index(std::span<Value* const> all) { return {all.begin() + 1, all.end()}; }

Flags either_of(const std::vector<Flags>& all) {
  Flags out;
  for (const Flags& flags : all) out = either(out, flags);
  return out;
}

// `values` with zeros in place of null where `wanted`; the others are left out.
Values widened(Builder& b, const Values& values, const Flags& wanted,
               const std::vector<Type>& types) {
  Values out;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) out.push_back(or_zeros(b, values[i], types[i]));
  return out;
}

JvpResult case_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                   std::span<Value* const> tangents) {
  std::vector<Type> types = types_of(op.results());
  Branches branches;
  std::vector<JvpResult> r;
  std::vector<Flags> active;
  for (const auto& region : op.regions) {
    branches.push_back(std::make_unique<Block>());
    Builder rb(*branches.back());
    r.push_back(jvp(rb, *region, behind_index(operands), behind_index(tangents)));
    active.push_back(present(r.back().tangents));
  }
  Flags out = either_of(active);
  for (std::size_t i = 0; i < branches.size(); ++i) {
    Builder rb(*branches[i]);
    branches[i]->results = joined(r[i].results, widened(rb, r[i].tangents, out, types));
  }
  Values results = emit(b, op, operands[0], std::move(branches));
  return {part(results, 0, types.size()),
          spread(part(results, types.size(), results.size() - types.size()), out)};
}

// Results that carry residuals out of whichever branch runs: branches share those of equal type.
class Slots {
 public:
  /// The slot of the next residual of `branch` with this type.
  std::size_t take(std::size_t branch, const Type& type) {
    if (last_ != branch) used_.assign(types_.size(), false);
    last_ = branch;
    for (std::size_t i = 0; i < types_.size(); ++i)
      if (!used_[i] && types_[i] == type) {
        used_[i] = true;
        return i;
      }
    types_.push_back(type);
    used_.push_back(true);
    return types_.size() - 1;
  }
  const std::vector<Type>& types() const { return types_; }

 private:
  std::vector<Type> types_;
  Flags used_;
  std::size_t last_ = static_cast<std::size_t>(-1);
};

// The linear parts of all branches, and where each finds its residuals.
struct LinearBranches {
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<Flags> active;
  std::vector<ir::ValueMap> residuals;
};

Linearized case_linearize(Builder& b, const Op& op, std::span<Value* const> operands,
                          const Flags& active) {
  std::vector<Type> types = types_of(op.results());
  auto linear = std::make_shared<LinearBranches>();
  Branches branches;
  Slots slots;
  std::vector<std::vector<std::pair<Value*, std::size_t>>>
      taken;  // per branch: residual and its slot
  for (const auto& region : op.regions) {
    branches.push_back(std::make_unique<Block>());
    Block& branch = *branches.back();
    Builder rb(branch);
    LinearBlock l = linearize(rb, *region, behind_index(operands), behind_index(active));
    branch.results = l.results;
    taken.emplace_back();
    for (Value* v : ir::captures(*l.linear))
      if (v->block() == &branch)
        taken.back().emplace_back(v, slots.take(branches.size(), v->type()));
    linear->blocks.push_back(std::move(l.linear));
    linear->active.push_back(l.active);
  }
  for (std::size_t i = 0; i < branches.size(); ++i) {
    Values kept(slots.types().size(), nullptr);
    for (auto [v, slot] : taken[i]) kept[slot] = v;
    Builder rb(*branches[i]);
    append(branches[i]->results, widened(rb, kept, Flags(kept.size(), true), slots.types()));
  }
  Values results = emit(b, op, operands[0], std::move(branches));
  for (const auto& list : taken) {
    linear->residuals.emplace_back();
    for (auto [v, slot] : list) linear->residuals.back().set(v, results[types.size() + slot]);
  }
  Flags out = either_of(linear->active);
  const ir::OpInfo* info = &op.info();
  auto emit_linear = [linear, out, types, info, active, index = operands[0]](
                         Builder& lb, std::span<Value* const> tangents) {
    Values arguments;
    for (std::size_t i = 0; i < active.size(); ++i)
      if (active[i]) arguments.push_back(tangents[i]);
    Branches regions;
    for (std::size_t i = 0; i < linear->blocks.size(); ++i) {
      regions.push_back(std::make_unique<Block>());
      Builder rb(*regions.back());
      Values ts = spread(ir::inline_block(rb, *linear->blocks[i], arguments, linear->residuals[i]),
                         linear->active[i]);
      regions.back()->results = widened(rb, ts, out, types);
      ir::remove_dead(*regions.back());
    }
    return spread(lb.create(*info, {index}, {}, std::move(regions)).results(), out);
  };
  return {part(results, 0, types.size()), out, emit_linear};
}

Values case_transpose(Builder& b, const Op& op, std::span<Value* const> operands,
                      const Flags& linear, std::span<Value* const> cotangents) {
  STRATA_CHECK(!linear[0], "the index of a branch is no linear value");
  std::vector<Type> types = behind_index(types_of(op.operands));
  Branches branches;
  std::vector<Values> cts;
  std::vector<Flags> found;
  for (const auto& region : op.regions) {
    branches.push_back(std::make_unique<Block>());
    Builder rb(*branches.back());
    cts.push_back(transpose(rb, *region, behind_index(operands), behind_index(linear), cotangents));
    found.push_back(present(cts.back()));
  }
  Flags out = either_of(found);
  for (std::size_t i = 0; i < branches.size(); ++i) {
    Builder rb(*branches[i]);
    branches[i]->results = widened(rb, cts[i], out, types);
  }
  Values results = spread(emit(b, op, operands[0], std::move(branches)), out);
  results.insert(results.begin(), nullptr);
  return results;
}

// Each input chooses for itself: all branches are computed, and their results selected.
Batched batch_by_select(Builder& b, const Op& op, std::span<Value* const> operands,
                        const Flags& batched, std::int64_t size) {
  Batched out;
  for (std::size_t i = op.regions.size(); i-- > 0;) {
    Batched r = batch(b, *op.regions[i], behind_index(operands), behind_index(batched), size);
    for (std::size_t k = 0; k < r.results.size(); ++k)
      r.results[k] = batched_operand(b, r.results[k], r.batched[k], size);
    if (i + 1 == op.regions.size()) {
      out.results = r.results;
      continue;
    }
    Value* chosen = is_if(op) ? operands[0]
                              : compare(b, operands[0],
                                        full_like(b, operands[0], static_cast<double>(i)), "EQ");
    for (std::size_t k = 0; k < r.results.size(); ++k)
      out.results[k] = select(b, broadcast_in_dim(b, chosen, r.results[k]->shape(), {0}),
                              r.results[k], out.results[k]);
  }
  out.batched.assign(out.results.size(), true);
  return out;
}

Batched case_batch(Builder& b, const Op& op, std::span<Value* const> operands, const Flags& batched,
                   std::int64_t size) {
  if (batched[0]) return batch_by_select(b, op, operands, batched, size);
  Branches branches;
  std::vector<Batched> r;
  std::vector<Flags> flags;
  for (const auto& region : op.regions) {
    branches.push_back(std::make_unique<Block>());
    Builder rb(*branches.back());
    r.push_back(batch(rb, *region, behind_index(operands), behind_index(batched), size));
    flags.push_back(r.back().batched);
  }
  Flags out = either_of(flags);
  for (std::size_t i = 0; i < branches.size(); ++i) {
    Builder rb(*branches[i]);
    for (std::size_t k = 0; k < out.size(); ++k)
      if (out[k]) r[i].results[k] = batched_operand(rb, r[i].results[k], r[i].batched[k], size);
    branches[i]->results = r[i].results;
  }
  return {emit(b, op, operands[0], std::move(branches)), out};
}

OpDef definition(const char* name, const char* summary, const char* inferred_by,
                 std::vector<Type> (*infer)(std::span<Value* const>, const Attrs&,
                                            std::span<const BlockPtr>)) {
  return {
      .info = ir::inferred_by(inferred_by,
                              {.name = name, .infer = infer, .quantized = quantized::as_stated}),
      .summary = summary,
      .traits = {},
      .evaluate = evaluate,
      .jvp = case_jvp,
      .linearize = case_linearize,
      .transpose = case_transpose,
      .batch = case_batch,
      .shard = None{"sharding passes along the edges of the branches, not through factors"},
      .cost = cost,
      .lowering = Structured{Structured::Kind::case_},
  };
}

}  // namespace

Values case_(Builder& b, Value* index, Branches branches) {
  return b.create(case_def().info, {index}, {}, std::move(branches)).results();
}

Values if_(Builder& b, Value* predicate, BlockPtr then, BlockPtr otherwise) {
  Branches branches;
  branches.push_back(std::move(then));
  branches.push_back(std::move(otherwise));
  return b.create(if_def().info, {predicate}, {}, std::move(branches)).results();
}

const OpDef& case_def() {
  static const OpDef def =
      definition("stablehlo.case", "the branch with a given number (spec: case)", "C4", infer_case);
  return def;
}

const OpDef& if_def() {
  static const OpDef def =
      definition("stablehlo.if", "one of two branches (spec: if)", "C3", infer_if);
  return def;
}

}  // namespace strata::op
