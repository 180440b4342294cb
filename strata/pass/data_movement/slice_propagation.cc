#include "strata/pass/data_movement/slice_propagation.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "strata/ir/uses.h"
#include "strata/op/build.h"
#include "strata/op/def.h"
#include "strata/op/kind.h"

namespace strata::pass {
namespace {

using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;
using ir::Values;

/// [start, limit) of a dimension.
using Part = std::pair<std::int64_t, std::int64_t>;
/// Parts along one dimension, ascending, none over another.
struct Parts {
  int dim;
  std::vector<Part> all;
};

/// The one part that a slice without strides takes, where it takes all of the other dimensions;
/// nothing else.
std::optional<Parts> part_of(const Op& slice) {
  const Ints &start = slice.attr<Ints>("start_indices"), &limit = slice.attr<Ints>("limit_indices"),
             &strides = slice.attr<Ints>("strides");
  std::optional<Parts> out;
  for (int d = 0; d < slice.result()->rank(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (strides[i] != 1) return std::nullopt;
    if (slice.result()->shape()[d] == slice.operand(0)->shape()[d]) continue;
    if (out) return std::nullopt;
    out = Parts{d, {{start[i], limit[i]}}};
  }
  return out;
}

bool is_elementwise(const Op& op) {
  if (op.num_results() != 1 || !op.regions.empty() || op.info().has_effect ||
      !op::def(op).traits.elementwise || op::def(op).traits.barrier)
    return false;
  return std::all_of(op.operands.begin(), op.operands.end(), [&](const Value* v) {
    return v->type().is_tensor() && v->shape().is_static() && v->shape() == op.result()->shape();
  });
}

class Raise {
 public:
  explicit Raise(ir::Block& block) : block_(block) {}

  bool run() {
    bool changed = false;
    for (auto& op : block_.ops())
      for (auto& region : op->regions) changed |= Raise(*region).run();
    find();
    if (parts_.empty()) return changed;
    rewrite();
    return true;
  }

 private:
  // ---- which values
  void find() {
    const ir::Uses uses(block_);
    auto is_used_elsewhere = [&](const Value* v) {  // returned, or read in a region
      const auto all = uses.of(v);
      return uses.is_result(v) || std::any_of(all.begin(), all.end(), [](const auto& use) {
               return use.operand == ir::Uses::kCaptured;
             });
    };
    for (auto it = block_.ops().rbegin(); it != block_.ops().rend(); ++it) {
      const Op& op = **it;
      if (!is_elementwise(op) || is_used_elsewhere(op.result())) continue;
      if (std::optional<Parts> parts = asked(uses.of(op.result())))
        parts_.emplace(op.result(), std::move(*parts));
    }
    // Something has to be put together beneath.
    for (const auto& op : block_.ops()) {
      const auto found = parts_.find(op->num_results() == 1 ? op->result() : nullptr);
      if (found == parts_.end()) continue;
      const Parts& parts = found->second;
      auto is_put_together = [&](const Value* v) {
        return parts_.count(v) || whole_pieces(v, parts);
      };
      if (std::none_of(op->operands.begin(), op->operands.end(), is_put_together))
        parts_.erase(found);
    }
  }

  /// The parts that all users ask for.
  std::optional<Parts> asked(std::span<const ir::Uses::Use> uses) const {
    std::optional<Parts> out;
    for (const ir::Uses::Use& use : uses) {
      const Op* user = use.op;
      std::optional<Parts> more;
      if (op::kind::slice(user)) {
        more = part_of(*user);
      } else if (auto found = parts_.find(user->num_results() == 1 ? user->result() : nullptr);
                 found != parts_.end()) {
        more = found->second;
      }
      if (!more || (out && out->dim != more->dim)) return std::nullopt;
      if (!out) out = Parts{more->dim, {}};
      for (const Part& p : more->all)
        if (std::find(out->all.begin(), out->all.end(), p) == out->all.end()) out->all.push_back(p);
    }
    if (!out || out->all.size() < 2) return std::nullopt;
    std::sort(out->all.begin(), out->all.end());
    for (std::size_t i = 1; i < out->all.size(); ++i)
      if (out->all[i].first < out->all[i - 1].second) return std::nullopt;
    return out;
  }

  /// Whether each part is in one piece of a concatenation: its slice is one of that piece then
  /// (pass/simplify.h).
  static bool whole_pieces(const Value* v, const Parts& parts) {
    const Op* concatenate = op::made_by(v, op::kind::concatenate);
    return concatenate && concatenate->attr<std::int64_t>("dimension") == parts.dim &&
           std::all_of(parts.all.begin(), parts.all.end(),
                       [&](const Part& p) { return lies_in_a_piece(*concatenate, p); });
  }
  static bool lies_in_a_piece(const Op& concatenate, const Part& part) {
    std::int64_t begin = 0;
    for (const Value* piece : concatenate.operands) {
      const std::int64_t end =
          begin + piece->shape()[static_cast<int>(concatenate.attr<std::int64_t>("dimension"))];
      if (part.first >= begin && part.second <= end) return true;
      begin = end;
    }
    return false;
  }

  // ---- their parts
  void rewrite() {
    ir::ValueMap map;
    std::vector<std::unique_ptr<Op>> ops = std::move(block_.ops()),
                                     dead;  // kept until the end: the map knows them by address
    block_.ops().clear();
    Builder b(block_);
    for (auto& op : ops) {
      op->operands = map(op->operands);
      for (auto& region : op->regions) ir::replace_uses(*region, map);
      b.set_location(op->where);
      if (op->num_results() == 1 && parts_.count(op->result())) {
        const Parts& parts = parts_.at(op->result());
        for (const Part& p : parts.all) {
          Values operands;
          for (Value* v : op->operands) operands.push_back(part(b, v, parts.dim, p));
          made_[op->result()][p] = b.create(op->info(), operands, op->attrs, {},
                                            {op->result()->type().with(operands[0]->shape())})
                                       .result();
        }
        dead.push_back(std::move(op));
      } else if (auto found = op::kind::slice(*op) ? made_.find(op->operand(0)) : made_.end();
                 found != made_.end()) {
        map.set(op->result(), found->second.at(part_of(*op)->all[0]));
        dead.push_back(std::move(op));
      } else {
        block_.append(std::move(op));
      }
    }
    block_.results = map(block_.results);
  }

  Value* part(Builder& b, Value* v, int dim, const Part& p) const {
    if (const auto found = made_.find(v); found != made_.end()) return found->second.at(p);
    std::vector<std::int64_t> sizes = v->shape().sizes();
    sizes[static_cast<std::size_t>(dim)] = p.second - p.first;
    if (const Op* broadcast = op::made_by(v, op::kind::broadcast_in_dim)) {
      const Ints& dims = broadcast->attr<Ints>("broadcast_dimensions");
      const auto at = std::find(dims.begin(), dims.end(), dim);
      Value* x = broadcast->operand(0);
      if (at == dims.end() || x->shape()[static_cast<int>(at - dims.begin())] == 1)
        return op::broadcast_in_dim(b, x, Shape(std::vector<Dim>(sizes.begin(), sizes.end())),
                                    dims);
    }
    Ints start(sizes.size(), 0), limit(v->shape().sizes());
    start[static_cast<std::size_t>(dim)] = p.first;
    limit[static_cast<std::size_t>(dim)] = p.second;
    return op::slice(b, v, start, limit);
  }

  ir::Block& block_;
  std::unordered_map<const Value*, Parts> parts_;                  // looked up, never walked
  std::unordered_map<const Value*, std::map<Part, Value*>> made_;  // the same
};

}  // namespace

bool propagate_slices(ir::Block& block) { return Raise(block).run(); }

}  // namespace strata::pass
