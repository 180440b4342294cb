// JSON of files that nobody vouches for: an index, a header.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace strata::data {

/// What the text says; discarded (`is_discarded`, of no kind) where it is no JSON. What nests
/// deeper than 32 is left out and costs nothing: a value for each bracket would be many times the
/// text.
template <class Json = nlohmann::ordered_json>
Json shallow_json(std::string_view text) {
  constexpr int kDeepest = 32;
  const auto limit = [](int depth, typename Json::parse_event_t, Json&) {
    return depth < kDeepest;
  };
  return Json::parse(text.begin(), text.end(), limit, false);
}

}  // namespace strata::data
