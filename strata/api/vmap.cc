#include "strata/api/vmap.h"

#include "strata/api/batched_program.h"
#include "strata/api/explicit_types.h"

namespace strata::internal {

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
