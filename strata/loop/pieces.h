// A length in pieces of one size and what is left: loops whose last piece has code of its own.
#pragma once

#include <functional>

#include "strata/loop/loop.h"

namespace strata::loop {

/// `body(begin, length)` for piece number c of [0, total); pieces have `size`, of which the last
/// may be shorter.
void for_piece(Builder& b, const Index& c, std::int64_t total, std::int64_t size,
               const std::function<void(Index, std::int64_t)>& body);
/// The same for each of the pieces of [begin, begin + total), one after another.
void for_pieces(Builder& b, const Index& begin, std::int64_t total, std::int64_t size,
                const std::function<void(Index, std::int64_t)>& body);

/// Lanes of a strip of n > 0 elements: as few as hold them, but `most` (a power of two) for more.
int lanes_for(std::int64_t n, int most);

}  // namespace strata::loop
