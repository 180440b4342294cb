#include "strata/ir/attr.h"

#include <bit>

namespace strata::ir {

bool equal(const Attr& a, const Attr& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) -> bool {
        using T = std::decay_t<decltype(x)>;
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, Literal>) return x.same_bits(y);
        else if constexpr (std::is_same_v<T, double>) return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
        else return x == y;
      },
      a);
}

bool equal(const Attrs& a, const Attrs& b) {
  if (a.size() != b.size()) return false;
  auto j = b.begin();
  for (auto i = a.begin(); i != a.end(); ++i, ++j)
    if (i->first != j->first || !equal(i->second, j->second)) return false;
  return true;
}

}  // namespace strata::ir
