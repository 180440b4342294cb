#include "strata/data/format/json.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "strata/base/result.h"

namespace strata::data {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr const char* kBytes = "$base64";
constexpr int kMostDeep = 256;

std::string to_base64(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? kAlphabet[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string out;
  if (text.size() % 4 != 0) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t word = 0;
    std::size_t padding = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const char c = text[i + k];
      const std::size_t digit = kAlphabet.find(c);
      if (c == '=' && i + 4 == text.size() && k >= 2)
        ++padding;
      else if (digit == std::string_view::npos || padding > 0)
        return std::nullopt;
      word = word << 6 | (c == '=' ? 0u : static_cast<std::uint32_t>(digit));
    }
    for (std::size_t k = 0; k + padding < 3; ++k) out += static_cast<char>(word >> (16 - 8 * k));
  }
  return out;
}

Element element_of(const json& j) {
  switch (j.type()) {
    case json::value_t::boolean: return j.get<bool>();
    case json::value_t::number_integer: return j.get<std::int64_t>();
    case json::value_t::number_unsigned:
      // Beyond 64 signed bits it is a real number, as in other readers without large integers.
      return j.get<std::uint64_t>() >> 63 ? Element(j.get<double>())
                                          : Element(j.get<std::int64_t>());
    case json::value_t::number_float: return j.get<double>();
    case json::value_t::string: return Element(j.get_ref<const std::string&>());
    case json::value_t::array: {
      Element::Items items;
      for (const json& item : j) items.push_back(element_of(item));
      return Element::list(std::move(items));
    }
    case json::value_t::object: {
      if (j.size() == 1 && j.begin().key() == kBytes && j.begin()->is_string())
        if (auto bytes = from_base64(j.begin()->get_ref<const std::string&>()))
          return Element::bytes(std::move(*bytes));
      Element::Fields fields;
      for (auto at = j.begin(); at != j.end(); ++at) fields.emplace_back(at.key(), element_of(*at));
      return Element::dict(std::move(fields));
    }
    default: return {};
  }
}

double real_of(double value) { return value; }
double real_of(BFloat16 value) { return static_cast<float>(value); }
double real_of(Float16 value) { return static_cast<float>(value); }

json json_of_value(const Literal& a, std::int64_t i) {
  const std::byte* at = a.element(i);
  auto as = [&]<class T>(T) {
    T value;
    std::memcpy(&value, at, sizeof value);
    if constexpr (std::is_same_v<T, bool> || std::is_integral_v<T>)
      return json(value);
    else if constexpr (requires { static_cast<float>(value); })
      return json(real_of(value));
    else
      return json::array({value.real(), value.imag()});
  };
  STRATA_CHECK(has_storage(a.dtype()), "arrays of data have whole bytes");
  return dispatch(a.dtype(), as);
}

json json_of_array(const Literal& a, int axis, std::int64_t& at) {
  if (axis == a.shape().rank()) return json_of_value(a, at++);
  json out = json::array();
  for (std::int64_t i = 0; i < a.shape()[axis]; ++i) out.push_back(json_of_array(a, axis + 1, at));
  return out;
}

json json_of_element(const Element& e) {
  switch (e.kind()) {
    case Element::Kind::none: return nullptr;
    case Element::Kind::boolean: return e.boolean();
    case Element::Kind::integer: return e.integer();
    case Element::Kind::real: return e.real();
    case Element::Kind::text: return std::string(e.view());
    case Element::Kind::bytes: return {{kBytes, to_base64(e.view())}};
    case Element::Kind::array: {
      std::int64_t at = 0;
      return json_of_array(e.array(), 0, at);
    }
    case Element::Kind::strings: {
      json out = json::array();
      const StringArray& s = e.strings();
      for (std::int64_t i = 0; i < s.shape.count(); ++i)
        out.push_back(s.is_text ? json(std::string(s.at(i))) : json{{kBytes, to_base64(s.at(i))}});
      return out;
    }
    case Element::Kind::list:
    case Element::Kind::tuple: {
      json out = json::array();
      for (const Element& item : e.items()) out.push_back(json_of_element(item));
      return out;
    }
    case Element::Kind::dict: {
      json out = json::object();
      for (const auto& [key, value] : e.fields()) out[key] = json_of_element(value);
      return out;
    }
  }
  return nullptr;
}

}  // namespace

Result<Element> element_of_json(std::string_view text, const std::string& where) {
  bool deep = false;
  const auto limit = [&](int depth, json::parse_event_t, json&) {
    if (depth > kMostDeep) deep = true;
    return !deep;
  };
  // A line without open brackets to that number cannot be so deep, and parses faster without.
  const auto brackets =
      std::count(text.begin(), text.end(), '{') + std::count(text.begin(), text.end(), '[');
  const json j =
      brackets > kMostDeep ? json::parse(text, limit, false) : json::parse(text, nullptr, false);
  if (deep) return Status(Code::corrupt, "{}: JSON nested more than {} deep", where, kMostDeep);
  if (j.is_discarded()) return Status(Code::corrupt, "{}: no JSON", where);
  return element_of(j);
}

std::string json_of(const Element& element) {
  return json_of_element(element).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace strata::data
