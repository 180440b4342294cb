#include "strata/engine/parked.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "strata/base/checksum.h"
#include "strata/base/error.h"
#include "strata/type/dtype.h"

namespace strata::engine {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kMagic = "STRATAKV";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kMostHeader = 1 << 20;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;

void append(std::string& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i));
}
std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i)
    out |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
  return out;
}

/// What a shape's elements take; none for a shape that no page has.
std::optional<std::int64_t> bytes_of(DType dtype, const std::vector<std::int64_t>& sizes) {
  if (sizes.empty() || sizes.size() > 8) return std::nullopt;
  std::int64_t out = static_cast<std::int64_t>(Type(dtype, Shape({1})).bytes());
  for (const std::int64_t size : sizes) {
    if (size < 1 || size > kMostBytes / out) return std::nullopt;
    out *= size;
  }
  return out;
}

}  // namespace

std::string encode(const Parked& parked, std::string_view name) {
  if (name.size() > kMostParkedName)
    throw Error("park", "the name has {} bytes, more than {}", name.size(), kMostParkedName);
  // Names and salts are bytes, JSON is text.
  const auto hex = [](std::string_view bytes) {
    std::string out;
    for (const char c : bytes) out += fmt::format("{:02x}", static_cast<std::uint8_t>(c));
    return out;
  };
  ordered_json header = {{"identity", parked.identity},
                         {"name", hex(name)},
                         {"salt", hex(parked.salt)},
                         {"tokens", parked.tokens.size()},
                         {"arrays", ordered_json::array()}};
  for (const Literal& x : parked.contents)
    header["arrays"].push_back({{"dtype", strata::name(x.dtype())}, {"shape", x.shape().sizes()}});
  const std::string text = header.dump();
  std::string out(kMagic);
  append(out, kVersion);
  append(out, static_cast<std::uint32_t>(text.size()));
  out += text;
  for (const std::int32_t t : parked.tokens) append(out, static_cast<std::uint32_t>(t));
  for (const Literal& x : parked.contents)
    out.append(reinterpret_cast<const char*>(x.data()), x.bytes());
  append(out, crc32c(out));
  return out;
}

Result<NamedParked> decode(std::string_view bytes, std::string_view file) {
  const auto corrupt = [&](std::string_view why) {
    return Status(Code::corrupt, "{}: {}", file, why);
  };
  const std::size_t fixed = kMagic.size() + 8;
  if (bytes.size() < fixed + 4) return corrupt("is too short");
  if (bytes.substr(0, kMagic.size()) != kMagic) return corrupt("holds no pages");
  const std::uint32_t version = number_at(bytes, kMagic.size());
  if (version != kVersion)
    return Status(Code::unsupported, "{}: has version {}, this reads {}", file, version, kVersion);
  const std::size_t length = number_at(bytes, kMagic.size() + 4);
  if (length > kMostHeader || length > bytes.size() - fixed - 4)
    return corrupt("its header does not fit");
  if (crc32c(bytes.substr(0, bytes.size() - 4)) != number_at(bytes, bytes.size() - 4))
    return corrupt("its checksum is wrong: it is damaged or cut off");
  const ordered_json header = ordered_json::parse(bytes.substr(fixed, length), nullptr, false);
  NamedParked out;
  std::vector<Type> types;
  std::int64_t tokens = 0, needed = 0;
  try {
    const auto bytes_from = [](const std::string& hex) -> std::optional<std::string> {
      std::string text;
      if (hex.size() % 2 != 0) return std::nullopt;
      for (std::size_t i = 0; i < hex.size(); i += 2) {
        const auto digit = [&](char c) {
          constexpr std::string_view kDigits = "0123456789abcdef";
          return kDigits.find(c);
        };
        const std::size_t high = digit(hex[i]), low = digit(hex[i + 1]);
        if (high == std::string::npos || low == std::string::npos) return std::nullopt;
        text += static_cast<char>(high * 16 + low);
      }
      return text;
    };
    out.parked.identity = header.at("identity").get<std::string>();
    const auto name = bytes_from(header.at("name").get<std::string>()),
               salt = bytes_from(header.at("salt").get<std::string>());
    if (!name || !salt || name->size() > kMostParkedName) return corrupt("its name is none");
    out.name = *name, out.parked.salt = *salt;
    tokens = header.at("tokens").get<std::int64_t>();
    if (tokens < 1 || tokens > kMostBytes) return corrupt("its number of tokens is out of range");
    needed = tokens * 4;
    for (const ordered_json& array : header.at("arrays")) {
      const auto dtype = parse_dtype(array.at("dtype").get<std::string>());
      const auto sizes = array.at("shape").get<std::vector<std::int64_t>>();
      const auto size = dtype && has_storage(*dtype) ? bytes_of(*dtype, sizes) : std::nullopt;
      if (!size || *size > kMostBytes - needed) return corrupt("an array is none of pages");
      needed += *size;
      types.emplace_back(*dtype, Shape::of(sizes));
    }
  } catch (const nlohmann::json::exception&) {
    return corrupt("its header says not what it should");
  }
  std::size_t at = fixed + length;
  if (static_cast<std::uint64_t>(needed) != bytes.size() - at - 4)
    return corrupt("it has not the bytes that its header says");
  for (std::int64_t i = 0; i < tokens; ++i, at += 4)
    out.parked.tokens.push_back(static_cast<std::int32_t>(number_at(bytes, at)));
  for (const Type& type : types) {
    Literal x(type);
    std::memcpy(x.mutable_data(), bytes.data() + at, x.bytes());
    at += x.bytes();
    out.parked.contents.push_back(std::move(x));
  }
  return out;
}

}  // namespace strata::engine
