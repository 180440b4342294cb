#include "strata/ir/attr.h"

#include <algorithm>
#include <bit>

namespace strata::ir {
namespace {

/// The first entry that is not before `name`.
auto place_of(auto& entries, std::string_view name) {
  return std::lower_bound(entries.begin(), entries.end(), name,
                          [](const Attrs::Entry& e, std::string_view n) { return e.first < n; });
}

}  // namespace

constinit const Attrs::Entries Attrs::kNone{};

Attrs::Attrs(std::initializer_list<Entry> list) {
  for (const Entry& e : list)
    if (!has(e.first)) set(e.first, e.second);
}

const Attr* Attrs::find(std::string_view name) const {
  const Entries& all = entries();
  auto it = place_of(all, name);
  return it != all.end() && it->first == name ? &it->second : nullptr;
}

Attrs& Attrs::set(std::string_view name, Attr value) {
  Entries& all = entries_.own();
  auto it = place_of(all, name);
  if (it != all.end() && it->first == name) {
    it->second = std::move(value);
    return *this;
  }
  auto at = it - all.begin();
  if (all.size() == all.capacity() && all.size() < 8)
    all.reserve(all.size() + 1);  // most operations have one or two
  all.emplace(all.begin() + at, std::string(name), std::move(value));
  return *this;
}

void Attrs::erase(std::string_view name) {
  if (!has(name)) return;
  if (size() == 1) {
    entries_ = {};
    return;
  }
  Entries& all = entries_.own();
  all.erase(place_of(all, name));
}

bool equal(const Attr& a, const Attr& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) -> bool {
        using T = std::decay_t<decltype(x)>;
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, Literal>)
          return x.same_bits(y);
        else if constexpr (std::is_same_v<T, double>)
          return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
        else
          return x == y;
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

template <>
void strata::Shared<strata::ir::Attrs::Entries>::discard(Node* node) {
  delete node;
}
