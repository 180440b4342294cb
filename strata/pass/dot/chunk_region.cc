#include "strata/pass/dot/chunk_region.h"

#include <algorithm>
#include <numeric>

#include "strata/op/lowering_kind.h"
#include "strata/pass/dot/chunked_reduction.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;
using op::Factors;
using op::is_contraction;
using op::is_elemental;
using op::is_reduction;

/// Whether a value with this many elements more than those it is made of is better made than read.
bool is_spread(const Op& op) {
  constexpr std::int64_t kMany = 8;
  std::int64_t from = 1;
  for (const Value* v : op.operands) from = std::max(from, v->shape().count());
  return op::def(op).traits.moves_only && from * kMany <= op.result()->shape().count();
}

/// Whether a kernel of its own makes it: no loop or branch, no call of others.
bool is_kernel(const Op& op) {
  const auto& lowering = op::def(op).lowering;
  return !std::holds_alternative<op::Structured>(lowering) &&
         !std::holds_alternative<op::None>(lowering);
}

/// Large values that are asked about, whether they can be made inside.
constexpr std::size_t kMostTried = 64;
/// Products that end a chain of sums elsewhere are what they are in chunks of so many steps, on all
/// processors (docs/exceptions.md).
constexpr std::int64_t kSteps = 32;
/// Operations between the first and the last one of a set: so large a product is asked about in
/// time that does not grow with the graph.
constexpr int kFar = 1000;

}  // namespace

bool is_outermost(const Shape& shape, int d) {
  for (int i = 0; i < d; ++i)
    if (shape[i] != 1) return false;
  return true;
}

bool ChunkRegion::refuse(const Op& op, const char* reason) {
  why_ = fmt::format("{} {}", op.name(), reason);
  return false;
}

bool ChunkRegion::is_large(const Value* v) const {
  return v->type().is_tensor() && v->shape().is_static() && v->shape().count() >= large_;
}

bool ChunkRegion::grow(const Op& product, bool absorb) {
  Factors factors = (*op::def(product).shard)(product);
  const Shape& shape = product.result()->shape();
  int d = 0;
  while (d < shape.rank() && shape[d] == 1) ++d;
  if (d == shape.rank() || factors.results[0][static_cast<std::size_t>(d)].empty())
    return refuse(product, "has no rows");
  const int factor = factors.results[0][static_cast<std::size_t>(d)][0];
  auto has_rows = [&](const std::vector<std::vector<int>>& dims) {
    return std::any_of(dims.begin(), dims.end(), [&](const std::vector<int>& list) {
      return std::count(list.begin(), list.end(), factor) > 0;
    });
  };
  if (has_rows(factors.operands[0]) == has_rows(factors.operands[1]))
    return refuse(product, "is one of many products");
  if (!enter(product, factor, factors)) return false;
  for (bool changed = true; changed;) {
    changed = false;
    if (!close(&changed)) return false;
    if (!changed && absorb) changed = absorb_one();
    if (!changed) take_makers(&changed);
  }
  return true;
}

/// Notes where the factor is in a value that is read. False: not outermost in one dimension, or
/// otherwise than by another reader.
bool ChunkRegion::place(const Value* v, const std::vector<std::vector<int>>& dims, int factor) {
  int found = -1;
  for (std::size_t d = 0; d < dims.size(); ++d)
    for (std::size_t i = 0; i < dims[d].size(); ++i) {
      if (dims[d][i] != factor) continue;
      if (i > 0 || found >= 0) return false;
      found = static_cast<int>(d);
    }
  if (dim(v) >= 0) return dim(v) == found;
  if (has(v->op())) return false;  // a sum over all rows
  if (found < 0) {
    whole_.insert(v);
    return true;
  }
  dims_[v] = found;
  return !whole_.count(v);
}

bool ChunkRegion::enter(const Op& op, int factor, const Factors& factors) {
  if (op.info().has_effect || op::def(op).traits.barrier)
    return refuse(op, "must stay where it is");
  if (!is_kernel(op)) return refuse(op, "reads it whole");
  for (const auto& region : op.regions)
    if (!ir::captures(*region).empty()) return refuse(op, "has a region that uses other values");
  char kind = factors.kinds[static_cast<std::size_t>(factor)];
  const bool whole = !is_elemental(op) && !is_reduction(op) && !is_contraction(op);
  if (whole && kind != 'p') return refuse(op, "reads it whole");
  if (kind == 'r' ? !is_contraction(op) && !is_reduction(op) : kind != 'p')
    return refuse(op, "is where rows meet");
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    if (!place(op.operands[i], factors.operands[i], factor))
      return refuse(op, "takes rows in two ways");
  for (const Value* v : op.operands)
    if (whole && dim(v) >= 0 && !is_outermost(v->shape(), dim(v)))
      return refuse(op, "has rows within its lines");
  if (kind == 'r' && !enter_sum(op, factor, factors)) return false;
  ops_.insert(&op);
  if (!is_copied(&op)) own_.insert(uses_->position(&op));
  for (int r = 0; r < op.num_results() && kind == 'p'; ++r) {
    const auto& dims = factors.results[static_cast<std::size_t>(r)];
    auto at = std::find_if(dims.begin(), dims.end(), [&](const std::vector<int>& list) {
      return !list.empty() && list[0] == factor;
    });
    if (at == dims.end()) return refuse(op, "takes rows apart");
    if (whole_.count(op.result(r))) return refuse(op, "gives rows that are also read whole");
    dims_[op.result(r)] = static_cast<int>(at - dims.begin());
  }
  parts_ = std::gcd(parts_, factors.sizes[static_cast<std::size_t>(factor)]);
  return true;
}

/// What sums over the rows: they must be the outermost part of the sum, and few enough parts.
bool ChunkRegion::enter_sum(const Op& op, int factor, const Factors& factors) {
  if (is_reduction(op)) {
    const std::int64_t parts = reduction_parts(op, dim(op.operand(0)));
    if (parts == 0) return refuse(op, "is where rows meet");
    if (std::gcd(parts_, parts) == 1)
      return refuse(op, "sums rows in chunks that end within other rows");
    sums_.insert(&op);
    parts_ = std::gcd(parts_, parts);
    return true;
  }
  op::Contraction c = op::contraction_of(op);
  std::int64_t steps = 1;
  bool first = true, outermost = false;
  for (int d : c.lhs_contract) {
    std::int64_t size = op.operand(0)->shape()[d];
    const std::vector<int>& list = factors.operands[0][static_cast<std::size_t>(d)];
    if (first && size > 1) outermost = !list.empty() && list[0] == factor, first = false;
    steps *= size;
  }
  if (op.operands.size() != 2 || !outermost) return refuse(op, "sums rows in another order");
  if (steps % kSteps != 0) return refuse(op, "sums a number of rows that is no multiple of 32");
  sums_.insert(&op);
  parts_ = std::gcd(parts_, steps / kSteps);
  return true;
}

bool ChunkRegion::enter_reader(const Op& op) {
  const auto& rule = op::def(op).shard;
  if (!rule) return refuse(op, "has no factors");
  Factors factors = (*rule)(op);
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    int d = dim(op.operands[i]);
    if (d < 0) continue;
    const std::vector<int>& list = factors.operands[i][static_cast<std::size_t>(d)];
    return list.empty() ? refuse(op, "takes rows apart") : enter(op, list[0], factors);
  }
  return refuse(op, "needs what all rows give");
}

/// Who reads a large value must be inside.
bool ChunkRegion::follow_readers(bool* changed) {
  for (int p : std::vector<int>(own_.begin(), own_.end())) {
    const Op& op = at(p);
    if (sums_.count(&op)) continue;
    for (const Value* v : op.results()) {
      if (!is_large(v)) continue;
      if (uses_->is_result(v)) return refuse(op, "is also a result");
      for (const ir::Uses::Use& use : uses_->of(v)) {
        if (has(use.op)) continue;
        if (!enter_reader(*use.op)) return false;
        *changed = true;
      }
    }
  }
  return true;
}

/// What is on a way from the set to itself must be inside.
bool ChunkRegion::close_paths(bool* changed) {
  const int first = *own_.begin(), last = *own_.rbegin();
  if (last - first > kFar) return refuse(at(last), "is far away");
  std::unordered_set<const Op*> behind, before;
  auto inputs = [](const Op& op) {
    ir::Values all(op.operands.begin(), op.operands.end());
    for (const auto& region : op.regions)
      for (Value* v : ir::captures(*region)) all.push_back(v);
    return all;
  };
  for (int p = first; p <= last; ++p) {
    ir::Values all = inputs(at(p));
    auto is_behind = [&](const Value* v) {
      return v->op() && (behind.count(v->op()) || is_own(v->op()));
    };
    if (std::any_of(all.begin(), all.end(), is_behind)) behind.insert(&at(p));
  }
  for (int p = last; p >= first; --p)
    if (has(&at(p)) || before.count(&at(p)))
      for (const Value* v : inputs(at(p))) before.insert(v->op());
  for (int p = first; p <= last; ++p) {
    const Op& op = at(p);
    if (!behind.count(&op) || !before.count(&op) || has(&op)) continue;
    if (!enter_reader(op)) return false;
    *changed = true;
  }
  return true;
}

/// The last large value from outside that can be made inside with all that reads it.
bool ChunkRegion::absorb_one() {
  if (tried_.size() >= kMostTried) return false;
  for (auto p = own_.rbegin(); p != own_.rend(); ++p)
    for (const Value* v : at(*p).operands) {
      const Op* maker = v->op();
      if (!maker || dim(v) < 0 || !is_large(v) || is_own(maker) || maker->block() != block_ ||
          maker->operands.empty())
        continue;
      if (tried_.insert(maker).second && absorb(*maker, dim(v))) return true;
    }
  return false;
}

bool ChunkRegion::absorb(const Op& maker, int d) {
  const auto& rule = op::def(maker).shard;
  if (!rule || maker.num_results() != 1) return false;
  const ChunkRegion before = *this;
  Factors factors = (*rule)(maker);
  const std::vector<int>& list = factors.results[0][static_cast<std::size_t>(d)];
  copied_.erase(&maker);
  bool changed = !list.empty() && enter(maker, list[0], factors), closed = changed;
  while (closed && changed) closed = close(&(changed = false));
  if (closed) return true;
  std::unordered_set<const Op*> tried = std::move(tried_);
  *this = before;
  tried_ = std::move(tried);
  return false;
}

/// What makes a large operand, or a spread one, from less comes along.
void ChunkRegion::take_makers(bool* changed) {
  std::vector<const Op*> asking(copied_.begin(), copied_.end());
  for (int p : own_) asking.push_back(&at(p));
  std::sort(asking.begin(), asking.end(),
            [&](const Op* a, const Op* b) { return uses_->position(a) > uses_->position(b); });
  for (const Op* op : asking)
    for (const Value* v : op->operands) {
      const Op* maker = v->op();
      if (!maker || dim(v) < 0 || has(maker) || maker->block() != block_ ||
          !kept_.insert(maker).second)
        continue;
      *changed |= take_maker(*maker, dim(v));
    }
}

bool ChunkRegion::take_maker(const Op& op, int d) {
  const auto& rule = op::def(op).shard;
  if (!rule || !is_elemental(op) || op.num_results() != 1 || op.info().has_effect ||
      op::def(op).traits.barrier || !op.regions.empty())
    return false;
  if (!is_large(op.result()) && !is_spread(op)) return false;
  if (op.operands.empty() &&
      (op.attrs.has("value") || op.attrs.get_or<std::int64_t>("iota_dimension", d) == d))
    return false;
  Factors factors = (*rule)(op);
  const std::vector<int>& list = factors.results[0][static_cast<std::size_t>(d)];
  if (list.empty() || factors.kinds[static_cast<std::size_t>(list[0])] != 'p') return false;
  const ChunkRegion before = *this;
  copied_.insert(&op);
  if (enter(op, list[0], factors)) return true;
  dims_ = before.dims_, parts_ = before.parts_, why_ = before.why_, whole_ = before.whole_;
  ops_.erase(&op), copied_.erase(&op);
  return false;
}

}  // namespace strata::pass
