#include "strata/op/calculus/jvp.h"

#include "strata/op/calculus/closed.h"
#include "strata/op/calculus/support.h"

namespace strata::op {
namespace {

Values tangents_of(const Op& op, const ir::ValueMap& tangents) {
  Values out;
  for (Value* v : op.operands) out.push_back(tangents.find(v));
  return out;
}

void jvp_op(Builder& b, const Op& op, ir::ValueMap& primals, ir::ValueMap& tangents) {
  Closed closed(op);
  Values ts = tangents_of(closed.op(), tangents);
  if (!any(present(ts)) || !may_have_tangents(op)) {
    ir::clone(b, op, primals);
    return;
  }
  JvpResult r = apply_jvp(b, closed.op(), primals(closed.op().operands), ts);
  for (int i = 0; i < op.num_results(); ++i) {
    primals.set(op.result(i), r.results[static_cast<std::size_t>(i)]);
    if (Value* t = r.tangents[static_cast<std::size_t>(i)]) tangents.set(op.result(i), t);
  }
}

}  // namespace

JvpResult jvp(Builder& b, const Block& f, std::span<Value* const> operands,
              std::span<Value* const> tangents, ir::ValueMap outer) {
  STRATA_CHECK(
      static_cast<int>(operands.size()) == f.num_arguments() && operands.size() == tangents.size(),
      "{} operands and {} tangents for a block of {} arguments", operands.size(), tangents.size(),
      f.num_arguments());
  ir::ValueMap tangent_of;
  for (int i = 0; i < f.num_arguments(); ++i) {
    outer.set(f.argument(i), operands[static_cast<std::size_t>(i)]);
    if (Value* t = tangents[static_cast<std::size_t>(i)]; t && is_differentiable(t->type()))
      tangent_of.set(f.argument(i), t);
  }
  for (const auto& op : f.ops()) jvp_op(b, *op, outer, tangent_of);
  JvpResult out{outer(f.results), {}};
  for (Value* v : f.results) out.tangents.push_back(tangent_of.find(v));
  return out;
}

JvpBlock jvp(const Block& f, const std::vector<bool>& active, const std::vector<bool>& required) {
  STRATA_CHECK(static_cast<int>(active.size()) == f.num_arguments(), "{} flags for {} arguments",
               active.size(), f.num_arguments());
  JvpBlock out{std::make_unique<Block>(), {}};
  Values primals, tangents;
  for (const auto& a : f.arguments())
    primals.push_back(out.block->add_argument(a->type(), a->hint()));
  for (int i = 0; i < f.num_arguments(); ++i)
    tangents.push_back(active[static_cast<std::size_t>(i)]
                           ? out.block->add_argument(f.argument(i)->type())
                           : nullptr);
  Builder b(*out.block);
  JvpResult r = jvp(b, f, primals, tangents);
  out.active = either(present(r.tangents), required);
  for (std::size_t i = 0; i < out.active.size(); ++i)
    if (out.active[i]) r.tangents[i] = or_zeros(b, r.tangents[i], r.results[i]->type());
  out.block->results = joined(r.results, filter(r.tangents, out.active));
  ir::remove_dead(*out.block);
  return out;
}

std::vector<bool> active_results(const Block& f, const std::vector<bool>& active) {
  return jvp(f, active).active;
}

}  // namespace strata::op
