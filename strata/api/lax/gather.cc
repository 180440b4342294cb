#include "strata/api/lax/gather.h"

#include <algorithm>

#include "strata/api/lax/operations.h"
#include "strata/api/lax/shapes.h"
#include "strata/api/lax_elementwise.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"
#include "strata/api/trace/integer_index.h"

namespace strata::lax {
namespace {

using internal::Builder;
using internal::cast;
using internal::describe;
using internal::emit_one;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::Values;
using Regions = std::vector<std::unique_ptr<ir::Block>>;

bool has(const Ints& list, std::int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

void require_indices(const char* name, const Array& indices) {
  if (!is_integer(indices.dtype()) || is_bool(indices.dtype()))
    fail(name, "indices are integers, got {}", describe(indices.type()));
  if (indices.ndim() == 0)
    fail(name, "indices have a last dimension of index vectors, got a scalar");
}

/// Numbers can be added and multiplied; truth values cannot.
Array numbers(const char* name, const Array& x) {
  if (is_bool(x.dtype())) fail(name, "numbers are needed, got {}", describe(x.type()));
  return x;
}

/// Index vectors, and the greatest ones of slices of these sizes as a row: numbers of one signed
/// type that holds both.
struct Starts {
  Array at, last;
};
Starts starts_of(const Array& x, const Array& indices, const Ints& slice_sizes, const Ints& named) {
  Ints last;
  for (std::int64_t d : named)
    last.push_back(x.shape()[static_cast<int>(d)] - slice_sizes[static_cast<std::size_t>(d)]);
  const Array at =
      internal::as_index(indices, last.empty() ? 0 : *std::max_element(last.begin(), last.end()));
  Literal row(Type(at.dtype(), Shape{static_cast<std::int64_t>(last.size())}));
  for (std::int64_t i = 0; i < row.count(); ++i)
    row.set_number(i, static_cast<double>(last[static_cast<std::size_t>(i)]));
  return {at, Array(std::move(row))};
}

Array gathered(const Array& x, const Array& starts, const GatherDimensionNumbers& d,
               const Sizes& slice_sizes, bool sorted) {
  return emit_one({x, starts}, x.weak(), [&](Builder& b, const Values& v) {
    return b
        .create("stablehlo.gather", v,
                {{"offset_dims", d.offset_dims},
                 {"collapsed_slice_dims", d.collapsed_slice_dims},
                 {"operand_batching_dims", d.operand_batching_dims},
                 {"start_indices_batching_dims", d.start_indices_batching_dims},
                 {"start_index_map", d.start_index_map},
                 {"index_vector_dim", static_cast<std::int64_t>(starts.ndim() - 1)},
                 {"slice_sizes", slice_sizes.get()},
                 {"indices_are_sorted", sorted}})
        .result();
  });
}

Array default_fill(const Array& x) {
  if (is_inexact(x.dtype())) return internal::number_like(x, numpy::nan);
  return is_unsigned(x.dtype()) || is_bool(x.dtype()) ? internal::greatest(x.dtype())
                                                      : internal::least(x.dtype());
}

Array filled(const Array& x, const Array& starts, const GatherDimensionNumbers& d,
             const Sizes& slice_sizes, const GatherOptions& options) {
  const Array found = gathered(x, starts, d, slice_sizes, options.indices_are_sorted);
  const Starts s = starts_of(x, starts, slice_sizes.get(), d.start_index_map);
  const Array inside = numpy::all((s.at >= 0) & (s.at <= s.last), {.axis = -1});
  Ints batch;
  for (int k = 0; k < found.ndim(); ++k)
    if (!has(d.offset_dims, k)) batch.push_back(k);
  const Array fill = cast(options.fill_value ? *options.fill_value : default_fill(x),
                          {found.dtype(), found.weak()});
  return select(broadcast_in_dim(inside, found.shape(), batch), found, lax::full_like(found, fill));
}

/// Sizes of the slices of the operand that updates are written to.
Ints window_sizes(const char* name, const Array& x, const Array& updates,
                  const ScatterDimensionNumbers& d) {
  Ints out;
  std::size_t next = 0;
  for (int i = 0; i < x.ndim(); ++i) {
    if (has(d.inserted_window_dims, i) || has(d.operand_batching_dims, i)) {
      out.push_back(1);
      continue;
    }
    if (next == d.update_window_dims.size() || d.update_window_dims[next] >= updates.ndim())
      fail(name, "windows of {} do not have the dimensions of {}", describe(updates.type()),
           describe(x.type()));
    out.push_back(updates.shape()[static_cast<int>(d.update_window_dims[next++])]);
  }
  return out;
}

Array moved_inside(const char* name, const Array& x, const Array& indices, const Array& updates,
                   const ScatterDimensionNumbers& d) {
  const Starts s =
      starts_of(x, indices, window_sizes(name, x, updates, d), d.scatter_dims_to_operand_dims);
  return numpy::minimum(numpy::maximum(s.at, 0), s.last);
}

Array scattered(const char* name, const Operand& operand, const Operand& indices,
                const Array& updates, const ScatterDimensionNumbers& d,
                const ScatterOptions& options, const char* combiner,
                const internal::Program* region = nullptr) {
  require_indices(name, indices);
  if (updates.dtype() != operand->dtype())
    fail(name, "operand and updates have different dtypes: {} and {}", describe(operand->type()),
         describe(updates.type()));
  const Array at = options.mode == GatherScatterMode::CLIP
                       ? moved_inside(name, operand, indices, updates, d)
                       : indices.array;
  return emit_one({operand.array, at, updates}, operand->weak(), [&](Builder& b, const Values& v) {
    Regions regions;
    if (region) regions.push_back(ir::clone(*region->block));
    return b
        .create("stablehlo.scatter", v,
                {{"update_window_dims", d.update_window_dims},
                 {"inserted_window_dims", d.inserted_window_dims},
                 {"input_batching_dims", d.operand_batching_dims},
                 {"scatter_indices_batching_dims", d.scatter_indices_batching_dims},
                 {"scatter_dims_to_operand_dims", d.scatter_dims_to_operand_dims},
                 {"index_vector_dim", static_cast<std::int64_t>(indices->ndim() - 1)},
                 {"indices_are_sorted", options.indices_are_sorted},
                 {"unique_indices", options.unique_indices},
                 {"combiner", std::string(combiner)}},
                std::move(regions))
        .result();
  });
}

}  // namespace

GatherScatterMode detail::mode_of(const char* operation, const std::string& mode,
                                  GatherScatterMode otherwise) {
  if (mode.empty()) return otherwise;
  if (mode == "fill" || mode == "drop") return GatherScatterMode::FILL_OR_DROP;
  if (mode == "clip") return GatherScatterMode::CLIP;
  if (mode == "promise_in_bounds") return GatherScatterMode::PROMISE_IN_BOUNDS;
  if (mode == "one_hot") return GatherScatterMode::ONE_HOT;
  fail(operation, "mode is \"clip\", \"fill\", \"drop\" or \"promise_in_bounds\", got \"{}\"",
       mode);
}

Array gather(const Operand& operand, const Operand& starts, const GatherDimensionNumbers& d,
             const Sizes& slice_sizes, const GatherOptions& options) {
  Site site(operand);
  require_indices("gather", starts);
  if (static_cast<int>(slice_sizes.size()) != operand->ndim())
    fail("gather", "{} slice sizes are given for {}", slice_sizes.size(),
         describe(operand->type()));
  const bool fills =
      options.mode == GatherScatterMode::FILL_OR_DROP || options.mode == GatherScatterMode::ONE_HOT;
  return fills ? filled(operand, starts, d, slice_sizes, options)
               : gathered(operand, starts, d, slice_sizes, options.indices_are_sorted);
}

Array scatter(const Operand& x, const Operand& i, const Operand& u,
              const ScatterDimensionNumbers& d, const ScatterOptions& o) {
  Site site(x);
  return scattered("scatter", x, i, u, d, o, "assign");
}
Array scatter_add(const Operand& x, const Operand& i, const Operand& u,
                  const ScatterDimensionNumbers& d, const ScatterOptions& o) {
  Site site(x);
  return scattered("scatter_add", x, i, numbers("scatter_add", u), d, o, "add");
}
Array scatter_sub(const Operand& x, const Operand& i, const Operand& u,
                  const ScatterDimensionNumbers& d, const ScatterOptions& o) {
  Site site(x);
  return scattered("scatter_sub", x, i, neg(u), d, o, "add");
}
Array scatter_mul(const Operand& x, const Operand& i, const Operand& u,
                  const ScatterDimensionNumbers& d, const ScatterOptions& o) {
  Site site(x);
  return scattered("scatter_mul", x, i, numbers("scatter_mul", u), d, o, "mul");
}
Array scatter_min(const Operand& x, const Operand& i, const Operand& u,
                  const ScatterDimensionNumbers& d, const ScatterOptions& o) {
  Site site(x);
  return scattered("scatter_min", x, i, u, d, o, "min");
}
Array scatter_max(const Operand& x, const Operand& i, const Operand& u,
                  const ScatterDimensionNumbers& d, const ScatterOptions& o) {
  Site site(x);
  return scattered("scatter_max", x, i, u, d, o, "max");
}

Array detail::scatter_apply(const Operand& x, const Operand& i, const internal::Program& function,
                            const ScatterDimensionNumbers& d, const Sizes& update_shape,
                            const ScatterOptions& o) {
  if (!function.captured.empty())
    fail("scatter_apply",
         "the function uses arrays from outside; it may only use its argument and C++ numbers");
  if (function.block->results.size() != 1 ||
      function.block->results[0]->type() != Type::scalar(x->dtype()))
    fail("scatter_apply", "the function returns a scalar of the dtype of {}", describe(x->type()));
  return scattered("scatter_apply", x, i, lax::full(update_shape, 0, x->dtype()), d, o, "region",
                   &function);
}

}  // namespace strata::lax
