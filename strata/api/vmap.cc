#include "strata/api/vmap.h"

#include "strata/api/compose.h"
#include "strata/op/calculus/batch.h"

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
  return out;
}

std::vector<Array> vmap(const Program& program, std::span<const Array> leaves, const Mapped& mapped,
                        const VmapOptions& options) {
  const std::vector<Array> operands =
      joined(std::vector<Array>(leaves.begin(), leaves.end()), program.captured);
  const std::size_t results = program.block->results.size();
  if (options.out_axes.size() > 1 && options.out_axes.size() != results)
    fail("vmap", "out_axes has {} entries for {} leaves of the result", options.out_axes.size(),
         results);
  return emit(
      operands,
      [&](Builder& b, const Values& v) {
        // Without a name there is nobody who could ask for the place.
        Values inputs = {
            options.axis_name.empty() ? nullptr : op::iota(b, Type(DType::i32, {mapped.size}), 0)};
        std::vector<bool> batched = {true};
        for (std::size_t i = 0; i < v.size(); ++i) {
          batched.push_back(i < mapped.axes.size() && mapped.axes[i]);
          inputs.push_back(batched.back() ? op::move_dim(b, v[i], *mapped.axes[i], 0) : v[i]);
        }
        const op::Batched r = op::batch(b, *program.block, inputs, batched, mapped.size);
        Values out;
        for (std::size_t i = 0; i < r.results.size(); ++i) {
          Value* value =
              r.batched[i] ? r.results[i] : op::broadcast_leading(b, r.results[i], mapped.size);
          const std::int64_t axis =
              options.out_axes.empty() ? 0 : options.out_axes[options.out_axes.size() == 1 ? 0 : i];
          out.push_back(op::move_dim(b, value, 0, axis_of("vmap", axis, value->rank())));
        }
        return out;
      },
      program.weak);
}

}  // namespace strata::internal
