// Tuples, and operations that have a result's type alone.
#include "strata/ir/text/format_help.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

void print_typed_result(TextPrinter& p, const Op& op) {
  p.other_attributes(op);
  p << " : " << TextPrinter::types(op.results());
}
void parse_typed_result(TextParser& p, Draft& draft) {
  p.attributes(draft);
  p.expect(":");
  draft.results = {parse_type(p)};
}

// ---- get_tuple_element %a[0] : (T) -> T --------------------------------------------------------

void print_get(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.format("[{}]", op.attr<std::int64_t>("index"));
  p.other_attributes(op, {"index"});
  p.functional_type(op);
}
void parse_get(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  p.expect("[");
  draft.attrs.set("index", p.integer());
  p.expect("]");
  p.attributes(draft);
  p.functional_type(draft);
}
void get_from_generic(TextParser& p, Draft& draft) { integer_from_i32(p, draft, "index"); }
GenericForm get_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  out.attrs.set("index", Opaque{fmt::format("{} : i32", op.attr<std::int64_t>("index"))});
  return out;
}

// ---- tuple %a, %b : tuple<T, T> ----------------------------------------------------------------

void print_tuple(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.other_attributes(op);
  p << " : " << TextPrinter::types(op.results());
}
void parse_tuple(TextParser& p, Draft& draft) {
  draft.operands = p.operands();
  p.attributes(draft);
  p.expect(":");
  std::size_t where = p.offset();
  Type type = parse_type(p);
  if (!type.is_tuple()) p.fail_at(where, fmt::format("{} is no tuple", type.to_string()));
  p.operand_types(draft, type.elements(), where);
  draft.results = {std::move(type)};
}

}  // namespace

namespace formats {
const TextFormat typed_result{.print = print_typed_result, .parse = parse_typed_result};
const TextFormat get_tuple_element{.print = print_get,
                                   .parse = parse_get,
                                   .from_generic = get_from_generic,
                                   .to_generic = get_to_generic};
const TextFormat tuple{.print = print_tuple, .parse = parse_tuple};
}  // namespace formats
}  // namespace strata::ir
