#include "strata/partition/local.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "strata/op/reduce/combiner.h"
#include "strata/op/rules.h"
#include "strata/partition/op_name.h"

namespace strata::spmd {
namespace {

using ir::Ints;
using op::Op;

/// Sizes of `dims` of an attribute as those of the parts of operand or result type `type`.
Ints local_sizes(const Ints& whole, const Grid& grid, const std::vector<std::vector<int>>& dims,
                 const Cut& cut) {
  Layout layout = cut.layout(dims);
  Ints out = whole;
  for (std::size_t d = 0; d < out.size() && d < layout.dims.size(); ++d) {
    std::int64_t k = grid.product(layout.dims[d]);
    out[d] = (out[d] + k - 1) / k;
  }
  return out;
}

}  // namespace

Layout Cut::layout(const std::vector<std::vector<int>>& dims) const {
  Layout out = Layout::whole(static_cast<int>(dims.size()));
  for (std::size_t d = 0; d < dims.size(); ++d)
    for (int f : dims[d]) {
      const Axes& more = axes[static_cast<std::size_t>(f)];
      out.dims[d].insert(out.dims[d].end(), more.begin(), more.end());
    }
  return out;
}
bool Cut::is_whole() const {
  return std::all_of(axes.begin(), axes.end(), [](const Axes& a) { return a.empty(); });
}

bool is_local(const Op& op) {
  return op::def(op).shard &&
         !is_one_of(op.name(), {"stablehlo.rng", "stablehlo.rng_bit_generator", "stablehlo.iota",
                                "stablehlo.constant", "stablehlo.dynamic_iota"});
}

bool needs_more_than_one(const Op& op) {
  return is_one_of(op.name(), {"stablehlo.reduce", "stablehlo.reduce_window", "strata.cumulative",
                               "stablehlo.batch_norm_training", "stablehlo.batch_norm_grad",
                               "stablehlo.batch_norm_inference"});
}

std::optional<op::Combiner> combiner_of_parts(const Op& op, bool exact) {
  std::optional<op::Combiner> out;
  if (is_one_of(op.name(), {"stablehlo.dot_general", "stablehlo.dot"}))
    out = op::Combiner::add;
  else if (op.name() == "stablehlo.convolution" &&
           op.attr<std::int64_t>("feature_group_count") == 1 &&
           op.attr<std::int64_t>("batch_group_count") == 1)
    out = op::Combiner::add;  // over input features, as gradients of kernels have them
  else if (op.name() == "stablehlo.reduce" && op.num_results() == 1)
    out = op::combiner_of(op);
  if (!out || *out == op::Combiner::region) return std::nullopt;
  DType dtype = op.result()->dtype();
  if (!has_storage(dtype)) return std::nullopt;
  if (exact && !op::in_any_order(*out, dtype)) return std::nullopt;
  return out;
}

ir::Attrs local_attrs(const Op& op, const Grid& grid, const Cut& cut) {
  ir::Attrs attrs = op.attrs;
  auto resize = [&](const char* name, const std::vector<std::vector<int>>& dims) {
    attrs.set(name, local_sizes(attrs.get<Ints>(name), grid, dims, cut));
  };
  const auto& operands = cut.factors.operands;
  if (op.name() == "stablehlo.convolution")
    for (const char* name : {"feature_group_count", "batch_group_count"})
      if (attrs.has(name) && attrs.get<std::int64_t>(name) > 1)  // groups are the first factor
        attrs.set(name, attrs.get<std::int64_t>(name) / grid.product(cut.axes[0]));
  if (op.name() == "stablehlo.slice") resize("limit_indices", operands[0]);
  if (op.name() == "stablehlo.dynamic_slice") resize("slice_sizes", cut.factors.results[0]);
  if (op.name() == "stablehlo.gather") {
    // Dimensions that are looked up have slices of at most one; the others are cut as the operand.
    Layout layout = cut.layout(operands[0]);
    Ints sizes = attrs.get<Ints>("slice_sizes");
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      std::int64_t k = grid.product(layout.dims[d]);
      if (sizes[d] == op.operand(0)->shape()[static_cast<int>(d)])
        sizes[d] = (sizes[d] + k - 1) / k;
    }
    attrs.set("slice_sizes", sizes);
  }
  if (attrs.has("sdy.sharding")) attrs.erase("sdy.sharding");
  return attrs;
}

}  // namespace strata::spmd
