#include "strata/ir/bytecode/entries.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "strata/ir/text/attr_text.h"
#include "strata/ir/text/literal_text.h"
#include "strata/ir/text/type_text.h"
#include "strata/type/number.h"

namespace strata::ir::bytecode {
namespace {

/// Attributes inside each other, and characters that all texts of attributes and types may have
/// together: each may hold the same one twice.
constexpr int kDeepest = 64;
constexpr std::size_t kLongestText = std::size_t{1} << 26,
                      kPerMember = 4;         // of a list, dictionary or function's type
constexpr std::size_t kMostEntries = 10'000;  // of one dictionary, as in text
constexpr int kLocationSteps = 64;

const DialectEntries* find_dialect(std::string_view name) {
  for (const DialectEntries* d : {&kBuiltinEntries, &kVhloEntries, &kShardyEntries, &kChloEntries})
    if (d->dialect == name) return d;
  return nullptr;
}

/// Reads its kind: whether it is the builtin one or VHLO's.
bool is_kind(const Entry& e, ByteReader& r, std::uint64_t builtin, std::uint64_t vhlo) {
  bool is_vhlo = e.dialect == kVhloEntries.dialect;
  if (e.is_text || (!is_vhlo && e.dialect != kBuiltinEntries.dialect)) return false;
  return r.varint("the kind of an attribute or type") == (is_vhlo ? vhlo : builtin);
}

std::uint64_t low_bits(int width) {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

std::int64_t sign_extended(std::uint64_t bits, int width) {
  int shift = 64 - width;
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

}  // namespace

/// An attribute or type while it is read: not one that holds itself, nor too many inside each
/// other.
class Entries::Open {
 public:
  Open(Entries& entries, bool& is_open, const ByteReader& r)
      : entries_(entries), is_open_(is_open) {
    if (is_open_) r.fail("an attribute or type that holds itself");
    if (entries_.depth_ >= std::min(kDeepest, entries_.limits_.depth))
      r.unsupported("attributes and types inside each other more than {} levels deep", kDeepest);
    is_open_ = true;
    ++entries_.depth_;
  }
  ~Open() {
    is_open_ = false;
    --entries_.depth_;
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

 private:
  Entries& entries_;
  bool& is_open_;
};

Entries::Entries(const Container& container, const TextLimits& limits)
    : container_(container),
      limits_(limits),
      attributes_(container.attributes.size()),
      types_(container.types.size()),
      locations_(container.attributes.size()) {}

void Entries::reserve(const ByteReader& r, std::size_t bytes) {
  if (bytes > limits_.literal_bytes - reserved_)
    r.unsupported("constants of more than {} bytes", limits_.literal_bytes);
  reserved_ += bytes;
}

/// What is read from one entry may be asked for by many others.
void Entries::charge(const ByteReader& r, std::size_t characters) {
  written_ += characters;
  if (written_ > kLongestText)
    r.unsupported("attributes and types of more than {} characters", kLongestText);
}

std::optional<std::size_t> Entries::optional_attribute(ByteReader& r) const {
  auto [i, is_there] = r.flagged("an attribute that may be absent");
  if (!is_there) return std::nullopt;
  if (i >= container_.attributes.size())
    r.fail("attribute {} of {}", i, container_.attributes.size());
  return i;
}

// ---- attributes --------------------------------------------------------------------------------

const Attr& Entries::value(std::size_t i) {
  Attribute& a = attributes_[i];
  if (a.value) return *a.value;
  const Entry& e = entry(i);
  ByteReader r = e.data;
  Open open(*this, a.is_open, r);
  const DialectEntries* dialect = find_dialect(e.dialect);
  if (e.is_text) {
    a.value = parsed(r, std::string(r.terminated("the text of an attribute")));
  } else if (dialect == nullptr || dialect->attribute == nullptr) {
    r.unsupported("attributes of the dialect '{}' are not supported", e.dialect);
  } else {
    a.value = dialect->attribute(*this, r);
  }
  r.expect_end("an attribute");
  return *a.value;
}

const std::string& Entries::text(std::size_t i) {
  const std::string* out = std::get_if<std::string>(&value(i));
  if (out == nullptr)
    entry(i).data.fail("expected a string, found {}", attr_text(value(i)).substr(0, 80));
  return *out;
}

Entries::Named Entries::dictionary(std::size_t i) {
  const Entry& e = entry(i);
  ByteReader r = e.data;
  if (!is_kind(e, r, kDictionary, kVhloDictionary)) e.data.fail("expected a dictionary");
  Named out = named(r);
  r.expect_end("a dictionary");
  return out;
}

Entries::Named Entries::named(ByteReader& r) {
  std::size_t count = r.count("entries of a dictionary");
  if (count > kMostEntries) r.unsupported("more than {} attributes", kMostEntries);
  charge(r, count * kPerMember);
  Named out;
  for (; count > 0; --count) {
    std::string name = text(attribute(r));
    if (name.compare(0, 7, "strata ") == 0)
      r.fail("'{}' is no name of an attribute", name);  // ir/declaration.h
    std::size_t at = attribute(r);
    out.emplace_back(std::move(name), at);
  }
  return out;
}

std::string Entries::dictionary_text(ByteReader& r) {
  Attrs out;
  for (const auto& [name, at] : named(r)) out.set(name, value(at));
  std::string text = attrs_text(out);
  charge(r, text.size());
  return text;
}

Attrs Entries::dictionary_values(std::size_t i) {
  Attrs out;
  for (const auto& [name, at] : dictionary(i)) {
    if (out.has(name)) entry(i).data.fail("attribute '{}' twice", name);
    out.set(name, value(at));
  }
  return out;
}

std::vector<std::size_t> Entries::elements(std::size_t i) {
  const Entry& e = entry(i);
  ByteReader r = e.data;
  if (!is_kind(e, r, kArray, kVhloArray)) e.data.fail("expected an array");
  std::vector<std::size_t> out(r.count("elements"));
  charge(r, out.size() * kPerMember);
  for (std::size_t& element : out) element = attribute(r);
  r.expect_end("an array");
  return out;
}

std::string Entries::attribute_text(ByteReader& r, bool in_list) {
  std::string out = attr_text(value(attribute(r)), in_list);
  charge(r, out.size());
  return out;
}

std::string Entries::list(ByteReader& r) {
  std::string out;
  for (std::size_t n = r.count("elements"); n > 0; --n)
    out += (out.empty() ? "" : ", ") + attribute_text(r, true);
  return "[" + out + "]";
}

Attr Entries::parsed(const ByteReader& r, const std::string& text) {
  Cursor c(text, limits_);
  try {
    Attr out = parse_attr(c, {});
    if (!c.at_end()) c.fail("expected the end of the attribute");
    return out;
  } catch (const SyntaxError& e) {
    throw FormatError{e.code, r.offset(),
                      fmt::format("{} in the attribute {}", e.message, text.substr(0, 200))};
  }
}

FunctionType Entries::function_type(std::size_t i) {
  const Entry& e = entry(i);
  ByteReader r = e.data;
  if (!is_kind(e, r, kTypeAttribute, kVhloType)) e.data.fail("expected the type of a function");
  return functions(type(r));
}

// ---- numbers -----------------------------------------------------------------------------------

std::uint64_t Entries::bits(ByteReader& r, int width) {
  if (width <= 8) return r.byte("a number") & low_bits(width);
  return static_cast<std::uint64_t>(r.signed_varint("a number")) & low_bits(width);
}

Ints Entries::numbers(ByteReader& r) {
  Ints out(r.count("numbers"));
  for (std::int64_t& n : out) n = r.signed_varint("a number");
  return out;
}

Attr Entries::integer(ByteReader& r, std::size_t t) {
  const std::string& name = type_text(t);
  if (name == "index") return Opaque{fmt::format("{} : index", r.signed_varint("a number"))};
  std::optional<DType> dtype = parse_dtype(name);
  if (!dtype || is_float(*dtype) || is_complex(*dtype)) r.fail("an integer of type {}", name);
  int width = bit_width(*dtype);
  std::uint64_t value = bits(r, width);
  if (is_bool(*dtype)) return value != 0;
  if (is_unsigned(*dtype)) return Opaque{fmt::format("{} : {}", value, name)};
  std::int64_t number = sign_extended(value, width);
  return width == 64 ? Attr(number) : Attr(Opaque{fmt::format("{} : {}", number, name)});
}

Attr Entries::real(ByteReader& r, std::size_t t) {
  const std::string& name = type_text(t);
  std::optional<DType> dtype = parse_dtype(name);
  if (!dtype || !is_float(*dtype)) r.unsupported("a number of type {} is not supported", name);
  std::uint64_t value = bits(r, bit_width(*dtype));
  if (*dtype == DType::f64) return std::bit_cast<double>(value);
  return Opaque{fmt::format("{} : {}", float_text(value, *dtype), name)};
}

// ---- tensors -----------------------------------------------------------------------------------

/// Elements in row-major order, each of whole bytes, or one for all; truth values a byte or a bit
/// each.
Literal Entries::filled(const ByteReader& r, const Type& type, std::string_view raw) {
  if (!type.is_tensor() || !type.shape().is_static())
    r.fail("a constant of type {}", type.to_string());
  reserve(r, type.bytes());
  const std::size_t width = byte_width(type.dtype()), total = type.storage().bytes(),
                    packed = (total + 7) / 8;
  const auto* from = reinterpret_cast<const std::byte*>(raw.data());
  const bool is_truth = is_bool(type.dtype());
  if (total == 0) {
    if (!raw.empty() && raw.size() != width)
      r.fail("{} bytes for {}", raw.size(), type.to_string());
    return Literal(type.storage());
  }
  if (is_truth && raw.size() == packed && packed != total &&
      !(packed == 1 && from[0] == std::byte{0xff})) {
    Literal out(type.storage());
    for (std::size_t i = 0; i < total; ++i)
      out.mutable_data()[i] = (from[i / 8] >> (i % 8)) & std::byte{1};
    return out;
  }
  if (raw.size() != total && raw.size() != width)
    r.fail("{} bytes for {}", raw.size(), type.to_string());
  Literal out(raw.size() == total ? type.storage() : Type::scalar(type.dtype()));
  std::byte* to = out.mutable_data();
  std::memcpy(to, from, raw.size());
  const int bits = bit_width(type.dtype());
  for (std::size_t i = 0; bits < 8 && i < raw.size(); ++i) {
    auto value = std::to_integer<std::uint64_t>(to[i]);
    if (is_truth)
      value = value != 0 ? 1 : 0;
    else if (is_signed(type.dtype()))
      value = static_cast<std::uint64_t>(sign_extended(value & low_bits(bits), bits));
    else
      value &= low_bits(bits);
    to[i] = static_cast<std::byte>(value);
  }
  return raw.size() == total ? out : Literal::splat(type.storage(), to);
}

Attr Entries::tensor(ByteReader& r, std::size_t t, std::string_view raw) {
  const std::string& name = type_text(t);
  constexpr std::string_view index = "index>";
  if (name.size() < index.size() ||
      name.compare(name.size() - index.size(), index.size(), index) != 0)
    return filled(r, value_type(t), raw);
  std::string plain = name.substr(0, name.size() - index.size()) + "i64>";
  Cursor c(plain, limits_);
  try {
    return Opaque{fmt::format("{} : {}", dense_text(filled(r, parse_type(c), raw)), name)};
  } catch (const SyntaxError& e) {
    throw FormatError{e.code, r.offset(), fmt::format("{} in the type {}", e.message, name)};
  }
}

// ---- types -------------------------------------------------------------------------------------

const std::string& Entries::type_text(std::size_t i) {
  TypeEntry& t = types_[i];
  if (t.text) return *t.text;
  const Entry& e = container_.types[i];
  ByteReader r = e.data;
  Open open(*this, t.is_open, r);
  const DialectEntries* dialect = find_dialect(e.dialect);
  std::string out;
  if (e.is_text)
    out = r.terminated("the text of a type");
  else if (dialect == nullptr || dialect->type == nullptr)
    r.unsupported("types of the dialect '{}' are not supported", e.dialect);
  else
    out = dialect->type(*this, r);
  r.expect_end("a type");
  charge(r, out.size());
  t.text = std::move(out);
  return *t.text;
}

const Type& Entries::value_type(std::size_t i) {
  TypeEntry& t = types_[i];
  if (t.type) return *t.type;
  const std::string& text = type_text(i);
  Cursor c(text, limits_);
  try {
    Type type = parse_type(c);
    if (!c.at_end()) c.fail("expected the end of the type");
    t.type = type;
  } catch (const SyntaxError& e) {
    throw FormatError{e.code, container_.types[i].data.offset(),
                      fmt::format("{} in the type {}", e.message, text.substr(0, 200))};
  }
  return *t.type;
}

FunctionType Entries::functions(std::size_t i) {
  const Entry& e = container_.types[i];
  ByteReader r = e.data;
  constexpr std::uint64_t builtin_function = 2;
  if (!is_kind(e, r, builtin_function, kVhloFunctionType))
    e.data.fail("expected the type of a function");
  FunctionType out;
  for (std::vector<Type>* side : {&out.taken, &out.returned})
    for (std::size_t n = r.count("types"); n > 0; --n) {
      charge(r, kPerMember);
      side->push_back(value_type(type(r)));
    }
  r.expect_end("the type of a function");
  return out;
}

std::string dimensions_text(const Ints& dimensions) {
  std::string out;
  for (std::int64_t d : dimensions) out += d < 0 ? "?x" : fmt::format("{}x", d);
  return out;
}

std::string types_text(Entries& entries, ByteReader& r) {
  std::string out;
  for (std::size_t n = r.count("types"); n > 0; --n)
    out += (out.empty() ? "" : ", ") + entries.type_text(entries.type(r));
  return out;
}

std::string tensor_text(Entries& entries, ByteReader& r, bool is_encoded) {
  std::string encoding = is_encoded ? ", " + entries.attribute_text(r) : "";
  std::string dimensions = dimensions_text(Entries::numbers(r));
  return fmt::format("tensor<{}{}{}>", dimensions, entries.type_text(entries.type(r)), encoding);
}

// ---- locations ---------------------------------------------------------------------------------

/// The innermost place of a file, else the first name on the way to it.
Location Entries::location(std::size_t first) {
  if (locations_[first]) return *locations_[first];
  std::string name;
  Location out;
  std::size_t i = first;
  for (int step = 0; step < kLocationSteps; ++step) {
    const Entry& e = entry(i);
    ByteReader r = e.data;
    if (e.is_text || e.dialect != kBuiltinEntries.dialect) break;
    std::uint64_t code = r.varint("the kind of a location");
    if (code == kFileLineColumn || code == kFileRange) {
      std::size_t file = attribute(r);
      std::uint64_t numbers = code == kFileRange ? r.count("numbers of a place") : 2;
      std::uint64_t line = numbers > 0 ? r.varint("a line") : 0,
                    column = numbers > 1 ? r.varint("a column") : 0;
      constexpr std::uint64_t most = 1u << 31;
      if (line > 0 && line < most && column < most)
        out = Location(Shared<std::string>::of(text(file)), static_cast<std::uint32_t>(line),
                       static_cast<std::uint32_t>(column));
      break;
    }
    if (code == kNamed) {
      std::size_t called = attribute(r);
      if (name.empty()) name = text(called);
    } else if (code == kFused || code == kFusedWithMetadata) {
      if (r.count("locations") == 0) break;
    } else if (code != kCallSite) {
      break;
    }
    i = attribute(r);
  }
  if (out.empty()) out = Location(name);
  locations_[first] = out;
  return out;
}

}  // namespace strata::ir::bytecode
