// pad: one axis at a time, each side in pieces no longer than what there is to take from.
#include <algorithm>

#include "strata/api/lax/operations.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {
namespace {

using internal::fail;
using internal::Site;

Array part(const Array& x, std::int64_t from, std::int64_t to, int dim) {
  return lax::slice_in_dim(x, from, to, 1, dim);
}

Array repeated(const Array& one, std::int64_t times, int dim) {
  return times == 0 ? part(one, 0, 0, dim) : repeat(one, times, dim);
}

/// "reflect" and "symmetric": mirrored at the ends, again and again; with `edge` the end itself
/// comes twice.
Array mirrored(Array x, PadWidth w, int dim, bool edge) {
  const std::int64_t own = x.shape()[dim], skip = edge ? 0 : 1;
  if (own == 1 && !edge)
    return concatenate({repeated(x, w.before, dim), x, repeated(x, w.after, dim)}, dim);
  while (w.before > 0) {
    const std::int64_t n = x.shape()[dim], by = std::min(w.before, n - skip);
    x = concatenate({flip(part(x, skip, skip + by, dim), dim), x}, dim);
    w.before -= by;
  }
  while (w.after > 0) {
    const std::int64_t n = x.shape()[dim], by = std::min(w.after, n - skip);
    x = concatenate({x, flip(part(x, n - skip - by, n - skip, dim), dim)}, dim);
    w.after -= by;
  }
  return x;
}

/// "wrap": as if the array came again and again.
Array wrapped(const Array& x, PadWidth w, int dim) {
  const std::int64_t n = x.shape()[dim], before = (w.before + n - 1) / n,
                     after = (w.after + n - 1) / n;
  std::vector<Array> copies(static_cast<std::size_t>(before + 1 + after), x);
  const Array all = concatenate(copies, dim);
  return part(all, before * n - w.before, before * n + n + w.after, dim);
}

Array rounded_down(const Array& x, DType wanted) { return is_inexact(wanted) ? x : floor(x); }

/// "linear_ramp": in equal steps to an end value.
Array ramped(const Array& x, PadWidth w, int dim, const Array& end) {
  auto ramp = [&](const Array& edge, std::int64_t count, bool before) {
    std::vector<std::int64_t> along(static_cast<std::size_t>(x.ndim()), 1);
    along[static_cast<std::size_t>(dim)] = count;
    const Array wide = internal::as_inexact(edge),
                steps = arange(count, wide.dtype()).reshape(along);
    const Array target = internal::cast(end, {wide.dtype(), wide.weak()});
    // Both ends weighted, as `linspace` does it: their difference would lose digits where they
    // nearly cancel.
    const Array weight = steps / static_cast<double>(std::max<std::int64_t>(1, count));
    const Array values = rounded_down(target * (1 - weight) + wide * weight, x.dtype());
    return internal::cast(before ? values : flip(values, dim), {x.dtype(), x.weak()});
  };
  const std::int64_t n = x.shape()[dim];
  return concatenate(
      {ramp(part(x, 0, 1, dim), w.before, true), x, ramp(part(x, n - 1, n, dim), w.after, false)},
      dim);
}

Array statistic(const Array& x, const std::string& mode, int dim) {
  if (mode == "maximum") return max(x, {.axis = dim, .keepdims = true});
  if (mode == "minimum") return min(x, {.axis = dim, .keepdims = true});
  const Array m = mean(x, {.axis = dim, .keepdims = true});
  return internal::cast(is_inexact(x.dtype()) ? m : round(m), {x.dtype(), x.weak()});
}

Array padded(const Array& x, PadWidth w, const Pad& options, int dim) {
  const std::string& mode = options.mode;
  if (x.shape()[dim] == 0) fail("pad", "mode \"{}\" needs an element along axis {}", mode, dim);
  const std::int64_t n = x.shape()[dim];
  if (mode == "edge")
    return concatenate({repeated(part(x, 0, 1, dim), w.before, dim), x,
                        repeated(part(x, n - 1, n, dim), w.after, dim)},
                       dim);
  if (mode == "reflect" || mode == "symmetric") return mirrored(x, w, dim, mode == "symmetric");
  if (mode == "wrap") return wrapped(x, w, dim);
  if (mode == "linear_ramp") return ramped(x, w, dim, options.end_values.value_or(Array(0)));
  if (mode == "maximum" || mode == "minimum" || mode == "mean") {
    const Array value = statistic(x, mode, dim);
    return concatenate({repeated(value, w.before, dim), x, repeated(value, w.after, dim)}, dim);
  }
  fail("pad", "there is no mode \"{}\"", mode);
}

}  // namespace

Array pad(const Operand& x, const std::vector<PadWidth>& given, const Pad& options) {
  Site site(x);
  std::vector<PadWidth> widths = given;
  if (widths.size() == 1) widths.resize(static_cast<std::size_t>(x->ndim()), widths[0]);
  if (static_cast<int>(widths.size()) != x->ndim())
    fail("pad", "{} widths are given for {}", widths.size(), internal::describe(x->type()));
  for (const PadWidth& w : widths)
    if (w.before < 0 || w.after < 0)
      fail("pad", "widths are at least 0, got {} and {}", w.before, w.after);
  if (options.mode == "constant" || options.mode == "empty") {
    std::vector<lax::Padding> config;
    for (const PadWidth& w : widths) config.push_back({w.before, w.after, 0});
    return lax::pad(
        x, internal::cast(options.constant_values.value_or(Array(0)), {x->dtype(), x->weak()}),
        config);
  }
  Array out = x;
  for (int d = 0; d < x->ndim(); ++d)
    if (const PadWidth w = widths[static_cast<std::size_t>(d)]; w.before > 0 || w.after > 0)
      out = padded(out, w, options, d);
  return out;
}

Array pad(const Operand& x, const std::vector<PadWidth>& widths, const Operand& value) {
  return pad(x, widths, Pad{.constant_values = value.array});
}

}  // namespace strata::numpy
