#include "strata/api/numpy/index/selection.h"

#include <algorithm>
#include <limits>

#include "strata/api/index.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/index/sized.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"
#include "strata/api/transform/vmap.h"

namespace strata::numpy {

using internal::cast;
using internal::describe;
using internal::fail;
using internal::index_dtype;
using internal::Ints;
using internal::Site;
using internal::sizes;

namespace {

bool any_outside(const Array& x, std::int64_t size) {
  const std::vector<std::int64_t> values = x.to_vector<std::int64_t>();
  return std::any_of(values.begin(), values.end(),
                     [&](std::int64_t v) { return v < 0 || v >= size; });
}

/// Numbers brought into [0, size) as the mode says.
Array brought_in(const char* name, const Array& x, std::int64_t size, const std::string& mode) {
  if (mode == "wrap") return remainder(x, size);
  if (mode == "clip") return clip(x, 0, size - 1);
  internal::require_known(name, x, "mode \"wrap\" and \"clip\" work in jit, vmap and grad");
  if (any_outside(x, size))
    fail(name, "an entry of {} is not from 0 to {}; mode \"wrap\" and \"clip\" accept it",
         describe(x.type()), size - 1);
  return x;
}

void check_mode(const char* name, const std::string& mode, bool ignore) {
  if (mode != "raise" && mode != "wrap" && mode != "clip" && !(ignore && mode == "ignore"))
    fail(name, "mode is \"raise\", \"wrap\"{} \"clip\"{}, got \"{}\"", ignore ? "," : " or",
         ignore ? " or \"ignore\"" : "", mode);
}

}  // namespace

Array choose(const Operand& x, const std::vector<Array>& choices, const std::string& mode) {
  Site site(x);
  if (!is_integer(x->dtype()))
    fail("choose", "choices are numbered by integers, got {}", describe(x->type()));
  if (choices.empty()) fail("choose", "needs at least one choice");
  check_mode("choose", mode, false);
  const Array number = brought_in("choose", x, static_cast<std::int64_t>(choices.size()), mode);
  const std::vector<Array> values = internal::broadcast_promoted("choose", choices);
  std::vector<Array> all = values;
  all.push_back(number);
  const Shape shape = internal::broadcast_shapes("choose", all);
  if (shape.count() == 0) return zeros(shape, values[0].dtype());
  std::vector<Array> wide;
  for (const Array& v : values) wide.push_back(cast(broadcast_to(v, shape), {v.dtype(), false}));
  return squeeze(take_along_axis(stack(wide), expand_dims(broadcast_to(number, shape), 0), 0,
                                 {.mode = "promise_in_bounds"}),
                 0);
}

Array select(const std::vector<Array>& conditions, const std::vector<Array>& choices,
             const Operand& otherwise) {
  Site site(otherwise);
  if (conditions.size() != choices.size())
    fail("select", "one choice for each condition is needed, got {} and {}", choices.size(),
         conditions.size());
  if (conditions.empty()) fail("select", "needs at least one condition");
  std::vector<Array> values = choices;
  values.push_back(otherwise);
  const WeakDType type = internal::promoted("select", values);
  Array out = cast(otherwise, type);
  for (std::size_t i = conditions.size(); i-- > 0;) {
    const Array holds =
        is_bool(conditions[i].dtype()) ? conditions[i] : not_equal(conditions[i], 0);
    out = where(holds, cast(choices[i], type), out);
  }
  return out;
}

Array piecewise(const Operand& x, const std::vector<Array>& conditions,
                const std::vector<Piece>& pieces) {
  Site site(x);
  const std::size_t n = conditions.size();
  if (pieces.size() != n && pieces.size() != n + 1)
    fail("piecewise", "with {} conditions {} or {} pieces are needed, got {}", n, n, n + 1,
         pieces.size());
  const Array strong = internal::strong(x);
  const auto value = [&](const Piece& piece) {
    if (const Array* number = std::get_if<Array>(&piece.get()))
      return cast(*number, {x->dtype(), false});
    const auto& f = std::get<std::function<Array(const Array&)>>(piece.get());
    return cast(vmap([&](const Array& e) { return f(e); })(ravel(strong)).reshape(x->shape()),
                {x->dtype(), false});
  };
  Array out = pieces.size() > n ? value(pieces[n]) : zeros_like(strong);
  for (std::size_t i = 0; i < n; ++i)
    out = where(conditions[i].astype(bool_), value(pieces[i]), out);
  return out.ndim() == 0 && x->ndim() > 0 ? broadcast_to(out, x->shape()) : out;
}

Array put_along_axis(const Operand& operand, const Operand& indices, const Operand& given,
                     std::optional<std::int64_t> axis) {
  Site site(operand);
  const Array x = axis ? operand.array : ravel(operand);
  if (x.ndim() != indices->ndim())
    fail("put_along_axis", "{} and indices {} have different numbers of axes", describe(x.type()),
         describe(indices->type()));
  if (!is_integer(indices->dtype()))
    fail("put_along_axis", "indices are integers, got {}", describe(indices->type()));
  const int dim = internal::axis_of("put_along_axis", axis.value_or(0), x.ndim());
  const Array both[] = {given.array, indices.array};
  if (internal::broadcast_shapes("put_along_axis", both) != indices->shape())
    fail("put_along_axis", "values {} do not broadcast to indices {}", describe(given->type()),
         describe(indices->type()));
  std::vector<Index> index;
  for (int d = 0; d < x.ndim(); ++d) {
    if (d == dim) {
      index.emplace_back(indices.array);
      continue;
    }
    Ints aligned(static_cast<std::size_t>(x.ndim()), 1);
    aligned[static_cast<std::size_t>(d)] = x.shape()[d];
    index.emplace_back(arange(x.shape()[d]).reshape(aligned));
  }
  std::vector<Array> together;
  for (const Index& i : index) together.push_back(std::get<Array>(i.item));
  const Array out =
      x.at(Indices(index))
          .set(broadcast_to(given, internal::broadcast_shapes("put_along_axis", together)));
  return axis ? out : out.reshape(operand->shape());
}

Array ravel_multi_index(const std::vector<Array>& multi_index, const Sizes& dims,
                        const RavelIndex& options, Where where) {
  Site site(where);
  const std::size_t n = dims.size();
  if (multi_index.size() != n)
    fail("ravel_multi_index", "{} indices are given for {} sizes", multi_index.size(), n);
  check_mode("ravel_multi_index", options.mode, true);
  if (options.order != "C" && options.order != "F")
    fail("ravel_multi_index", "order is \"C\" or \"F\", got \"{}\"", options.order);
  std::vector<Array> all = multi_index;
  all.push_back(Array::scalar(std::int64_t{0}, index_dtype(), true));
  const DType dtype = options.dtype.value_or(internal::promoted("ravel_multi_index", all).dtype);
  if (!is_integer(dtype))
    fail("ravel_multi_index", "dtype is one of integers, got {}", name(dtype));
  double cells = 1;
  for (std::int64_t d : dims) cells *= static_cast<double>(d);
  if (cells - 1 > std::ldexp(1.0, bit_width(dtype) - (is_unsigned(dtype) ? 0 : 1)) - 1)
    fail("ravel_multi_index", "{} does not hold the places of {} elements", name(dtype), cells);
  Array out = zeros({}, dtype);
  std::int64_t stride = 1;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = options.order == "C" ? n - 1 - k : k;
    if (!is_integer(multi_index[i].dtype()))
      fail("ravel_multi_index", "indices are integers, got {}", describe(multi_index[i].type()));
    const Array index = options.mode == "ignore" ? multi_index[i]
                                                 : brought_in("ravel_multi_index", multi_index[i],
                                                              dims[i], options.mode);
    out = out + cast(index, {dtype, false}) * Array::scalar(stride, dtype, false);
    stride *= dims[i];
  }
  return out;
}

std::vector<Array> unravel_index(const Operand& indices, const Sizes& shape) {
  Site site(indices);
  if (!is_integer(indices->dtype()))
    fail("unravel_index", "indices are integers, got {}", describe(indices->type()));
  Array rest = indices;
  std::vector<Array> out(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    out[i] = remainder(rest, shape[i]);
    rest = floor_divide(rest, shape[i]);
  }
  const Array beyond = rest > 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!is_unsigned(rest.dtype())) out[i] = where(rest < -1, 0, out[i]);
    out[i] = where(beyond, shape[i] - 1, out[i]);
  }
  return out;
}

std::vector<Array> ix_(const std::vector<Array>& vectors, Where where) {
  Site site(where);
  std::vector<Array> out;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const Array& v = vectors[i];
    if (v.ndim() != 1) fail("ix_", "vectors are needed, got {}", describe(v.type()));
    if (is_bool(v.dtype()))
      fail("ix_", "a boolean vector has no indices; use nonzero first, got {}", describe(v.type()));
    Ints aligned(vectors.size(), 1);
    aligned[i] = v.size();
    out.push_back(v.size() == 0 ? zeros(aligned, index_dtype()) : v.reshape(aligned));
  }
  return out;
}

namespace {
Array numbers_of(const GridRange& r, DType dtype) {
  if (r.count) return linspace(r.start, r.stop, *r.count, dtype);
  if (r.whole)
    return arange(static_cast<std::int64_t>(r.start), static_cast<std::int64_t>(r.stop),
                  static_cast<std::int64_t>(r.step), dtype);
  return arange(r.start, r.stop, r.step, dtype);
}
std::vector<Array> grid_vectors(const char* name, const std::vector<GridRange>& ranges) {
  if (ranges.empty()) fail(name, "needs at least one range");
  const bool whole =
      std::all_of(ranges.begin(), ranges.end(), [](const GridRange& r) { return r.whole; });
  std::vector<Array> out;
  for (const GridRange& r : ranges)
    out.push_back(numbers_of(r, whole ? index_dtype() : canonical(DType::f64, x64_enabled())));
  return out;
}
}  // namespace

Array mgrid(const std::vector<GridRange>& ranges, Where where) {
  Site site(where);
  const std::vector<Array> vectors = grid_vectors("mgrid", ranges);
  return vectors.size() == 1 ? vectors[0] : stack(meshgrid(vectors, {.indexing = "ij"}));
}

std::vector<Array> ogrid(const std::vector<GridRange>& ranges, Where where) {
  Site site(where);
  return meshgrid(grid_vectors("ogrid", ranges), {.indexing = "ij", .sparse = true});
}

}  // namespace strata::numpy
