// JSON that others wrote. Private to strata/model/convert.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace strata::model::conversion {

/// The value, members in their order; discarded where the text is none, or nested deeper than 64.
inline nlohmann::ordered_json parse_json(std::string_view text) {
  constexpr int kMostDepth = 64;
  bool too_deep = false;
  const nlohmann::ordered_json::parser_callback_t depth =
      [&](int level, nlohmann::json::parse_event_t, nlohmann::ordered_json&) {
        too_deep = too_deep || level > kMostDepth;
        return !too_deep;
      };
  auto out = nlohmann::ordered_json::parse(text.begin(), text.end(), depth, false);
  return too_deep ? nlohmann::ordered_json(nlohmann::ordered_json::value_t::discarded) : out;
}

}  // namespace strata::model::conversion
