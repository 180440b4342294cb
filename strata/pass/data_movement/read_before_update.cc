#include "strata/pass/data_movement/read_before_update.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "strata/ir/uses.h"
#include "strata/op/control/scan.h"
#include "strata/op/lowering_kind.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;
using ir::Values;

/// Bytes of an array that are copied in less time than a kernel takes to start.
constexpr std::size_t kFew = 1024;
/// Operations looked at in one block, over all of its updates.
constexpr std::size_t kMostSteps = 4'000'000;

bool is_worth_it(const Value* v) {
  return v->type().is_tensor() && v->shape().is_static() && v->type().bytes() >= kFew;
}

/// Operands, and what the regions read from outside.
Values read_by(const Op& op) {
  Values out(op.operands);
  for (const auto& region : op.regions)
    for (Value* v : ir::captures(*region)) out.push_back(v);
  return out;
}

Values taken_by(const Op& op) {
  const op::Lowering& lowering = op::def(op).lowering;
  Values out;
  auto add = [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i)
      if (is_worth_it(op.operands[i])) out.push_back(op.operands[i]);
  };
  if (std::holds_alternative<op::Update>(lowering)) {
    add(0, static_cast<std::size_t>(op.num_results()));
  } else if (const auto* structured = std::get_if<op::Structured>(&lowering)) {
    switch (structured->kind) {
      case op::Structured::Kind::while_: add(0, op.operands.size()); break;
      case op::Structured::Kind::scan: {
        const op::ScanParts parts(op);
        add(parts.consts, parts.carries);
        break;
      }
      case op::Structured::Kind::case_:
        for (const auto& region : op.regions)
          for (Value* v : ir::captures(*region)) {
            const Values results = op.results();
            if (is_worth_it(v) && std::any_of(results.begin(), results.end(), [&](const Value* r) {
                  return r->type() == v->type();
                }))
              out.push_back(v);
          }
        break;
      case op::Structured::Kind::call: break;
    }
  }
  return out;
}

class ReadFirst {
 public:
  explicit ReadFirst(Block& block) : block_(block), taken_(block) {}

  bool run() {
    if (taken_.empty()) return false;
    const std::size_t n = block_.ops().size();
    for (std::size_t i = 0; i < n; ++i) {
      const Op* op = block_.ops()[i].get();
      at_[op] = i;
      reads_[op] = read_by(*op);
    }
    uses_.emplace(block_);
    // What was moved in front of an operation is looked at next, each operation once.
    for (std::size_t i = 0; i < n && steps_ < kMostSteps;) {
      const Op* op = block_.ops()[i].get();
      if (!done_.insert(op).second || !put_first(i))
        ++i;
      else
        changed_ = true;
    }
    return changed_;
  }

 private:
  using OpSet = std::unordered_set<const Op*>;

  /// Moves what operation `i` should come after to its front; whether that is anything.
  bool put_first(std::size_t i) {
    std::size_t last = i;
    std::vector<const Op*> wanted;
    for (const Value* x : taken_.of(*block_.ops()[i]))
      for (const ir::Uses::Use& use : uses_->of(x)) {
        const Op* reader = use.op;
        if (at_[reader] <= i || takes(*reader, x)) continue;
        wanted.push_back(reader);
        last = std::max(last, at_[reader]);
      }
    if (wanted.empty()) return false;
    const OpSet dependent = dependent_on(i, last);
    OpSet moved;
    for (const Op* reader : wanted)
      if (!dependent.count(reader)) move_with_needs(reader, i, moved);
    if (moved.empty()) return false;
    auto first = block_.ops().begin() + static_cast<std::ptrdiff_t>(i),
         end = block_.ops().begin() + static_cast<std::ptrdiff_t>(last) + 1;
    std::stable_partition(first, end, [&](const auto& op) { return moved.count(op.get()) != 0; });
    for (std::size_t k = i; k <= last; ++k) at_[block_.ops()[k].get()] = k;
    return true;
  }

  bool takes(const Op& op, const Value* x) const {
    const Values& taken = taken_.of(op);
    return std::find(taken.begin(), taken.end(), x) != taken.end();
  }

  /// Of the operations up to `last`, those that need a result of operation i.
  OpSet dependent_on(std::size_t i, std::size_t last) {
    OpSet out{block_.ops()[i].get()};
    steps_ += last - i;
    for (std::size_t k = i + 1; k <= last; ++k) {
      const Op* op = block_.ops()[k].get();
      const Values& reads = reads_[op];
      if (std::any_of(reads.begin(), reads.end(),
                      [&](const Value* v) { return v->op() && out.count(v->op()); }))
        out.insert(op);
    }
    return out;
  }

  /// Adds `reader` and what it needs of the operations behind i; nothing where one has an effect.
  void move_with_needs(const Op* reader, std::size_t i, OpSet& moved) {
    std::vector<const Op*> found{reader};
    OpSet seen{reader};
    for (std::size_t k = 0; k < found.size(); ++k) {
      if (op::has_effect(*found[k])) return;
      for (const Value* v : reads_[found[k]])
        if (v->op() && v->block() == &block_ && at_[v->op()] > i && seen.insert(v->op()).second)
          found.push_back(v->op());
    }
    steps_ += found.size();
    moved.insert(found.begin(), found.end());
  }

  Block& block_;
  ConsumedArrays taken_;
  std::unordered_map<const Op*, std::size_t> at_;  // lookup only
  std::unordered_map<const Op*, Values> reads_;    // lookup only
  std::optional<ir::Uses> uses_;                   // whose order is that of the program as it was
  OpSet done_;                                     // lookup only
  std::size_t steps_ = 0;
  bool changed_ = false;
};

}  // namespace

ConsumedArrays::ConsumedArrays(const Block& block) {
  for (const auto& op : block.ops()) {
    Values taken = taken_by(*op);
    if (taken.empty()) continue;
    all_.insert(taken.begin(), taken.end());
    of_.emplace(op.get(), std::move(taken));
  }
}

bool order_reads_before_updates(Block& block) {
  bool changed = false;
  for (auto& op : block.ops())
    for (auto& region : op->regions) changed |= order_reads_before_updates(*region);
  return ReadFirst(block).run() || changed;
}

}  // namespace strata::pass
