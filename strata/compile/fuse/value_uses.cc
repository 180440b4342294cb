#include "strata/compile/fuse/value_uses.h"

#include <algorithm>

#include "strata/compile/kernel/dot/precompiled_gemm.h"
#include "strata/compile/kernel/reduce/combiner.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using op::is_reduction;

constexpr std::int64_t kSmall = 4096;  // elements

}  // namespace

bool is_stored_constant(const Op& op) {
  const Literal* literal = constant_literal(op);
  return literal && literal->count() > 1 && !literal->is_splat();
}
bool is_elemental(const Op& op) { return !is_stored_constant(op) && op::is_elemental(op); }
bool is_update(const Op& op) { return std::holds_alternative<op::Update>(op::def(op).lowering); }

std::int64_t count(const Value* v) { return v->shape().count(); }

bool is_small_array(const Value* v) { return v->type().is_tensor() && count(v) <= kSmall; }

bool is_small(const Op& op) {
  auto results = op.results();
  bool given = std::any_of(op.operands.begin(), op.operands.end(),
                           [](const Value* v) { return !v->op() || !constant_literal(*v->op()); });
  return given && std::all_of(op.operands.begin(), op.operands.end(), is_small_array) &&
         std::all_of(results.begin(), results.end(), is_small_array);
}

Uses::Uses(const ir::Block& block) : index(block) {
  for (const auto& op : block.ops()) {
    bool structured = !is_elemental(*op) && !op::is_interleaving(*op) && !is_reduction(*op) &&
                      !is_generated_gemm(*op) && !is_update(*op);
    for (std::size_t i = 0; i < op->operands.size(); ++i) {
      const Value* v = op->operands[i];
      if (structured || (is_update(*op) && static_cast<int>(i) < op->num_results()))
        stored.insert(v);
    }
    for (const auto& region : op->regions)
      for (const Value* v : ir::captures(*region)) stored.insert(v);
  }
  for (const Value* v : block.results) {
    stored.insert(v);
    if (v->op()) making_results.insert(v->op());
  }
}

}  // namespace strata::compile
