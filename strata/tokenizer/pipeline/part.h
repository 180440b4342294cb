// What the parts of tokenizer.json are built from: their JSON, and the failure that names a part.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "strata/base/result.h"

namespace strata::tokenizer {

using Json = nlohmann::json;

/// Thrown inside of the readers of parts; `read_part` makes a Status of it.
struct BadPart {
  std::string message;
};

/// The values of a JSON object, with the part's name in complaints.
class Fields {
 public:
  Fields(const Json& part, std::string name);
  const std::string& name() const { return name_; }
  bool has(const char* key) const;  // and it is not null
  std::string text(const char* key) const;
  std::string text(const char* key, const std::string& otherwise) const;
  bool flag(const char* key, bool otherwise) const;
  std::int64_t number(const char* key, std::int64_t least, std::int64_t most) const;
  std::int64_t number(const char* key, std::int64_t least, std::int64_t most,
                      std::int64_t otherwise) const;
  /// The one character of a text.
  std::string character(const char* key, const std::string& otherwise) const;
  const Json& list(const char* key) const;
  const Json& object(const char* key) const;
  const Json& at(const char* key) const;
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  const Json& part_;
  std::string name_;
};

/// The `type` of a part.
std::string type_of(const Json& part, const char* kind);

}  // namespace strata::tokenizer
