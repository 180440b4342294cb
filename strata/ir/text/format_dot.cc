// dot_general: %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, DEFAULT]
#include "strata/ir/text/format_help.h"

namespace strata::ir {
namespace {

constexpr char kPrefix[] = "#stablehlo.dot", kAlgorithm[] = "#stablehlo.dot_algorithm";
constexpr const char *kLhsBatch = "lhs_batching_dimensions", *kRhsBatch = "rhs_batching_dimensions";
constexpr const char *kLhsContract = "lhs_contracting_dimensions", *kRhsContract = "rhs_contracting_dimensions";
constexpr const char* kDims[] = {kLhsBatch, kRhsBatch, kLhsContract, kRhsContract};

const Ints& dims(const Op& op, const char* name) {
  static const Ints none;
  return op.attrs.has(name) ? op.attr<Ints>(name) : none;
}

void print(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  if (!dims(op, kLhsBatch).empty() || !dims(op, kRhsBatch).empty())
    p.format(", batching_dims = {} x {}", TextPrinter::list(dims(op, kLhsBatch)), TextPrinter::list(dims(op, kRhsBatch)));
  p.format(", contracting_dims = {} x {}", TextPrinter::list(dims(op, kLhsContract)), TextPrinter::list(dims(op, kRhsContract)));
  if (op.attrs.has("precision_config")) p.format(", precision = [{}]", fmt::join(op.attr<Strings>("precision_config"), ", "));
  if (op.attrs.has("algorithm")) p << ", algorithm = " << op.attr<Opaque>("algorithm").text.substr(sizeof kAlgorithm - 1);
  p.other_attributes(op, {kLhsBatch, kRhsBatch, kLhsContract, kRhsContract, "precision_config", "algorithm"});
  p.functional_type(op);
}

void parse_pair(TextParser& p, Draft& draft, const char* lhs, const char* rhs) {
  p.expect("=");
  draft.attrs.set(lhs, p.ints());
  p.expect("x");
  draft.attrs.set(rhs, p.ints());
}

Strings parse_precision(TextParser& p) {
  Strings out;
  p.expect("=");
  p.expect("[");
  if (p.consume("]")) return out;
  do out.emplace_back(p.word("a precision"));
  while (p.consume(","));
  p.expect("]");
  return out;
}

void parse(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  draft.operands.push_back(p.operand());
  for (const char* name : kDims) draft.attrs.set(name, Ints{});
  while (p.consume(",")) {
    if (p.consume("batching_dims")) parse_pair(p, draft, kLhsBatch, kRhsBatch);
    else if (p.consume("contracting_dims")) parse_pair(p, draft, kLhsContract, kRhsContract);
    else if (p.consume("precision")) draft.attrs.set("precision_config", parse_precision(p));
    else if (p.consume("algorithm")) {
      p.expect("=");
      p.expect("<");
      draft.attrs.set("algorithm", Opaque{fmt::format("{}<{}>", kAlgorithm, p.balanced('<', '>'))});
    } else p.fail("expected batching_dims, contracting_dims, precision or algorithm");
  }
  p.attributes(draft);
  p.functional_type(draft);
}

/// [#stablehlo<precision HIGH>, ...] becomes a list of words.
void precision_from_generic(TextParser& p, Draft& draft) {
  const Attr* a = draft.attrs.find("precision_config");
  if (a == nullptr) return;
  Strings words;
  if (const Opaque* o = std::get_if<Opaque>(a)) {
    Cursor c(o->text);
    bool good = c.consume("[");
    if (good && !c.consume("]")) {
      do {
        good = c.consume("#stablehlo<") && c.consume("precision");
        if (good) words.emplace_back(c.try_word());
        good = good && c.consume(">");
      } while (good && c.consume(","));
      good = good && c.consume("]");
    }
    if (!good || !c.at_end()) p.fail_at(p.op_offset(), fmt::format("attribute 'precision_config' of {} is {}", draft.info->name, o->text));
  } else {
    words = p.need<Strings>(draft, "precision_config", "list of precisions");
  }
  for (const std::string& w : words)
    if (w != "DEFAULT" && w != "HIGH" && w != "HIGHEST") p.fail_at(p.op_offset(), fmt::format("precision '{}' is none of DEFAULT HIGH HIGHEST", w));
  draft.attrs.set("precision_config", words);
}

void from_generic(TextParser& p, Draft& draft) {
  if (draft.attrs.has("dot_dimension_numbers")) {
    Fields fields = struct_fields(p, draft, "dot_dimension_numbers", kPrefix);
    draft.attrs.erase("dot_dimension_numbers");
    for (const char* name : kDims) draft.attrs.set(name, fields[name]);
  }
  for (const char* name : kDims) need_ints(p, draft, name);
  precision_from_generic(p, draft);
  if (draft.attrs.has("algorithm") && p.need<Opaque>(draft, "algorithm", "dot algorithm").text.substr(0, sizeof kAlgorithm - 1) != kAlgorithm)
    p.fail_at(p.op_offset(), fmt::format("attribute 'algorithm' of {} is no {}", draft.info->name, kAlgorithm));
}

GenericForm to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  std::string fields;
  for (const char* name : kDims) {
    append_field(fields, name, dims(op, name));
    out.attrs.erase(name);
  }
  out.attrs.set("dot_dimension_numbers", Opaque{fmt::format("{}<{}>", kPrefix, fields)});
  if (op.attrs.has("precision_config")) {
    std::string words;
    for (const std::string& w : op.attr<Strings>("precision_config")) words += fmt::format("{}#stablehlo<precision {}>", words.empty() ? "" : ", ", w);
    out.attrs.set("precision_config", Opaque{"[" + words + "]"});
  }
  return out;
}

}  // namespace

namespace formats {
const TextFormat dot_general{.print = print, .parse = parse, .from_generic = from_generic, .to_generic = to_generic};
}  // namespace formats
}  // namespace strata::ir
