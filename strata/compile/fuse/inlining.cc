#include "strata/compile/fuse/inlining.h"

#include <algorithm>
#include <utility>

#include "strata/compile/kernel/dot/batched_vector_dot.h"
#include "strata/compile/kernel/dot/precompiled_gemm.h"
#include "strata/compile/kernel/gemm/gemm_output.h"
#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/pass/dot/dot_batch_layout.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

// How much arithmetic an element of a tree may be (op/def.h, Work::flops): what it takes to make
// machine code grows faster than this.
constexpr double kMostTree = 1500;
constexpr int kFewReadings = 4;  // of what is computed again
// Arithmetic that takes less time than to write and to read an element of a large array. Sums of
// columns cannot be made where their terms are stored, so these are written to be read twice, or
// computed twice (softmax of 4096 x 4096 f32 over the first dimension: 8.9 ms stored, 6.9 so).
constexpr double kMostTwice = 32;

bool is_large(const Value* v) {
  return v->type().is_tensor() && v->type().bytes() >= kBeyondThreadCache &&
         !is_complex(v->dtype());
}

/// Index moves and casts of one array: reading them again costs what reading the array costs.
bool is_view(const Op& op) {
  const op::Traits& t = op::def(op).traits;
  if (!t.cheap && !t.moves_only) return false;
  int arrays = 0;
  for (const Value* v : op.operands) arrays += v->rank() > 0;
  return arrays <= 1;
}

/// Numbers that scalars are computed from, through elementwise operations on scalars: a norm, from
/// the sums of all leaves. Of floats; others are places, which kernels should know.
class NumbersRead {
 public:
  explicit NumbersRead(const ir::Block& block) {
    for (const auto& op : block.ops()) {
      if (!op::is_elemental(*op) || op->operands.empty() || count(op->result()) != 1) continue;
      int read = 0;
      for (const Value* v : op->operands) {
        auto found = read_.find(v);
        if (found != read_.end())
          read += found->second;
        else if (!v->op() || !constant_literal(*v->op()))
          ++read;
      }
      read_[op->result()] = std::min(read, 1000);
    }
  }
  /// Whether so many that to store the scalar costs less than to compute it where it is read.
  bool are_many(const Value* v) const {
    constexpr int kMany = 4;
    auto found = read_.find(v);
    return found != read_.end() && found->second > kMany && is_float(v->dtype());
  }

 private:
  std::unordered_map<const Value*, int> read_;
};

/// Arithmetic for one element: of the result, or of what is reduced to it.
double own_weight(const Op& op) {
  std::int64_t elements = 0;
  for (const Value* v : op.results())
    elements = std::max(elements, v->type().is_tensor() ? count(v) : 0);
  for (const Value* v : op.operands)
    elements = std::max(elements, v->type().is_tensor() ? count(v) : 0);
  const op::Cost cost = op::def(op).cost;
  return cost && elements > 0 ? std::max(1.0, cost(op).flops / static_cast<double>(elements)) : 1;
}

/// Values at which a long chain of single uses is cut, so that no tree is more than kMostTree.
std::unordered_set<const Value*> cuts(const ir::Block& block) {
  std::unordered_set<const Value*> out;
  std::unordered_map<const Value*, double> weight;
  for (const auto& op : block.ops()) {
    if (!is_elemental(*op)) continue;
    double w = own_weight(*op);
    for (const Value* v : op->operands)
      if (auto made = weight.find(v); made != weight.end()) w += made->second;
    if (w > kMostTree) {
      out.insert(op->result());
      w = 0;
    }
    weight[op->result()] = w;
  }
  return out;
}

/// An operation on a large array that is in memory and on what is the same for many of its
/// elements (x - mean): to compute it again where it is read costs what reading it would, and
/// nobody has to write it (batch normalisation of 32 x 64 x 56 x 56: 2.2 ms stored, 1.4 so).
bool is_shift(const Op& op) {
  constexpr std::int64_t kMany = 16;
  const Value* v = op.result();
  if (!op::def(op).traits.elementwise || op.operands.size() != 2 || !is_large(v) ||
      own_weight(op) > 1)
    return false;
  int whole = 0;
  for (const Value* x : op.operands) {
    const Op* made = x->op();
    if (made && made->name() == "stablehlo.broadcast_in_dim" &&
        count(made->operand(0)) * kMany <= count(v))
      continue;
    if (made && op::is_elemental(*made)) return false;
    ++whole;
  }
  return whole == 1;
}

/// Values of a few operations on the elements of one array that is in memory and on what is the
/// same for many of them (g g + eps, g r_i c_j): for reductions to compute such a value again costs
/// what reading it would, and nobody has to write it.
class SlightTrees {
 public:
  explicit SlightTrees(const ir::Block& block) {
    for (const auto& op : block.ops())
      if (op::is_elemental(*op)) add(*op);
  }
  /// `as_pieces`: for reductions that go through all elements as one row. Places in it are no
  /// vector's places in what repeats along another dimension.
  bool has(const Value* v, bool as_pieces) const {
    constexpr std::size_t kLeast = std::size_t{1} << 18;  // bytes
    auto found = trees_.find(v);
    return found != trees_.end() && found->second.array && v->type().bytes() >= kLeast &&
           !is_complex(v->dtype()) && !(as_pieces && found->second.repeats);
  }

 private:
  struct Tree {
    const Value* array = nullptr;  // none: the same for many elements
    double flops = 0;
    bool repeats = false;  // an array in it, along another dimension
  };
  void add(const Op& op) {
    constexpr double kMostFlops = 4;
    constexpr std::int64_t kMany = 16;
    const Value* v = op.result();
    if (op.operands.empty() ||
        (op.name() == "stablehlo.broadcast_in_dim" && count(op.operand(0)) * kMany <= count(v))) {
      trees_.emplace(v, Tree{.repeats = !op.operands.empty() && count(op.operand(0)) > 1});
      return;
    }
    if (!op::def(op).traits.elementwise) return;
    Tree tree{.flops = own_weight(op)};
    for (const Value* x : op.operands) {
      Tree of;
      if (auto made = trees_.find(x); made != trees_.end())
        of = made->second;
      else if (x->op() && op::is_elemental(*x->op()))
        return;
      else if (count(x) == count(v))
        of.array = x;
      if (of.array && tree.array && of.array != tree.array) return;
      if (of.array) tree.array = of.array;
      tree.flops += of.flops;
      tree.repeats |= of.repeats;
    }
    if (tree.array && tree.flops <= kMostFlops) trees_.emplace(v, tree);
  }
  std::unordered_map<const Value*, Tree> trees_;
};

/// Whether a reduction keeps a dimension behind one that it sums: no sweep over its operand's rows
/// has its results.
bool sums_columns(const Op& op) {
  return is_reduction(op) && op.num_results() == 1 &&
         !reduces_trailing(op.operand(0)->shape(), reduction_of(op).dims);
}

/// Whether a reduction sums all: by pieces of its operand in that one's order, which are not what
/// runs along memory where it is read transposed.
bool sums_all(const Op& op) {
  return is_reduction(op) && op.num_results() == 1 &&
         reduces_trailing(op.operand(0)->shape(), reduction_of(op).dims) && count(op.result()) == 1;
}

/// Whether an operation turns a large array so that its last dimension is another. Read through,
/// each term of a long sum would be a line of the cache (ij,ji-> of 1024 x 1024 f32: 0.75 ms).
bool turns(const Op& op) {
  constexpr std::int64_t kMany = 1 << 16;
  if (op.name() != "stablehlo.transpose" || count(op.result()) < kMany) return false;
  const ir::Ints& permutation = op.attr<ir::Ints>("permutation");
  auto last = permutation.rbegin();
  while (last + 1 != permutation.rend() && op.operand(0)->shape()[static_cast<int>(*last)] == 1)
    ++last;
  for (int d = static_cast<int>(*last) + 1; d < op.operand(0)->rank(); ++d)
    if (op.operand(0)->shape()[d] > 1) return true;
  return false;
}

/// Arrays that operations of a block take (pass/data_movement/read_before_update.h), and what trees
/// of elementwise operations read of them before.
class TakenReads {
 public:
  TakenReads(const ir::Block& block, const pass::ConsumedArrays& taken) {
    int number = 0;
    for (const auto& op : block.ops()) {
      number_[op.get()] = number++;
      for (const Value* v : taken.of(*op)) taken_.try_emplace(v, number_[op.get()]);
    }
    if (taken.empty()) return;
    for (const auto& op : block.ops()) {
      if (!op::is_elemental(*op)) continue;
      std::vector<const Value*>& all = reads_[op->result()];
      for (const Value* v : op->operands) {
        if (taken_.count(v)) all.push_back(v);
        if (auto through = reads_.find(v); through != reads_.end())
          all.insert(all.end(), through->second.begin(), through->second.end());
      }
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
      if (all.size() > kMostTaken || all.empty()) reads_.erase(op->result());
    }
  }
  int number(const Op& op) const { return number_.at(&op); }
  /// Whether v, if it were computed where operation `reader` needs it, would read an array that was
  /// taken meanwhile: to store v first costs less than to keep that array.
  bool come_too_late(const Value* v, int reader) const {
    auto found = reads_.find(v);
    if (found == reads_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const Value* x) {
      const int taken = taken_.at(x);
      return number_.at(v->op()) < taken && taken <= reader &&
             v->type().bytes() <= x->type().bytes();
    });
  }

 private:
  static constexpr std::size_t kMostTaken = 16;  // that one tree reads
  std::unordered_map<const Op*, int> number_;    // in the block
  std::unordered_map<const Value*, int> taken_;  // by the first that takes it
  std::unordered_map<const Value*, std::vector<const Value*>> reads_;
};

}  // namespace

std::unordered_set<const Value*> find_runtime_constants(const ir::Block& block, const Uses& uses) {
  std::unordered_set<const Value*> out;
  for (const auto& op : block.ops()) {
    const Literal* literal = constant_literal(*op);
    if (!literal || !is_float(literal->dtype()) || !loop::is_loop_dtype(literal->dtype()) ||
        literal->count() == 0 || !is_small_array(op->result()))
      continue;
    const auto all = uses.index.of(op->result());
    if (all.empty() || uses.stored.count(op->result())) continue;
    bool computed_with = std::all_of(all.begin(), all.end(), [](const ir::Uses::Use& use) {
      return is_elemental(*use.op) && is_small_array(use.op->result());
    });
    if (computed_with) out.insert(op->result());
  }
  return out;
}

std::unordered_map<const Value*, double> inlined_flops(
    const ir::Block& block, const std::unordered_set<const Value*>& through) {
  std::unordered_map<const Value*, double> out;
  for (const auto& op : block.ops()) {
    double weight = own_weight(*op);
    for (const Value* v : op->operands)
      if (through.count(v)) weight += out[v];
    for (const Value* v : op->results()) out[v] = weight;
  }
  return out;
}

Moves output_moves_of_gemms(const ir::Block& block, const Uses& uses) {
  Moves out;
  for (const auto& op : block.ops())
    if (is_generated_gemm(*op))
      out[op.get()] = output_moves(*op, [&](const Value* v) { return uses.only_reader(v); });
  return out;
}
std::unordered_set<const Op*> ops_moved_by_gemms(const ir::Block& block, const Moves& moves) {
  std::unordered_set<const Op*> out;
  for (const auto& op : block.ops())
    if (auto found = moves.find(op.get()); found != moves.end())
      out.insert(found->second.begin(), found->second.end());
  return out;
}

/// Walks backwards, so that a value's readers are decided before it.
std::unordered_set<const Value*> choose_inlined(const ir::Block& block, const Uses& uses,
                                                const std::unordered_set<const Op*>& moved,
                                                const pass::ConsumedArrays& taken,
                                                FusionMode rule) {
  struct Reading {
    int times = 0;
    bool repeats = false, by_gemm = false,
         made = false;                     // made: a product reads it better from memory
    bool summed = false, reduced = false;  // by a reduction that sums columns; by any
    double weight =
        0;  // arithmetic of what reads it on the way there, as much as is computed in one place
    int last = -1;  // number of the last operation for which it would be computed
    bool by_dots = false,
         as_pieces = false;  // by products of a row and a column; cut to pieces first, as very long
                             // ones (pass/dot/split_k.h) and sums of all are
  };
  std::unordered_map<const Value*, Reading> reading;
  std::unordered_set<const Value*> inlined;
  const NumbersRead numbers(block);
  const SlightTrees slight(block);
  std::unordered_map<const Value*, int> size;  // operations in the tree of cheap producers
  for (const auto& op : block.ops()) {
    int n = 1;
    for (const Value* v : op->operands)
      if (v->op() && is_elemental(*v->op())) n += std::min(1000, size[v]);
    for (const Value* v : op->results())
      size[v] = (is_view(*op) || op->operands.empty()) && !numbers.are_many(v) ? n : 0;
  }
  const std::unordered_set<const Value*> cut = cuts(block);
  const TakenReads early(block, taken);
  for (auto it = block.ops().rbegin(); it != block.ops().rend(); ++it) {
    const Op& op = **it;
    if (!is_elemental(op) || moved.count(&op) ||
        (rule == FusionMode::separate_small && is_small(op)))
      continue;
    Value* v = op.result();
    Reading& r = reading[v];
    const ir::Op* before = nullptr;
    for (const ir::Uses::Use& use : uses.index.of(v)) {
      if (use.operand == ir::Uses::kCaptured) continue;
      // x x reads x once.
      if (std::exchange(before, use.op) == use.op && op::def(*use.op).traits.elementwise) continue;
      const Value* user = use.op->num_results() ? use.op->result() : nullptr;
      if (user && inlined.count(user)) {
        const Reading& through = reading[user];
        r.times += through.times;
        r.last = std::max(r.last, through.last);
        r.repeats |= through.repeats;
        r.by_gemm |= through.by_gemm;
        r.summed |= through.summed;
        r.reduced |= through.reduced;
        r.weight = std::max(r.weight, through.weight);
        r.as_pieces |= through.by_dots || through.as_pieces;
      } else {
        r.times += 1;
        r.last = std::max(r.last, early.number(*use.op));
        r.by_gemm |= is_generated_gemm(*use.op);
        r.summed |= sums_columns(*use.op);
        r.reduced |= is_reduction(*use.op);
        r.as_pieces |= sums_all(*use.op);
        r.by_dots |= is_generated_gemm(*use.op) &&
                     is_batched_vector_dot(*use.op, op::contraction_of(*use.op));
        r.made |=
            is_generated_gemm(*use.op) && pass::is_batch_moved_outermost(*use.op, use.operand);
      }
      if (user && is_elemental(*use.op)) r.repeats |= count(user) > 2 * count(v);
    }
    // A scalar constant is code where it is computed with, and memory where an address is asked
    // for.
    if (uses.stored.count(v) && !(constant_literal(op) && count(v) == 1)) continue;
    bool view = is_view(op) && size[v] < 40 && !numbers.are_many(v) &&
                (!r.by_gemm || op::def(op).traits.moves_only);
    bool once = r.times <= 1 && !r.repeats && !r.by_gemm && !cut.count(v);
    bool again = r.times <= kFewReadings && !r.repeats && !r.by_gemm && !cut.count(v) &&
                 (is_shift(op) || (r.reduced && slight.has(v, r.as_pieces)));
    r.weight += own_weight(op);
    bool twice = r.times == 2 && r.summed && r.weight <= kMostTwice && !r.repeats && !r.by_gemm &&
                 !cut.count(v) && is_large(v) && op::def(op).traits.elementwise;
    if ((view || once || again || twice) && !r.made && !(r.as_pieces && turns(op)) &&
        !early.come_too_late(v, r.last))
      inlined.insert(v);
  }
  return inlined;
}

}  // namespace strata::compile
