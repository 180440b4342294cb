// CHLO's operations with attributes or regions of their own spelling.
#include "strata/ir/text/format_help.h"
#include "strata/ir/text/literal_text.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

// ---- broadcast_compare %a, %b {comparison_direction = #chlo<...>} : (T, T) -> T ----------------

void compare_attrs_to_chlo(Attrs& attrs) {
  enum_to_generic(attrs, "comparison_direction", "comparison_direction", "chlo");
  enum_to_generic(attrs, "compare_type", "comparison_type", "chlo");
}
void print_compare(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  Attrs attrs = op.attrs;
  compare_attrs_to_chlo(attrs);
  p << " " << attrs_text(attrs);
  p.functional_type(op);
}
void parse_compare(TextParser& p, Draft& draft) {
  draft.operands = p.operands();
  p.attributes(draft);
  p.functional_type(draft);
}
void compare_from_generic(TextParser& p, Draft& draft) {
  enum_from_generic(p, draft, "comparison_direction", "comparison_direction",
                    {"EQ", "NE", "GE", "GT", "LE", "LT"}, true, "chlo");
  enum_from_generic(p, draft, "compare_type", "comparison_type",
                    {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}, false, "chlo");
}
GenericForm compare_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  compare_attrs_to_chlo(out.attrs);
  return out;
}

// ---- constant_like: a number of any type -------------------------------------------------------

/// "3.2 : f32" as a literal of rank 0.
Literal scalar_of(TextParser& p, const Attr& attr, const std::string& op) {
  if (const double* d = std::get_if<double>(&attr)) return Literal::scalar(*d);
  if (const std::int64_t* i = std::get_if<std::int64_t>(&attr)) return Literal::scalar(*i);
  if (const bool* b = std::get_if<bool>(&attr)) return Literal::scalar(*b);
  const std::string text = attr_text(attr);
  std::size_t colon = text.rfind(" : ");
  std::optional<DType> dtype =
      colon == text.npos ? std::nullopt : parse_dtype(std::string_view(text).substr(colon + 3));
  if (!dtype)
    p.fail_at(p.op_offset(),
              fmt::format("attribute 'value' of {} is {}, which is no number", op, text));
  try {
    return parse_elements(std::string_view(text).substr(0, colon), 0, p, Type::scalar(*dtype));
  } catch (const SyntaxError& e) {
    p.fail_at(p.op_offset(), fmt::format("attribute 'value' of {}: {}", op, e.message));
  }
}
void constant_like_from_generic(TextParser& p, Draft& draft) {
  const Attr* a = draft.attrs.find("value");
  if (a == nullptr)
    p.fail_at(p.op_offset(), fmt::format("{} requires attribute 'value'", draft.info->name));
  if (!std::holds_alternative<Literal>(*a))
    draft.attrs.set("value", scalar_of(p, *a, draft.info->name));
}
GenericForm constant_like_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  const Literal& value = op.attr<Literal>("value");
  constexpr std::size_t opening = 6;  // dense<
  std::string text = dense_text(value);
  text = text.substr(opening, text.size() - opening - 1);
  out.attrs.set(
      "value",
      Opaque{is_bool(value.dtype()) ? text : text + " : " + std::string(name(value.dtype()))});
  return out;
}

// ---- scan(%xs) inits (%c) dimension=0 attributes {...} {...} : (..) -> (..) --------------------

constexpr char kOperandSizes[] = "operandSegmentSizes", kResultSizes[] = "resultSegmentSizes",
               kCarries[] = "num_carries", kDimension[] = "dimension";

std::size_t inputs(const Op& op) {
  std::int64_t carries = op.attr<std::int64_t>(kCarries),
               all = static_cast<std::int64_t>(op.operands.size());
  return static_cast<std::size_t>(std::clamp<std::int64_t>(all - carries, 0, all));
}
void print_scan(TextPrinter& p, const Op& op) {
  auto list = [&](std::size_t begin, std::size_t end) {
    p << "(";
    for (std::size_t i = begin; i < end; ++i)
      p.format("{}{}", i > begin ? ", " : "", p.name(op.operands[i]));
    p << ")";
  };
  list(0, inputs(op));
  p << " inits ";
  list(inputs(op), op.operands.size());
  p.format(" dimension={} ", op.attr<std::int64_t>(kDimension));
  Attrs rest = op.attrs;
  rest.erase(kDimension);
  rest.erase(kCarries);
  if (!rest.empty()) p << " attributes " << attrs_text(rest);
  p << " ";
  p.region_with_arguments(op.region(0));
  p.functional_type(op);
}
void parse_scan(TextParser& p, Draft& draft) {
  auto list = [&] {
    p.expect("(");
    Values values = p.operands();
    p.expect(")");
    return values;
  };
  draft.operands = list();
  p.expect("inits");
  Values inits = list();
  draft.operands.insert(draft.operands.end(), inits.begin(), inits.end());
  p.expect("dimension");
  p.expect("=");
  draft.attrs.set(kDimension, p.integer()).set(kCarries, static_cast<std::int64_t>(inits.size()));
  if (p.consume("attributes")) p.attributes(draft);
  draft.regions.push_back(p.region_with_arguments(true));
  p.functional_type(draft);
}

/// array<i32: 2, 1>: sizes of the two groups of operands or results.
Ints segment_sizes(TextParser& p, Draft& draft, const char* name, std::size_t count) {
  const std::string text = p.need<Opaque>(draft, name, "pair of sizes").text;
  Cursor c(text);
  Ints out;
  bool good = c.consume("array") && c.consume("<") && c.consume("i32");
  if (good && c.consume(":")) {
    do out.push_back(c.integer());
    while (c.consume(","));
  }
  if (!good || out.size() != 2 || out[0] < 0 || out[1] < 0 ||
      out[0] + out[1] != static_cast<std::int64_t>(count))
    p.fail_at(p.op_offset(),
              fmt::format("attribute '{}' of {} is {}, which does not split {} values", name,
                          draft.info->name, text, count));
  draft.attrs.erase(name);
  return out;
}
void scan_from_generic(TextParser& p, Draft& draft) {
  if (draft.attrs.has(kOperandSizes)) {
    std::int64_t carries = segment_sizes(p, draft, kOperandSizes, draft.operands.size())[1];
    if (segment_sizes(p, draft, kResultSizes, draft.results.size())[1] != carries)
      p.fail_at(p.op_offset(), "scan takes and returns different numbers of carries");
    draft.attrs.set(kCarries, carries);
  }
  need_integer(p, draft, kCarries);
  need_integer(p, draft, kDimension);
  std::int64_t carries = draft.attrs.get<std::int64_t>(kCarries);
  if (carries < 0 ||
      carries > static_cast<std::int64_t>(std::min(draft.operands.size(), draft.results.size())))
    p.fail_at(p.op_offset(), fmt::format("scan of {} operands and {} results has {} carries (C5)",
                                         draft.operands.size(), draft.results.size(), carries));
  if (draft.regions.size() != 1)
    p.fail_at(p.op_offset(), fmt::format("scan has {} regions", draft.regions.size()));
  for (const char* name : {"is_reverse", "is_associative"}) optional_flag(p, draft, name);
  if (draft.attrs.has("scan_dim_size")) need_integer(p, draft, "scan_dim_size");
}
GenericForm scan_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  std::int64_t carries = op.attr<std::int64_t>(kCarries);
  out.attrs.erase(kCarries);
  out.attrs.set(
      kOperandSizes,
      Opaque{fmt::format("array<i32: {}, {}>",
                         static_cast<std::int64_t>(op.operands.size()) - carries, carries)});
  out.attrs.set(kResultSizes,
                Opaque{fmt::format("array<i32: {}, {}>", op.num_results() - carries, carries)});
  return out;
}
std::string_view scan_argument_name(const Op& op, int argument) {
  return argument < static_cast<int>(inputs(op)) ? "input" : "carry";
}

}  // namespace

namespace formats {
const TextFormat chlo_compare{.print = print_compare,
                              .parse = parse_compare,
                              .from_generic = compare_from_generic,
                              .to_generic = compare_to_generic};
const TextFormat constant_like{.from_generic = constant_like_from_generic,
                               .to_generic = constant_like_to_generic};
const TextFormat chlo_scan{.print = print_scan,
                           .parse = parse_scan,
                           .from_generic = scan_from_generic,
                           .to_generic = scan_to_generic,
                           .argument_name = scan_argument_name};
}  // namespace formats
}  // namespace strata::ir
