#include "strata/api/transform/batched_program.h"

#include "strata/api/sharding/explicit_types.h"

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

Mapped split_types(std::span<const Array> leaves,
                   const std::vector<std::optional<std::int64_t>>& axes,
                   const VmapOptions& options) {
  Mapped out;
  out.size = options.axis_size.value_or(-1);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!axes[i]) {
      out.types.push_back(leaves[i].type());
      out.axes.push_back(std::nullopt);
      continue;
    }
    if (leaves[i].ndim() == 0)
      fail("vmap", "leaf {} of the arguments is a scalar and has no axis {}; map it with none", i,
           *axes[i]);
    const int axis = axis_of("vmap", *axes[i], leaves[i].ndim());
    std::vector<Dim> dims = leaves[i].shape().dims();
    const std::int64_t size = dims[static_cast<std::size_t>(axis)].size();
    if (out.size >= 0 && size != out.size)
      fail("vmap", "mapped axes have different sizes: {} and {} (leaf {} is {})", out.size, size, i,
           describe(leaves[i].type()));
    out.size = size;
    dims.erase(dims.begin() + axis);
    out.types.push_back(leaves[i].type().with(Shape(std::move(dims))));
    out.axes.push_back(axis);
  }
  if (out.size < 0) fail("vmap", "no argument is mapped and axis_size is not given");
  dropped_axes(out.axes);
  return out;
}

std::vector<Array> vmap(const Program& program, std::span<const Array> leaves, const Mapped& mapped,
                        const VmapOptions& options) {
  const std::vector<Array> operands =
      joined(std::vector<Array>(leaves.begin(), leaves.end()), program.captured);
  check_out_axes(options, program.block->results.size());
  expect_not_within(*program.block, leaves, mapped.axes);
  return emit(
      operands,
      [&](Builder& b, const Values& v) {
        // Without a name there is nobody who could ask for the place.
        const op::Batched r = batch_program(b, program, v, mapped, !options.axis_name.empty());
        Values out;
        for (std::size_t i = 0; i < r.results.size(); ++i)
          out.push_back(
              at_out_axis(b, r.results[i], r.batched[i], out_axis(options, i), mapped.size));
        return out;
      },
      program.weak);
}

}  // namespace strata::internal
