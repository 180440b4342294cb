// Products. dot_general: %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision
// = [HIGHEST, DEFAULT]
#include "strata/ir/text/format_help.h"

namespace strata::ir {
namespace {

constexpr char kPrefix[] = "#stablehlo.dot", kAlgorithm[] = "#stablehlo.dot_algorithm";
constexpr const char *kLhsBatch = "lhs_batching_dimensions", *kRhsBatch = "rhs_batching_dimensions";
constexpr const char *kLhsContract = "lhs_contracting_dimensions",
                     *kRhsContract = "rhs_contracting_dimensions";
constexpr const char* kDims[] = {kLhsBatch, kRhsBatch, kLhsContract, kRhsContract};

const Ints& dims(const Op& op, const char* name) {
  static const Ints none;
  return op.attrs.has(name) ? op.attr<Ints>(name) : none;
}

void print(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  if (!dims(op, kLhsBatch).empty() || !dims(op, kRhsBatch).empty())
    p.format(", batching_dims = {} x {}", TextPrinter::list(dims(op, kLhsBatch)),
             TextPrinter::list(dims(op, kRhsBatch)));
  p.format(", contracting_dims = {} x {}", TextPrinter::list(dims(op, kLhsContract)),
           TextPrinter::list(dims(op, kRhsContract)));
  print_precision(p, op);
  if (op.attrs.has("algorithm"))
    p << ", algorithm = " << op.attr<Opaque>("algorithm").text.substr(sizeof kAlgorithm - 1);
  p.other_attributes(
      op, {kLhsBatch, kRhsBatch, kLhsContract, kRhsContract, "precision_config", "algorithm"});
  p.functional_type(op);
}

void parse_pair(TextParser& p, Draft& draft, const char* lhs, const char* rhs) {
  p.expect("=");
  draft.attrs.set(lhs, p.ints());
  p.expect("x");
  draft.attrs.set(rhs, p.ints());
}

void parse(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  draft.operands.push_back(p.operand());
  for (const char* name : kDims) draft.attrs.set(name, Ints{});
  while (p.consume(",")) {
    if (p.consume("batching_dims"))
      parse_pair(p, draft, kLhsBatch, kRhsBatch);
    else if (p.consume("contracting_dims"))
      parse_pair(p, draft, kLhsContract, kRhsContract);
    else if (p.consume("precision"))
      parse_precision(p, draft);
    else if (p.consume("algorithm")) {
      p.expect("=");
      p.expect("<");
      draft.attrs.set("algorithm", Opaque{fmt::format("{}<{}>", kAlgorithm, p.balanced('<', '>'))});
    } else
      p.fail("expected batching_dims, contracting_dims, precision or algorithm");
  }
  p.attributes(draft);
  p.functional_type(draft);
}

void from_generic(TextParser& p, Draft& draft) {
  if (draft.attrs.has("dot_dimension_numbers")) {
    Fields fields = struct_fields(p, draft, "dot_dimension_numbers", kPrefix);
    draft.attrs.erase("dot_dimension_numbers");
    for (const char* name : kDims) draft.attrs.set(name, fields[name]);
  }
  for (const char* name : kDims) need_ints(p, draft, name);
  precision_from_generic(p, draft);
  if (draft.attrs.has("algorithm") &&
      p.need<Opaque>(draft, "algorithm", "dot algorithm").text.substr(0, sizeof kAlgorithm - 1) !=
          kAlgorithm)
    p.fail_at(p.op_offset(),
              fmt::format("attribute 'algorithm' of {} is no {}", draft.info->name, kAlgorithm));
}

GenericForm to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  std::string fields;
  for (const char* name : kDims) {
    append_field(fields, name, dims(op, name));
    out.attrs.erase(name);
  }
  out.attrs.set("dot_dimension_numbers", Opaque{fmt::format("{}<{}>", kPrefix, fields)});
  precision_to_generic(out.attrs);
  return out;
}

// ---- dot: %a, %b, precision = [HIGH, DEFAULT]; einsum: %a, %b, config = "ab,bc->ac" ------------

void print_dot(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  print_precision(p, op);
  p.other_attributes(op, {"precision_config"});
  p.functional_type(op);
}
void parse_dot(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  draft.operands.push_back(p.operand());
  if (p.consume(",")) {
    p.expect("precision");
    parse_precision(p, draft);
  }
  p.attributes(draft);
  p.functional_type(draft);
}
void dot_from_generic(TextParser& p, Draft& draft) { precision_from_generic(p, draft); }
GenericForm dot_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  precision_to_generic(out.attrs);
  return out;
}

void print_einsum(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p << ", config = " << quoted(op.attr<std::string>("einsum_config"));
  p.other_attributes(op, {"einsum_config"});
  p.functional_type(op);
}
void parse_einsum(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  if (p.peek() == '%') {
    draft.operands.push_back(p.operand());
    p.expect(",");
  }
  p.expect("config");
  p.expect("=");
  draft.attrs.set("einsum_config", p.string());
  p.attributes(draft);
  p.functional_type(draft);
}
void einsum_from_generic(TextParser& p, Draft& draft) {
  p.need<std::string>(draft, "einsum_config", "string");
}

// ---- chlo.ragged_dot ---------------------------------------------------------------------------

constexpr char kRaggedPrefix[] = "#chlo.ragged_dot",
               kRaggedNumbers[] = "ragged_dot_dimension_numbers";
constexpr const char* kRaggedDims[] = {kLhsBatch,
                                       kRhsBatch,
                                       kLhsContract,
                                       kRhsContract,
                                       "lhs_ragged_dimensions",
                                       "rhs_group_dimensions"};

void ragged_from_generic(TextParser& p, Draft& draft) {
  Fields fields = struct_fields(p, draft, kRaggedNumbers, kRaggedPrefix);
  draft.attrs.erase(kRaggedNumbers);
  for (const char* name : kRaggedDims) draft.attrs.set(name, fields[name]);
  precision_from_generic(p, draft, "chlo");
}
GenericForm ragged_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  std::string fields;
  for (const char* name : kRaggedDims) {
    append_field(fields, name, dims(op, name));
    out.attrs.erase(name);
  }
  out.attrs.set(kRaggedNumbers, Opaque{fmt::format("{}<{}>", kRaggedPrefix, fields)});
  precision_to_generic(out.attrs, "chlo");
  return out;
}

}  // namespace

namespace formats {
const TextFormat dot{.print = print_dot,
                     .parse = parse_dot,
                     .from_generic = dot_from_generic,
                     .to_generic = dot_to_generic};
const TextFormat einsum{
    .print = print_einsum, .parse = parse_einsum, .from_generic = einsum_from_generic};
const TextFormat ragged_dot{.from_generic = ragged_from_generic, .to_generic = ragged_to_generic};
const TextFormat dot_general{
    .print = print, .parse = parse, .from_generic = from_generic, .to_generic = to_generic};
}  // namespace formats
}  // namespace strata::ir
