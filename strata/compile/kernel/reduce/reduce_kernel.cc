#include "strata/compile/kernel/reduce/reduce_kernel.h"

#include "strata/compile/kernel/reduce/arg_min_max.h"
#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/compile/kernel/reduce/reduce_columns.h"
#include "strata/compile/kernel/reduce/reduce_region.h"
#include "strata/compile/kernel/reduce/reduce_rows.h"
#include "strata/compile/kernel/reduce/reduce_strided_rows.h"
#include "strata/compile/kernel/reduce/reduce_transposed.h"
#include "strata/compile/kernel/reduce/reductions.h"

namespace strata::compile {
namespace {

/// Of no elements: what the reductions begin with.
class Nothing : public Reductions {
 public:
  using Reductions::Reductions;

  Built build() {
    BuiltKernel& built = kernel("reduce_none");
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    for (const Reduced& r : all_) {
      Inst* value = r.finish(context, r.neutral_element(b));
      b.vector(0, r.result()->shape().count(), 16,
               [&](Index j) { b.store(context.output(r.result()), j, value); });
    }
    return std::move(out_);
  }
};

}  // namespace

Built build_reductions(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size) {
  const ir::Op& op = *ops.front();
  const op::Reduction reduction = reduction_of(op);
  if (op.result()->shape().count() == 0) return {};
  if (reduction.combiner == op::Combiner::region) {
    if (std::optional<Built> out = build_arg_min_max(ops, fusion, any_size)) return std::move(*out);
    return reduce_region(ops, fusion, any_size);
  }
  if (ReduceSplit(op, reduction.dims).reduced() == 0) return Nothing(ops, fusion, any_size).build();
  const bool along = op::reduce_order(op.operand(0)->type(), reduction.dims).lanes > 1;
  if (!along) {
    if (std::optional<Built> turned = reduce_transposed(ops, fusion, any_size))
      return std::move(*turned);
    return reduce_columns(ops, fusion, any_size);
  }
  if (std::optional<Built> lines = reduce_strided_rows(ops, fusion, any_size))
    return std::move(*lines);
  return reduce_rows(ops, fusion, any_size);
}

}  // namespace strata::compile
