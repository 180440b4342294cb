// Orders of dimensions: dimension i of what is permuted is dimension permutation[i] of what was.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strata/type/type.h"

namespace strata {

/// The permutation that leads back: where each of 0, 1, 2, ... stands.
inline std::vector<std::int64_t> inverse_permutation(std::span<const std::int64_t> permutation) {
  std::vector<std::int64_t> out(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    out[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  return out;
}

/// The type of a transposed array.
inline Type permuted(const Type& type, std::span<const std::int64_t> permutation) {
  std::vector<Dim> dims;
  for (std::int64_t d : permutation) dims.push_back(type.shape().dim(static_cast<int>(d)));
  return type.with(Shape(std::move(dims)));
}

}  // namespace strata
