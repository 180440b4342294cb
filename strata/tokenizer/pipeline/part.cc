#include "strata/tokenizer/pipeline/part.h"

#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {

Fields::Fields(const Json& part, std::string name) : part_(part), name_(std::move(name)) {
  if (!part_.is_object()) refuse("is no object");
}

void Fields::refuse(const std::string& why) const { throw BadPart{name_ + ": " + why}; }

bool Fields::has(const char* key) const {
  const auto found = part_.find(key);
  return found != part_.end() && !found->is_null();
}

const Json& Fields::at(const char* key) const {
  if (!has(key)) refuse(fmt::format("has no {}", key));
  return *part_.find(key);
}

std::string Fields::text(const char* key) const {
  const Json& value = at(key);
  if (!value.is_string()) refuse(fmt::format("{} is no text", key));
  return value.get<std::string>();
}

std::string Fields::text(const char* key, const std::string& otherwise) const {
  return has(key) ? text(key) : otherwise;
}

bool Fields::flag(const char* key, bool otherwise) const {
  if (!has(key)) return otherwise;
  const Json& value = at(key);
  if (!value.is_boolean()) refuse(fmt::format("{} is neither true nor false", key));
  return value.get<bool>();
}

std::int64_t Fields::number(const char* key, std::int64_t least, std::int64_t most) const {
  const Json& value = at(key);
  const bool whole = value.is_number_integer() &&
                     (!value.is_number_unsigned() ||
                      value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  if (!whole || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
    refuse(fmt::format("{} is {}: allowed is {} to {}", key, value.dump(), least, most));
  return value.get<std::int64_t>();
}

std::int64_t Fields::number(const char* key, std::int64_t least, std::int64_t most,
                            std::int64_t otherwise) const {
  return has(key) ? number(key, least, most) : otherwise;
}

std::string Fields::character(const char* key, const std::string& otherwise) const {
  std::string value = text(key, otherwise);
  if (count_characters(value) != 1) refuse(fmt::format("{} is no single character", key));
  return value;
}

const Json& Fields::list(const char* key) const {
  const Json& value = at(key);
  if (!value.is_array()) refuse(fmt::format("{} is no list", key));
  return value;
}

const Json& Fields::object(const char* key) const {
  const Json& value = at(key);
  if (!value.is_object()) refuse(fmt::format("{} is no object", key));
  return value;
}

std::string type_of(const Json& part, const char* kind) { return Fields(part, kind).text("type"); }

}  // namespace strata::tokenizer
