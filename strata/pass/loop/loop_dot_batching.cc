#include "strata/pass/loop/loop_dot_batching.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "strata/ir/pass/pass.h"
#include "strata/ir/uses.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control/scan.h"
#include "strata/op/kind.h"
#include "strata/op/lowering_kind.h"
#include "strata/pass/data_movement/transpose_patterns.h"
#include "strata/pass/loop/accumulating_scan.h"
#include "strata/pass/loop/build_scan.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Op;
using ir::Value;
using ir::Values;

/// Fewer iterations are not worth another pass over what they make.
constexpr std::int64_t kFewestTurns = 8;
/// Multiply-adds of one iteration's product from which it is no faster with others: it takes
/// several threads by itself.
constexpr double kMostWork = 4e6;
/// Terms of a sum from which to add it to another is a small part of the work.
constexpr std::int64_t kMostTerms = 64;
/// Bytes of all iterations' results, and of what is stacked for products after the loop: they stay
/// in caches.
constexpr std::int64_t kMostBytes = 16 << 20;

std::int64_t bytes(const Value* v) {
  return v->shape().count() * static_cast<std::int64_t>(byte_width(v->dtype()));
}

/// A product of static shapes that is small in each iteration.
bool is_small_product(const Op& op) {
  if (!op::is_contraction(op) || op.operands.size() != 2) return false;
  for (const Value* v : {op.operand(0), op.operand(1), op.result()})
    if (!v->type().is_tensor() || !v->shape().is_static() || v->shape().count() == 0) return false;
  const auto& cost = op::def(op).cost;
  return cost && cost(op).flops <= 2 * kMostWork;
}

/// A product of matrices that reads a transposed one reads the matrix itself: what is stacked or
/// sliced is no transposition then.
Values read_matrices(Builder& b, const Op& op) {
  if (!is_small_product(op) || op.operand(0)->rank() != 2 || op.operand(1)->rank() != 2) return {};
  const op::Contraction dims = op::contraction_of(op);
  const DotOperand left(op.operand(0), dims.lhs_batch, dims.lhs_contract),
      right(op.operand(1), dims.rhs_batch, dims.rhs_contract);
  if (!dims.lhs_batch.empty() || (left.value == op.operand(0) && right.value == op.operand(1)))
    return {};
  return {make_dot(b, left, right, op)};
}

/// One scan, and what becomes of it.
class Turns {
 public:
  Turns(Builder& b, const Op& op) : b_(b), op_(op), parts_(op), body_(op.region(0)), uses_(body_) {}

  /// The scan's results, made in another way; nothing where all stays.
  Values run() {
    if (parts_.length < kFewestTurns) return {};
    find_sums();
    find_before();
    find_after();
    if (before_.empty() && sums_.empty() && after_.empty()) return {};
    return build();
  }

 private:
  using Moved = std::vector<std::pair<std::size_t, const Op*>>;  // number of the scan's result, and
                                                                 // the product that it is or adds

  /// A value of the body in all iterations: the same in each, or stacked.
  struct All {
    Value* value = nullptr;
    bool stacked = false;
  };

  bool is_const(const Value* v) const { return is_argument(v) && at(v) < parts_.consts; }
  bool is_slice(const Value* v) const {
    return is_argument(v) && at(v) >= parts_.consts + parts_.carries;
  }
  bool is_argument(const Value* v) const { return !v->op() && v->block() == &body_; }
  static std::size_t at(const Value* v) { return static_cast<std::size_t>(v->index()); }

  // ---- what can be made after

  /// What has to be stacked for the operands of a product after the scan, or nothing where it
  /// cannot be one.
  bool stacks(const Op& product) {
    Values more;
    std::int64_t all = stacked_bytes_;
    for (Value* v : product.operands) {
      if (is_const(v) || is_slice(v) || is_stacked(v) ||
          std::find(more.begin(), more.end(), v) != more.end())
        continue;
      if (v->block() != &body_ || (v->op() && leaves(*v->op()))) return false;
      all += parts_.length * bytes(v);
      more.push_back(v);
    }
    if (all > kMostBytes) return false;
    stacked_bytes_ = all;
    stacked_.insert(stacked_.end(), more.begin(), more.end());
    return true;
  }
  bool is_before(const Op* op) const {
    return op && std::find(before_.begin(), before_.end(), op) != before_.end();
  }
  bool is_stacked(const Value* v) const {
    return std::find(stacked_.begin(), stacked_.end(), v) != stacked_.end() ||
           std::find(body_.results.begin() + static_cast<std::ptrdiff_t>(parts_.carries),
                     body_.results.end(), v) != body_.results.end();
  }

  /// The product that is added to a carry and does nothing else, as nothing else is done with the
  /// carry.
  const Op* added_to(std::size_t carry) const {
    const Value *argument = body_.argument(static_cast<int>(parts_.consts + carry)),
                *result = body_.results[carry];
    const Op* add = result->op() && result->block() == &body_ && op::kind::add(result->op())
                        ? result->op()
                        : nullptr;
    if (!add || uses_.count(argument) != 1 || uses_.count(result) != 1) return nullptr;
    const int other = add->operand(0) == argument ? 1 : add->operand(1) == argument ? 0 : -1;
    if (other < 0) return nullptr;
    const Value* v = add->operand(other);
    return v->op() && v->block() == &body_ && uses_.count(v) == 1 ? v->op() : nullptr;
  }
  bool depends_on_turn(const Op& product) const {
    return std::none_of(product.operands.begin(), product.operands.end(),
                        [&](const Value* v) { return is_const(v); });
  }

  void find_sums() {
    for (std::size_t c = 0; c < parts_.carries; ++c) {
      const Op* product = added_to(c);
      if (!product || !is_small_product(*product) || !AccumulatingScan::takes(*product)) continue;
      const op::Contraction dims = op::contraction_of(*product);
      if (product->operand(1)->shape()[dims.rhs_contract[0]] <= kMostTerms &&
          depends_on_turn(*product) && stacks(*product))
        sums_.push_back({c, product});
    }
  }
  /// Products that are stacked, if one operand is the same in all iterations: else one stack would
  /// take the place of two.
  void find_after() {
    for (std::size_t y = parts_.carries; y < body_.results.size(); ++y) {
      const Value* v = body_.results[y];
      const Op* product = v->block() == &body_ ? v->op() : nullptr;
      if (!product || uses_.count(v) != 1 || !is_small_product(*product) || leaves(*product) ||
          parts_.length * bytes(v) > kMostBytes)
        continue;
      const auto consts = std::count_if(product->operands.begin(), product->operands.end(),
                                        [&](const Value* x) { return is_const(x); });
      if (consts == 1 && stacks(*product)) after_.push_back({y, product});
    }
  }

  // ---- what can be made before

  void find_before() {
    for (const auto& op : body_.ops()) {
      if (!is_small_product(*op) || leaves(*op)) continue;
      const Value *left = op->operand(0), *right = op->operand(1);
      const bool known = (is_const(left) || is_slice(left)) && (is_const(right) || is_slice(right)),
                 turns = is_slice(left) || is_slice(right);
      if (known && turns && parts_.length * bytes(op->result()) <= kMostBytes)
        before_.push_back(op.get());
    }
  }

  // ---- the new scans

  /// The same operation on all iterations at once.
  Value* of_all_turns(const Op& product, const std::vector<All>& operands) {
    Values values;
    std::vector<bool> stacked;
    for (const All& a : operands) {
      values.push_back(a.value);
      stacked.push_back(a.stacked);
    }
    return op::apply_batch(b_, product, values, stacked, parts_.length).results[0];
  }
  All outside(const Value* argument) const {
    return {op_.operand(argument->index()), is_slice(argument)};
  }

  bool leaves(const Op& op) const {
    auto is_product = [&](const auto& moved) { return moved.second == &op; };
    if (is_before(&op) || std::any_of(sums_.begin(), sums_.end(), is_product) ||
        std::any_of(after_.begin(), after_.end(), is_product))
      return true;
    return std::any_of(sums_.begin(), sums_.end(),
                       [&](const auto& sum) { return body_.results[sum.first]->op() == &op; });
  }
  static bool holds(const Moved& moved, std::size_t result) {
    return std::any_of(moved.begin(), moved.end(),
                       [&](const auto& m) { return m.first == result; });
  }

  Values build() {
    Block lean;  // the scan without what leaves it
    Builder in(lean);
    ir::ValueMap map;
    Values carried, carries, sliced, xs;
    for (std::size_t i = 0; i < op_.operands.size(); ++i) {
      Value* argument = body_.argument(static_cast<int>(i));
      if (is_const(argument)) {
        map.set(argument, op_.operands[i]);
      } else if (is_slice(argument)) {
        sliced.push_back(lean.add_argument(argument->type(), argument->hint()));
        xs.push_back(op_.operands[i]);
        map.set(argument, sliced.back());
      } else if (!holds(sums_, i - parts_.consts)) {
        carried.push_back(lean.add_argument(argument->type(), argument->hint()));
        carries.push_back(op_.operands[i]);
        map.set(argument, carried.back());
      }
    }
    for (const Op* product : before_) {
      xs.push_back(
          of_all_turns(*product, {outside(product->operand(0)), outside(product->operand(1))}));
      sliced.push_back(lean.add_argument(product->result()->type()));
      map.set(product->result(), sliced.back());
    }
    for (const auto& op : body_.ops())
      if (!leaves(*op)) ir::clone(in, *op, map);

    std::vector<std::size_t> kept;                        // of the old results, in the new order
    std::unordered_map<const Value*, std::size_t> stack;  // of the new results; looked up only
    for (std::size_t r = 0; r < body_.results.size(); ++r) {
      if (holds(r < parts_.carries ? sums_ : after_, r)) continue;
      if (r >= parts_.carries) stack.emplace(body_.results[r], lean.results.size());
      lean.results.push_back(map(body_.results[r]));
      kept.push_back(r);
    }
    for (Value* v : stacked_)
      if (stack.emplace(v, lean.results.size()).second) lean.results.push_back(map(v));
    drop_unread(lean, sliced, xs);
    const Values made = build_scan(b_, lean, carried, carries, sliced, xs,
                                   {.length = parts_.length, .reverse = parts_.reverse});

    Values out(body_.results.size(), nullptr);
    for (std::size_t i = 0; i < kept.size(); ++i) out[kept[i]] = made[i];
    auto all = [&](const Value* v) {
      return is_const(v) || is_slice(v) ? outside(v) : All{made[stack.at(v)], true};
    };
    for (const auto& [y, product] : after_)
      out[y] = of_all_turns(*product, {all(product->operand(0)), all(product->operand(1))});
    for (const auto& [c, product] : sums_)
      out[c] = sum(c, *product, all(product->operand(0)).value, all(product->operand(1)).value);
    return out;
  }

  static void drop_unread(Block& body, Values& sliced, Values& xs) {
    ir::remove_dead(body);
    const ir::Uses read(body);
    Values arguments, values;
    for (std::size_t i = 0; i < sliced.size(); ++i)
      if (read.count(sliced[i]) > 0) arguments.push_back(sliced[i]), values.push_back(xs[i]);
    sliced = std::move(arguments);
    xs = std::move(values);
  }

  /// The scan that adds up what a product of each iteration is.
  Value* sum(std::size_t carry, const Op& product, Value* left, Value* right) {
    Block body;
    Builder in(body);
    const Op& add = *body_.results[carry]->op();
    ir::ValueMap map;
    const Values carried{body.add_argument(add.result()->type())};
    Values sliced, xs;
    for (auto [operand, all] : {std::pair{product.operand(0), left}, {product.operand(1), right}}) {
      if (!sliced.empty() && xs.back() == all) continue;  // a product with itself
      sliced.push_back(body.add_argument(operand->type()));
      xs.push_back(all);
      map.set(operand, sliced.back());
    }
    map.set(body_.argument(static_cast<int>(parts_.consts + carry)), carried[0]);
    ir::clone(in, product, map);
    ir::clone(in, add, map);
    body.results = {map(add.result())};
    return build_scan(b_, body, carried, {op_.operands[parts_.consts + carry]}, sliced, xs,
                      {.length = parts_.length, .reverse = parts_.reverse})[0];
  }

  Builder& b_;
  const Op& op_;
  const op::ScanParts parts_;
  Block& body_;
  const ir::Uses uses_;
  std::vector<const Op*> before_;
  Moved sums_, after_;
  Values stacked_;
  std::int64_t stacked_bytes_ = 0;
};

}  // namespace

bool batch_dots_across_iterations(Block& block) {
  bool matrices = false;
  const bool turns = rewrite(block, [&](Builder& b, const Op& op) -> Values {
    if (!op::is_structured(op, op::Structured::Kind::scan)) return {};
    if (rewrite(op.region(0), read_matrices)) ir::remove_dead(op.region(0)), matrices = true;
    return AccumulatingScan::of(op) ? Values() : Turns(b, op).run();
  });
  return turns || matrices;
}

}  // namespace strata::pass
