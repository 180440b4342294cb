#include "strata/ir/text/type_text.h"

#include <array>

namespace strata::ir {
namespace {

/// Elements that a type may have in all, so that products of dimensions never overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

struct Body {
  std::vector<Dim> dims;
  DType dtype;
};

/// "4x?xf32" between angle brackets.
Body parse_body(Cursor& c) {
  Body out{{}, DType::f32};
  std::int64_t elements = 1;
  for (;;) {
    if (c.peek() == '*') c.fail_at(c.offset(), "unranked tensors are not supported", Code::unsupported);
    if (c.consume("?")) {
      out.dims.push_back(Dim::unknown());
    } else if (char p = c.peek(); p >= '0' && p <= '9') {
      std::size_t where = c.offset();
      std::int64_t size = c.integer();
      if (size != 0 && elements > kMostElements / size) c.fail_at(where, fmt::format("a tensor of more than {} elements", kMostElements));
      if (size != 0) elements *= size;
      out.dims.emplace_back(size);
    } else {
      break;
    }
    if (c.text().substr(c.offset(), 1) != "x") c.fail("expected 'x' after a dimension");
    c.seek(c.offset() + 1);
    if (out.dims.size() > 64) c.fail("a tensor of more than 64 dimensions");
  }
  std::optional<DType> dtype = try_dtype(c);
  if (!dtype) {
    if (c.looking_at("!quant.uniform") || c.peek() == '!' || c.looking_at("index")) c.fail_at(c.offset(), "element type is not supported", Code::unsupported);
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
    dims[i] = Dim::bounded(bound);
  }
  c.expect(">");
}

Type parse_tensor(Cursor& c) {
  c.expect("<");
  Body body = parse_body(c);
  if (c.consume(",")) {
    if (c.consume("#stablehlo.bounds") || c.consume("#mhlo.type_extensions")) parse_bounds(c, body.dims);
    else c.fail_at(c.offset(), "tensor encoding is not supported", Code::unsupported);
  }
  c.expect(">");
  return Type(body.dtype, Shape(std::move(body.dims)));
}

Type parse_tuple(Cursor& c) {
  Cursor::Nesting nesting(c);
  c.expect("<");
  std::vector<Type> elements;
  if (!c.consume(">")) {
    do elements.push_back(parse_type(c));
    while (c.consume(","));
    c.expect(">");
  }
  return Type::tuple(std::move(elements));
}

Type parse_ref(Cursor& c) {
  c.expect("<");
  Body body = parse_body(c);
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
  constexpr std::array<std::string_view, 7> starts = {"tensor", "tuple", "!stablehlo.token", "!mhlo.token", "!strata.ref", "!quant.uniform", "memref"};
  for (std::string_view s : starts)
    if (c.looking_at(s)) return true;
  return false;
}

Type parse_type(Cursor& c) {
  if (c.consume("tensor")) return parse_tensor(c);
  if (c.consume("tuple")) return parse_tuple(c);
  if (c.consume("!stablehlo.token") || c.consume("!mhlo.token")) return Type::token();
  if (c.consume("!strata.ref")) return parse_ref(c);
  if (c.peek() == '!' || c.looking_at("memref")) c.fail_at(c.offset(), "type is not supported", Code::unsupported);
  c.fail("expected a type");
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

std::string type_list_text(const std::vector<Type>& types) { return "(" + joined(types) + ")"; }
std::string result_types_text(const std::vector<Type>& types) { return types.size() == 1 ? types[0].to_string() : type_list_text(types); }

}  // namespace strata::ir
