// Shape functions of numpy.h.
#include "strata/api/numpy/shape/manipulation.h"

#include <algorithm>
#include <numeric>

#include "strata/api/lax/operations.h"
#include "strata/api/trace/compose.h"
#include "strata/api/trace/eager.h"

namespace strata::numpy {
namespace {

using internal::axes_of;
using internal::axis_of;
using internal::Builder;
using internal::cast;
using internal::describe;
using internal::EagerKey;
using internal::emit_known;
using internal::emit_one;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;
using internal::Value;
using internal::Values;

Array reshaped(const Array& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (internal::Trace::current() || x.state()->value || x.state()->scalar ||
      x.state()->buffer.there())
    return emit_one({x}, x.weak(),
                    [&](Builder& b, const Values& v) { return op::reshape(b, v[0], shape); });
  // The same elements in the same order: the same memory.
  return internal::concrete(runtime::Buffer(Literal(Type(x.dtype(), shape), x.literal().storage())),
                            x.weak());
}

Array permuted(const Array& x, const Ints& permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return x;
  return emit_known(EagerKey().add("transpose").add(permutation).add(x), {&x}, [&] {
    return internal::Emitted{{x}, x.weak(), [permutation](Builder& b, const Values& v) {
                               return op::transpose(b, v[0], permutation);
                             }};
  });
}

}  // namespace

Array reshape(const Operand& x, const Sizes& shape) {
  Site site(x);
  Ints wanted = shape;
  std::int64_t known = 1, free = -1;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -1) fail("reshape", "size {} is negative", wanted[i]);
    if (wanted[i] >= 0)
      known *= wanted[i];
    else if (free >= 0)
      fail("reshape", "only one size may be -1");
    else
      free = static_cast<std::int64_t>(i);
  }
  if (free >= 0 && known > 0)
    wanted[static_cast<std::size_t>(free)] = x->size() / known;
  else if (free >= 0)
    wanted[static_cast<std::size_t>(free)] = 0;
  const Shape result = Shape::of(wanted);
  if (result.count() != x->size()) {
    std::string text;
    for (std::int64_t s : shape) text += (text.empty() ? "" : ",") + std::to_string(s);
    fail("reshape", "{} has {} elements, which do not fill [{}]", describe(x->type()), x->size(),
         text);
  }
  return reshaped(x, result);
}
Array ravel(const Operand& x) {
  Site site(x);
  return reshaped(x, Shape{x->size()});
}

Array transpose(const Operand& x, const Sizes& axes) {
  Site site(x);
  Ints permutation = axes;
  if (permutation.empty()) {
    permutation.resize(static_cast<std::size_t>(x->ndim()));
    std::iota(permutation.rbegin(), permutation.rend(), 0);
  }
  if (static_cast<int>(permutation.size()) != x->ndim())
    fail("transpose", "{} axes are given for {}", permutation.size(), describe(x->type()));
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
Array matrix_transpose(const Operand& x) {
  Site site(x);
  if (x->ndim() < 2) fail("matrix_transpose", "needs a matrix, got {}", describe(x->type()));
  return swapaxes(x, -1, -2);
}
Array moveaxis(const Operand& x, const Sizes& from, const Sizes& to) {
  Site site(x);
  if (from.size() != to.size())
    fail("moveaxis", "{} axes are moved to {} places", from.size(), to.size());
  std::vector<int> source, target;
  for (std::int64_t a : from) source.push_back(axis_of("moveaxis", a, x->ndim()));
  for (std::int64_t a : to) target.push_back(axis_of("moveaxis", a, x->ndim()));
  axes_of("moveaxis", Axes(from.get()), x->ndim());  // refuses repeated axes
  axes_of("moveaxis", Axes(to.get()), x->ndim());
  Ints permutation(static_cast<std::size_t>(x->ndim()), -1), rest;
  for (std::size_t i = 0; i < source.size(); ++i)
    permutation[static_cast<std::size_t>(target[i])] = source[i];
  for (int i = 0; i < x->ndim(); ++i)
    if (std::find(source.begin(), source.end(), i) == source.end()) rest.push_back(i);
  auto next = rest.begin();
  for (std::int64_t& p : permutation)
    if (p < 0) p = *next++;
  return permuted(x, permutation);
}
Array rollaxis(const Operand& x, std::int64_t axis, std::int64_t start) {
  Site site(x);
  const int from = axis_of("rollaxis", axis, x->ndim()),
            to = axis_of("rollaxis", start, x->ndim() + 1);
  if (start < 0)
    return moveaxis(x, from,
                    (static_cast<int>(start) + x->ndim()) - (from < start + x->ndim() ? 1 : 0));
  return moveaxis(x, from, from < to ? to - 1 : to);
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
    if (named && !drop && !axis.all())
      fail("squeeze", "axis {} of {} has size {}, not 1", i, describe(x->type()), x->shape()[i]);
    if (!drop) result.push_back(x->shape()[i]);
  }
  return reshaped(x, Shape::of(result));
}

Array broadcast_to(const Operand& x, const Sizes& shape) {
  Site site(x);
  const Shape result = Shape::of(shape);
  const int extra = result.rank() - x->ndim();
  bool fits = extra >= 0;
  for (int i = 0; fits && i < x->ndim(); ++i)
    fits = x->shape()[i] == 1 || x->shape()[i] == result[extra + i];
  if (!fits)
    fail("broadcast_to", "{} does not broadcast to {}", describe(x->type()), describe(result));
  if (x->shape() == result) return x;
  return emit_known(
      EagerKey().add("broadcast_to").add(result.sizes()).add(x.array), {&x.array}, [&] {
        return internal::Emitted{{x}, x->weak(), [result](Builder& b, const Values& v) {
                                   return op::broadcast_to(b, v[0], result);
                                 }};
      });
}

std::vector<Array> broadcast_arrays(const std::vector<Array>& arrays, Where where) {
  Site site(where);
  const Shape shape = internal::broadcast_shapes("broadcast_arrays", arrays);
  std::vector<Array> out;
  for (const Array& a : arrays) out.push_back(broadcast_to(a, shape));
  return out;
}

Array atleast_1d(const Operand& x) {
  Site site(x);
  return x->ndim() >= 1 ? x.array : x->reshape({1});
}
Array atleast_2d(const Operand& x) {
  Site site(x);
  return x->ndim() >= 2 ? x.array : x->reshape({1, x->size()});
}
Array atleast_3d(const Operand& x) {
  Site site(x);
  if (x->ndim() >= 3) return x;
  return x->ndim() == 2 ? expand_dims(x, -1) : x->reshape({1, x->size(), 1});
}

Array flip(const Operand& x, const Axes& axis) {
  Site site(x);
  return lax::rev(x, axes_of("flip", axis, x->ndim()));
}
Array fliplr(const Operand& x) {
  Site site(x);
  return flip(x, 1);
}
Array flipud(const Operand& x) {
  Site site(x);
  return flip(x, 0);
}
Array rot90(const Operand& x, std::int64_t k, const Sizes& axes) {
  Site site(x);
  if (axes.size() != 2) fail("rot90", "two axes span the plane, got {}", axes.size());
  const int from = axis_of("rot90", axes[0], x->ndim()), to = axis_of("rot90", axes[1], x->ndim());
  if (from == to) fail("rot90", "axis {} is given twice", from);
  switch ((k % 4 + 4) % 4) {
    case 0: return x;
    case 1: return swapaxes(flip(x, to), from, to);
    case 2: return flip(x, {from, to});
    default: return flip(swapaxes(x, from, to), to);
  }
}

}  // namespace strata::numpy
