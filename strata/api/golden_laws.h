// Calls of goldens as functions of their arrays, for the laws that every function of the array
// library keeps. For tests.
#pragma once

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "strata/api/golden.h"

namespace strata::testing {

/// f on a call's arguments, of which some are given anew; the others and the options stay.
class OpenCall {
 public:
  /// Those arguments are given anew for which `is_open` holds.
  OpenCall(const Callable& f, const nlohmann::json& call,
           const std::function<bool(const Array&)>& is_open)
      : f_(&f), options_(call.value("o", nlohmann::json::object())) {
    for (const auto& a : call["a"]) {
      arguments_.push_back(decoded(a));
      open_.push_back(is_open(arguments_.back()));
    }
  }
  /// The open arguments' values.
  std::vector<Array> values() const {
    std::vector<Array> out;
    for (std::size_t i = 0; i < open_.size(); ++i)
      if (open_[i]) out.push_back(arguments_[i]);
    return out;
  }
  std::vector<Array> operator()(const std::vector<Array>& values) const {
    std::vector<Array> all = arguments_;
    std::size_t n = 0;
    for (std::size_t i = 0; i < open_.size(); ++i)
      if (open_[i]) all[i] = values[n++];
    return (*f_)(Call(all, options_));
  }

 private:
  const Callable* f_;
  nlohmann::json options_;
  std::vector<Array> arguments_;
  std::vector<bool> open_;
};

/// The first calls of a name that are not refused, at most one for each list of argument types.
inline std::vector<nlohmann::json> some_calls(
    const std::string& name, std::size_t most,
    const std::function<bool(const nlohmann::json&)>& is_wanted = {}) {
  std::vector<nlohmann::json> out;
  std::vector<std::string> seen;
  for (const auto& call : goldens().at(name)["cases"]) {
    if (out.size() == most || call.contains("e") || (is_wanted && !is_wanted(call))) continue;
    std::string types;
    for (const auto& a : call["a"])
      types += a.get<std::string>().substr(0, a.get<std::string>().find(':')) + " ";
    if (std::find(seen.begin(), seen.end(), types) != seen.end()) continue;
    seen.push_back(types);
    out.push_back(call);
  }
  return out;
}

}  // namespace strata::testing
