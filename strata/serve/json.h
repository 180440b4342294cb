// JSON that clients send: strict, bounded, and errors in OpenAI's shape.
#pragma once

#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace strata::serve {

using Json = nlohmann::ordered_json;

/// A request that is refused: status, what is wrong and what is allowed, and the field.
struct ApiError : std::exception {
  ApiError(int code, std::string text, std::string field = {})
      : status(code), message(std::move(text)), param(std::move(field)) {}
  const char* what() const noexcept override { return message.c_str(); }
  int status;
  std::string message, param;
  /// Seconds after which a request that came too often may come again; 0: not known.
  std::int64_t retry_after = 0;
};
/// {"error": {"message", "type", "param", "code"}}.
Json error_json(int status, const std::string& message, const std::string& param = {});
/// As one line of UTF-8.
std::string dump(const Json& json);

/// Throws ApiError (400) for what is no JSON object, is deeper than 64, names a key twice, holds
/// invalid UTF-8, or numbers beyond f64.
Json parse_object(std::string_view text);

}  // namespace strata::serve
