#include <cmath>
#include <nlohmann/json.hpp>

#include "strata/base/text.h"
#include "strata/model/convert/keys.h"

namespace strata::model::conversion {

using checkpoint::GgufValue;
using json = nlohmann::ordered_json;

namespace {

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

/// Reads an element; false for another type or a number that T does not hold.
template <class T>
bool read(const json& from, T& to) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!from.is_boolean()) return false;
    to = from.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!from.is_string()) return false;
    to = from.get<std::string>();
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!from.is_number()) return false;
    to = static_cast<T>(from.get<double>());
  } else if constexpr (std::is_unsigned_v<T>) {
    if (!from.is_number_unsigned() || from.get<std::uint64_t>() > std::numeric_limits<T>::max())
      return false;
    to = static_cast<T>(from.get<std::uint64_t>());
  } else {
    if (!from.is_number_integer()) return false;
    if (from.is_number_unsigned() &&
        from.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
      return false;
    const auto x = from.get<std::int64_t>();
    if (x < std::numeric_limits<T>::min() || x > std::numeric_limits<T>::max()) return false;
    to = static_cast<T>(x);
  }
  return true;
}

/// A value of the type that `type_name` gives these words for, tried one after the other.
template <std::size_t i = 0>
std::optional<GgufValue> typed(const std::string& type, const json& from) {
  if constexpr (i == std::variant_size_v<GgufValue>) {
    return std::nullopt;
  } else {
    using T = std::variant_alternative_t<i, GgufValue>;
    if (checkpoint::type_name(GgufValue(std::in_place_index<i>)) != type)
      return typed<i + 1>(type, from);
    T out{};
    if constexpr (is_list<T>) {
      if (!from.is_array()) return std::nullopt;
      for (const json& each : from) {
        typename T::value_type element{};
        if (!read(each, element)) return std::nullopt;
        out.push_back(element);
      }
    } else if (!read(from, out)) {
      return std::nullopt;
    }
    return GgufValue(std::in_place_index<i>, std::move(out));
  }
}

/// False for what JSON does not hold.
template <class T>
bool write(const T& x, json& to) {
  if constexpr (std::is_floating_point_v<T>)
    if (!std::isfinite(x)) return false;
  to = x;
  return true;
}

bool write_value(const GgufValue& value, json& to) {
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (is_list<T>) {
          to = json::array();
          for (typename T::value_type each : x) {
            json element;
            if (!write(each, element)) return false;
            to.push_back(std::move(element));
          }
          return true;
        } else {
          return write(x, to);
        }
      },
      value);
}

}  // namespace

Result<std::string> encode_sidecar(const Sidecar& sidecar) {
  json keys = json::array(), types = json::object();
  for (const auto& [key, value] : sidecar.metadata) {
    json entry = {{"key", key}, {"type", checkpoint::type_name(value)}};
    if (!write_value(value, entry["value"]))
      return Status(Code::unsupported,
                    "the key '{}' holds a number that is not finite, for which {} "
                    "has no place",
                    key, kSidecar);
    try {
      (void)entry.dump();
    } catch (const json::exception&) {
      return Status(Code::unsupported,
                    "the key '{}' holds a text that is no UTF-8, for which {} has "
                    "no place",
                    key, kSidecar);
    }
    keys.push_back(std::move(entry));
  }
  for (const auto& [name, type] : sidecar.types) types[name] = type;
  return json{{"metadata", keys}, {"tensors", types}}.dump(1) + "\n";
}

Result<Sidecar> decode_sidecar(std::string_view text, const std::string& name) {
  auto corrupt = [&](const std::string& why) { return Status(Code::corrupt, "{}: {}", name, why); };
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("metadata") || !all["metadata"].is_array() ||
      !all.contains("tensors") || !all["tensors"].is_object())
    return corrupt("it is no object with the members metadata and tensors");
  Sidecar out;
  for (const json& entry : all["metadata"]) {
    if (!entry.is_object() || !entry.contains("key") || !entry["key"].is_string() ||
        !entry.contains("type") || !entry["type"].is_string() || !entry.contains("value"))
      return corrupt("an entry of metadata has no key, type and value");
    const auto key = entry["key"].get<std::string>();
    auto value = typed(entry["type"].get<std::string>(), entry["value"]);
    if (!value) return corrupt(fmt::format("the value of '{}' is not of its type", key));
    out.metadata.emplace_back(key, std::move(*value));
  }
  for (const auto& [tensor, type] : all["tensors"].items()) {
    if (!type.is_string() || !GgufType::named(type.get<std::string>()))
      return corrupt(fmt::format("the type of tensor '{}' is none", tensor));
    out.types.emplace_back(tensor, type.get<std::string>());
  }
  return out;
}

}  // namespace strata::model::conversion
