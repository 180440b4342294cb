#include "strata/op/calculus/support.h"

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/constrained.h"

namespace strata::op {
namespace {

// Runs a rule; an error without a place gets the operation's.
template <class F>
auto located(Builder& b, const Op& op, F&& rule) {
  At at(b, op);
  try {
    return rule();
  } catch (Error& e) {
    throw e.at(op.where.text());
  }
}

[[noreturn]] void missing(const Op& op, const char* what, const char* reason) {
  throw Error(op.name(), "{}: {}", what, reason).at(op.where.text());
}

}  // namespace

bool may_have_tangents(const Op& op) {
  if (op.info().has_effect) return true;
  for (int i = 0; i < op.num_results(); ++i)
    if (is_differentiable(op.result(i)->type())) return true;
  return false;
}

JvpResult apply_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                    std::span<Value* const> tangents) {
  const OpDef& d = def(op);
  if (!d.jvp) missing(op, "has no forward derivative", d.jvp.reason());
  JvpResult r = located(b, op, [&] { return (*d.jvp)(b, op, operands, tangents); });
  STRATA_CHECK(static_cast<int>(r.results.size()) == op.num_results() &&
                   r.tangents.size() == r.results.size(),
               "jvp of {} gave {} results and {} tangents", op.name(), r.results.size(),
               r.tangents.size());
  for (std::size_t i = 0; i < r.tangents.size(); ++i)
    STRATA_CHECK(!r.tangents[i] || r.tangents[i]->type() == r.results[i]->type(),
                 "jvp of {}: tangent {} for {}", op.name(), r.tangents[i]->type().to_string(),
                 r.results[i]->type().to_string());
  return r;
}

Values apply_transpose(Builder& b, const Op& op, std::span<Value* const> operands,
                       const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  const OpDef& d = def(op);
  if (!d.transpose) missing(op, "cannot be transposed", d.transpose.reason());
  Values r = located(b, op, [&] { return (*d.transpose)(b, op, operands, linear, cotangents); });
  STRATA_CHECK(r.size() == op.operands.size(), "transpose of {} gave {} cotangents for {} operands",
               op.name(), r.size(), op.operands.size());
  for (std::size_t i = 0; i < r.size(); ++i)
    STRATA_CHECK(!r[i] || r[i]->type() == op.operands[i]->type(),
                 "transpose of {}: cotangent {} for {}", op.name(), r[i]->type().to_string(),
                 op.operands[i]->type().to_string());
  return r;
}

Batched apply_batch(Builder& b, const Op& op, std::span<Value* const> operands,
                    const std::vector<bool>& batched, std::int64_t size) {
  const OpDef& d = def(op);
  if (!d.batch) missing(op, "cannot be batched", d.batch.reason());
  Batched r = located(b, op, [&] { return (*d.batch)(b, op, operands, batched, size); });
  STRATA_CHECK(static_cast<int>(r.results.size()) == op.num_results() &&
                   r.batched.size() == r.results.size(),
               "batching {} gave {} results and {} flags", op.name(), r.results.size(),
               r.batched.size());
  return r;
}

bool uses_any(const Op& op, const std::unordered_set<const Value*>& values) {
  for (Value* v : op.operands)
    if (values.count(v)) return true;
  if (op.info().isolated) return false;
  for (const auto& region : op.regions)
    for (Value* v : ir::captures(*region))
      if (values.count(v)) return true;
  return false;
}

Value* or_zeros(Builder& b, Value* v, const Type& type) { return v ? v : zeros(b, type); }

std::vector<bool> present(std::span<Value* const> values) {
  std::vector<bool> out;
  for (Value* v : values) out.push_back(v != nullptr);
  return out;
}

bool any(const std::vector<bool>& flags) {
  for (bool f : flags)
    if (f) return true;
  return false;
}

std::vector<bool> either(std::vector<bool> a, const std::vector<bool>& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  STRATA_CHECK(a.size() == b.size(), "{} and {} flags", a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] || b[i];
  return a;
}

Values spread(std::span<Value* const> values, const std::vector<bool>& where) {
  Values out(where.size(), nullptr);
  std::size_t next = 0;
  for (std::size_t i = 0; i < where.size(); ++i)
    if (where[i]) out[i] = values[next++];
  STRATA_CHECK(next == values.size(), "{} values for {} places", values.size(), next);
  return out;
}

void reorder_arguments(Block& block, const std::vector<int>& order) {
  std::vector<bool> keep(static_cast<std::size_t>(block.num_arguments()), false);
  ir::ValueMap map;
  for (int from : order) {
    const Value* old = block.argument(from);
    map.set(old, block.add_argument(old->type(), old->hint()));
    keep.push_back(true);
  }
  ir::replace_uses(block, map);
  block.filter_arguments(keep);
}

std::vector<bool> used_arguments(const Block& block) {
  std::unordered_set<const Value*> used(block.results.begin(), block.results.end());
  ir::walk(block, [&](const Op& op) {
    used.insert(op.operands.begin(), op.operands.end());
    for (const auto& region : op.regions)
      used.insert(region->results.begin(), region->results.end());
  });
  std::vector<bool> out;
  for (const auto& a : block.arguments()) out.push_back(used.count(a.get()) != 0);
  return out;
}

Work cost_of(const Block& block) {
  Work total;
  for (const auto& op : block.ops()) {
    Work w = def(*op).cost(*op);
    total.flops += w.flops;
    total.bytes += w.bytes;
  }
  return total;
}

std::vector<Type> types_of(std::span<Value* const> values) {
  std::vector<Type> out;
  for (Value* v : values) out.push_back(v->type());
  return out;
}

void expect_types(const char* op, const char* what, const std::vector<Type>& given,
                  const std::vector<Type>& expected) {
  const Constrained c(what);
  if (given.size() != expected.size())
    throw Error(op, "{}: {} for {}{}", c.what, given.size(), expected.size(), c.number);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i] != expected[i])
      throw Error(op, "{} {}: {} for {}{}", c.what, i, given[i].to_string(),
                  expected[i].to_string(), c.number);
}

}  // namespace strata::op
