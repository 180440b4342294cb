// Attributes of operations: small typed values under names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "strata/base/shared.h"
#include "strata/type/literal.h"

namespace strata::ir {

using Ints = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

/// Text of an attribute that Strata carries but does not interpret (a frontend attribute, a backend
/// config).
struct Opaque {
  std::string text;
  bool operator==(const Opaque&) const = default;
};

/// One attribute. Enumerations (comparison direction, precision) are strings under StableHLO's
/// spelling.
using Attr = std::variant<bool, std::int64_t, double, std::string, Ints, Strings, DType, Type,
                          Literal, Opaque>;

/// Same kind and value; literals and floats compare by bits.
bool equal(const Attr& a, const Attr& b);

/// Attributes in the order of their names, so that printing and hashing are deterministic. One
/// word; copies share the attributes until one of them is written.
class Attrs {
 public:
  using Entry = std::pair<std::string, Attr>;
  using Entries = std::vector<Entry>;
  using const_iterator = Entries::const_iterator;

  Attrs() = default;
  /// Of attributes of one name the first.
  Attrs(std::initializer_list<Entry> list);
  bool has(std::string_view name) const { return find(name) != nullptr; }
  Attrs& set(std::string_view name, Attr value);
  void erase(std::string_view name);
  /// The attribute as T; a check fails when it is absent or of another kind.
  template <class T>
  const T& get(std::string_view name) const {
    const Attr* a = find(name);
    STRATA_CHECK(a != nullptr, "attribute '{}' is absent", name);
    const T* value = std::get_if<T>(a);
    STRATA_CHECK(value != nullptr, "attribute '{}' has another kind", name);
    return *value;
  }
  template <class T>
  T get_or(std::string_view name, T otherwise) const {
    return has(name) ? get<T>(name) : otherwise;
  }
  const Attr* find(std::string_view name) const;
  const_iterator begin() const { return entries().begin(); }
  const_iterator end() const { return entries().end(); }
  bool empty() const { return !entries_; }
  std::size_t size() const { return entries().size(); }

 private:
  static const Entries kNone;
  const Entries& entries() const { return entries_ ? *entries_ : kNone; }
  Shared<Entries> entries_;  // sorted by name; nothing: no attributes
};
bool equal(const Attrs& a, const Attrs& b);

}  // namespace strata::ir

template <>
void strata::Shared<strata::ir::Attrs::Entries>::discard(Node* node);
