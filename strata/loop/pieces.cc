#include "strata/loop/pieces.h"

#include <algorithm>
#include <bit>

namespace strata::loop {

void for_piece(Builder& b, const Index& c, std::int64_t total, std::int64_t size,
               const std::function<void(Index, std::int64_t)>& body) {
  const std::int64_t whole = total / size, rest = total % size;
  if (rest == 0) return body(c * size, size);
  if (whole == 0) return body(0, rest);
  b.if_(b.less(c, whole), [&] { body(c * size, size); }, [&] { body(whole * size, rest); });
}

void for_pieces(Builder& b, const Index& begin, std::int64_t total, std::int64_t size,
                const std::function<void(Index, std::int64_t)>& body) {
  b.for_(0, total / size, 1, [&](Index c) { body(begin + c * size, size); });
  if (total % size != 0) body(begin + total / size * size, total % size);
}

int lanes_for(std::int64_t n, int most) {
  return static_cast<int>(
      std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(n, most))));
}

}  // namespace strata::loop
