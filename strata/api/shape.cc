// Shape functions of numpy.h.
#include <algorithm>
#include <numeric>

#include "strata/api/compose.h"
#include "strata/api/lax.h"

namespace strata {
namespace {

using internal::emit_one;
using internal::axes_of;
using internal::axis_of;
using internal::Builder;
using internal::cast;
using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;
using internal::Value;
using internal::Values;

Array reshaped(const Array& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return emit_one({x}, x.weak(), [&](Builder& b, const Values& v) { return op::reshape(b, v[0], shape); });
}

Array permuted(const Array& x, const Ints& permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return x;
  return emit_one({x}, x.weak(), [&](Builder& b, const Values& v) { return op::transpose(b, v[0], permutation); });
}

/// Converted to one dtype, without broadcasting.
std::vector<Array> same_dtype(const char* name, std::vector<Array> arrays) {
  if (arrays.empty()) fail(name, "needs at least one array");
  const WeakDType type = internal::promoted(name, arrays);
  for (Array& a : arrays) a = cast(a, type);
  return arrays;
}

std::vector<std::int64_t> sections_of(std::int64_t size, std::int64_t sections) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 1; i < sections; ++i) out.push_back(i * (size / sections));
  return out;
}

}  // namespace

Array reshape(const Operand& x, const Sizes& shape) {
  Site site(x);
  Ints wanted = shape;
  std::int64_t known = 1, free = -1;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -1) fail("reshape", "size {} is negative", wanted[i]);
    if (wanted[i] >= 0) known *= wanted[i];
    else if (free >= 0) fail("reshape", "only one size may be -1");
    else free = static_cast<std::int64_t>(i);
  }
  if (free >= 0 && known > 0) wanted[static_cast<std::size_t>(free)] = x->size() / known;
  else if (free >= 0) wanted[static_cast<std::size_t>(free)] = 0;
  const Shape result = Shape::of(wanted);
  if (result.count() != x->size()) {
    std::string text;
    for (std::int64_t s : shape) text += (text.empty() ? "" : ",") + std::to_string(s);
    fail("reshape", "{} has {} elements, which do not fill [{}]", describe(x->type()), x->size(), text);
  }
  return reshaped(x, result);
}
Array ravel(const Operand& x) { Site site(x); return reshaped(x, Shape{x->size()}); }

Array transpose(const Operand& x, const Sizes& axes) {
  Site site(x);
  Ints permutation = axes;
  if (permutation.empty()) {
    permutation.resize(static_cast<std::size_t>(x->ndim()));
    std::iota(permutation.rbegin(), permutation.rend(), 0);
  }
  if (static_cast<int>(permutation.size()) != x->ndim()) fail("transpose", "{} axes are given for {}", permutation.size(), describe(x->type()));
  for (std::int64_t& a : permutation) a = axis_of("transpose", a, x->ndim());
  axes_of("transpose", permutation, x->ndim());  // refuses repeated axes
  return permuted(x, permutation);
}
Array swapaxes(const Operand& x, std::int64_t axis1, std::int64_t axis2) {
  Site site(x);
  Ints permutation(static_cast<std::size_t>(x->ndim()));
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[static_cast<std::size_t>(axis_of("swapaxes", axis1, x->ndim()))],
            permutation[static_cast<std::size_t>(axis_of("swapaxes", axis2, x->ndim()))]);
  return permuted(x, permutation);
}
Array moveaxis(const Operand& x, std::int64_t from, std::int64_t to) {
  Site site(x);
  const int source = axis_of("moveaxis", from, x->ndim()), target = axis_of("moveaxis", to, x->ndim());
  Ints permutation;
  for (int i = 0; i < x->ndim(); ++i)
    if (i != source) permutation.push_back(i);
  permutation.insert(permutation.begin() + target, source);
  return permuted(x, permutation);
}

Array expand_dims(const Operand& x, const Axes& axis) {
  Site site(x);
  if (axis.all()) fail("expand_dims", "no axis is given");
  const int added = static_cast<int>(axis.count());
  const Ints axes = axes_of("expand_dims", axis, x->ndim() + added);
  Ints result = sizes(x);
  for (std::int64_t a : axes) result.insert(result.begin() + a, 1);
  return reshaped(x, Shape::of(result));
}
Array squeeze(const Operand& x, const Axes& axis) {
  Site site(x);
  Ints result;
  const Ints axes = axes_of("squeeze", axis, x->ndim());
  for (int i = 0; i < x->ndim(); ++i) {
    const bool named = std::binary_search(axes.begin(), axes.end(), i);
    const bool drop = named && x->shape()[i] == 1;
    if (named && !drop && !axis.all()) fail("squeeze", "axis {} of {} has size {}, not 1", i, describe(x->type()), x->shape()[i]);
    if (!drop) result.push_back(x->shape()[i]);
  }
  return reshaped(x, Shape::of(result));
}

Array broadcast_to(const Operand& x, const Sizes& shape) {
  Site site(x);
  const Shape result = Shape::of(shape);
  const int extra = result.rank() - x->ndim();
  bool fits = extra >= 0;
  for (int i = 0; fits && i < x->ndim(); ++i) fits = x->shape()[i] == 1 || x->shape()[i] == result[extra + i];
  if (!fits) fail("broadcast_to", "{} does not broadcast to {}", describe(x->type()), describe(result));
  if (x->shape() == result) return x;
  return emit_one({x}, x->weak(), [&](Builder& b, const Values& v) { return op::broadcast_to(b, v[0], result); });
}

Array concatenate(const std::vector<Array>& arrays, std::int64_t axis, Where where) {
  Site site(where);
  const std::vector<Array> parts = same_dtype("concatenate", arrays);
  const int rank = parts[0].ndim();
  if (rank == 0) fail("concatenate", "scalars cannot be concatenated; use stack");
  const int dim = axis_of("concatenate", axis, rank);
  for (const Array& p : parts)
    for (int i = 0; i < std::max(rank, p.ndim()); ++i)
      if (p.ndim() != rank || (i != dim && p.shape()[i] != parts[0].shape()[i]))
        fail("concatenate", "{} and {} differ outside of axis {}", describe(parts[0].type()), describe(p.type()), dim);
  if (parts.size() == 1) return parts[0];
  return emit_one(parts, parts[0].weak(), [&](Builder& b, const Values& v) { return op::concatenate(b, v, dim); });
}
Array stack(const std::vector<Array>& arrays, std::int64_t axis, Where where) {
  Site site(where);
  std::vector<Array> parts = same_dtype("stack", arrays);
  for (Array& p : parts) {
    if (p.shape() != arrays[0].shape()) fail("stack", "shapes {} and {} differ", describe(arrays[0].type()), describe(p.type()));
    p = expand_dims(p, axis);
  }
  return concatenate(parts, axis);
}

std::vector<Array> split(const Operand& x, std::int64_t sections, std::int64_t axis) {
  Site site(x);
  const int dim = axis_of("split", axis, x->ndim());
  const std::int64_t size = x->shape()[dim];
  if (sections < 1 || size % sections != 0) fail("split", "axis {} of {} does not divide into {} equal parts", dim, describe(x->type()), sections);
  return split(x, sections_of(size, sections), axis);
}
std::vector<Array> split(const Operand& x, const std::vector<std::int64_t>& indices, std::int64_t axis) {
  Site site(x);
  const int dim = axis_of("split", axis, x->ndim());
  const std::int64_t size = x->shape()[dim];
  std::vector<Array> out;
  std::int64_t from = 0;
  for (std::size_t i = 0; i <= indices.size(); ++i) {
    const std::int64_t to = i < indices.size() ? std::clamp<std::int64_t>(indices[i] < 0 ? indices[i] + size : indices[i], 0, size) : size;
    out.push_back(lax::slice_in_dim(x, from, std::max(from, to), 1, dim));
    from = std::max(from, to);
  }
  return out;
}

Array flip(const Operand& x, const Axes& axis) { Site site(x); return lax::rev(x, axes_of("flip", axis, x->ndim())); }
Array roll(const Operand& x, std::int64_t shift, std::int64_t axis) {
  Site site(x);
  const int dim = axis_of("roll", axis, x->ndim());
  const std::int64_t n = x->shape()[dim];
  const std::int64_t by = n == 0 ? 0 : (shift % n + n) % n;
  if (by == 0) return x;
  return concatenate({lax::slice_in_dim(x, n - by, n, 1, dim), lax::slice_in_dim(x, 0, n - by, 1, dim)}, dim);
}
Array repeat(const Operand& x, std::int64_t times, std::int64_t axis) {
  Site site(x);
  if (times < 0) fail("repeat", "the number of repetitions is at least 0, got {}", times);
  const int dim = axis_of("repeat", axis, x->ndim());
  Ints wide = sizes(x);
  wide.insert(wide.begin() + dim + 1, times);
  Ints result = sizes(x);
  result[static_cast<std::size_t>(dim)] *= times;
  return broadcast_to(expand_dims(x, dim + 1), wide).reshape(result);
}
Array tile(const Operand& x, const Sizes& repetitions) {
  Site site(x);
  const std::size_t rank = std::max(repetitions.size(), static_cast<std::size_t>(x->ndim()));
  Ints own = sizes(x), times = repetitions;
  own.insert(own.begin(), rank - own.size(), 1);
  times.insert(times.begin(), rank - times.size(), 1);
  Ints split_sizes, wide, result;
  for (std::size_t i = 0; i < rank; ++i) {
    split_sizes.insert(split_sizes.end(), {1, own[i]});
    wide.insert(wide.end(), {times[i], own[i]});
    result.push_back(times[i] * own[i]);
  }
  return broadcast_to(x->reshape(split_sizes), wide).reshape(result);
}

Array pad(const Operand& x, const std::vector<PadWidth>& widths, const Operand& value) {
  Site site(x);
  if (static_cast<int>(widths.size()) != x->ndim()) fail("pad", "{} widths are given for {}", widths.size(), describe(x->type()));
  std::vector<lax::Padding> config;
  for (const PadWidth& w : widths) {
    if (w.before < 0 || w.after < 0) fail("pad", "widths are at least 0, got {} and {}", w.before, w.after);
    config.push_back({w.before, w.after, 0});
  }
  return lax::pad(x, cast(value, {x->dtype(), x->weak()}), config);
}

namespace {
/// Where the column is at most (tril) the row plus k.
Array lower_mask(const char* name, const Array& x, std::int64_t k) {
  if (x.ndim() < 2) fail(name, "needs a matrix, got {}", describe(x.type()));
  return tri(x.shape(-2), x.shape(-1), k, bool_);
}
}  // namespace

Array tril(const Operand& x, std::int64_t k) { Site site(x); return where(lower_mask("tril", x, k), x, zeros_like(x)); }
Array triu(const Operand& x, std::int64_t k) { Site site(x); return where(lower_mask("triu", x, k - 1), zeros_like(x), x); }
Array diagonal(const Operand& x) {
  Site site(x);
  if (x->ndim() < 2) fail("diagonal", "needs a matrix, got {}", describe(x->type()));
  const std::int64_t n = std::min(x->shape(-2), x->shape(-1));
  Array square = lax::slice_in_dim(lax::slice_in_dim(x, 0, n, 1, -1), 0, n, 1, -2);
  return sum(where(eye(n, n, 0, bool_), square, zeros_like(square)), Reduce{.axis = -1, .dtype = x->dtype()});
}
Array trace(const Operand& x) { Site site(x); return sum(diagonal(x), -1); }

Array Array::reshape(const Sizes& sizes, std::source_location where) const { return strata::reshape(Operand(*this, where), sizes); }
Array Array::transpose(const Sizes& axes, std::source_location where) const { return strata::transpose(Operand(*this, where), axes); }

}  // namespace strata
