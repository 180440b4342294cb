#include "strata/transform/support.h"

#include "strata/base/error.h"
#include "strata/op/calculus/support.h"
#include "strata/op/catalog.h"

namespace strata::transform {

std::vector<bool> inexact(std::span<ir::Value* const> values) {
  std::vector<bool> out;
  for (ir::Value* v : values) out.push_back(op::is_differentiable(v->type()));
  return out;
}

void check_forward(const ir::Block& block) {
  ir::walk(block, [](const ir::Op& op) {
    if (&op.info() == &op::custom_vjp_linear_def().info)
      throw Error("jvp",
                  "forward-mode differentiation does not work for a function with custom_vjp")
          .at(op.where.text());
  });
}

ir::Values add_arguments_of(ir::Block& to, const ir::Block& f) {
  ir::Values out;
  for (const auto& a : f.arguments()) out.push_back(to.add_argument(a->type(), a->hint()));
  return out;
}

void check_flags(const char* transform, const char* what, std::size_t flags, std::size_t values) {
  if (flags != values) throw Error(transform, "{} flags for {} {}", flags, values, what);
}

}  // namespace strata::transform
