// How functions of lax.h on shapes and places are called.
#include <nlohmann/json.hpp>

#include "strata/api/golden.h"

namespace strata {
namespace {

#define STRATA_SCATTER(name)  \
  STRATA_GOLDEN("lax." #name, \
                lax::name(c.x(0), c.x(1), c.x(2), scatter_dims(c), scatter_options(c)))

lax::GatherScatterMode mode_of(const testing::Call& c, lax::GatherScatterMode otherwise) {
  using Mode = lax::GatherScatterMode;
  static const std::map<std::string, Mode> modes = {{"clip", Mode::CLIP},
                                                    {"fill", Mode::FILL_OR_DROP},
                                                    {"drop", Mode::FILL_OR_DROP},
                                                    {"promise_in_bounds", Mode::PROMISE_IN_BOUNDS}};
  return c.has("mode") ? modes.at(c.text("mode")) : otherwise;
}
lax::GatherDimensionNumbers gather_dims(const testing::Call& c) {
  return {.offset_dims = c.integers("offset_dims"),
          .collapsed_slice_dims = c.integers("collapsed_slice_dims"),
          .start_index_map = c.integers("start_index_map"),
          .operand_batching_dims = c.integers("operand_batching_dims"),
          .start_indices_batching_dims = c.integers("start_indices_batching_dims")};
}
lax::ScatterDimensionNumbers scatter_dims(const testing::Call& c) {
  return {.update_window_dims = c.integers("update_window_dims"),
          .inserted_window_dims = c.integers("inserted_window_dims"),
          .scatter_dims_to_operand_dims = c.integers("scatter_dims_to_operand_dims"),
          .operand_batching_dims = {},
          .scatter_indices_batching_dims = {}};
}
lax::GatherOptions gather_options(const testing::Call& c) {
  return {.unique_indices = c.flag("unique_indices"),
          .indices_are_sorted = c.flag("indices_are_sorted"),
          .mode = mode_of(c, lax::GatherOptions().mode),
          .fill_value = c.array("fill_value")};
}
lax::ScatterOptions scatter_options(const testing::Call& c) {
  return {.mode = mode_of(c, lax::ScatterOptions().mode)};
}
std::vector<lax::Padding> paddings(const testing::Call& c) {
  std::vector<lax::Padding> out;
  for (const auto& p : c.option("padding_config")) out.push_back({p[0], p[1], p[2]});
  return out;
}
std::vector<Sizes> shapes(const testing::Call& c) {
  std::vector<Sizes> out;
  for (const auto& s : c.option("shapes")) out.emplace_back(s.get<std::vector<std::int64_t>>());
  return out;
}
Array as_array(const std::vector<std::int64_t>& sizes) { return lax::shape_as_value(sizes); }

STRATA_GOLDEN("lax.reshape",
              lax::reshape(c.x(0), c.integers("new_sizes"), c.integers("dimensions")));
STRATA_GOLDEN("lax.transpose", lax::transpose(c.x(0), c.integers("permutation")));
STRATA_GOLDEN("lax.expand_dims", lax::expand_dims(c.x(0), c.integers("dimensions")));
STRATA_GOLDEN("lax.squeeze", lax::squeeze(c.x(0), c.integers("dimensions")));
STRATA_GOLDEN("lax.collapse",
              lax::collapse(c.x(0), c.integer("start_dimension"), c.maybe("stop_dimension")));
STRATA_GOLDEN("lax.tile", lax::tile(c.x(0), c.integers("reps")));
STRATA_GOLDEN("lax.concatenate", lax::concatenate(c.all(), c.integer("dimension")));
STRATA_GOLDEN("lax.stack", lax::stack(c.all(), c.integer("axis")));
STRATA_GOLDEN("lax.split", lax::split(c.x(0), c.integers("sizes"), c.integer("axis")));
STRATA_GOLDEN("lax.unstack", lax::unstack(c.x(0), c.integer("axis")));
STRATA_GOLDEN("lax.broadcast", lax::broadcast(c.x(0), c.integers("sizes")));
STRATA_GOLDEN("lax.broadcast_like", lax::broadcast_like(c.x(0), c.x(1)));
STRATA_GOLDEN("lax.broadcast_to_rank", lax::broadcast_to_rank(c.x(0), c.integer("rank")));
STRATA_GOLDEN("lax.broadcast_shapes", as_array(lax::broadcast_shapes(shapes(c))));
STRATA_GOLDEN("lax.full", lax::full(c.integers("shape"), *c.operand("fill_value"), c.dtype()));
STRATA_GOLDEN("lax.full_like",
              lax::full_like(c.x(0), *c.operand("fill_value"), c.dtype(),
                             c.has("shape") ? std::optional<Sizes>(c.integers("shape"))
                                            : std::nullopt));
STRATA_GOLDEN("lax.empty", lax::empty(c.integers("shape"), *c.dtype()));
STRATA_GOLDEN("lax.shape_as_value", lax::shape_as_value(c.integers("shape")));
STRATA_GOLDEN("lax.index_in_dim", lax::index_in_dim(c.x(0), c.integer("index"), c.integer("axis"),
                                                    c.flag("keepdims", true)));
STRATA_GOLDEN("lax.index_take", lax::index_take(c.x(0), c.from(1), c.integers("axes")));
STRATA_GOLDEN("lax.select_n", lax::select_n(c.x(0), c.from(1)));
STRATA_GOLDEN("lax.select", lax::select(c.x(0), c.x(1), c.x(2)));
STRATA_GOLDEN("lax.clamp", lax::clamp(c.x(0), c.x(1), c.x(2)));
STRATA_GOLDEN("lax.slice", lax::slice(c.x(0), c.integers("start_indices"),
                                      c.integers("limit_indices"), c.integers("strides")));
STRATA_GOLDEN("lax.slice_in_dim",
              lax::slice_in_dim(c.x(0), c.maybe("start_index"), c.maybe("limit_index"),
                                c.integer("stride", 1), c.integer("axis")));
STRATA_GOLDEN("lax.pad", lax::pad(c.x(0), c.x(1), paddings(c)));
STRATA_GOLDEN("lax.broadcast_in_dim", lax::broadcast_in_dim(c.x(0), c.integers("shape"),
                                                            c.integers("broadcast_dimensions")));
STRATA_GOLDEN("lax.iota", lax::iota(*c.dtype(), c.integer("size")));
STRATA_GOLDEN("lax.broadcasted_iota",
              lax::broadcasted_iota(*c.dtype(), c.integers("shape"), c.integer("dimension")));
STRATA_GOLDEN("lax.rev", lax::rev(c.x(0), c.integers("dimensions")));
STRATA_GOLDEN("lax.convert_element_type", lax::convert_element_type(c.x(0), *c.dtype("new_dtype")));
STRATA_GOLDEN("lax.bitcast_convert_type", lax::bitcast_convert_type(c.x(0), *c.dtype("new_dtype")));
STRATA_GOLDEN("lax.dynamic_slice",
              lax::dynamic_slice(c.x(0), c.from(1), c.integers("slice_sizes")));
STRATA_GOLDEN("lax.dynamic_slice_in_dim",
              lax::dynamic_slice_in_dim(c.x(0), c.x(1), c.integer("slice_size"),
                                        c.integer("axis")));
STRATA_GOLDEN("lax.dynamic_index_in_dim",
              lax::dynamic_index_in_dim(c.x(0), c.x(1), c.integer("axis"),
                                        c.flag("keepdims", true)));
STRATA_GOLDEN("lax.dynamic_update_slice", lax::dynamic_update_slice(c.x(0), c.x(1), c.from(2)));
STRATA_GOLDEN("lax.dynamic_update_slice_in_dim",
              lax::dynamic_update_slice_in_dim(c.x(0), c.x(1), c.x(2), c.integer("axis")));
STRATA_GOLDEN("lax.dynamic_update_index_in_dim",
              lax::dynamic_update_index_in_dim(c.x(0), c.x(1), c.x(2), c.integer("axis")));
STRATA_GOLDEN("lax.stop_gradient", lax::stop_gradient(c.x(0)));
STRATA_GOLDEN("lax.stage", lax::stage(c.x(0)));
STRATA_GOLDEN("lax.optimization_barrier", lax::optimization_barrier(c.all()));
STRATA_GOLDEN("lax.dtype", zeros({}, lax::dtype(c.x(0))));
STRATA_GOLDEN("lax.gather", lax::gather(c.x(0), c.x(1), gather_dims(c), c.integers("slice_sizes"),
                                        gather_options(c)));
STRATA_SCATTER(scatter);
STRATA_SCATTER(scatter_add);
STRATA_SCATTER(scatter_sub);
STRATA_SCATTER(scatter_mul);
STRATA_SCATTER(scatter_min);
STRATA_SCATTER(scatter_max);
STRATA_GOLDEN("lax.scatter_apply",
              lax::scatter_apply(
                  c.x(0), c.x(1), [](const Array& x) { return x * x + x; }, scatter_dims(c),
                  c.integers("update_shape"), scatter_options(c)));

}  // namespace
}  // namespace strata
