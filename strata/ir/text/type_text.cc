#include "strata/ir/text/type_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace strata::ir {
namespace {

/// Elements that a type may have in all, so that products of dimensions never overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

struct Body {
  std::vector<Dim> dims;
  DType dtype;
  std::optional<Quantization> quantization;
};

// ---- !quant.uniform<i8<-127:127>:f32:1, {0.1:3,0.5}> -------------------------------------------

/// i8 or u8 (ui8), and the bounds of what is stored.
DType parse_storage(Cursor& c, Quantization& q) {
  std::size_t where = c.offset();
  std::string word(c.word("a storage type"));
  std::optional<DType> dtype =
      parse_dtype(word[0] == 'u' && word.substr(0, 2) != "ui" ? "ui" + word.substr(1) : word);
  if (!dtype || !is_integer(*dtype)) c.fail_at(where, fmt::format("'{}' is no integer type", word));
  int bits = bit_width(*dtype);
  if (bits > 32) c.fail_at(where, fmt::format("storage type {} has more than 32 bits", word));
  std::int64_t low = is_unsigned(*dtype) ? 0 : -(std::int64_t{1} << (bits - 1)),
               high = (std::int64_t{1} << (is_unsigned(*dtype) ? bits : bits - 1)) - 1;
  q.storage_min = low;
  q.storage_max = high;
  if (c.consume("<")) {
    where = c.offset();
    q.storage_min = c.integer();
    c.expect(":");
    q.storage_max = c.integer();
    c.expect(">");
    if (q.storage_min < low || q.storage_max > high || q.storage_min >= q.storage_max)
      c.fail_at(where,
                fmt::format("bounds {} and {} do not fit {}", q.storage_min, q.storage_max, word));
  }
  return *dtype;
}

/// 0.5 or 0.5:3.
void parse_scale(Cursor& c, Quantization& q) {
  std::size_t where = c.offset();
  std::string text(c.number());
  double scale = std::strtod(text.c_str(), nullptr);
  if (!(scale > 0) || !std::isfinite(scale))
    c.fail_at(where, fmt::format("scale {} is no positive number", text.substr(0, 40)));
  q.scales.push_back(scale);
  q.zero_points.push_back(0);
  if (!c.consume(":")) return;
  where = c.offset();
  q.zero_points.back() = c.integer();
  if (q.zero_points.back() < q.storage_min || q.zero_points.back() > q.storage_max)
    c.fail_at(where, fmt::format("zero point {} is not within {} and {}", q.zero_points.back(),
                                 q.storage_min, q.storage_max));
}

/// After the words.
DType parse_quantization(Cursor& c, Quantization& q) {
  c.expect("<");
  DType storage = parse_storage(c, q);
  c.expect(":");
  std::size_t where = c.offset();
  std::optional<DType> expressed = try_dtype(c);
  if (!expressed || !is_float(*expressed)) c.fail_at(where, "expected a float type");
  q.expressed = *expressed;
  if (c.consume(":")) {
    if (c.peek() == '{')
      c.fail_at(c.offset(), "quantisation by blocks is not supported", Code::unsupported);
    where = c.offset();
    std::int64_t axis = c.integer();
    if (axis < 0 || axis > 64) c.fail_at(where, fmt::format("axis {} is no dimension", axis));
    q.axis = static_cast<int>(axis);
  }
  c.expect(",");
  if (q.axis < 0) {
    parse_scale(c, q);
  } else {
    c.expect("{");
    do parse_scale(c, q);
    while (c.consume(","));
    c.expect("}");
  }
  c.expect(">");
  return storage;
}

/// The alias that follows as `!name`, which is consumed; null (and nothing consumed) where the word
/// names a type of a dialect or no alias.
const TypeAlias* try_alias(Cursor& c) {
  if (c.types() == nullptr || c.peek() != '!') return nullptr;
  const std::size_t start = c.offset();
  c.seek(start + 1);
  const TypeAlias* found = internal::is_of(c.next_char(), internal::kWord)
                               ? c.types()->alias(c.suffix("the name of an alias"))
                               : nullptr;
  if (found == nullptr) c.seek(start);
  return found;
}

/// "4x?xf32" between angle brackets.
Body parse_body(Cursor& c) {
  Body out{{}, DType::f32, std::nullopt};
  std::int64_t elements = 1;
  for (;;) {
    if (c.peek() == '*')
      c.fail_at(c.offset(), "unranked tensors are not supported", Code::unsupported);
    if (c.consume("?")) {
      out.dims.push_back(Dim::unknown());
    } else if (char p = c.peek(); p >= '0' && p <= '9') {
      std::size_t where = c.offset();
      std::int64_t size = c.integer();
      if (size != 0 && elements > kMostElements / size)
        c.fail_at(where, fmt::format("a tensor of more than {} elements", kMostElements));
      if (size != 0) elements *= size;
      out.dims.emplace_back(size);
    } else {
      break;
    }
    if (c.text().substr(c.offset(), 1) != "x") c.fail("expected 'x' after a dimension");
    c.seek(c.offset() + 1);
    if (out.dims.size() > 64) c.fail("a tensor of more than 64 dimensions");
  }
  if (c.consume("!quant.uniform")) {
    out.dtype = parse_quantization(c, out.quantization.emplace());
    return out;
  }
  const std::size_t named = c.offset();
  if (const TypeAlias* alias = try_alias(c)) {
    if (!alias->is_element)
      c.fail_at(named, fmt::format("{} is no element type", alias->type.to_string()));
    if (alias->type.is_quantized()) out.quantization = *alias->type.quantization();
    out.dtype = alias->type.dtype();
    return out;
  }
  std::optional<DType> dtype = try_dtype(c);
  if (!dtype) {
    if (c.peek() == '!' || c.looking_at("index"))
      c.fail_at(c.offset(), "element type is not supported", Code::unsupported);
    c.fail("expected an element type");
  }
  out.dtype = *dtype;
  return out;
}

void parse_bounds(Cursor& c, std::vector<Dim>& dims) {
  c.expect("<");
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) c.expect(",");
    if (c.consume("?")) continue;
    std::int64_t bound = c.integer();
    if (dims[i].is_static() || bound < 0) c.fail("bound {} on a dimension that is not '?'", bound);
    if (bound > kMostElements) c.fail("a tensor of more than {} elements", kMostElements);
    dims[i] = Dim::bounded(bound);
  }
  c.expect(">");
}

Type parse_tensor(Cursor& c) {
  std::size_t where = c.offset();
  c.expect("<");
  Body body = parse_body(c);
  if (c.consume(",")) {
    if (c.consume("#stablehlo.bounds") || c.consume("#mhlo.type_extensions"))
      parse_bounds(c, body.dims);
    else
      c.fail_at(c.offset(), "tensor encoding is not supported", Code::unsupported);
  }
  c.expect(">");
  Type out(body.dtype, Shape(std::move(body.dims)));
  if (!body.quantization) return out;
  const Quantization& q = *body.quantization;
  if (q.axis >= out.rank())
    c.fail_at(where, fmt::format("quantised along dimension {} of {}", q.axis, out.rank()));
  if (q.axis >= 0 && out.shape().dim(q.axis).is_static() &&
      out.shape()[q.axis] != static_cast<std::int64_t>(q.scales.size()))
    c.fail_at(where, fmt::format("{} scales for {} slices", q.scales.size(), out.shape()[q.axis]));
  return out.with(*body.quantization);
}

/// <T, T>
std::vector<Type> parse_parts(Cursor& c) {
  Cursor::Nesting nesting(c);
  c.expect("<");
  std::vector<Type> parts;
  if (c.consume(">")) return parts;
  do parts.push_back(parse_type(c));
  while (c.consume(","));
  c.expect(">");
  return parts;
}

Type parse_ref(Cursor& c) {
  c.expect("<");
  std::size_t where = c.offset();
  Body body = parse_body(c);
  if (body.quantization)
    c.fail_at(where, "a reference to quantised elements is not supported", Code::unsupported);
  c.expect(">");
  return Type::ref(body.dtype, Shape(std::move(body.dims)));
}

std::string joined(const std::vector<Type>& types) {
  std::string out;
  for (const Type& t : types) {
    if (!out.empty()) out += ", ";
    out += t.to_string();
  }
  return out;
}

}  // namespace

std::optional<DType> try_dtype(Cursor& c) {
  std::size_t start = c.offset();
  std::string_view word = c.try_word();
  if (word == "complex") {
    c.expect("<");
    std::size_t where = c.offset();
    std::string_view part = c.word("the element type of complex");
    c.expect(">");
    std::optional<DType> dtype = parse_dtype(fmt::format("complex<{}>", part));
    if (!dtype) c.fail_at(where, fmt::format("complex<{}> is no element type", part));
    return dtype;
  }
  std::optional<DType> dtype = word.empty() ? std::nullopt : parse_dtype(word);
  if (!dtype) c.seek(start);
  return dtype;
}

bool looking_at_type(Cursor& c) {
  constexpr std::array<std::string_view, 8> starts = {
      "tensor",      "tuple",       "!stablehlo.token", "!stablehlo.future",
      "!mhlo.token", "!strata.ref", "!quant.uniform",   "memref"};
  for (std::string_view s : starts)
    if (c.looking_at(s)) return true;
  const std::size_t start = c.offset();
  const bool is_alias = try_alias(c) != nullptr;
  c.seek(start);
  return is_alias;
}

namespace {

/// The text from '<' to its partner; empty when there is none nearby.
std::string_view bracketed(const Cursor& c) {
  constexpr std::size_t most = 4096;
  std::string_view rest = c.text();
  std::size_t start = const_cast<Cursor&>(c).offset(), level = 0;
  for (std::size_t i = start; i < rest.size() && i - start < most; ++i) {
    if (rest[i] == '<')
      ++level;
    else if (rest[i] == '>' && --level == 0)
      return rest.substr(start, i + 1 - start);
    else if (level == 0 || rest[i] == '"')
      break;
  }
  return {};
}

/// A type of a dialect, or an alias that is not defined.
[[noreturn]] void unsupported_type(Cursor& c) {
  const std::size_t start = c.offset();
  std::string_view name = c.text().substr(start, 1) == "!" ? c.text().substr(start + 1) : "";
  std::size_t length = 0;
  while (length < name.size() && internal::is_of(name[length], internal::kWord)) ++length;
  name = name.substr(0, length);
  if (!name.empty() && name.find('.') == std::string_view::npos)
    c.fail_at(start, fmt::format("type alias !{} is not defined", name));
  c.fail_at(start, "type is not supported", Code::unsupported);
}

Type cached_tensor(Cursor& c) {
  std::string_view text = bracketed(c);
  if (text.empty()) return parse_tensor(c);
  if (const Type* known = c.types()->find(text)) {
    c.seek(c.offset() + text.size());
    return *known;
  }
  std::size_t end = c.offset() + text.size();
  Type type = parse_tensor(c);
  if (c.offset() >= end) c.types()->add(text, type);
  return type;
}

}  // namespace

Type parse_type(Cursor& c) {
  if (c.consume("tensor")) return c.types() != nullptr ? cached_tensor(c) : parse_tensor(c);
  if (c.consume("tuple")) return Type::tuple(parse_parts(c));
  if (c.consume("!stablehlo.future")) return Type::future(parse_parts(c));
  if (c.consume("!stablehlo.token") || c.consume("!mhlo.token")) return Type::token();
  if (c.consume("!strata.ref")) return parse_ref(c);
  const std::size_t start = c.offset();
  if (const TypeAlias* alias = try_alias(c)) {
    if (alias->is_element)
      c.fail_at(start, fmt::format("the alias of an element type stands for no type: {}",
                                   alias->type.to_string()));
    return alias->type;
  }
  if (c.peek() == '!' || c.looking_at("memref")) unsupported_type(c);
  c.fail("expected a type");
}

TypeAlias parse_alias(Cursor& c) {
  if (c.consume("!quant.uniform")) {
    Quantization q;
    const DType storage = parse_quantization(c, q);
    return {Type::scalar(storage).with(q), true};
  }
  if (std::optional<DType> dtype = try_dtype(c)) return {Type::scalar(*dtype), true};
  if (const TypeAlias* other = try_alias(c)) return *other;
  return {parse_type(c)};
}

std::vector<Type> parse_type_list(Cursor& c) {
  c.expect("(");
  std::vector<Type> out;
  if (c.consume(")")) return out;
  do out.push_back(parse_type(c));
  while (c.consume(","));
  c.expect(")");
  return out;
}

std::vector<Type> parse_result_types(Cursor& c) {
  if (c.peek() == '(') return parse_type_list(c);
  return {parse_type(c)};
}

bool is_symbolic(const Type& t) {
  return std::any_of(t.shape().dims().begin(), t.shape().dims().end(),
                     [](const Dim& d) { return d.is_symbolic(); });
}

bool same_text(const Type& a, const Type& b) {
  return a == b || ((is_symbolic(a) || is_symbolic(b)) && a.to_string() == b.to_string());
}
bool same_text(const std::vector<Type>& a, const std::vector<Type>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Type& x, const Type& y) { return same_text(x, y); });
}

std::string type_list_text(const std::vector<Type>& types) { return "(" + joined(types) + ")"; }
std::string result_types_text(const std::vector<Type>& types) {
  return types.size() == 1 ? types[0].to_string() : type_list_text(types);
}

}  // namespace strata::ir
