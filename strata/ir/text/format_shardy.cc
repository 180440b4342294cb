// Short forms of Shardy's operations. Source: `assemblyFormat`s of shardy/dialect/sdy/ir/ops.td.
#include "strata/ir/text/format_shardy.h"

#include <array>

#include "strata/ir/text/format_help.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

constexpr std::string_view kSharding = "#sdy.sharding", kPerValue = "#sdy.sharding_per_value<",
                           kManualAxes = "#sdy<manual_axes";

/// The attribute's text must be `prefix`...`suffix`.
void need_text(TextParser& p, const Draft& draft, const std::string& name, std::string_view prefix,
               std::string_view suffix) {
  const std::string& text = p.need<Opaque>(draft, name, "attribute of sdy").text;
  bool fits = text.size() >= prefix.size() + suffix.size() &&
              text.compare(0, prefix.size(), prefix) == 0 &&
              text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
  if (!fits)
    p.fail_at(p.op_offset(), fmt::format("attribute '{}' of {} is {}, not {}...{}", name,
                                         draft.info->name, text, prefix, suffix));
}
/// What stands between `prefix` and the last `suffix` characters.
std::string_view inside(const Op& op, std::string_view name, std::string_view prefix,
                        std::size_t suffix) {
  std::string_view text = op.attr<Opaque>(std::string(name)).text;
  return text.substr(prefix.size(), text.size() - prefix.size() - suffix);
}

Opaque sharding(TextParser& p) {
  p.expect("<");
  return Opaque{fmt::format("{}<{}>", kSharding, p.balanced('<', '>'))};
}
Opaque per_value(TextParser& p) {
  p.expect("[");
  return Opaque{fmt::format("{}[{}]>", kPerValue, p.balanced('[', ']'))};
}

// ---- one value, one sharding -------------------------------------------------------------------

void print_constraint(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p << " " << inside(op, "sharding", kSharding, 0);
  p.other_attributes(op, {"sharding"});
  p.same_or_functional_type(op);
}
void parse_constraint(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  draft.attrs.set("sharding", sharding(p));
  p.attributes(draft);
  p.same_or_functional_type(draft);
}
void constraint_from_generic(TextParser& p, Draft& draft) {
  need_text(p, draft, "sharding", "#sdy.sharding<", ">");
}

// ---- directions --------------------------------------------------------------------------------

constexpr std::array<std::string_view, 4> kDirections = {"NONE", "FORWARD", "BACKWARD", "BOTH"};

void print_barrier(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p << " allowed_direction=" << op.attr<std::string>("allowed_direction");
  p.other_attributes(op, {"allowed_direction"});
  p.same_or_functional_type(op);
}
void parse_barrier(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  p.expect("allowed_direction");
  p.expect("=");
  draft.attrs.set("allowed_direction", std::string(p.word("a direction")));
  p.attributes(draft);
  p.same_or_functional_type(draft);
}
void barrier_from_generic(TextParser& p, Draft& draft) {
  const Attr* a = draft.attrs.find("allowed_direction");
  if (const Opaque* o = a == nullptr ? nullptr : std::get_if<Opaque>(a)) {
    std::string number = o->text;  // what is set below takes its place
    for (std::size_t i = 0; i < kDirections.size(); ++i)
      if (number == fmt::format("{} : i32", i))
        draft.attrs.set("allowed_direction", std::string(kDirections[i]));
  }
  const auto& word = p.need<std::string>(draft, "allowed_direction", "direction");
  if (std::find(kDirections.begin(), kDirections.end(), word) == kDirections.end())
    p.fail_at(p.op_offset(), fmt::format("'{}' is no direction", word));
}
GenericForm barrier_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  auto place =
      std::find(kDirections.begin(), kDirections.end(), op.attr<std::string>("allowed_direction"));
  out.attrs.set("allowed_direction", Opaque{fmt::format("{} : i32", place - kDirections.begin())});
  return out;
}

void print_group(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.format(" group_id={}", op.attr<std::int64_t>("group_id"));
  p.other_attributes(op, {"group_id"});
  p << " : " << TextPrinter::types(op.operands);
}
void parse_group(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  p.expect("group_id");
  p.expect("=");
  draft.attrs.set("group_id", p.integer());
  p.attributes(draft);
  p.expect(":");
  std::size_t where = p.offset();
  p.operand_types(draft, {parse_type(p)}, where);
}
void group_from_generic(TextParser& p, Draft& draft) { need_integer(p, draft, "group_id"); }

// ---- computations ------------------------------------------------------------------------------

void print_operands(TextPrinter& p, const Op& op) {
  p << "(";
  p.operands(op);
  p << ")";
}
void print_shardings(TextPrinter& p, const Op& op, const std::string& name) {
  if (op.attrs.has(name)) p << " " << name << "=" << inside(op, name, kPerValue, 1);
}
void print_body(TextPrinter& p, const Op& op, std::initializer_list<std::string_view> shown) {
  const Block& body = op.region(0);
  p << " (";
  for (int i = 0; i < body.num_arguments(); ++i)
    p.format("{}{}: {}", i > 0 ? ", " : "", p.name(body.argument(i)),
             body.argument(i)->type().to_string());
  p << ") ";
  p.region(body, "sdy.return");
  p.other_attributes(op, shown);
  p.functional_type(op);
}

void parse_operands(TextParser& p, Draft& draft) {
  p.expect("(");
  draft.operands = p.operands();
  p.expect(")");
}
void parse_shardings(TextParser& p, Draft& draft, const std::string& name) {
  p.expect(name);
  p.expect("=");
  draft.attrs.set(name, per_value(p));
}
void parse_body(TextParser& p, Draft& draft) {
  std::vector<TextParser::Argument> arguments;
  p.expect("(");
  if (!p.consume(")")) {
    do {
      std::string_view name = p.value_name();
      p.expect(":");
      arguments.push_back({name, parse_type(p)});
      p.skip_location();
    } while (p.consume(","));
    p.expect(")");
  }
  draft.regions.push_back(p.region(arguments));
  p.attributes(draft);
  p.functional_type(draft);
}
void need_body(TextParser& p, const Draft& draft) {
  if (draft.regions.size() != 1)
    p.fail_at(p.op_offset(),
              fmt::format("{} has {} regions, not one", draft.info->name, draft.regions.size()));
}

void print_manual(TextPrinter& p, const Op& op) {
  print_operands(p, op);
  print_shardings(p, op, "in_shardings");
  print_shardings(p, op, "out_shardings");
  p << " manual_axes=" << inside(op, "manual_axes", kManualAxes, 1);
  print_body(p, op, {"in_shardings", "out_shardings", "manual_axes"});
}
void parse_manual(TextParser& p, Draft& draft) {
  parse_operands(p, draft);
  parse_shardings(p, draft, "in_shardings");
  parse_shardings(p, draft, "out_shardings");
  p.expect("manual_axes");
  p.expect("=");
  p.expect("{");
  draft.attrs.set("manual_axes",
                  Opaque{fmt::format("{}{{{}}}>", kManualAxes, p.balanced('{', '}'))});
  parse_body(p, draft);
}
void manual_from_generic(TextParser& p, Draft& draft) {
  need_text(p, draft, "in_shardings", kPerValue, ">");
  need_text(p, draft, "out_shardings", kPerValue, ">");
  need_text(p, draft, "manual_axes", kManualAxes, ">");
  need_body(p, draft);
}

void print_named(TextPrinter& p, const Op& op) {
  p << "<" << quoted(op.attr<std::string>("name")) << ">";
  print_operands(p, op);
  print_shardings(p, op, "in_shardings");
  print_shardings(p, op, "out_shardings");
  print_body(p, op, {"name", "in_shardings", "out_shardings"});
}
void parse_named(TextParser& p, Draft& draft) {
  p.expect("<");
  draft.attrs.set("name", p.string());
  p.expect(">");
  parse_operands(p, draft);
  for (const char* name : {"in_shardings", "out_shardings"})
    if (p.looking_at(name)) parse_shardings(p, draft, name);
  parse_body(p, draft);
}
void named_from_generic(TextParser& p, Draft& draft) {
  p.need<std::string>(draft, "name", "string");
  for (const char* name : {"in_shardings", "out_shardings"})
    if (draft.attrs.has(name)) need_text(p, draft, name, kPerValue, ">");
  need_body(p, draft);
}

}  // namespace

namespace formats {
const TextFormat sharding_constraint{
    .print = print_constraint, .parse = parse_constraint, .from_generic = constraint_from_generic};
const TextFormat propagation_barrier{.print = print_barrier,
                                     .parse = parse_barrier,
                                     .from_generic = barrier_from_generic,
                                     .to_generic = barrier_to_generic};
const TextFormat sharding_group{
    .print = print_group, .parse = parse_group, .from_generic = group_from_generic};
const TextFormat manual_computation{
    .print = print_manual, .parse = parse_manual, .from_generic = manual_from_generic};
const TextFormat named_computation{
    .print = print_named, .parse = parse_named, .from_generic = named_from_generic};
}  // namespace formats
}  // namespace strata::ir
