#include "strata/api/ops.h"

#include "strata/api/lax.h"
#include "strata/api/numpy/index/sized.h"
#include "strata/api/trace/compose.h"
#include "strata/api/trace/integer_index.h"

namespace strata::ops {
namespace {

using internal::cast;
using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;

using Scatter = Array (*)(const Operand&, const Operand&, const Operand&,
                          const lax::ScatterDimensionNumbers&, const lax::ScatterOptions&);
using Reduction = Array (*)(const Operand&, const strata::Reduce&);

struct Way {
  const char* name;
  Scatter scatter;
  Reduction reduce;
  Array identity;  // a scalar of the data's dtype
};

Array segments(const Way& way, const Array& data, const Array& given, const Segments& options) {
  if (data.ndim() == 0 || given.ndim() != 1 || given.size() != data.shape(0))
    fail(way.name, "one number for each slice of {} is needed, got {}", describe(data.type()),
         describe(given.type()));
  if (!is_integer(given.dtype()))
    fail(way.name, "segments are numbered by integers, got {}", describe(given.type()));
  if (!options.num_segments)
    internal::require_known(way.name, given,
                            "give num_segments, or call it outside of jit, vmap and grad");
  const std::int64_t n = options.num_segments ? *options.num_segments
                         : given.size() == 0  ? 0
                                              : max(given).item<std::int64_t>() + 1;
  if (n < 0) fail(way.name, "num_segments is at least 0, got {}", n);
  const lax::GatherScatterMode mode =
      lax::detail::mode_of(way.name, options.mode, lax::GatherScatterMode::FILL_OR_DROP);

  Ints shape = internal::sizes(data), window;
  shape[0] = n;
  const std::int64_t buckets = options.bucket_size
                                   ? (given.size() + *options.bucket_size - 1) /
                                         std::max<std::int64_t>(1, *options.bucket_size)
                                   : 1;
  const bool bucketed = options.bucket_size.has_value();
  if (bucketed && *options.bucket_size < 1)
    fail(way.name, "bucket_size is at least 1, got {}", *options.bucket_size);
  if (bucketed) shape.insert(shape.begin(), buckets);
  for (int d = 1; d < data.ndim(); ++d) window.push_back(d);
  const Array start = numpy::full(shape, way.identity);
  if (start.size() == 0 || data.size() == 0)
    return bucketed ? numpy::full(Ints(shape.begin() + 1, shape.end()), way.identity) : start;

  Array places = expand_dims(internal::as_index(given, n), -1);
  if (bucketed)
    places = concatenate(
        {expand_dims(floor_divide(arange(given.size(), int32), *options.bucket_size), -1), places},
        -1);
  const Ints indexed = bucketed ? Ints{0, 1} : Ints{0};
  const Array out = way.scatter(start, places, internal::strong(data),
                                {.update_window_dims = window,
                                 .inserted_window_dims = indexed,
                                 .scatter_dims_to_operand_dims = indexed,
                                 .operand_batching_dims = {},
                                 .scatter_indices_batching_dims = {}},
                                {.indices_are_sorted = options.indices_are_sorted && !bucketed,
                                 .unique_indices = options.unique_indices,
                                 .mode = mode});
  return bucketed ? cast(way.reduce(out, {.axis = 0}), {data.dtype(), false}) : out;
}

Array number(double value, DType dtype) { return cast(Array(value), {dtype, false}); }

}  // namespace

Array segment_sum(const Operand& data, const Operand& segment_ids, const Segments& options) {
  Site site(data);
  return segments({"segment_sum", lax::scatter_add, numpy::sum, number(0, data->dtype())}, data,
                  segment_ids, options);
}
Array segment_prod(const Operand& data, const Operand& segment_ids, const Segments& options) {
  Site site(data);
  return segments({"segment_prod", lax::scatter_mul, numpy::prod, number(1, data->dtype())}, data,
                  segment_ids, options);
}
Array segment_max(const Operand& data, const Operand& segment_ids, const Segments& options) {
  Site site(data);
  internal::require_real("segment_max", data);
  const DType d = data->dtype();
  return segments({"segment_max", lax::scatter_max, numpy::max,
                   is_float(d) ? number(-inf, d) : internal::least(d)},
                  data, segment_ids, options);
}
Array segment_min(const Operand& data, const Operand& segment_ids, const Segments& options) {
  Site site(data);
  internal::require_real("segment_min", data);
  const DType d = data->dtype();
  return segments({"segment_min", lax::scatter_min, numpy::min,
                   is_float(d) ? number(inf, d) : internal::greatest(d)},
                  data, segment_ids, options);
}

}  // namespace strata::ops
