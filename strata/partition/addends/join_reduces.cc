#include "strata/partition/addends/join_reduces.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/op/calculus/support.h"

namespace strata::spmd {
namespace {

using op::Block;
using op::Builder;
using op::Op;
using op::Value;
using op::Values;

bool is_plain_reduce(const Op& op) {
  return op.name() == "stablehlo.all_reduce" && op.regions.empty() && !op.operands.empty();
}
bool is_light(const Op& op) {
  return op.name() == "stablehlo.constant" || op.name() == "stablehlo.reshape";
}
std::int64_t bytes_of(const Op& op) {
  std::int64_t out = 0;
  for (const Value* v : op.operands) out += static_cast<std::int64_t>(v->type().bytes());
  return out;
}
bool are_alike(const Op& a, const Op& b) {
  ir::Attrs mine = a.attrs, other = b.attrs;
  mine.erase("channel_id");
  other.erase("channel_id");
  return ir::equal(mine, other) && a.operand(0)->dtype() == b.operand(0)->dtype();
}

class Joins {
 public:
  explicit Joins(std::int64_t most) : most_(most) {}

  void rewrite(Block& block) {
    std::vector<std::unique_ptr<Op>> old = std::move(block.ops());
    block.ops().clear();
    for (auto& op : old) {
      // Regions may use what waits, too.
      if (uses_waiting(*op) || !(is_plain_reduce(*op) || is_light(*op))) settle(block);
      op->operands = map_(op->operands);
      for (auto& region : op->regions) ir::replace_uses(*region, map_);
      if (is_plain_reduce(*op)) {
        if (!waiting_.empty() && (!are_alike(*waiting_[0], *op) || bytes_ + bytes_of(*op) > most_))
          settle(block);
        bytes_ += bytes_of(*op);
        waiting_.push_back(std::move(op));
        continue;
      }
      for (auto& region : op->regions) {
        Joins within(most_);
        within.rewrite(*region);
        joined += within.joined;
        for (auto& dead : within.dead_) dead_.push_back(std::move(dead));
      }
      block.append(std::move(op));
    }
    settle(block);
    block.results = map_(block.results);
  }

  int joined = 0;

 private:
  bool uses_waiting(const Op& op) const {
    return std::any_of(op.operands.begin(), op.operands.end(), [&](const Value* v) {
      return std::any_of(waiting_.begin(), waiting_.end(),
                         [&](const auto& w) { return v->op() == w.get(); });
    });
  }
  /// Those that wait become one.
  void settle(Block& block) {
    if (waiting_.size() == 1) block.append(std::move(waiting_[0]));
    if (waiting_.size() > 1) {
      Values operands;
      std::vector<Type> types;
      for (const auto& op : waiting_)
        for (std::size_t i = 0; i < op->operands.size(); ++i) {
          operands.push_back(op->operands[i]);
          types.push_back(op->result(static_cast<int>(i))->type());
        }
      Builder b(block);
      op::At at(b, *waiting_[0]);
      const Values results =
          b.create(waiting_[0]->info(), operands, waiting_[0]->attrs, {}, types).results();
      std::size_t next = 0;
      for (auto& op : waiting_) {
        for (int r = 0; r < op->num_results(); ++r) map_.set(op->result(r), results[next++]);
        dead_.push_back(std::move(op));
      }
      joined += static_cast<int>(waiting_.size()) - 1;
    }
    waiting_.clear();
    bytes_ = 0;
  }

  const std::int64_t most_;
  ir::ValueMap map_;
  std::vector<std::unique_ptr<Op>> waiting_, dead_;
  std::int64_t bytes_ = 0;
};

}  // namespace

int join_all_reduces(op::Block& block, std::int64_t most) {
  Joins joins(most);
  joins.rewrite(block);
  return joins.joined;
}

}  // namespace strata::spmd
