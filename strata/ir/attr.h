// Attributes of operations: small typed values under names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "strata/type/literal.h"

namespace strata::ir {

using Ints = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

/// Text of an attribute that Strata carries but does not interpret (a frontend attribute, a backend config).
struct Opaque {
  std::string text;
  bool operator==(const Opaque&) const = default;
};

/// One attribute. Enumerations (comparison direction, precision) are strings under StableHLO's spelling.
using Attr = std::variant<bool, std::int64_t, double, std::string, Ints, Strings, DType, Type, Literal, Opaque>;

/// Same kind and value; literals and floats compare by bits.
bool equal(const Attr& a, const Attr& b);

/// Attributes in the order of their names, so that printing and hashing are deterministic.
class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<const std::string, Attr>> list) : map_(list) {}
  bool has(const std::string& name) const { return map_.count(name) != 0; }
  Attrs& set(const std::string& name, Attr value) { map_.insert_or_assign(name, std::move(value)); return *this; }
  void erase(const std::string& name) { map_.erase(name); }
  /// The attribute as T; a check fails when it is absent or of another kind.
  template <class T> const T& get(const std::string& name) const {
    auto it = map_.find(name);
    STRATA_CHECK(it != map_.end(), "attribute '{}' is absent", name);
    const T* value = std::get_if<T>(&it->second);
    STRATA_CHECK(value != nullptr, "attribute '{}' has another kind", name);
    return *value;
  }
  template <class T> T get_or(const std::string& name, T otherwise) const { return has(name) ? get<T>(name) : otherwise; }
  const Attr* find(const std::string& name) const { auto it = map_.find(name); return it == map_.end() ? nullptr : &it->second; }
  auto begin() const { return map_.begin(); }
  auto end() const { return map_.end(); }
  bool empty() const { return map_.empty(); }
  std::size_t size() const { return map_.size(); }

 private:
  std::map<std::string, Attr> map_;
};
bool equal(const Attrs& a, const Attrs& b);

}  // namespace strata::ir
