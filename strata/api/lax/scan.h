// Running combinations by any associative function.
#pragma once

#include <functional>
#include <vector>

#include "strata/api/trace/function.h"

namespace strata::lax {

struct AssociativeScan {
  internal::Named named = internal::Named();
  /// From the last element to the first.
  bool reverse = false;
  std::int64_t axis = 0;
};
namespace detail {
using Combine =
    std::function<std::vector<Array>(const std::vector<Array>&, const std::vector<Array>&)>;
[[nodiscard]] std::vector<Array> associative_scan(const Combine& combine,
                                                  std::vector<Array> elements,
                                                  const AssociativeScan& options);
}  // namespace detail
/// Element k of the result is elems[0] fn elems[1] ... fn elems[k], for a function of two trees of
/// slices (of several elements along the axis at once) that is associative. In about 2 log2(n)
/// applications: Blelloch, "Prefix sums and their applications", as jax.lax.associative_scan.
template <class F, class Elems>
Elems associative_scan(F fn, const Elems& elems, const AssociativeScan& options = {},
                       Where where = Where::current()) {
  internal::Site site(where);
  auto combine = [&](const std::vector<Array>& a, const std::vector<Array>& b) {
    return tree::leaves<Array>(
        fn(tree::unflatten<Array>(elems, a), tree::unflatten<Array>(elems, b)));
  };
  return tree::unflatten<Array>(
      elems, detail::associative_scan(combine, tree::leaves<Array>(elems), options));
}

}  // namespace strata::lax
