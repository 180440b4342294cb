#include "strata/api/batched_program.h"

namespace strata::internal {

op::Batched batch_program(Builder& b, const Program& program, const Values& operands,
                          const Mapped& mapped, bool has_place) {
  Values inputs = {has_place ? op::iota(b, Type(DType::i32, {mapped.size}), 0) : nullptr};
  std::vector<bool> batched = {true};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    batched.push_back(i < mapped.axes.size() && mapped.axes[i]);
    inputs.push_back(batched.back() ? op::move_dim(b, operands[i], *mapped.axes[i], 0)
                                    : operands[i]);
  }
  return op::batch(b, *program.block, inputs, batched, mapped.size);
}

Value* at_out_axis(Builder& b, Value* value, bool batched, std::int64_t axis, std::int64_t size) {
  if (!batched) value = op::broadcast_leading(b, value, size);
  return op::move_dim(b, value, 0, axis_of("vmap", axis, value->rank()));
}

std::int64_t out_axis(const VmapOptions& options, std::size_t i) {
  if (options.out_axes.empty()) return 0;
  return options.out_axes[options.out_axes.size() == 1 ? 0 : i];
}

void check_out_axes(const VmapOptions& options, std::size_t results) {
  if (options.out_axes.size() > 1 && options.out_axes.size() != results)
    fail("vmap", "out_axes has {} entries for {} leaves of the result", options.out_axes.size(),
         results);
}

}  // namespace strata::internal
