#include "strata/api/transform/map.h"

#include "strata/api/numpy/shape/joining.h"
#include "strata/api/trace/compose.h"

namespace strata::internal {
namespace {

/// x with another first part of its shape: `first`, then what stands behind the first `dropped`
/// axes.
Array with_front(const Array& x, Ints first, std::size_t dropped) {
  const Ints shape = sizes(x);
  first.insert(first.end(), shape.begin() + static_cast<std::ptrdiff_t>(dropped), shape.end());
  return x.reshape(first);
}

}  // namespace

Batches batches_of(std::span<const Array> xs, std::int64_t size) {
  if (size < 0) fail("map", "batch_size is at least 0, got {}", size);
  std::optional<std::int64_t> length;
  element_types(xs, length);
  Batches out{.size = size, .count = size == 0 ? 0 : *length / size, .whole = {}, .rest = {}};
  const std::int64_t cut = out.count * size;
  for (const Array& x : xs) {
    if (out.count > 0) out.whole.push_back(with_front(x[slice(cut)], {out.count, size}, 1));
    if (cut < *length) out.rest.push_back(x[slice(cut, none)]);
  }
  return out;
}

std::vector<Array> joined_batches(std::span<const Array> whole, std::span<const Array> rest) {
  std::vector<Array> out;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Array flat = with_front(whole[i], {whole[i].shape(0) * whole[i].shape(1)}, 2);
    out.push_back(rest.empty() ? flat : concatenate({flat, rest[i]}));
  }
  return out;
}

}  // namespace strata::internal
