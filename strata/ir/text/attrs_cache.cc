#include "strata/ir/text/attrs_cache.h"

#include <bit>
#include <optional>
#include <string_view>

namespace strata::ir {
namespace {

constexpr std::size_t kSlots = 1 << 12, kLongest = 256;  // bytes of one attribute

std::size_t mixed(std::size_t hash, std::size_t value) {
  return (std::rotl(hash, 5) ^ value) * 0x9e3779b97f4a7c15u;
}
std::size_t hash_of(std::string_view bytes) { return std::hash<std::string_view>()(bytes); }

/// Of equal attributes equal; nothing for those too long to be compared often.
struct Hash {
  std::optional<std::size_t> operator()(bool v) const { return v ? 1 : 0; }
  std::optional<std::size_t> operator()(std::int64_t v) const {
    return static_cast<std::size_t>(v);
  }
  std::optional<std::size_t> operator()(double v) const { return std::bit_cast<std::uint64_t>(v); }
  std::optional<std::size_t> operator()(const std::string& v) const {
    return v.size() > kLongest ? std::nullopt : std::optional(hash_of(v));
  }
  std::optional<std::size_t> operator()(const Opaque& v) const { return (*this)(v.text); }
  std::optional<std::size_t> operator()(const Ints& v) const {
    return v.size() * sizeof(v[0]) > kLongest
               ? std::nullopt
               : std::optional(
                     hash_of({reinterpret_cast<const char*>(v.data()), v.size() * sizeof(v[0])}));
  }
  std::optional<std::size_t> operator()(const Strings& v) const {
    std::size_t out = v.size();
    for (const std::string& s : v) out = mixed(out, hash_of(s));
    return v.size() > kLongest / sizeof(v[0]) ? std::nullopt : std::optional(out);
  }
  std::optional<std::size_t> operator()(DType v) const { return static_cast<std::size_t>(v); }
  std::optional<std::size_t> operator()(const Type& v) const {
    return mixed(static_cast<std::size_t>(v.kind()), static_cast<std::size_t>(v.rank()));
  }
  std::optional<std::size_t> operator()(const Literal& v) const {
    if (v.bytes() > kLongest) return std::nullopt;
    return mixed(static_cast<std::size_t>(v.dtype()),
                 hash_of({reinterpret_cast<const char*>(v.data()), v.bytes()}));
  }
};

}  // namespace

Attrs AttrsCache::shared(Attrs attrs) {
  if (attrs.empty()) return attrs;
  std::size_t hash = attrs.size();
  for (const auto& [key, value] : attrs) {
    std::optional<std::size_t> one = std::visit(Hash{}, value);
    if (!one) return attrs;
    hash = mixed(mixed(hash, hash_of(key)), *one + value.index());
  }
  if (slots_.empty()) slots_.resize(kSlots);
  Slot& slot = slots_[hash >> 32 & (kSlots - 1)];
  if (slot.hash == hash && equal(slot.attrs, attrs)) return slot.attrs;
  slot = {hash, attrs};
  return attrs;
}

}  // namespace strata::ir
