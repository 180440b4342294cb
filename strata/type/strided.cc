#include "strata/type/strided.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace strata {

std::vector<std::int64_t> row_major(int rank) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(rank));
  std::iota(out.rbegin(), out.rend(), 0);
  return out;
}

bool is_dense(std::span<const std::int64_t> dims, std::span<const std::int64_t> strides,
              std::span<const std::int64_t> dense) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != 1 && strides[i] != dense[i]) return false;
  return true;
}

std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> dims, std::size_t width,
                                        std::span<const std::int64_t> minor_to_major) {
  std::vector<std::int64_t> out(dims.size());
  std::int64_t stride = static_cast<std::int64_t>(width);
  for (std::int64_t d : minor_to_major) {
    out[static_cast<std::size_t>(d)] = stride;
    stride *= dims[static_cast<std::size_t>(d)];
  }
  return out;
}

void copy_strided(std::span<const std::int64_t> dims, std::size_t width, const std::byte* from,
                  std::span<const std::int64_t> from_strides, std::byte* to,
                  std::span<const std::int64_t> to_strides) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  // A dimension at a time from the inside, as long as both sides go on without a gap.
  std::size_t whole = width, rank = dims.size();
  while (rank > 0 &&
         (dims[rank - 1] == 1 || (from_strides[rank - 1] == static_cast<std::int64_t>(whole) &&
                                  to_strides[rank - 1] == static_cast<std::int64_t>(whole))))
    whole *= static_cast<std::size_t>(dims[--rank]);
  std::vector<std::int64_t> index(rank, 0);
  for (;;) {
    std::memcpy(to, from, whole);
    std::size_t d = rank;
    for (;;) {
      if (d == 0) return;
      --d;
      from += from_strides[d];
      to += to_strides[d];
      if (++index[d] < dims[d]) break;
      from -= from_strides[d] * dims[d];
      to -= to_strides[d] * dims[d];
      index[d] = 0;
    }
  }
}

}  // namespace strata
