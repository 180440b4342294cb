#include "strata/api/lax/scan.h"

#include "strata/api/lax/operations.h"
#include "strata/api/lax/shapes.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/trace/compose.h"

namespace strata::lax {
namespace {

using internal::describe;
using internal::fail;
using Arrays = std::vector<Array>;

template <class F>
Arrays each(const Arrays& xs, F f) {
  Arrays out;
  for (const Array& x : xs) out.push_back(f(x));
  return out;
}

/// even[0], odd[0], even[1], odd[1] ...; there may be one even element more.
Array interleaved(const Array& even, const Array& odd, int axis) {
  const std::int64_t n = odd.shape()[axis];
  const Array pairs =
      collapse(lax::stack({slice_in_dim(even, 0, n, 1, axis), odd}, axis + 1), axis, axis + 2);
  return even.shape()[axis] == n
             ? pairs
             : lax::concatenate({pairs, slice_in_dim(even, n, {}, 1, axis)}, axis);
}

Arrays scanned(const detail::Combine& combine, const Arrays& elements, int axis) {
  const std::int64_t n = elements[0].shape()[axis];
  if (n < 2) return elements;
  auto strided = [&](std::int64_t from, std::int64_t to) {
    return each(elements, [&](const Array& x) { return slice_in_dim(x, from, to, 2, axis); });
  };
  // Pairs are combined and scanned: the odd places of the result. The even ones are one element
  // more.
  const Arrays odd = scanned(combine, combine(strided(0, n - 1), strided(1, n)), axis);
  Arrays even = each(elements, [&](const Array& x) { return slice_in_dim(x, 0, 1, 1, axis); });
  if (n > 2) {
    const Arrays before =
        each(odd, [&](const Array& x) { return slice_in_dim(x, 0, (n - 1) / 2, 1, axis); });
    const Arrays later = combine(before, strided(2, n));
    for (std::size_t i = 0; i < even.size(); ++i)
      even[i] = lax::concatenate({even[i], later[i]}, axis);
  }
  for (std::size_t i = 0; i < even.size(); ++i) even[i] = interleaved(even[i], odd[i], axis);
  return even;
}

}  // namespace

Arrays detail::associative_scan(const Combine& combine, Arrays elements,
                                const AssociativeScan& options) {
  if (elements.empty()) fail("associative_scan", "needs at least one array");
  const int axis = internal::axis_of("associative_scan", options.axis, elements[0].ndim());
  for (const Array& x : elements)
    if (x.ndim() <= axis || x.shape()[axis] != elements[0].shape()[axis])
      fail("associative_scan", "{} and {} have different sizes along axis {}",
           describe(elements[0].type()), describe(x.type()), axis);
  auto turned = [&](const Arrays& xs) {
    return options.reverse ? each(xs, [&](const Array& x) { return rev(x, axis); }) : xs;
  };
  return turned(scanned(combine, turned(elements), axis));
}

}  // namespace strata::lax
