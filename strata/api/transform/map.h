// A function on each element along the first axis, one after the other or in batches (vmap does all
// at once).
#pragma once

#include "strata/api/transform/control.h"
#include "strata/api/transform/vmap.h"

namespace strata {

/// Options of `map`.
struct MapOptions {
  internal::Named named = internal::Named();
  /// So many elements at once, by vmap; what is left over at the end is a smaller batch. 0: all.
  /// None: each alone.
  std::optional<std::int64_t> batch_size = std::nullopt;
};

namespace internal {
/// Arrays of one length cut along their first axis: `count` batches of `size`, one axis more, and
/// what is left over.
struct Batches {
  std::int64_t size = 0, count = 0;
  std::vector<Array> whole, rest;  // empty where there are none
};
Batches batches_of(std::span<const Array> xs, std::int64_t size);
/// Results of the batches and of the rest, one behind the other.
std::vector<Array> joined_batches(std::span<const Array> whole, std::span<const Array> rest);
}  // namespace internal

/// f of each element of a tree of arrays along the first axis, stacked. Throws Error for a negative
/// batch size, and where lengths differ.
template <class F, class Xs>
[[nodiscard]] auto map(F f, const Xs& xs, const MapOptions& options = {},
                       Where where = Where::current()) {
  if constexpr (internal::accepts<F, Xs>()) {
    internal::Site site(where);
    if (!options.batch_size)
      return scan([&](std::nullptr_t, Xs x) { return std::pair(nullptr, f(x)); }, nullptr, xs, {},
                  where)
          .second;
    const auto all = vmap(f, {}, where);
    const internal::Batches batches =
        internal::batches_of(tree::leaves<Array>(xs), *options.batch_size);
    if (batches.count == 0) return all(xs);
    auto ys = scan([&](std::nullptr_t, const Xs& x) { return std::pair(nullptr, all(x)); }, nullptr,
                   tree::unflatten<Array>(xs, batches.whole), {}, where)
                  .second;
    std::vector<Array> rest;
    if (!batches.rest.empty())
      rest = tree::leaves<Array>(all(tree::unflatten<Array>(xs, batches.rest)));
    const std::vector<Array> joined = internal::joined_batches(tree::leaves<Array>(ys), rest);
    return tree::unflatten<Array>(std::move(ys), joined);
  }
}

namespace lax {
using strata::map;
using strata::MapOptions;
}  // namespace lax

}  // namespace strata
