// Keys of one resolved configuration, read by type (private to this folder).
#pragma once

#include <fmt/format.h>

#include <string>

#include "strata/train/config/config.h"
#include "strata/train/maxtext/config.h"

namespace strata::train::maxtext {

/// Keys of one configuration by name.
class Keys {
 public:
  explicit Keys(const Resolved& resolved) : values_(resolved.values) {}
  const Value& operator[](const std::string& key) const { return values_.at(key); }
  std::string text(const std::string& key) const {
    return (*this)[key].is_none() ? "" : str((*this)[key]);
  }
  std::int64_t whole(const std::string& key) const { return integer((*this)[key]); }
  double real(const std::string& key) const { return number((*this)[key]); }
  bool on(const std::string& key) const { return truth((*this)[key]); }

 private:
  const Dict& values_;
};

inline std::string shown(const std::string& key, const Value& value) {
  return fmt::format("{}={}", key, value.is_none() ? "null" : str(value));
}

[[noreturn]] inline void not_yet(const std::string& key, const Keys& k, const std::string& why) {
  throw ConfigError(fmt::format("{} is not supported yet: {}", shown(key, k[key]), why));
}

inline void require(bool holds, const std::string& key, const Keys& k, const std::string& why) {
  if (!holds) not_yet(key, k, why);
}

}  // namespace strata::train::maxtext
