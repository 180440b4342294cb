#include "strata/ir/bytecode/entry_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "strata/ir/bytecode/entries.h"
#include "strata/ir/text/attr_text.h"
#include "strata/ir/text/literal_text.h"
#include "strata/ir/text/type_text.h"
#include "strata/type/number.h"

namespace strata::ir::bytecode {
namespace {

constexpr std::string_view kBuiltin = "builtin", kVhlo = "vhlo";
constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min();  // a dimension

std::string_view dialect_of(Flavor flavor) { return flavor == Flavor::vhlo ? kVhlo : kBuiltin; }
std::uint64_t code_of(Flavor flavor, std::uint64_t vhlo, std::uint64_t builtin) {
  return flavor == Flavor::vhlo ? vhlo : builtin;
}

void numbers(ByteWriter& out, const Ints& values) {
  out.varint(values.size());
  for (std::int64_t v : values) out.signed_varint(v);
}

/// The bits of a number of a known width: a byte, or a signed integer.
void bits(ByteWriter& out, std::uint64_t value, int width) {
  if (width <= 8) return out.byte(static_cast<std::uint8_t>(value));
  int shift = 64 - width;
  out.signed_varint(static_cast<std::int64_t>(value << shift) >> shift);
}

std::uint64_t low_bits(int width) {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

/// One element where all are equal; truth values a bit each, or one byte of ones or zeros for all;
/// narrow ones without the bits of their sign.
std::string elements(const Literal& value) {
  std::size_t width = byte_width(value.dtype()), count = static_cast<std::size_t>(value.count());
  bool is_splat = count > 1 && value.is_splat();
  std::string out(reinterpret_cast<const char*>(is_splat ? value.element(0) : value.data()),
                  is_splat ? width : value.bytes());
  if (is_bool(value.dtype())) {
    if (is_splat) return std::string(1, out[0] != 0 ? '\xff' : '\0');
    std::string packed((count + 7) / 8, '\0');
    for (std::size_t i = 0; i < count; ++i)
      if (out[i] != 0)
        packed[i / 8] =
            static_cast<char>(static_cast<unsigned char>(packed[i / 8]) | 1u << (i % 8));
    return packed;
  }
  int bits = bit_width(value.dtype());
  for (std::size_t i = 0; bits < 8 && i < out.size(); ++i)
    out[i] = static_cast<char>(static_cast<unsigned char>(out[i]) & low_bits(bits));
  return out;
}

/// What follows `prefix` in the text; nothing when the text begins otherwise.
std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
  return text.substr(prefix.size());
}

}  // namespace

void EntryWriter::need(int major, int minor, std::string_view what) const {
  if (release_ < Release{major, minor})
    unsupported(fmt::format("{} needs release {}.{}.0 of StableHLO, not {}.{}.0", what, major,
                            minor, release_.major, release_.minor));
}

// ---- types -------------------------------------------------------------------------------------

std::size_t EntryWriter::scalar(std::string_view name, Flavor flavor) {
  constexpr std::string_view prefix = "complex<";
  ByteWriter out;
  if (std::optional<std::string_view> part = after(name, prefix)) {
    std::size_t element = scalar(part->substr(0, part->size() - 1), flavor);
    out.varint(code_of(flavor, kVhloComplexType, 9));
    out.varint(element);
    return tables_.type(dialect_of(flavor), out.text());
  }
  if (flavor == Flavor::vhlo) {
    const VhloScalar* s = vhlo_scalar(name);
    if (s == nullptr) unsupported(fmt::format("type {} has no form in VHLO", name));
    need(s->since_major, s->since_minor, fmt::format("type {}", name));
    out.varint(s->code);
    return tables_.type(kVhlo, out.text());
  }
  constexpr std::pair<std::string_view, std::uint64_t> builtin[] = {
      {"index", 1}, {"bf16", 3}, {"f16", 4}, {"f32", 5}, {"f64", 6}, {"none", 12}};
  for (const auto& [known, code] : builtin)
    if (known == name) {
      out.varint(code);
      return tables_.type(kBuiltin, out.text());
    }
  std::optional<DType> dtype = parse_dtype(name);
  if (!dtype || is_float(*dtype)) return tables_.type(kBuiltin, std::string(name) + '\0', true);
  constexpr std::uint64_t integer = 0, no_sign = 0, is_without_sign = 2;
  out.varint(integer);
  out.varint(static_cast<std::uint64_t>(bit_width(*dtype)) << 2 |
             (is_unsigned(*dtype) ? is_without_sign : no_sign));
  return tables_.type(kBuiltin, out.text());
}

std::size_t EntryWriter::tensor_type(const Ints& dimensions, std::size_t element, Flavor flavor,
                                     const std::string& bounds) {
  ByteWriter out;
  std::size_t encoding = 0;
  if (!bounds.empty()) {
    if (flavor == Flavor::vhlo)
      encoding = tables_.attribute(kVhlo, bounds);
    else
      encoding = tables_.attribute("stablehlo", bounds, true);
  }
  out.varint(bounds.empty() ? code_of(flavor, kVhloTensorType, 13)
                            : code_of(flavor, kVhloEncodedTensorType, 14));
  if (!bounds.empty()) out.varint(encoding);
  numbers(out, dimensions);
  out.varint(element);
  return tables_.type(dialect_of(flavor), out.text());
}

std::size_t EntryWriter::quantized(const Type& type, Flavor flavor) {
  if (flavor != Flavor::vhlo)
    unsupported(fmt::format("{} beside an operation of another dialect", type.to_string()));
  const Quantization& q = *type.quantization();
  bool has_sign = !is_unsigned(type.dtype()), is_per_axis = q.axis >= 0;
  if (is_per_axis) need(0, 18, "quantisation per axis");
  std::string name(strata::name(type.dtype()));
  std::size_t storage = scalar(has_sign ? name : name.substr(1), flavor),
              expressed = scalar(strata::name(q.expressed), flavor);
  ByteWriter out;
  out.varint(is_per_axis ? kVhloQuantizedAxisType : kVhloQuantizedType);
  out.varint(has_sign ? 1 : 0);
  out.varint(storage);
  out.varint(expressed);
  auto scale = [&](double s) { bits(out, std::bit_cast<std::uint64_t>(s), 64); };
  if (is_per_axis) {
    out.varint(static_cast<std::uint64_t>(q.axis));
    out.signed_varint(q.storage_min);
    out.signed_varint(q.storage_max);
    out.varint(q.scales.size());
    for (double s : q.scales) scale(s);
    numbers(out, q.zero_points);
  } else {
    scale(q.scales[0]);
    out.signed_varint(q.zero_points[0]);
    out.signed_varint(q.storage_min);
    out.signed_varint(q.storage_max);
  }
  return tables_.type(kVhlo, out.text());
}

std::size_t EntryWriter::types(const std::vector<Type>& all, Flavor flavor, std::uint64_t vhlo_code,
                               std::uint64_t builtin_code) {
  std::vector<std::size_t> parts;
  for (const Type& t : all) parts.push_back(type(t, flavor));
  ByteWriter out;
  out.varint(code_of(flavor, vhlo_code, builtin_code));
  out.varint(parts.size());
  for (std::size_t p : parts) out.varint(p);
  return tables_.type(dialect_of(flavor), out.text());
}

std::size_t EntryWriter::type(const Type& t, Flavor flavor) {
  auto& known = types_[static_cast<std::size_t>(flavor)];
  if (auto it = known.find(t.identity()); it != known.end()) return it->second.second;
  std::size_t out = 0;
  if (t.is_tuple()) {
    out = types(t.elements(), flavor, kVhloTupleType, 15);
  } else if (t.is_future() && flavor == Flavor::vhlo) {
    need(1, 15, "a future");
    out = types(t.elements(), flavor, kVhloFutureType, 0);
  } else if (t.is_token() && flavor == Flavor::vhlo) {
    ByteWriter w;
    w.varint(kVhloTokenType);
    out = tables_.type(kVhlo, w.text());
  } else if (t.is_token()) {
    out = tables_.type("stablehlo", t.to_string() + '\0', true);
  } else if (t.is_tensor()) {
    Ints dimensions, bounds;
    bool is_bounded = false;
    for (const Dim& d : t.shape().dims()) {
      dimensions.push_back(d.is_static() ? d.size() : kUnknown);
      bounds.push_back(d.is_bounded() ? d.bound() : kUnknown);
      is_bounded = is_bounded || d.is_bounded();
    }
    std::string encoding;
    if (is_bounded && flavor == Flavor::vhlo) {
      ByteWriter w;
      w.varint(kVhloExtensions);
      numbers(w, bounds);
      encoding = w.text();
    } else if (is_bounded) {
      for (std::int64_t b : bounds)
        encoding += (encoding.empty() ? "" : ", ") + (b < 0 ? "?" : fmt::format("{}", b));
      encoding = fmt::format("#stablehlo.bounds<{}>", encoding) + '\0';
    }
    out = tensor_type(dimensions,
                      t.is_quantized() ? quantized(t, flavor) : scalar(name(t.dtype()), flavor),
                      flavor, encoding);
  } else {
    unsupported(fmt::format("type {} has no form in StableHLO", t.to_string()));
  }
  known.emplace(t.identity(), std::pair(t, out));
  return out;
}

std::size_t EntryWriter::type_attribute(std::size_t type, Flavor flavor) {
  ByteWriter out;
  out.varint(code_of(flavor, kVhloType, kTypeAttribute));
  out.varint(type);
  return tables_.attribute(dialect_of(flavor), out.text());
}

std::size_t EntryWriter::function_type(const std::vector<Type>& taken,
                                       const std::vector<Type>& returned) {
  ByteWriter out;
  out.varint(kVhloFunctionType);
  for (const std::vector<Type>* side : {&taken, &returned}) {
    out.varint(side->size());
    for (const Type& t : *side) out.varint(type(t, Flavor::vhlo));
  }
  return type_attribute(tables_.type(kVhlo, out.text()), Flavor::vhlo);
}

std::size_t EntryWriter::none_type() {
  return type_attribute(scalar("none", Flavor::vhlo), Flavor::vhlo);
}

// ---- what an attribute of text is --------------------------------------------------------------

std::size_t EntryWriter::string(std::string_view text, Flavor flavor) {
  ByteWriter out;
  out.varint(code_of(flavor, kVhloString, kString));
  out.varint(tables_.string(text));
  return tables_.attribute(dialect_of(flavor), out.text());
}

std::size_t EntryWriter::array(const std::vector<std::size_t>& elements, Flavor flavor) {
  ByteWriter out;
  out.varint(code_of(flavor, kVhloArray, kArray));
  out.varint(elements.size());
  for (std::size_t e : elements) out.varint(e);
  return tables_.attribute(dialect_of(flavor), out.text());
}

std::size_t EntryWriter::named(const std::vector<std::pair<std::size_t, std::size_t>>& entries,
                               Flavor flavor) {
  ByteWriter out;
  out.varint(code_of(flavor, kVhloDictionary, kDictionary));
  out.varint(entries.size());
  for (const auto& [name, value] : entries) {
    out.varint(name);
    out.varint(value);
  }
  return tables_.attribute(dialect_of(flavor), out.text());
}

std::size_t EntryWriter::dictionary(const Attrs& attrs, Flavor flavor) {
  std::vector<std::pair<std::size_t, std::size_t>> entries;
  for (const auto& [name, value] : attrs) {
    std::size_t key = string(name, Flavor::builtin);
    entries.emplace_back(key, attribute(value, flavor));
  }
  return named(entries, Flavor::builtin);
}

std::size_t EntryWriter::dictionaries(const std::vector<Attrs>& all) {
  std::vector<std::size_t> elements;
  bool any = std::any_of(all.begin(), all.end(), [](const Attrs& a) { return !a.empty(); });
  for (std::size_t i = 0; any && i < all.size(); ++i) {
    std::vector<std::pair<std::size_t, std::size_t>> entries;
    for (const auto& [name, value] : all[i]) {
      std::size_t key = string(name, Flavor::vhlo);
      entries.emplace_back(key, attribute(value, Flavor::vhlo));
    }
    elements.push_back(named(entries, Flavor::vhlo));
  }
  return array(elements, Flavor::vhlo);
}

std::size_t EntryWriter::integer(std::int64_t value, std::string_view name, Flavor flavor) {
  std::size_t type = scalar(name, flavor);
  ByteWriter out;
  out.varint(code_of(flavor, kVhloInteger, kInteger));
  out.varint(type);
  std::optional<DType> dtype = parse_dtype(name);
  bits(out, static_cast<std::uint64_t>(value), dtype ? bit_width(*dtype) : 64);
  return tables_.attribute(dialect_of(flavor), out.text());
}

std::size_t EntryWriter::real(std::uint64_t value, std::string_view name, Flavor flavor) {
  std::size_t type = scalar(name, flavor);
  ByteWriter out;
  out.varint(code_of(flavor, kVhloFloat, kFloat));
  out.varint(type);
  bits(out, value, bit_width(*parse_dtype(name)));
  return tables_.attribute(dialect_of(flavor), out.text());
}

std::size_t EntryWriter::tensor(const Literal& value, std::size_t type, Flavor flavor) {
  ByteWriter out;
  out.varint(code_of(flavor, kVhloTensor, kDenseElements));
  out.varint(type);
  out.blob(elements(value));
  return tables_.attribute(dialect_of(flavor), out.text());
}

std::size_t EntryWriter::list(const Ints& values) {
  Literal value = Literal::of(Shape{static_cast<std::int64_t>(values.size())}, values);
  return tensor(value, type(value.type(), Flavor::vhlo), Flavor::vhlo);
}

std::size_t EntryWriter::flags(const Ints& values) {
  Literal value(Type(DType::i1, {static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i)
    value.set_integer(static_cast<std::int64_t>(i), values[i] != 0);
  return tensor(value, type(value.type(), Flavor::vhlo), Flavor::vhlo);
}

std::size_t EntryWriter::default_accuracy() {
  return attribute_of("#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>",
                      Flavor::vhlo);
}

std::size_t EntryWriter::unknown_location() {
  ByteWriter out;
  out.varint(kUnknownPlace);
  return tables_.attribute(kBuiltin, out.text());
}

std::size_t EntryWriter::attribute(const Attr& attr, Flavor flavor) {
  if (const std::string* s = std::get_if<std::string>(&attr)) return string(*s, flavor);
  if (const Literal* l = std::get_if<Literal>(&attr))
    return tensor(*l, type(l->type(), flavor), flavor);
  if (const Ints* i = std::get_if<Ints>(&attr); i != nullptr && flavor == Flavor::vhlo)
    return list(*i);
  if (const std::int64_t* i = std::get_if<std::int64_t>(&attr)) return integer(*i, "i64", flavor);
  if (const Type* t = std::get_if<Type>(&attr)) return type_attribute(type(*t, flavor), flavor);
  if (const DType* d = std::get_if<DType>(&attr))
    return type_attribute(scalar(name(*d), flavor), flavor);
  std::string said = attr_text(attr);
  auto& known = texts_[static_cast<std::size_t>(flavor)];
  if (auto it = known.find(said); it != known.end()) return it->second;
  Cursor c(said);
  std::size_t out = 0;
  try {
    out = text(c, flavor);
    if (!c.at_end()) c.fail("expected the end of the attribute");
  } catch (const SyntaxError& e) {
    unsupported(fmt::format("attribute {}: {}", said.substr(0, 200), e.message));
  }
  known.emplace(std::move(said), out);
  return out;
}

// ---- text --------------------------------------------------------------------------------------

std::size_t EntryWriter::text(Cursor& c, Flavor flavor) {
  Cursor::Nesting nesting(c);
  switch (c.peek()) {
    case '[': {
      std::vector<std::size_t> elements;
      c.expect("[");
      if (!c.consume("]")) {
        do elements.push_back(text(c, flavor));
        while (c.consume(","));
        c.expect("]");
      }
      return array(elements, flavor);
    }
    case '{': {
      std::vector<std::pair<std::size_t, std::size_t>> entries;
      c.expect("{");
      if (!c.consume("}")) {
        do {
          std::size_t key =
              string(c.peek() == '"' ? c.string() : std::string(c.word("the name of an attribute")),
                     flavor);
          entries.emplace_back(key,
                               c.consume("=") ? text(c, flavor) : attribute_of("unit", flavor));
        } while (c.consume(","));
        c.expect("}");
      }
      return named(entries, flavor);
    }
    case '@': return symbol(c, flavor);
    case '#': return foreign(c, flavor);
    default: return plain(c, flavor);
  }
}

std::size_t EntryWriter::symbol(Cursor& c, Flavor flavor) {
  c.expect("@");
  std::string name = c.peek() == '"' ? c.string() : std::string(c.suffix("a symbol"));
  if (c.consume("::")) c.fail("a symbol in a symbol is not supported");
  std::size_t said = string(name, flavor);
  if (flavor == Flavor::vhlo) return said;
  ByteWriter out;
  out.varint(kFlatSymbol);
  out.varint(said);
  return tables_.attribute(kBuiltin, out.text());
}

/// `dense<...>` of an index type, which is no literal; other constants are one.
std::size_t EntryWriter::dense(Cursor& c, Flavor flavor) {
  std::size_t start = c.offset();
  c.expect("dense");
  std::string_view body = dense_body(c);
  c.expect(":");
  std::size_t type_at = c.offset();
  c.expect("tensor");
  c.expect("<");
  std::string inside(c.balanced('<', '>'));
  constexpr std::string_view index = "index";
  if (inside.size() < index.size() ||
      inside.compare(inside.size() - index.size(), index.size(), index) != 0) {
    std::size_t end = c.offset();
    c.seek(start);
    std::size_t out = attribute(parse_attr(c, {}), flavor);
    if (c.offset() < end) c.seek(end);
    return out;
  }
  std::string plain = fmt::format("tensor<{}i64>", inside.substr(0, inside.size() - index.size()));
  Cursor t(plain);
  Type type = parse_type(t);
  Literal value = parse_elements(body, type_at, c, type);
  return tensor(value, tensor_type(type.shape().sizes(), scalar(index, flavor), flavor), flavor);
}

/// array<i32: 1, 2>, which VHLO has no word for: the builtin one.
std::size_t EntryWriter::dense_array(Cursor& c) {
  c.expect("array");
  c.expect("<");
  std::string name(c.word("the element type of an array"));
  std::optional<DType> dtype = parse_dtype(name);
  if (!dtype || is_complex(*dtype)) c.fail("an array of {}", name);
  std::string data;
  std::uint64_t count = 0;
  std::size_t width = byte_width(*dtype);
  if (c.consume(":")) {
    do {
      std::uint64_t bits = 0;
      if (c.looking_at("true") || c.looking_at("false"))
        bits = c.word("a value") == "true" ? 1 : 0;
      else if (is_float(*dtype))
        bits = parse_float_bits(c.number(), *dtype).value_or(0);
      else
        bits = static_cast<std::uint64_t>(c.integer());
      char bytes[8];
      std::memcpy(bytes, &bits, sizeof bytes);
      data.append(bytes, width);
      ++count;
    } while (c.consume(","));
  }
  c.expect(">");
  std::size_t element = scalar(name, Flavor::builtin);
  ByteWriter out;
  out.varint(kDenseArray);
  out.varint(element);
  out.varint(count);
  out.blob(data);
  return tables_.attribute(kBuiltin, out.text());
}

std::size_t EntryWriter::number(std::string_view digits, std::string_view name, Flavor flavor) {
  std::optional<DType> dtype = parse_dtype(name);
  bool is_hex = digits.find("0x") != std::string_view::npos;
  if (dtype && is_float(*dtype)) {
    std::optional<std::uint64_t> value =
        is_hex ? std::optional<std::uint64_t>(std::stoull(std::string(digits), nullptr, 16))
               : parse_float_bits(digits, *dtype);
    if (!value) unsupported(fmt::format("{} is no number of type {}", digits, name));
    return real(*value, name, flavor);
  }
  if ((!dtype || is_complex(*dtype)) && name != "index")
    unsupported(fmt::format("a number of type {} has no form in bytecode", name));
  Cursor c(digits);
  std::int64_t value =
      is_hex ? static_cast<std::int64_t>(std::stoull(std::string(digits), nullptr, 16))
             : c.integer();
  return integer(value, name, flavor);
}

std::size_t EntryWriter::plain(Cursor& c, Flavor flavor) {
  char p = c.peek();
  if (p == '-' || (p >= '0' && p <= '9')) {
    std::string_view digits = c.number();
    bool is_real = digits.find("0x") == std::string_view::npos &&
                   digits.find_first_of(".eE") != std::string_view::npos;
    return number(digits,
                  c.consume(":") ? c.word("the type of a number")
                  : is_real      ? "f64"
                                 : "i64",
                  flavor);
  }
  if (p == '"') {
    std::string said = c.string();
    if (c.peek() == ':') c.fail("a string of a type is not supported");
    return string(said, flavor);
  }
  for (bool truth : {true, false}) {
    if (!c.consume(truth ? "true" : "false")) continue;
    ByteWriter out;
    if (flavor == Flavor::builtin) return integer(truth ? 1 : 0, "i1", flavor);
    out.varint(kVhloBoolean);
    out.varint(truth ? 1 : 0);
    return tables_.attribute(kVhlo, out.text());
  }
  if (c.consume("unit")) {
    ByteWriter out;
    out.varint(kUnit);
    return tables_.attribute(kBuiltin, out.text());
  }
  if (c.looking_at("dense")) return dense(c, flavor);
  if (c.looking_at("array")) {
    std::size_t start = c.offset();
    if (flavor == Flavor::builtin) return dense_array(c);
    Attr value = parse_attr(c, {});
    if (const Ints* list_ = std::get_if<Ints>(&value)) return list(*list_);
    std::size_t end = c.offset();
    c.seek(start);
    constexpr std::string_view truths = "array<i1";
    if (!c.looking_at(truths)) return dense_array(c);
    Ints values;
    Cursor inside(c.text().substr(start + truths.size(), end - start - truths.size()));
    if (inside.consume(":")) {
      do values.push_back(inside.word("a truth value") == "true");
      while (inside.consume(","));
    }
    c.seek(end);
    return flags(values);
  }
  for (std::string_view word : {"index", "none", "tf32"})
    if (c.consume(word)) return type_attribute(scalar(word, flavor), flavor);
  Attr value = parse_attr(c, {});
  if (std::holds_alternative<Opaque>(value))
    c.fail("{} has no form in bytecode", std::get<Opaque>(value).text.substr(0, 80));
  return attribute(value, flavor);
}

// ---- attributes of dialects --------------------------------------------------------------------

/// StableHLO's in VHLO's encoding; Shardy's, and those of other dialects beside VHLO, as text.
std::size_t EntryWriter::foreign(Cursor& c, Flavor flavor) {
  std::size_t start = c.offset();
  c.expect("#");
  std::string word(c.suffix("the name of an attribute"));
  if (c.text().substr(c.offset(), 1) == "<") {
    c.expect("<");
    c.balanced('<', '>');
  }
  std::string said(c.text().substr(start, c.offset() - start));
  std::string dialect = word.substr(0, word.find('.'));
  if (dialect == "stablehlo" && flavor == Flavor::vhlo) return stablehlo(said);
  if (dialect != "sdy" && dialect != "chlo" && dialect != "stablehlo")
    unsupported(fmt::format("attribute {} has no form in VHLO", said.substr(0, 80)));
  return tables_.attribute(dialect, said + '\0', true);
}

std::size_t EntryWriter::stablehlo(std::string_view said) {
  constexpr std::uint64_t accuracy_mode = 19;
  for (const VhloEnum& e : vhlo_enums()) {
    std::optional<std::string_view> word = e.before.empty() ? std::nullopt : after(said, e.before);
    if (!word) continue;
    auto at =
        std::find(e.words.begin(), e.words.end(), word->substr(0, word->size() - e.after.size()));
    if (at == e.words.end()) continue;
    if (e.code == accuracy_mode) need(1, 9, "the accuracy of a result");
    ByteWriter out;
    out.varint(e.code);
    out.varint(static_cast<std::uint64_t>(at - e.words.begin()));
    return tables_.attribute(kVhlo, out.text());
  }
  Cursor c(said);
  if (c.consume("#stablehlo.result_accuracy")) return accuracy(c);
  if (c.consume("#stablehlo.output_operand_alias")) return output_alias(c);
  if (c.consume("#stablehlo.replica_group_mesh_axes")) return mesh_axes(c);
  unsupported(fmt::format("attribute {} has no form in VHLO", said.substr(0, 80)));
}

/// <atol = 1.0, rtol = 0.5, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>
std::size_t EntryWriter::accuracy(Cursor& c) {
  need(1, 9, "the accuracy of a result");
  double atol = 0, rtol = 0;
  std::int64_t ulps = 0;
  std::size_t mode = 0;
  c.expect("<");
  do {
    std::string_view field = c.word("a field");
    c.expect("=");
    if (field == "atol" || field == "rtol") {
      std::string_view digits = c.number();
      std::optional<std::uint64_t> value = parse_float_bits(digits, DType::f64);
      if (!value) c.fail("{} is no number", digits);
      (field == "atol" ? atol : rtol) = std::bit_cast<double>(*value);
    } else if (field == "ulps") {
      ulps = c.integer();
    } else {
      mode = text(c, Flavor::vhlo);
    }
  } while (c.consume(","));
  c.expect(">");
  ByteWriter out;
  out.varint(kVhloAccuracy);
  bits(out, std::bit_cast<std::uint64_t>(atol), 64);
  bits(out, std::bit_cast<std::uint64_t>(rtol), 64);
  out.signed_varint(ulps);
  out.varint(mode);
  return tables_.attribute(kVhlo, out.text());
}

/// <output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>
std::size_t EntryWriter::output_alias(Cursor& c) {
  Ints output, operand;
  std::int64_t index = 0;
  c.expect("<");
  do {
    std::string_view field = c.word("a field");
    c.expect("=");
    if (field == "operand_index") {
      index = c.integer();
      continue;
    }
    Ints& which = field == "output_tuple_indices" ? output : operand;
    c.expect("[");
    if (c.consume("]")) continue;
    do which.push_back(c.integer());
    while (c.consume(","));
    c.expect("]");
  } while (c.consume(","));
  c.expect(">");
  ByteWriter out;
  out.varint(kVhloOutputAlias);
  numbers(out, output);
  out.signed_varint(index);
  numbers(out, operand);
  return tables_.attribute(kVhlo, out.text());
}

/// <mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>
std::size_t EntryWriter::mesh_axes(Cursor& c) {
  need(1, 16, "groups by the axes of a mesh");
  c.expect("<");
  c.expect("mesh");
  c.expect("=");
  if (c.peek() != '@') c.fail("a mesh that is not named is not supported");
  std::size_t mesh = symbol(c, Flavor::vhlo);
  c.expect(",");
  c.expect("axes");
  c.expect("=");
  c.expect("[");
  std::vector<std::size_t> axes;
  if (!c.consume("]")) {
    do {
      c.expect("#stablehlo.axis_ref");
      c.expect("<");
      c.expect("name");
      c.expect("=");
      std::size_t name = string(c.string(), Flavor::vhlo), part = 0;
      bool has_part = c.consume(",");
      if (has_part) {
        ByteWriter out;
        out.varint(kVhloSubAxis);
        c.expect("sub_axis_info");
        c.expect("=");
        c.expect("(");
        out.signed_varint(c.integer());
        c.expect(")");
        out.signed_varint(c.integer());
        part = tables_.attribute(kVhlo, out.text());
      }
      c.expect(">");
      ByteWriter out;
      out.varint(kVhloAxis);
      out.varint(name);
      out.varint(has_part ? 1 : 0);
      if (has_part) out.varint(part);
      axes.push_back(tables_.attribute(kVhlo, out.text()));
    } while (c.consume(","));
    c.expect("]");
  }
  c.expect(">");
  std::size_t list_ = array(axes, Flavor::vhlo);
  ByteWriter out;
  out.varint(kVhloMeshAxes);
  out.varint(mesh);
  out.varint(list_);
  return tables_.attribute(kVhlo, out.text());
}

}  // namespace strata::ir::bytecode
