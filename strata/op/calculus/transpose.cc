#include "strata/op/calculus/transpose.h"

#include <unordered_map>

#include "strata/op/build.h"
#include "strata/op/calculus/closed.h"
#include "strata/op/calculus/support.h"

namespace strata::op {
namespace {

using Set = std::unordered_set<const Value*>;

Set linear_arguments(const Block& f, const std::vector<bool>& linear) {
  Set out;
  STRATA_CHECK(static_cast<int>(linear.size()) == f.num_arguments(), "{} flags for {} arguments",
               linear.size(), f.num_arguments());
  for (int i = 0; i < f.num_arguments(); ++i)
    if (linear[static_cast<std::size_t>(i)]) out.insert(f.argument(i));
  return out;
}

void add_results(const Op& op, Set& set) {
  for (int i = 0; i < op.num_results(); ++i) set.insert(op.result(i));
}

// Cotangents gathered so far. Looked up only.
class Cotangents {
 public:
  explicit Cotangents(Builder& b) : b_(b) {}
  void add(const Value* v, Value* cotangent) {
    if (!cotangent) return;
    Value*& sum = of_[v];
    sum = sum ? op::add(b_, sum, cotangent) : cotangent;
  }
  Value* of(const Value* v) const {
    auto it = of_.find(v);
    return it == of_.end() ? nullptr : it->second;
  }

 private:
  Builder& b_;
  std::unordered_map<const Value*, Value*> of_;
};

void transpose_op(Builder& b, const Op& op, const Set& dependent, const ir::ValueMap& known,
                  Cotangents& cotangents) {
  Values results;
  for (Value* v : op.results()) results.push_back(cotangents.of(v));
  if (!any(present(results))) return;
  Closed closed(op);
  Values operands;
  std::vector<bool> linear;
  for (Value* v : closed.op().operands) {
    linear.push_back(dependent.count(v) != 0);
    operands.push_back(linear.back() ? nullptr : known(v));
  }
  At at(b, op);
  Values out = apply_transpose(b, closed.op(), operands, linear, results);
  for (std::size_t i = 0; i < linear.size(); ++i)
    if (linear[i]) cotangents.add(closed.op().operands[i], out[i]);
}

}  // namespace

Values transpose(Builder& b, const Block& f, std::span<Value* const> operands,
                 const std::vector<bool>& linear, std::span<Value* const> cotangents,
                 ir::ValueMap outer) {
  STRATA_CHECK(cotangents.size() == f.results.size(), "{} cotangents for {} results",
               cotangents.size(), f.results.size());
  Set dependent = linear_arguments(f, linear);
  for (int i = 0; i < f.num_arguments(); ++i)
    if (!linear[static_cast<std::size_t>(i)])
      outer.set(f.argument(i), operands[static_cast<std::size_t>(i)]);
  std::vector<const Op*> order;
  for (const auto& op : f.ops()) {
    if (uses_any(*op, dependent)) {
      add_results(*op, dependent);
      order.push_back(op.get());
    } else {
      ir::clone(b, *op, outer);
    }
  }
  Cotangents sums(b);
  for (std::size_t i = 0; i < cotangents.size(); ++i)
    if (dependent.count(f.results[i])) sums.add(f.results[i], cotangents[i]);
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    transpose_op(b, **it, dependent, outer, sums);
  Values out;
  for (int i = 0; i < f.num_arguments(); ++i)
    out.push_back(linear[static_cast<std::size_t>(i)] ? sums.of(f.argument(i)) : nullptr);
  return out;
}

Values transpose(Builder& b, const Block& f, std::span<Value* const> cotangents,
                 ir::ValueMap outer) {
  std::size_t n = static_cast<std::size_t>(f.num_arguments());
  return transpose(b, f, Values(n, nullptr), std::vector<bool>(n, true), cotangents,
                   std::move(outer));
}

std::vector<bool> dependent_results(const Block& f, const std::vector<bool>& linear) {
  Set dependent = linear_arguments(f, linear);
  for (const auto& op : f.ops())
    if (uses_any(*op, dependent)) add_results(*op, dependent);
  std::vector<bool> out;
  for (Value* v : f.results) out.push_back(dependent.count(v) != 0);
  return out;
}

}  // namespace strata::op
