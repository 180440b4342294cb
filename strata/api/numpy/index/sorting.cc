#include "strata/api/numpy/index/sorting.h"

#include "strata/api/index.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/floating.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/index/sized.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {
namespace {

using internal::Builder;
using internal::describe;
using internal::fail;
using internal::Site;
using internal::Values;

constexpr const char* kInside = "promise_in_bounds";

/// A sort by keys along the last axis.
Array by_rows(const char* operation, const Array& x, bool descending, bool weak) {
  const std::string order = is_inexact(x.dtype()) ? "numbers" : "total";
  return internal::emit_one({x}, weak, [&](Builder& b, const Values& v) {
    return b.create(operation, {v[0]}, {{"descending", descending}, {"order", order}}).result();
  });
}

/// The array that an order along `dim` is asked of.
struct Along {
  Array x;
  int dim;
};
Along along(const char* name, const Array& x, const Sort& options) {
  return {options.axis ? x : ravel(x),
          internal::axis_of(name, options.axis.value_or(0), options.axis ? x.ndim() : 1)};
}

/// x, real, by rows along `dim`.
Array ordered(const char* operation, const Array& x, int dim, bool descending, bool weak) {
  return moveaxis(by_rows(operation, moveaxis(x, dim, -1), descending, weak), -1, dim);
}

/// Complex numbers are ordered by their real parts, equal ones by their imaginary parts: each part
/// alone as real numbers are.
Array order_of(const Array& x, int dim, bool descending) {
  const auto by = [&](const Array& key) {
    return ordered("strata.argsort", key, dim, descending, false);
  };
  if (!is_complex(x.dtype())) return by(x);
  const Array order = by(imag(x));
  return take_along_axis(order, by(take_along_axis(real(x), order, dim, {.mode = kInside})), dim,
                         {.mode = kInside});
}

/// Whether x comes before y: NaN is the last.
Array before(const Array& x, const Array& y) {
  return is_inexact(x.dtype()) ? (x < y) | (isnan(y) & ~isnan(x)) : x < y;
}

}  // namespace

Array sort(const Operand& operand, const Sort& options) {
  Site site(operand);
  const auto [x, dim] = along("sort", operand, options);
  if (is_complex(x.dtype()))
    return take_along_axis(x, order_of(x, dim, options.descending), dim, {.mode = kInside});
  return ordered("strata.sort", x, dim, options.descending, x.weak());
}
Array argsort(const Operand& operand, const Sort& options) {
  Site site(operand);
  const auto [x, dim] = along("argsort", operand, options);
  return internal::cast(order_of(x, dim, options.descending), {internal::index_dtype(), false});
}

Array lexsort(const std::vector<Array>& keys, std::int64_t axis, Where where) {
  Site site(where);
  if (keys.empty()) fail("lexsort", "needs at least one key");
  for (const Array& k : keys)
    if (k.shape() != keys[0].shape())
      fail("lexsort", "shapes {} and {} differ", describe(keys[0].type()), describe(k.type()));
  if (keys[0].ndim() == 0) return Array::scalar(std::int64_t{0}, internal::index_dtype(), false);
  // A stable sort by each key, the least important first.
  Array order = argsort(keys[0], {.axis = axis});
  for (std::size_t i = 1; i < keys.size(); ++i)
    order = take_along_axis(
        order, argsort(take_along_axis(keys[i], order, axis, {.mode = kInside}), {.axis = axis}),
        axis, {.mode = kInside});
  return order;
}

namespace {
/// Throws Error where the kth element is none.
int partition_axis(const char* name, const Array& x, std::int64_t kth, std::int64_t axis) {
  internal::require_real(name, x);
  const int dim = internal::axis_of(name, axis, x.ndim());
  const std::int64_t size = x.shape(dim);
  if (kth < -size || kth >= size)
    fail(name, "element {} is out of range for axis {} of {}", kth, dim, describe(x.type()));
  return dim;
}
}  // namespace

Array partition(const Operand& x, std::int64_t kth, std::int64_t axis) {
  Site site(x);
  const int dim = partition_axis("partition", x, kth, axis);
  const std::int64_t size = x->shape(dim), above = (kth < 0 ? kth + size : kth) + 1;
  const Array sorted = sort(internal::strong(x), {.axis = dim});
  return concatenate({lax::slice_in_dim(sorted, 0, above, 1, dim),
                      flip(lax::slice_in_dim(sorted, above, size, 1, dim), dim)},
                     dim);
}
Array argpartition(const Operand& x, std::int64_t kth, std::int64_t axis) {
  Site site(x);
  const int dim = partition_axis("argpartition", x, kth, axis);
  const std::int64_t size = x->shape(dim), above = (kth < 0 ? kth + size : kth) + 1;
  const Array order = order_of(x, dim, false);
  return concatenate({lax::slice_in_dim(order, 0, above, 1, dim),
                      sort(lax::slice_in_dim(order, above, size, 1, dim), {.axis = dim})},
                     dim);
}

Array sort_complex(const Operand& x) {
  Site site(x);
  if (x->ndim() == 0) fail("sort_complex", "needs an axis, got {}", describe(x->type()));
  if (is_complex(x->dtype())) return sort(x);
  const bool wide =
      x->dtype() == DType::f64 || ((x->dtype() == DType::i64 || x->dtype() == DType::ui64 ||
                                    x->dtype() == DType::i32 || x->dtype() == DType::ui32) &&
                                   x64_enabled());
  return internal::cast(sort(is_bool(x->dtype()) ? x->astype(uint8) : x.array),
                        {wide ? DType::c128 : DType::c64, false});
}

/// Bisection for all elements at once.
Array searchsorted(const Operand& sorted, const Operand& wanted, const std::string& side,
                   const std::optional<Operand>& sorter) {
  Site site(sorted);
  if (side != "left" && side != "right")
    fail("searchsorted", "side is \"left\" or \"right\", got \"{}\"", side);
  if (sorted->ndim() != 1)
    fail("searchsorted", "a sorted vector is needed, got {}", describe(sorted->type()));
  const Array both[] = {sorter ? take(sorted, *sorter, 0, {.mode = "clip"}) : sorted.array,
                        wanted.array};
  const WeakDType type = internal::promoted("searchsorted", both);
  internal::require_real("searchsorted", both[1]);
  const Array a = internal::cast(both[0], {type.dtype, false}),
              v = internal::cast(both[1], {type.dtype, false});
  const std::int64_t n = a.size();
  Array low = zeros(v.shape(), int32), high = full(v.shape(), n, int32);
  int steps = 0;
  while ((std::int64_t{1} << steps) <= n) ++steps;
  for (int i = 0; i < steps; ++i) {
    const Array middle = floor_divide(low + high, 2),
                at = take(a, minimum(middle, n - 1), 0, {.mode = "clip"});
    const Array behind = (side == "left" ? before(at, v) : ~before(v, at)) & (low < high);
    low = where(behind, middle + 1, low);
    high = where(behind | (low > middle), high, middle);
  }
  return low;
}

Array digitize(const Operand& x, const Operand& bins, bool right) {
  Site site(x);
  if (bins->ndim() != 1) fail("digitize", "the edges are a vector, got {}", describe(bins->type()));
  const std::string side = right ? "left" : "right", other = right ? "right" : "left";
  const std::int64_t n = bins->size();
  if (n == 0) return zeros(x->shape(), int32);
  const Array rising = searchsorted(bins, x, side),
              falling = n - searchsorted(flip(bins), x, other);
  const Array first = bins->operator[](0), last = bins->operator[](-1);
  return where(last >= first, rising, internal::cast(falling, {DType::i32, false}));
}

}  // namespace strata::numpy
