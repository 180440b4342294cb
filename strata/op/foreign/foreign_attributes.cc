#include "strata/op/foreign/foreign_attributes.h"

#include <algorithm>
#include <cstring>

#include "strata/ir/text/attr_text.h"
#include "strata/type/number.h"

namespace strata::op::foreign {
namespace {

/// A form that FFI does not have.
struct Unknown {
  std::string text;
};

std::vector<std::byte> little_endian(std::uint64_t bits, DType dtype) {
  std::vector<std::byte> out(byte_width(dtype));
  std::memcpy(out.data(), &bits, out.size());
  return out;
}
Attribute scalar(DType dtype, std::uint64_t bits) {
  return {.kind = Attribute::Kind::scalar, .dtype = dtype, .bytes = little_endian(bits, dtype)};
}
Attribute string(std::string text) {
  return {.kind = Attribute::Kind::string, .text = std::move(text)};
}

Attribute read(const ir::Attr& attr);

Dictionary read(const ir::Attrs& attrs) {
  Dictionary out;
  for (const auto& [name, value] : attrs) out.entries.emplace_back(name, read(value));
  return out;
}

/// The bits of one number in the spelling of its type.
std::uint64_t bits_of(ir::Cursor& c, DType dtype) {
  if (c.consume("true")) return 1;
  if (c.consume("false")) return 0;
  if (!is_float(dtype)) return static_cast<std::uint64_t>(c.integer());
  std::string_view text = c.number();
  std::optional<std::uint64_t> bits;
  if (text.find("0x") == std::string_view::npos)
    bits = parse_float_bits(text, dtype);
  else
    bits = std::strtoull(std::string(text.substr(text.find('x') + 1)).c_str(), nullptr, 16);
  if (!bits) throw Unknown{std::string(text)};
  return *bits;
}

/// array<i32: 1, 2>
Attribute array(ir::Cursor& c) {
  c.expect("<");
  std::optional<DType> dtype = parse_dtype(c.word("a type"));
  if (!dtype) throw Unknown{std::string(c.text())};
  Attribute out{.kind = Attribute::Kind::array, .dtype = *dtype};
  if (c.consume(":")) do {
      std::vector<std::byte> element = little_endian(bits_of(c, *dtype), *dtype);
      out.bytes.insert(out.bytes.end(), element.begin(), element.end());
    } while (c.consume(","));
  c.expect(">");
  return out;
}

/// [1, 2, 3]: an array where all are scalars of one type.
Attribute list(ir::Cursor& c) {
  Attribute out{.kind = Attribute::Kind::array};
  c.expect("[");
  bool first = true;
  if (!c.consume("]")) {
    do {
      Attribute element = read(ir::parse_attr(c, {}));
      if (element.kind != Attribute::Kind::scalar || (!first && element.dtype != out.dtype))
        throw Unknown{std::string(c.text())};
      out.dtype = element.dtype;
      out.bytes.insert(out.bytes.end(), element.bytes.begin(), element.bytes.end());
      first = false;
    } while (c.consume(","));
    c.expect("]");
  }
  return out;
}

/// What is carried as text: a number of another type than i64 and f64, a dictionary, an array.
Attribute read_text(const std::string& text) {
  ir::Cursor c(text);
  char p = c.peek();
  if (c.consume("{"))
    return {.kind = Attribute::Kind::dictionary, .dictionary = read(ir::parse_attr_entries(c, {}))};
  if (c.consume("array")) return array(c);
  if (p == '[') return list(c);
  if (p == '-' || (p >= '0' && p <= '9')) {
    std::size_t colon = text.rfind(':');
    std::optional<DType> dtype =
        colon == std::string::npos
            ? std::nullopt
            : parse_dtype(text.substr(text.find_first_not_of(' ', colon + 1)));
    if (dtype) return scalar(*dtype, bits_of(c, *dtype));
  }
  throw Unknown{text};
}

Attribute read(const Literal& literal) {
  return {.kind = Attribute::Kind::array,
          .dtype = literal.dtype(),
          .bytes = {literal.data(), literal.data() + literal.bytes()}};
}

Attribute read(const ir::Attr& attr) {
  if (const auto* v = std::get_if<bool>(&attr)) return scalar(DType::i1, *v);
  if (const auto* v = std::get_if<std::int64_t>(&attr))
    return scalar(DType::i64, static_cast<std::uint64_t>(*v));
  if (const auto* v = std::get_if<double>(&attr))
    return scalar(DType::f64, std::bit_cast<std::uint64_t>(*v));
  if (const auto* v = std::get_if<std::string>(&attr)) return string(*v);
  if (const auto* v = std::get_if<Literal>(&attr)) return read(*v);
  if (const auto* v = std::get_if<ir::Opaque>(&attr)) return read_text(v->text);
  if (const auto* v = std::get_if<ir::Ints>(&attr)) {
    Attribute out{.kind = Attribute::Kind::array,
                  .bytes = std::vector<std::byte>(v->size() * sizeof(std::int64_t))};
    if (!v->empty()) std::memcpy(out.bytes.data(), v->data(), out.bytes.size());
    return out;
  }
  throw Unknown{ir::attr_text(attr)};
}

/// What says it: the dictionary that JAX adds, or the attribute itself where that is one.
const ir::Attr* configuration(const ir::Attrs& attrs) {
  const ir::Attr* added = attrs.find("mhlo.backend_config");
  return added != nullptr ? added : attrs.find("backend_config");
}

}  // namespace

Dictionary::Dictionary() = default;
Dictionary::Dictionary(const Dictionary&) = default;
Dictionary::Dictionary(Dictionary&&) noexcept = default;
Dictionary& Dictionary::operator=(const Dictionary&) = default;
Dictionary& Dictionary::operator=(Dictionary&&) noexcept = default;
Dictionary::~Dictionary() = default;

const Attribute* Dictionary::find(std::string_view name) const {
  auto it =
      std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.first == name; });
  return it == entries.end() ? nullptr : &it->second;
}

std::optional<std::int64_t> Attribute::integer() const {
  if (kind != Kind::scalar || is_float(dtype) || is_complex(dtype)) return std::nullopt;
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  int spare = 64 - 8 * static_cast<int>(bytes.size());
  if (is_signed(dtype)) return static_cast<std::int64_t>(bits << spare) >> spare;
  return static_cast<std::int64_t>(bits);
}

Result<Dictionary> attributes_of(const ir::Attrs& attrs) {
  const ir::Attr* config = configuration(attrs);
  if (config == nullptr || std::holds_alternative<std::string>(*config)) return Dictionary{};
  try {
    Attribute read_config = read(*config);
    if (read_config.kind == Attribute::Kind::dictionary) return std::move(read_config.dictionary);
    return Status(Code::unsupported, "the configuration {} is no dictionary",
                  ir::attr_text(*config).substr(0, 80));
  } catch (const Unknown& e) {
    return Status(Code::unsupported, "the attribute {} has no form that a handler could be given",
                  e.text.substr(0, 80));
  } catch (const ir::SyntaxError& e) {
    return Status(Code::invalid, "the configuration cannot be read: {}", e.message);
  }
}

std::string config_text(const ir::Attrs& attrs) {
  const ir::Attr* config = configuration(attrs);
  const auto* text = config ? std::get_if<std::string>(config) : nullptr;
  return text ? *text : "";
}

}  // namespace strata::op::foreign
