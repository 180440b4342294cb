#include "strata/pass/loop/while_to_scan.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "strata/ir/made_by.h"
#include "strata/ir/uses.h"
#include "strata/op/build.h"
#include "strata/op/def.h"
#include "strata/op/kind.h"
#include "strata/pass/loop/build_scan.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::made_by;
using ir::Op;
using ir::Value;
using ir::Values;
using Ops = std::vector<std::unique_ptr<Op>>;

constexpr std::int64_t kFar = std::int64_t{1} << 30;  // counts beyond this may wrap on the way
// Slices between these sizes are read where they are: kernels of scalar loops take their elements
// one by one (compile/kernel/loop/scalar_loop.h), and have no arrays for arguments.
constexpr std::int64_t kElementByElement = 16, kMany = 64;

std::optional<std::int64_t> integer(const Value* v) {
  const Op* constant = op::made_by(v, op::kind::constant);
  if (!constant || v->rank() != 0 || !is_integer(v->dtype()) || !is_signed(v->dtype()) ||
      bit_width(v->dtype()) < 32)
    return std::nullopt;
  std::int64_t n = constant->attr<Literal>("value").integer(0);
  return std::abs(n) < kFar ? std::optional(n) : std::nullopt;
}

/// Calls f for what the operation reads and what its regions return: that may come from outside of
/// them.
template <class F>
void each_read(const Op& op, F f) {
  for (const Value* v : op.operands) f(v);
  for (const auto& region : op.regions)
    for (const Value* v : region->results) f(v);
}

/// first + step * turn.
struct Affine {
  std::int64_t first = 0, step = 0;
};

/// One loop: what it counts, and which slices it reads and writes iteration by iteration.
class Counted {
 public:
  explicit Counted(const Op& op) : op_(op), condition_(op.region(0)), body_(op.region(1)) {
    find_counter();
  }

  bool counts() const {
    return counter_ >= 0 && turns_ > 0 &&
           std::all_of(op_.operands.begin(), op_.operands.end(), [](const Value* v) {
             return v->type().is_tensor() && v->shape().is_static();
           });
  }

  /// The scan in the place of the loop. The loop's regions are used up.
  Values scan(Builder& b) {
    const ir::Uses uses(body_);
    std::vector<const Op*> forward = slices(false), backward = slices(true);
    bool reverse = backward.size() > forward.size();
    take_slices(reverse ? backward : forward);
    std::vector<std::pair<int, Value*>> stacks = take_stacks(reverse, uses);
    Values carries, results;
    std::vector<int> kept;
    for (int i = 0; i < body_.num_arguments() - static_cast<int>(xs_.size()); ++i) {
      bool stacked =
          std::any_of(stacks.begin(), stacks.end(), [&](auto& s) { return s.first == i; });
      if (!stacked) kept.push_back(i);
    }
    for (int i : kept) results.push_back(body_.results[static_cast<std::size_t>(i)]);
    for (auto& [i, y] : stacks)
      if (std::find(results.begin() + static_cast<std::ptrdiff_t>(kept.size()), results.end(), y) ==
          results.end())
        results.push_back(y);
    Values stacked(results.begin() + static_cast<std::ptrdiff_t>(kept.size()), results.end());
    body_.results = results;
    ir::remove_dead(body_);
    bool asks = std::any_of(body_.ops().begin(), body_.ops().end(),
                            [&](const auto& op) { return asks_counter(*op); }) ||
                std::count(results.begin(), results.end(), body_.argument(counter_)) > 0 ||
                std::count(results.begin(), results.end(), next_->result()) > 1;
    if (!asks) {
      auto at = std::find(kept.begin(), kept.end(), counter_);
      body_.results.erase(body_.results.begin() + (at - kept.begin()));
      kept.erase(at);
      ir::remove_dead(body_);
    }
    return build(b, kept, stacks, stacked, reverse);
  }

 private:
  void find_counter() {
    const Op* compare = op::made_by(condition_.results[0], op::kind::compare);
    if (!compare || compare->attrs.get_or<std::string>("comparison_direction", "") != "LT") return;
    auto limit = integer(compare->operand(1));
    for (int i = 0; limit && i < condition_.num_arguments(); ++i) {
      if (compare->operand(0) != condition_.argument(i)) continue;
      auto first = integer(op_.operand(i));
      const Op* next = op::made_by(body_.results[static_cast<std::size_t>(i)], op::kind::add);
      if (!first || !next || next->block() != &body_) return;
      for (int side : {0, 1})
        if (next->operand(side) == body_.argument(i) && integer(next->operand(1 - side)) == 1) {
          counter_ = i;
          first_ = *first;
          turns_ = *limit - *first;
          next_ = next;
        }
    }
    ir::walk(condition_, [&](const Op& inner) {
      if (inner.info().has_effect) counter_ = -1;
    });
  }

  std::optional<Affine> affine(const Value* v, int depth = 6) const {
    if (v == body_.argument(counter_)) return Affine{first_, 1};
    if (auto n = integer(v)) return Affine{*n, 0};
    const Op* sum = op::made_by(v, op::kind::add);
    const Op* difference = op::made_by(v, op::kind::subtract);
    const Op* op = sum ? sum : difference;
    if (!op || depth == 0 || v->rank() != 0) return std::nullopt;
    auto a = affine(op->operand(0), depth - 1), c = affine(op->operand(1), depth - 1);
    if (!a || !c) return std::nullopt;
    std::int64_t sign = sum ? 1 : -1;
    Affine out{a->first + sign * c->first, a->step + sign * c->step};
    return std::abs(out.first) < kFar && std::abs(out.step) <= 2 ? std::optional(out)
                                                                 : std::nullopt;
  }

  /// Whether a window of `part` in `whole` at `starts` is slice number `turn` of the first
  /// dimension (or counted from its end).
  bool is_slice(const Shape& whole, const Shape& part, std::span<Value* const> starts,
                bool reverse) const {
    if (whole.rank() == 0 || !whole.is_static() || whole[0] != turns_ || part[0] != 1) return false;
    for (int d = 1; d < whole.rank(); ++d)
      if (part[d] != whole[d]) return false;
    auto at = affine(starts[0]);
    return at && at->first == (reverse ? turns_ - 1 : 0) && at->step == (reverse ? -1 : 1);
  }
  bool is_inside(const Value* v) const { return v->block() == &body_; }

  std::vector<const Op*> slices(bool reverse) const {
    std::vector<const Op*> out;
    for (const auto& op : body_.ops()) {
      if (!op::kind::dynamic_slice(*op) || is_inside(op->operand(0))) continue;
      Values starts(op->operands.begin() + 1, op->operands.end());
      std::int64_t size = op->result()->shape().count();
      if (size > kElementByElement && size <= kMany) continue;
      if (is_slice(op->operand(0)->shape(), op->result()->shape(), starts, reverse))
        out.push_back(op.get());
    }
    return out;
  }

  /// Slices become new arguments of the body, in `xs_`.
  void take_slices(const std::vector<const Op*>& slices) {
    Ops ops = std::move(body_.ops()), dead;
    body_.ops().clear();
    Builder in(body_);
    ir::ValueMap map;
    for (auto& op : ops) {
      op->operands = map(op->operands);
      for (auto& region : op->regions) ir::replace_uses(*region, map);
      if (std::find(slices.begin(), slices.end(), op.get()) == slices.end()) {
        body_.append(std::move(op));
        continue;
      }
      const Shape& shape = op->result()->shape();
      std::vector<Dim> rest(shape.dims().begin() + 1, shape.dims().end());
      xs_.push_back(op->operand(0));
      map.set(op->result(),
              op::reshape(in, body_.add_argument(op->result()->type().with(Shape(rest))), shape));
      dead.push_back(std::move(op));
    }
    body_.results = map(body_.results);
  }

  /// Carries that are only written, slice by slice: their numbers, and each iteration's slice; one
  /// value for those that are written the same.
  std::vector<std::pair<int, Value*>> take_stacks(bool reverse, const ir::Uses& uses) {
    std::vector<std::pair<int, Value*>> out;
    std::unordered_map<const Value*, Value*> written;
    Builder in(body_);
    for (int i = 0; i < condition_.num_arguments(); ++i) {
      Value* v = body_.results[static_cast<std::size_t>(i)];
      const Op* update = op::made_by(v, op::kind::dynamic_update_slice);
      const Value* carry = body_.argument(i);
      bool only_written = update && is_inside(v) && update->operand(0) == carry &&
                          uses.count(carry) == 1 && uses.count(v) == 1 &&
                          !is_read(condition_.argument(i));
      if (!only_written) continue;
      const Shape &whole = v->shape(), &part = update->operand(1)->shape();
      Values starts(update->operands.begin() + 2, update->operands.end());
      if (!is_slice(whole, part, starts, reverse)) continue;
      std::vector<Dim> rest(part.dims().begin() + 1, part.dims().end());
      Value*& slice = written[update->operand(1)];
      if (!slice) slice = op::reshape(in, update->operand(1), Shape(rest));
      out.push_back({i, slice});
    }
    return out;
  }
  /// Whether the condition asks for its argument.
  bool is_read(const Value* argument) const {
    bool read = condition_.results[0] == argument;
    ir::walk(condition_, [&](const Op& inner) {
      each_read(inner, [&](const Value* v) { read |= v == argument; });
    });
    return read;
  }

  /// Whether an operation other than the one that counts on needs the counter.
  bool asks_counter(const Op& op) const {
    bool asks = false;
    auto look = [&](const Op& inner) {
      each_read(inner, [&](const Value* v) {
        asks |= v == body_.argument(counter_) || v == next_->result();
      });
    };
    if (&op != next_) look(op);
    for (const auto& region : op.regions) ir::walk(*region, look);
    return asks;
  }

  Values build(Builder& b, const std::vector<int>& kept,
               const std::vector<std::pair<int, Value*>>& stacks, const Values& stacked,
               bool reverse) {
    Values carried, carries, sliced;
    for (int i : kept) {
      carried.push_back(body_.argument(i));
      carries.push_back(op_.operand(i));
    }
    for (std::size_t x = 0; x < xs_.size(); ++x)
      sliced.push_back(body_.argument(op_.num_results() + static_cast<int>(x)));
    Values made =
        build_scan(b, body_, carried, carries, sliced, xs_, {.length = turns_, .reverse = reverse});
    Values out(static_cast<std::size_t>(op_.num_results()), nullptr);
    for (std::size_t i = 0; i < kept.size(); ++i) out[static_cast<std::size_t>(kept[i])] = made[i];
    for (auto& [i, y] : stacks) {
      auto at =
          static_cast<std::size_t>(std::find(stacked.begin(), stacked.end(), y) - stacked.begin());
      out[static_cast<std::size_t>(i)] = made[kept.size() + at];
    }
    if (!out[static_cast<std::size_t>(counter_)])
      out[static_cast<std::size_t>(counter_)] =
          op::scalar(b, op_.operand(counter_)->dtype(), static_cast<double>(first_ + turns_));
    return out;
  }

  const Op& op_;
  Block &condition_, &body_;
  int counter_ = -1;
  std::int64_t first_ = 0, turns_ = 0;
  const Op* next_ = nullptr;
  Values xs_;
};

}  // namespace

bool convert_while_to_scan(Block& block) {
  bool changed = false;
  ir::ValueMap map;
  Ops ops = std::move(block.ops()), dead;
  block.ops().clear();
  Builder b(block);
  for (auto& op : ops) {
    op->operands = map(op->operands);
    const auto* structured = std::get_if<op::Structured>(&op::def(*op).lowering);
    for (auto& region : op->regions) {
      ir::replace_uses(*region, map);
      if (structured) changed |= convert_while_to_scan(*region);
    }
    if (structured && structured->kind == op::Structured::Kind::while_) {
      Counted loop(*op);
      if (loop.counts()) {
        b.set_location(op->where);
        Values results = loop.scan(b);
        for (int i = 0; i < op->num_results(); ++i)
          map.set(op->result(i), results[static_cast<std::size_t>(i)]);
        dead.push_back(std::move(op));
        changed = true;
        continue;
      }
    }
    block.append(std::move(op));
  }
  block.results = map(block.results);
  return changed;
}

}  // namespace strata::pass
