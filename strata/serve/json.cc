#include "strata/serve/json.h"

#include <set>
#include <vector>

namespace strata::serve {
namespace {

constexpr int kDeepest = 64;

const char* type_of(int status) {
  switch (status) {
    case 401: return "AuthenticationError";
    case 404: return "NotFoundError";
    case 429: return "RateLimitError";
    case 501: return "NotImplementedError";
    case 503: return "ServiceUnavailableError";
    default: return status < 500 ? "BadRequestError" : "InternalServerError";
  }
}

}  // namespace

Json error_json(int status, const std::string& message, const std::string& param) {
  return {{"error",
           {{"message", message},
            {"type", type_of(status)},
            {"param", param.empty() ? Json() : Json(param)},
            {"code", status}}}};
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json parse_object(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  const auto look = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth >= kDeepest &&
        (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start))
      throw ApiError(400, "the body's JSON is nested deeper than 64");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      throw ApiError(400, "the body's JSON names a key twice: " + value.get<std::string>());
    return true;
  };
  try {
    Json out = Json::parse(text.begin(), text.end(), look);
    if (!out.is_object()) throw ApiError(400, "the body must be a JSON object");
    return out;
  } catch (const Json::exception&) {
    throw ApiError(400, "the body is not valid JSON in UTF-8");
  }
}

}  // namespace strata::serve
