#include "strata/compile/kernel/custom_kernel.h"

namespace strata::compile {

Built build_custom_kernel(const ir::Op& op, const Fusion& fusion) {
  const auto& whole = std::get<op::CustomKernel>(op::def(op).lowering);
  Built out;
  std::int64_t grid = whole.grid(op);
  if (grid <= 0) return out;
  BuiltKernel built;
  built.kernel =
      std::make_unique<loop::Kernel>(std::string(op.name().substr(op.name().find('.') + 1)));
  built.kernel->grid = grid;
  {
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion, built);
    std::vector<loop::Ref*> operands, results;
    for (const ir::Value* v : op.operands) operands.push_back(context.input(v));
    for (const ir::Value* v : op.results()) results.push_back(context.output(v));
    whole.emit(context, op, operands, results, b.grid());
  }
  built.parallel =
      grid > 1 && op::def(op).cost(op).flops + op::def(op).cost(op).bytes > kInlineWork;
  out.kernels.push_back(std::move(built));
  return out;
}

}  // namespace strata::compile
