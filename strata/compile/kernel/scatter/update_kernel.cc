#include "strata/compile/kernel/scatter/update_kernel.h"

namespace strata::compile {

Built build_update(const ir::Op& op, const Fusion& fusion) {
  const auto& update = std::get<op::Update>(op::def(op).lowering);
  Built out;
  std::int64_t grid = update.grid(op);
  if (grid <= 0 || op.result()->shape().count() == 0) return out;
  BuiltKernel built;
  built.kernel = std::make_unique<loop::Kernel>("update");
  built.kernel->grid = grid;
  {
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion, built);
    std::vector<loop::Ref*> targets;
    for (const ir::Value* v : op.results()) targets.push_back(context.output(v));
    update.emit(context, op, targets, b.grid());
  }
  double elements = 0;
  for (std::size_t i = op.results().size(); i < op.operands.size(); ++i)
    elements += static_cast<double>(op.operands[i]->shape().count());
  built.parallel = grid > 1 && elements > kInlineWork;
  out.kernels.push_back(std::move(built));
  return out;
}

}  // namespace strata::compile
