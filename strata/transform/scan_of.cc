#include "strata/transform/scan_of.h"

namespace strata::transform {
namespace {

/// A constant that is code wherever it stands.
bool is_splat_constant(const ir::Value* v) {
  const ir::Attr* value = v->op() && v->op()->operands.empty() && v->op()->num_results() == 1 ? v->op()->attrs.find("value") : nullptr;
  const Literal* literal = value ? std::get_if<Literal>(value) : nullptr;
  return literal && literal->is_splat();
}

}  // namespace

ir::Values scan_of(ir::Builder& b, const ir::Block& body, const ir::Values& carried, const ir::Values& carries, const ir::Values& sliced,
                   const ir::Values& xs, op::ScanOptions options) {
  auto isolated = std::make_unique<ir::Block>();
  ir::Builder in(*isolated);
  ir::ValueMap map;
  ir::Values consts, copied;
  for (ir::Value* v : ir::captures(body)) (is_splat_constant(v) ? copied : consts).push_back(v);
  for (const ir::Values* arguments : {static_cast<const ir::Values*>(&consts), &carried, &sliced})
    for (const ir::Value* v : *arguments) map.set(v, isolated->add_argument(v->type(), v->hint()));
  for (const ir::Value* v : copied) ir::clone(in, *v->op(), map);
  for (const auto& op : body.ops()) ir::clone(in, *op, map);
  isolated->results = map(body.results);
  return op::scan(b, std::move(isolated), consts, carries, xs, options);
}

}  // namespace strata::transform
