// The functions that counters go through to become random words: Threefry and Philox (Random123),
// with 32-bit words.
#pragma once

#include <vector>

#include "strata/api/random/key.h"
#include "strata/ir/graph.h"

namespace strata::random {

/// How many words go in and come out: 2 or 4. Not for rbg, which has none of its own.
std::size_t block_words(Implementation generator);
/// The counters, elementwise, under a key: 20 rounds of Threefry, 10 of Philox. All words are ui32
/// of one shape. Source: Random123's threefry.h and philox.h.
ir::Values block(ir::Builder& b, Implementation generator, const ir::Values& key,
                 const ir::Values& counter);
/// The same for arrays, ui32 scalars or of one shape.
[[nodiscard]] std::vector<Array> block(Implementation generator, const std::vector<Array>& key,
                                       const std::vector<Array>& counter);

}  // namespace strata::random
