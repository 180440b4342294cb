// Short forms of elementwise operations: operands, then one type when all are equal.
#include "strata/ir/text/format_help.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

void print_elementwise(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.other_attributes(op);
  p.same_or_functional_type(op);
}
void parse_elementwise(TextParser& p, Draft& draft) {
  draft.operands = p.operands();
  p.attributes(draft);
  p.same_or_functional_type(draft);
}

// ---- accuracy: upstream does not print the default ---------------------------------------------

void drop_default_accuracy(TextParser&, Draft& draft) {
  const Attr* a = draft.attrs.find("result_accuracy");
  const Opaque* o = a == nullptr ? nullptr : std::get_if<Opaque>(a);
  if (o != nullptr &&
      o->text == "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>")
    draft.attrs.erase("result_accuracy");
}

// ---- chlo: every operand's type, an arrow, the result's ----------------------------------------

void print_chlo(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.other_attributes(op);
  p << " : " << TextPrinter::types(op.operands) << " -> " << TextPrinter::types(op.results());
}
void parse_chlo(TextParser& p, Draft& draft) {
  draft.operands = p.operands();
  p.attributes(draft);
  p.expect(":");
  if (p.peek() == '(') {
    std::size_t where = p.offset();
    p.operand_types(draft, parse_type_list(p), where);
  } else {
    std::vector<Type> types;
    std::size_t where = p.offset();
    do types.push_back(parse_type(p));
    while (p.consume(","));
    p.operand_types(draft, types, where);
  }
  p.expect("->");
  draft.results = parse_result_types(p);
}

// ---- compare -----------------------------------------------------------------------------------

void print_compare(TextPrinter& p, const Op& op) {
  p << " " << op.attr<std::string>("comparison_direction") << ", ";
  p.operands(op);
  std::string type = op.attrs.get_or<std::string>("compare_type", "NOTYPE");
  if (type != "NOTYPE") p << ", " << type;
  p.other_attributes(op, {"comparison_direction", "compare_type"});
  p.functional_type(op);
}
void parse_compare(TextParser& p, Draft& draft) {
  draft.attrs.set("comparison_direction", std::string(p.word("a comparison direction")));
  p.expect(",");
  draft.operands = {p.operand()};
  p.expect(",");
  draft.operands.push_back(p.operand());
  if (p.consume(",")) draft.attrs.set("compare_type", std::string(p.word("a comparison type")));
  p.attributes(draft);
  p.functional_type(draft);
}
void compare_from_generic(TextParser& p, Draft& draft) {
  enum_from_generic(p, draft, "comparison_direction", "comparison_direction",
                    {"EQ", "NE", "GE", "GT", "LE", "LT"}, true);
  enum_from_generic(p, draft, "compare_type", "comparison_type",
                    {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}, false);
}
GenericForm compare_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  enum_to_generic(out.attrs, "comparison_direction", "comparison_direction");
  enum_to_generic(out.attrs, "compare_type", "comparison_type");
  return out;
}

// ---- select: the predicate's type and one for the rest -----------------------------------------

void print_select(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.other_attributes(op);
  const Type& type = op.result()->type();
  if (op.operands.size() == 3 && op.operand(1)->type() == type && op.operand(2)->type() == type) {
    p << " : " << op.operand(0)->type().to_string() << ", " << type.to_string();
  } else {
    p.functional_type(op);
  }
}
void parse_select(TextParser& p, Draft& draft) {
  draft.operands = p.operands();
  p.attributes(draft);
  std::size_t colon = p.offset();
  p.expect(":");
  if (p.peek() == '(') {
    p.seek(colon);
    return p.functional_type(draft);
  }
  std::size_t where = p.offset();
  Type predicate = parse_type(p);
  p.expect(",");
  Type type = parse_type(p);
  p.operand_types(draft, {predicate, type, type}, where);
  draft.results = {type};
}

// ---- complex: the result's type says it all ----------------------------------------------------

bool is_plain_complex(const Op& op) {
  Type part = op.result()->type().with(real_part(op.result()->dtype()));
  return op.operands.size() == 2 && op.operand(0)->type() == part && op.operand(1)->type() == part;
}
void print_complex(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.other_attributes(op);
  if (is_plain_complex(op))
    p << " : " << op.result()->type().to_string();
  else
    p.functional_type(op);
}
void parse_complex(TextParser& p, Draft& draft) {
  draft.operands = p.operands();
  p.attributes(draft);
  std::size_t colon = p.offset();
  p.expect(":");
  if (p.peek() == '(') {
    p.seek(colon);
    return p.functional_type(draft);
  }
  std::size_t where = p.offset();
  Type type = parse_type(p);
  if (!type.is_tensor() || !is_complex(type.dtype()))
    p.fail_at(where, fmt::format("{} is no complex tensor", type.to_string()));
  Type part = type.with(real_part(type.dtype()));
  p.operand_types(draft, {part, part}, where);
  draft.results = {type};
}

// ---- reduce_precision: format = e8m7 -----------------------------------------------------------

void print_reduce_precision(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.format(", format = e{}m{}", op.attr<std::int64_t>("exponent_bits"),
           op.attr<std::int64_t>("mantissa_bits"));
  p.other_attributes(op, {"exponent_bits", "mantissa_bits"});
  p.same_or_functional_type(op);
}
void parse_reduce_precision(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  p.expect("format");
  p.expect("=");
  std::size_t where = p.offset();
  std::string_view word = p.word("a format");
  std::int64_t exponent = 0, mantissa = -1;
  if (word[0] == 'e') {
    std::size_t m = word.find('m');
    auto number = [](std::string_view s) -> std::int64_t {
      return !s.empty() && s.size() < 5 && s.find_first_not_of("0123456789") == s.npos
                 ? std::stoll(std::string(s))
                 : -1;
    };
    exponent = number(word.substr(1, m == word.npos ? word.npos : m - 1));
    mantissa = m == word.npos ? -1 : number(word.substr(m + 1));
  }
  if (exponent < 1 || mantissa < 0)
    p.fail_at(where, fmt::format("'{}' is no format like e8m7", word));
  draft.attrs.set("exponent_bits", exponent).set("mantissa_bits", mantissa);
  p.attributes(draft);
  p.same_or_functional_type(draft);
}
void reduce_precision_from_generic(TextParser& p, Draft& draft) {
  integer_from_i32(p, draft, "exponent_bits");
  integer_from_i32(p, draft, "mantissa_bits");
}
GenericForm reduce_precision_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  for (const char* name : {"exponent_bits", "mantissa_bits"})
    out.attrs.set(name, Opaque{fmt::format("{} : i32", op.attr<std::int64_t>(name))});
  return out;
}

}  // namespace

namespace formats {
const TextFormat elementwise{.print = print_elementwise, .parse = parse_elementwise};
const TextFormat result_accuracy{
    .print = print_elementwise, .parse = parse_elementwise, .from_generic = drop_default_accuracy};
const TextFormat chlo_elementwise{.print = print_chlo, .parse = parse_chlo};
const TextFormat compare{.print = print_compare,
                         .parse = parse_compare,
                         .from_generic = compare_from_generic,
                         .to_generic = compare_to_generic};
const TextFormat select{.print = print_select, .parse = parse_select};
const TextFormat complex{.print = print_complex, .parse = parse_complex};
const TextFormat reduce_precision{.print = print_reduce_precision,
                                  .parse = parse_reduce_precision,
                                  .from_generic = reduce_precision_from_generic,
                                  .to_generic = reduce_precision_to_generic};
}  // namespace formats
}  // namespace strata::ir
