#include "strata/api/numpy/statistics.h"

#include <algorithm>
#include <cmath>

#include "strata/api/lax/slicing.h"
#include "strata/api/lax_elementwise.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/floating.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/index/sorting.h"
#include "strata/api/numpy/products.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/diagonals.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {
namespace {

using internal::as_inexact;
using internal::axes_of;
using internal::axis_of;
using internal::cast;
using internal::describe;
using internal::fail;
using internal::Ints;
using internal::number_like;
using internal::Site;
using internal::sizes;

/// x with this in place of NaN.
Array without_nan(const Array& x, double value) {
  return is_inexact(x.dtype()) ? where(isnan(x), number_like(x, value), x) : x;
}

using Reduction = Array (*)(const Operand&, const Reduce&);
Array nan_extremum(Reduction f, const Operand& x, const Reduce& options, double nothing) {
  Site site(x);
  internal::require_real("nanmax", x);
  if (!is_inexact(x->dtype())) return f(x, options);
  const Array found = f(without_nan(x, nothing), options);
  if (options.initial) return found;
  return where(all(isnan(x), {.axis = options.axis, .keepdims = options.keepdims}), nan, found);
}

Array nan_position(const char* name, const Operand& x, const Position& options, double nothing) {
  Site site(x);
  const bool greatest = nothing < 0;
  if (!is_inexact(x->dtype())) return greatest ? argmax(x, options) : argmin(x, options);
  internal::require_real(name, x);
  const Array found = greatest ? argmax(without_nan(x, nothing), options)
                               : argmin(without_nan(x, nothing), options);
  const Axes axis = options.axis ? Axes(*options.axis) : Axes();
  return where(all(isnan(x), {.axis = axis, .keepdims = options.keepdims}),
               Array::scalar(std::int64_t{-1}, DType::i32, false), found);
}

/// `where`, and not NaN.
Array numbers(const Array& x, const std::optional<Array>& mask) {
  const Array valid = ~isnan(x);
  return mask ? valid & *mask : valid;
}

}  // namespace

Array nansum(const Operand& x, const Reduce& options) {
  Site site(x);
  return sum(without_nan(x, 0), options);
}
Array nanprod(const Operand& x, const Reduce& options) {
  Site site(x);
  return prod(without_nan(x, 1), options);
}
Array nanmax(const Operand& x, const Reduce& options) {
  return nan_extremum(max, x, options, -inf);
}
Array nanmin(const Operand& x, const Reduce& options) { return nan_extremum(min, x, options, inf); }
Array nanargmax(const Operand& x, const Position& options) {
  return nan_position("nanargmax", x, options, -inf);
}
Array nanargmin(const Operand& x, const Position& options) {
  return nan_position("nanargmin", x, options, inf);
}
Array nancumsum(const Operand& x, const Cumulative& options) {
  Site site(x);
  return cumsum(without_nan(x, 0), options);
}
Array nancumprod(const Operand& x, const Cumulative& options) {
  Site site(x);
  return cumprod(without_nan(x, 1), options);
}

Array nanmean(const Operand& x, const Reduce& options) {
  Site site(x);
  if (!is_inexact(x->dtype())) return mean(x, options);
  Reduce valid = options;
  valid.where = numbers(x, options.where);
  return mean(x, valid);
}
Array nanvar(const Operand& x, const Variance& options) {
  Site site(x);
  if (!is_inexact(x->dtype())) return var(x, options);
  Variance valid = options;
  valid.where = numbers(x, options.where);
  return var(x, valid);
}
Array nanstd(const Operand& x, const Variance& options) {
  Site site(x);
  return sqrt(nanvar(x, options));
}

Array average(const Operand& operand, const Average& options) {
  Site site(operand);
  if (!options.weights) return mean(operand, {.axis = options.axis, .keepdims = options.keepdims});
  const Array both[] = {operand.array, *options.weights};
  const WeakDType type = internal::inexact(internal::promoted("average", both));
  const Array x = cast(operand, type);
  Array w = cast(*options.weights, type);
  if (w.shape() != x.shape()) {
    if (options.axis.all())
      fail("average", "weights {} without an axis have the shape of {}", describe(w.type()),
           describe(x.type()));
    const Ints axes = axes_of("average", options.axis, x.ndim());
    if (axes.size() != 1 || w.ndim() != 1 || w.size() != x.shape()[static_cast<int>(axes[0])])
      fail("average", "weights {} do not fit axis {} of {}", describe(w.type()), axes[0],
           describe(x.type()));
    Ints along(static_cast<std::size_t>(x.ndim()), 1);
    along[static_cast<std::size_t>(axes[0])] = w.size();
    w = broadcast_to(w.reshape(along), x.shape());
  }
  return sum(x * w, {.axis = options.axis, .keepdims = options.keepdims}) /
         sum(w, {.axis = options.axis, .keepdims = options.keepdims});
}

namespace {

/// The axes of a quantile as one, the last.
struct Rows {
  Array x;
  Ints kept;
};
Rows rows_of(const char* name, const Array& x, const Axes& axis) {
  const Ints axes = axes_of(name, axis, x.ndim());
  Ints order, kept = sizes(x), shape;
  for (int d = 0; d < x.ndim(); ++d)
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
      order.push_back(d);
      shape.push_back(x.shape()[d]);
    }
  std::int64_t length = 1;
  for (std::int64_t a : axes) {
    order.push_back(a);
    length *= x.shape()[static_cast<int>(a)];
    kept[static_cast<std::size_t>(a)] = 1;
  }
  shape.push_back(length);
  return {(order.empty() ? x : transpose(x, order)).reshape(shape), kept};
}

Array between(const Array& low, const Array& high, const Array& weight, const std::string& method) {
  if (method == "linear") return low * (1 - weight) + high * weight;
  if (method == "lower") return low;
  if (method == "higher") return high;
  if (method == "midpoint") return (low + high) * 0.5;
  if (method == "nearest") return where(weight < 0.5, low, where(weight > 0.5, high, low));
  fail("quantile", "there is no method \"{}\"", method);
}

Array quantile_of(const char* name, const Operand& operand, const Array& q, const Quantile& options,
                  bool leave_out) {
  if (is_complex(operand->dtype()))
    fail(name, "complex numbers have no order, got {}", describe(operand->type()));
  if (q.ndim() > 1) fail(name, "q is a scalar or a vector, got {}", describe(q.type()));
  const Array both[] = {operand.array, q};
  (void)both;
  const Rows rows = rows_of(name, as_inexact(operand), options.axis);
  const Array& x = rows.x;
  const Array invalid = isnan(x);
  const Array sorted =
      sort(leave_out ? x : where(any(invalid, {.axis = -1, .keepdims = true}), nan, x));
  // Positions are counted in f32 at least.
  const DType wide = compute_type(as_inexact(q).dtype());
  const Array fraction = cast(as_inexact(q), {wide, q.weak()});
  const std::int64_t length = x.shape(-1);
  Array count = leave_out ? sum((~invalid).astype(wide), {.axis = -1})
                          : Array::scalar(static_cast<double>(length), wide, true);
  const Array at = fraction.ndim() == 0 ? fraction : fraction.reshape([&] {
    Ints shape(static_cast<std::size_t>(x.ndim()), 1);
    shape[0] = fraction.size();
    return shape;
  }());
  const Array position = at * (count - 1), low = floor(position), high = ceil(position);
  Ints result = sizes(x);
  result.pop_back();
  if (fraction.ndim() == 1) result.insert(result.begin(), fraction.size());
  auto element = [&](const Array& index) {
    const Array i = broadcast_to(clip(index, 0, maximum(count - 1, 0)).astype(int32), result);
    const Array source = fraction.ndim() == 1 ? broadcast_to(expand_dims(sorted, 0),
                                                             [&] {
                                                               Ints s = sizes(sorted);
                                                               s.insert(s.begin(), fraction.size());
                                                               return s;
                                                             }())
                                              : sorted;
    return squeeze(take_along_axis(source, expand_dims(i, -1), -1, {.mode = "clip"}), -1);
  };
  const Array value = between(element(low), element(high), position - low, options.method);
  const Array out = cast(value, {x.dtype(), false});
  if (!options.keepdims) return out;
  Ints kept = rows.kept;
  if (fraction.ndim() == 1) kept.insert(kept.begin(), fraction.size());
  return out.reshape(kept);
}

}  // namespace

Array quantile(const Operand& x, const Operand& q, const Quantile& options) {
  Site site(x);
  return quantile_of("quantile", x, q, options, false);
}
Array percentile(const Operand& x, const Operand& q, const Quantile& options) {
  Site site(x);
  return quantile_of("percentile", x, as_inexact(q) / 100, options, false);
}
Array median(const Operand& x, const Reduce& options) {
  Site site(x);
  return quantile_of("median", x, 0.5,
                     {.axis = options.axis, .method = "midpoint", .keepdims = options.keepdims},
                     false);
}
Array nanquantile(const Operand& x, const Operand& q, const Quantile& options) {
  Site site(x);
  return quantile_of("nanquantile", x, q, options, true);
}
Array nanpercentile(const Operand& x, const Operand& q, const Quantile& options) {
  Site site(x);
  return quantile_of("nanpercentile", x, as_inexact(q) / 100, options, true);
}
Array nanmedian(const Operand& x, const Reduce& options) {
  Site site(x);
  return quantile_of("nanmedian", x, 0.5,
                     {.axis = options.axis, .method = "midpoint", .keepdims = options.keepdims},
                     true);
}

Array diff(const Operand& operand, const Diff& options) {
  Site site(operand);
  if (options.n == 0) return operand;
  if (options.n < 0) fail("diff", "the order is at least 0, got {}", options.n);
  if (operand->ndim() == 0)
    fail("diff", "needs at least one dimension, got {}", describe(operand->type()));
  const int dim = axis_of("diff", options.axis, operand->ndim());
  Ints one = sizes(operand);
  one[static_cast<std::size_t>(dim)] = 1;
  std::vector<Array> parts;
  if (options.prepend)
    parts.push_back(options.prepend->ndim() == 0 ? broadcast_to(*options.prepend, one)
                                                 : *options.prepend);
  parts.push_back(operand);
  if (options.append)
    parts.push_back(options.append->ndim() == 0 ? broadcast_to(*options.append, one)
                                                : *options.append);
  Array x = parts.size() == 1 ? operand.array : concatenate(parts, dim);
  for (std::int64_t i = 0; i < options.n; ++i) {
    const std::int64_t n = x.shape()[dim];
    const Array behind = lax::slice_in_dim(x, std::min<std::int64_t>(1, n), n, 1, dim),
                front = lax::slice_in_dim(x, 0, std::max<std::int64_t>(0, n - 1), 1, dim);
    x = is_bool(x.dtype()) ? behind != front : behind - front;
  }
  return x;
}

Array ediff1d(const Operand& operand, const std::optional<Operand>& to_end,
              const std::optional<Operand>& to_begin) {
  Site site(operand);
  const Array x = ravel(operand);
  std::vector<Array> parts;
  if (to_begin) parts.push_back(ravel(cast(*to_begin, {x.dtype(), x.weak()})));
  parts.push_back(diff(x));
  if (to_end) parts.push_back(ravel(cast(*to_end, {x.dtype(), x.weak()})));
  return concatenate(parts);
}

std::vector<Array> gradient(const Operand& operand, const Operand& spacing, const Axes& axis) {
  Site site(operand);
  const Array f = as_inexact(operand), h = cast(spacing, {f.dtype(), true});
  std::vector<Array> out;
  for (std::int64_t a : axes_of("gradient", axis, f.ndim())) {
    const int dim = static_cast<int>(a);
    const std::int64_t n = f.shape()[dim];
    if (n < 2) fail("gradient", "axis {} of {} has no two elements", dim, describe(f.type()));
    auto part = [&](std::int64_t from, std::int64_t to) {
      return lax::slice_in_dim(f, from, to, 1, dim);
    };
    out.push_back(
        concatenate({(part(1, 2) - part(0, 1)) / h, (part(2, n) - part(0, n - 2)) * 0.5 / h,
                     (part(n - 1, n) - part(n - 2, n - 1)) / h},
                    dim));
  }
  return out;
}

Array trapezoid(const Operand& operand, const Trapezoid& options) {
  Site site(operand);
  const int dim = axis_of("trapezoid", options.axis, operand->ndim());
  WeakDType type = internal::inexact({operand->dtype(), operand->weak()});
  if (options.x) {
    const Array both[] = {operand.array, *options.x};
    type = internal::inexact(internal::promoted("trapezoid", both));
  }
  const Array y = moveaxis(cast(operand, type), dim, -1);
  const std::int64_t n = y.shape(-1);
  auto part = [&](std::int64_t from, std::int64_t to) {
    return lax::slice_in_dim(y, std::min(from, n), std::max<std::int64_t>(0, to), 1, -1);
  };
  const Array pairs = part(1, n) + part(0, n - 1);
  if (!options.x) return options.dx * 0.5 * sum(pairs, -1);
  const Array at = cast(*options.x, type);
  const Array steps =
      at.ndim() == 1 ? diff(at) : moveaxis(diff(at, {.axis = options.axis}), dim, -1);
  return 0.5 * sum(steps * pairs, -1);
}

namespace {
Array variables(const char* name, const Array& x, bool rowvar) {
  if (x.ndim() > 2) fail(name, "needs a vector or a matrix, got {}", describe(x.type()));
  const Array rows = atleast_2d(x);
  return !rowvar && x.ndim() == 2 ? transpose(rows) : rows;
}
}  // namespace

Array cov(const Operand& operand, const Covariance& options) {
  Site site(operand);
  std::vector<Array> all = {as_inexact(operand)};
  if (options.y) {
    const Array both[] = {operand.array, *options.y};
    const WeakDType type = internal::inexact(internal::promoted("cov", both));
    all = {cast(operand, type), cast(*options.y, type)};
  }
  for (Array& x : all) x = variables("cov", x, options.rowvar);
  const Array x = all.size() == 1 ? all[0] : concatenate(all);
  const double ddof = static_cast<double>(options.ddof.value_or(options.bias ? 0 : 1));
  std::optional<Array> weights;
  if (options.fweights) weights = abs(*options.fweights);
  if (options.aweights)
    weights = weights ? *weights * abs(*options.aweights) : abs(*options.aweights);
  Array centred = x - average(x, {.axis = 1, .weights = weights, .keepdims = true});
  Array divisor = Array::scalar(static_cast<double>(x.shape()[1]) - ddof, x.dtype(), true),
        weighted = centred;
  if (weights) {
    const Array w = cast(*weights, {x.dtype(), false}), total = sum(w);
    weighted = centred * w;
    divisor = ddof == 0 ? total
              : options.aweights
                  ? total - ddof * sum(w * cast(abs(*options.aweights), {x.dtype(), false})) / total
                  : total - ddof;
  }
  return squeeze(dot(centred, conj(transpose(weighted))) / divisor);
}

Array corrcoef(const Operand& x, const Covariance& options) {
  Site site(x);
  const Array c = cov(x, options);
  if (c.ndim() == 0) return c / c;
  const Array deviation = sqrt(real(diag(c)));
  const Array scaled = c / expand_dims(deviation, 1) / expand_dims(deviation, 0);
  if (!is_complex(scaled.dtype())) return clip(scaled, -1, 1);
  return lax::complex(clip(real(scaled), -1, 1), clip(imag(scaled), -1, 1));
}

}  // namespace strata::numpy
