#include "strata/pass/loop/build_scan.h"

#include <algorithm>
#include <unordered_set>

#include "strata/op/def.h"

namespace strata::pass {
namespace {

/// A constant that is code wherever it stands.
bool is_splat_constant(const ir::Value* v) {
  const ir::Attr* value = v->op() && v->op()->operands.empty() && v->op()->num_results() == 1
                              ? v->op()->attrs.find("value")
                              : nullptr;
  const Literal* literal = value ? std::get_if<Literal>(value) : nullptr;
  return literal && literal->is_splat();
}

/// Whether only kernels that compute it where they read it ask for the value.
bool is_computed_by_readers(const ir::Block& body, const ir::Value* v) {
  bool all = std::find(body.results.begin(), body.results.end(), v) == body.results.end();
  ir::walk(body, [&](const ir::Op& op) {
    for (const auto& region : op.regions)
      all &= std::find(region->results.begin(), region->results.end(), v) == region->results.end();
    if (std::find(op.operands.begin(), op.operands.end(), v) == op.operands.end()) return;
    const auto& lowering = op::def(op).lowering;
    all &= std::holds_alternative<op::Elementwise>(lowering) ||
           std::holds_alternative<op::Reduction (*)(const ir::Op&)>(lowering);
  });
  return all;
}

/// Few elements spread over many: who reads the few instead reads less.
bool is_spread(const ir::Value* v) {
  constexpr std::int64_t kMany = 8;
  const ir::Op* op = v->op();
  if (!op || op->operands.size() != 1 || op->num_results() != 1 || !op->regions.empty() ||
      !op::def(*op).traits.moves_only)
    return false;
  const ir::Value* from = op->operand(0);
  if (!from->type().is_tensor() || !v->type().is_tensor() || !from->shape().is_static() ||
      !v->shape().is_static())
    return false;
  return from->shape().count() * kMany <= v->shape().count();
}

/// What a body uses from outside: what becomes consts, and what it computes for itself, in order.
struct Outside {
  ir::Values consts, copied;
  std::unordered_set<const ir::Value*> seen;

  void take(const ir::Block& body, ir::Value* v) {
    if (!seen.insert(v).second) return;
    if (is_splat_constant(v)) return copied.push_back(v);
    if (!is_spread(v) || !is_computed_by_readers(body, v)) return consts.push_back(v);
    take(body, v->op()->operand(0));
    copied.push_back(v);
  }
};

}  // namespace

ir::Values build_scan(ir::Builder& b, const ir::Block& body, const ir::Values& carried,
                      const ir::Values& carries, const ir::Values& sliced, const ir::Values& xs,
                      op::ScanOptions options) {
  auto isolated = std::make_unique<ir::Block>();
  ir::Builder in(*isolated);
  ir::ValueMap map;
  Outside outside;
  for (ir::Value* v : ir::captures(body)) outside.take(body, v);
  const ir::Values& consts = outside.consts;
  for (const ir::Values* arguments : {&consts, &carried, &sliced})
    for (const ir::Value* v : *arguments) map.set(v, isolated->add_argument(v->type(), v->hint()));
  for (const ir::Value* v : outside.copied) ir::clone(in, *v->op(), map);
  for (const auto& op : body.ops()) ir::clone(in, *op, map);
  isolated->results = map(body.results);
  return op::scan(b, std::move(isolated), consts, carries, xs, options);
}

}  // namespace strata::pass
