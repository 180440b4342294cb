// A permutation of 0 .. n-1 whose every image is computed alone, in a moment: order without a
// table.
#pragma once

#include <cstdint>

namespace strata::data {

/// The image of `index` among 0 .. max_index under the permutation that `seed` names.
///
/// The same numbers as Grain's index_shuffle with four rounds: a Simon-like block cipher over the
/// next even number of bits (at least 16), applied until the result is in range. As there, it is no
/// permutation for max_index = 2^k, k even and >= 16: indices 0 and max_index share an image.
/// Source: grain/_src/python/experimental/index_shuffle/index_shuffle.cc; keys by std::seed_seq.
std::uint64_t index_shuffle(std::uint64_t index, std::uint64_t max_index, std::uint32_t seed);

/// The image of `index` among 0 .. n-1: index_shuffle(index, n - 1, seed), and for the n where that
/// is no permutation, the same cipher over two bits more. Needs index < n.
std::uint64_t permute(std::uint64_t index, std::uint64_t n, std::uint32_t seed);

}  // namespace strata::data
