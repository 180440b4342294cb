// Short forms of constants and of operations that move elements.
#include "strata/ir/text/format_help.h"
#include "strata/ir/text/literal_text.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

// ---- constant, iota ----------------------------------------------------------------------------

void print_constant(TextPrinter& p, const Op& op) {
  const Literal& value = op.attr<Literal>("value");
  if (value.type() != op.result()->type())
    return p.generic_form(op);  // integers that stand for quantised numbers
  p.other_attributes(op, {"value"});
  p.dense(value);
}
void parse_constant(TextParser& p, Draft& draft) {
  if (p.peek() == '(') return p.generic_form(draft);
  p.attributes(draft);
  draft.attrs.set("value", p.attribute());
  draft.results = {p.need<Literal>(draft, "value", "constant").type()};
}
void constant_from_generic(TextParser& p, Draft& draft) {
  p.need<Literal>(draft, "value", "constant");
}
std::string_view constant_name(const Op& op, int) {
  DType d = op.result()->dtype();
  return is_bool(d) || is_integer(d) ? "c" : "cst";
}

void print_iota(TextPrinter& p, const Op& op) {
  p.format(" dim = {}", op.attr<std::int64_t>("iota_dimension"));
  p.other_attributes(op, {"iota_dimension"});
  p << " : " << op.result()->type().to_string();
}
void parse_iota(TextParser& p, Draft& draft) {
  p.expect("dim");
  p.expect("=");
  draft.attrs.set("iota_dimension", p.integer());
  p.attributes(draft);
  p.expect(":");
  draft.results = {parse_type(p)};
}
void iota_from_generic(TextParser& p, Draft& draft) { need_integer(p, draft, "iota_dimension"); }

// ---- operands and a functional type, with one list or number between ---------------------------

void print_functional(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.other_attributes(op);
  p.functional_type(op);
}
void parse_functional(TextParser& p, Draft& draft) {
  draft.operands = p.operands();
  p.attributes(draft);
  p.functional_type(draft);
}

/// Operands up to the word after the last comma: "%a, %b, dims = ...".
void parse_operands_before_word(TextParser& p, Draft& draft) {
  draft.operands.push_back(p.operand());
  p.expect(",");
  while (p.peek() == '%') {
    draft.operands.push_back(p.operand());
    p.expect(",");
  }
}

template <const char* word, const char* attribute, bool one_type>
void print_with_list(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.format(", {} = {}", word, TextPrinter::list(op.attr<Ints>(attribute)));
  p.other_attributes(op, {attribute});
  if constexpr (one_type)
    p.same_or_functional_type(op);
  else
    p.functional_type(op);
}
template <const char* word, const char* attribute, bool one_type>
void parse_with_list(TextParser& p, Draft& draft) {
  parse_operands_before_word(p, draft);
  p.expect(word);
  p.expect("=");
  draft.attrs.set(attribute, p.ints());
  p.attributes(draft);
  if constexpr (one_type)
    p.same_or_functional_type(draft);
  else
    p.functional_type(draft);
}
template <const char* attribute>
void list_from_generic(TextParser& p, Draft& draft) {
  need_ints(p, draft, attribute);
}

template <const char* word, const char* attribute>
void print_with_number(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.format(", {} = {}", word, op.attr<std::int64_t>(attribute));
  p.other_attributes(op, {attribute});
  p.functional_type(op);
}
template <const char* word, const char* attribute>
void parse_with_number(TextParser& p, Draft& draft) {
  parse_operands_before_word(p, draft);
  p.expect(word);
  p.expect("=");
  draft.attrs.set(attribute, p.integer());
  p.attributes(draft);
  p.functional_type(draft);
}
template <const char* attribute>
void number_from_generic(TextParser& p, Draft& draft) {
  need_integer(p, draft, attribute);
}

constexpr char kDims[] = "dims", kDim[] = "dim", kSizes[] = "sizes";
constexpr char kBroadcast[] = "broadcast_dimensions", kPermutation[] = "permutation",
               kDimensions[] = "dimensions", kDimension[] = "dimension",
               kSliceSizes[] = "slice_sizes", kBroadcastSizes[] = "broadcast_sizes",
               kIota[] = "iota_dimension";

template <const char* word, const char* attribute, bool one_type = false>
constexpr TextFormat with_list{.print = print_with_list<word, attribute, one_type>,
                               .parse = parse_with_list<word, attribute, one_type>,
                               .from_generic = list_from_generic<attribute>};
template <const char* word, const char* attribute>
constexpr TextFormat with_number{.print = print_with_number<word, attribute>,
                                 .parse = parse_with_number<word, attribute>,
                                 .from_generic = number_from_generic<attribute>};

// ---- slice: %a [0:4, 1:9:2] --------------------------------------------------------------------

void print_slice(TextPrinter& p, const Op& op) {
  const Ints &start = op.attr<Ints>("start_indices"), &limit = op.attr<Ints>("limit_indices"),
             &stride = op.attr<Ints>("strides");
  p << " ";
  p.operands(op);
  p << " [";
  for (std::size_t i = 0; i < start.size(); ++i) {
    p.format("{}{}:{}", i > 0 ? ", " : "", start[i], i < limit.size() ? limit[i] : 0);
    if (i < stride.size() && stride[i] != 1) p.format(":{}", stride[i]);
  }
  p << "]";
  p.other_attributes(op, {"start_indices", "limit_indices", "strides"});
  p.functional_type(op);
}
void parse_slice(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  Ints start, limit, stride;
  p.expect("[");
  if (!p.consume("]")) {
    do {
      start.push_back(p.integer());
      p.expect(":");
      limit.push_back(p.integer());
      stride.push_back(p.consume(":") ? p.integer() : 1);
    } while (p.consume(","));
    p.expect("]");
  }
  draft.attrs.set("start_indices", start).set("limit_indices", limit).set("strides", stride);
  p.attributes(draft);
  p.functional_type(draft);
}
void slice_from_generic(TextParser& p, Draft& draft) {
  for (const char* name : {"start_indices", "limit_indices", "strides"}) need_ints(p, draft, name);
}

// ---- pad: low = [..], high = [..], interior = [..] ---------------------------------------------

struct PadList {
  const char *word, *attribute;
};
constexpr PadList kPadLists[] = {
    {"low", "edge_padding_low"}, {"high", "edge_padding_high"}, {"interior", "interior_padding"}};

void print_pad(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  for (const PadList& l : kPadLists)
    p.format(", {} = {}", l.word, TextPrinter::list(op.attr<Ints>(l.attribute)));
  p.other_attributes(op, {kPadLists[0].attribute, kPadLists[1].attribute, kPadLists[2].attribute});
  p.functional_type(op);
}
void parse_pad(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  draft.operands.push_back(p.operand());
  for (const PadList& l : kPadLists) {
    p.expect(",");
    p.expect(l.word);
    p.expect("=");
    draft.attrs.set(l.attribute, p.ints());
  }
  p.attributes(draft);
  p.functional_type(draft);
}
void pad_from_generic(TextParser& p, Draft& draft) {
  for (const PadList& l : kPadLists) need_ints(p, draft, l.attribute);
}

// ---- optimization_barrier: a type for each -----------------------------------------------------

void print_barrier(TextPrinter& p, const Op& op) {
  if (!op.operands.empty()) p << " ";
  p.operands(op);
  p.other_attributes(op);
  if (!op.operands.empty()) p << " : " << TextPrinter::types(op.operands);
}
void parse_barrier(TextParser& p, Draft& draft) {
  if (p.consume("(")) p.expect(")");
  draft.operands = p.operands();
  p.attributes(draft);
  std::size_t where = p.offset();
  if (p.consume(":")) {
    do draft.results.push_back(parse_type(p));
    while (p.consume(","));
  }
  p.operand_types(draft, draft.results, where);
}

}  // namespace

namespace formats {
const TextFormat constant{.print = print_constant,
                          .parse = parse_constant,
                          .from_generic = constant_from_generic,
                          .result_name = constant_name};
const TextFormat iota{.print = print_iota, .parse = parse_iota, .from_generic = iota_from_generic};
const TextFormat functional{.print = print_functional, .parse = parse_functional};
const TextFormat dynamic_update_slice{.print = print_functional, .parse = parse_functional};
const TextFormat broadcast = with_list<kSizes, kBroadcastSizes>;
const TextFormat broadcast_in_dim = with_list<kDims, kBroadcast>;
const TextFormat dynamic_broadcast_in_dim = with_list<kDims, kBroadcast>;
const TextFormat dynamic_iota = with_number<kDim, kIota>;
const TextFormat set_dimension_size = with_number<kDim, kDimension>;
const TextFormat transpose = with_list<kDims, kPermutation>;
const TextFormat reverse = with_list<kDims, kDimensions, true>;
const TextFormat dynamic_slice = with_list<kSizes, kSliceSizes>;
const TextFormat concatenate = with_number<kDim, kDimension>;
const TextFormat get_dimension_size = with_number<kDim, kDimension>;
const TextFormat slice{
    .print = print_slice, .parse = parse_slice, .from_generic = slice_from_generic};
const TextFormat pad{.print = print_pad, .parse = parse_pad, .from_generic = pad_from_generic};
const TextFormat optimization_barrier{.print = print_barrier, .parse = parse_barrier};
}  // namespace formats
}  // namespace strata::ir
