// while, calls, composites and the random bit generator. case and if have the generic form alone.
#include "strata/ir/text/format_help.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

// ---- while(%iterArg = %a) : T cond {...} do {...} ----------------------------------------------

void print_while(TextPrinter& p, const Op& op) {
  p << "(";
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    p.format("{}{} = {}", i > 0 ? ", " : "", p.name(op.region(0).argument(static_cast<int>(i))),
             p.name(op.operands[i]));
  p << ")";
  if (!op.operands.empty()) p << " : " << TextPrinter::types(op.operands);
  if (!op.attrs.empty()) p << " attributes " << attrs_text(op.attrs);
  p.newline();
  p << "cond ";
  p.region(op.region(0));
  p << " do ";
  p.region(op.region(1));
}
void parse_while(TextParser& p, Draft& draft) {
  std::vector<TextParser::Argument> arguments;
  p.expect("(");
  if (!p.consume(")")) {
    do {
      std::string_view name = p.value_name();
      p.expect("=");
      draft.operands.push_back(p.operand());
      arguments.push_back({name, draft.operands.back()->type()});
    } while (p.consume(","));
    p.expect(")");
  }
  std::size_t where = p.offset();
  if (p.consume(":")) {
    do draft.results.push_back(parse_type(p));
    while (p.consume(","));
  }
  p.operand_types(draft, draft.results, where);
  if (p.consume("attributes")) p.attributes(draft);
  p.expect("cond");
  draft.regions.push_back(p.region(arguments));
  p.expect("do");
  draft.regions.push_back(p.region(arguments));
}
/// The generic form may hold any number of regions; the short form, which prints it, shows two with
/// the operands' arguments.
void while_from_generic(TextParser& p, Draft& draft) {
  if (draft.regions.size() != 2)
    p.fail_at(p.op_offset(), fmt::format("while has {} regions", draft.regions.size()));
  for (const auto& r : draft.regions) {
    bool same = r->num_arguments() == static_cast<int>(draft.operands.size());
    for (int i = 0; same && i < r->num_arguments(); ++i)
      same = r->argument(i)->type() == draft.operands[static_cast<std::size_t>(i)]->type();
    if (!same)
      p.fail_at(p.op_offset(),
                "the arguments of a region of while differ from its operands (C1, C2)");
  }
  std::vector<Type> types;
  for (Value* v : draft.operands) types.push_back(v->type());
  if (draft.results != types)
    p.fail_at(p.op_offset(), fmt::format("while of {} results in {} (C3)", type_list_text(types),
                                         type_list_text(draft.results)));
}

std::string_view while_argument_name(const Op&, int) { return "iterArg"; }

// ---- call @f(%a) : (T) -> T --------------------------------------------------------------------

void print_call(TextPrinter& p, const Op& op) {
  p << " " << symbol_text(op.attr<std::string>("callee")) << "(";
  p.operands(op);
  p << ")";
  p.other_attributes(op, {"callee"});
  p.functional_type(op);
}
void parse_call(TextParser& p, Draft& draft) {
  draft.attrs.set("callee", p.attribute());
  p.expect("(");
  draft.operands = p.operands();
  p.expect(")");
  p.attributes(draft);
  p.functional_type(draft);
}
void call_from_generic(TextParser& p, Draft& draft) {
  const std::string& text = p.need<Opaque>(draft, "callee", "symbol").text;
  Cursor c(text);
  if (!c.consume("@")) p.fail_at(p.op_offset(), fmt::format("callee {} is no symbol", text));
  std::string name = c.peek() == '"' ? c.string() : std::string(c.suffix("a symbol"));
  if (!c.at_end()) p.fail_at(p.op_offset(), fmt::format("callee {} is no plain symbol", text));
  draft.attrs.set("callee", name);
}
GenericForm call_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  out.attrs.set("callee", Opaque{symbol_text(op.attr<std::string>("callee"))});
  return out;
}

// ---- custom_call @target(%a) {...} : (T) -> T --------------------------------------------------

void print_custom_call(TextPrinter& p, const Op& op) {
  p << " " << symbol_text(op.attr<std::string>("call_target_name")) << "(";
  p.operands(op);
  p << ")";
  p.other_attributes(op, {"call_target_name"});
  p.functional_type(op);
}
void parse_custom_call(TextParser& p, Draft& draft) {
  p.expect("@");
  draft.attrs.set("call_target_name",
                  p.peek() == '"' ? p.string() : std::string(p.suffix("a symbol")));
  p.expect("(");
  draft.operands = p.operands();
  p.expect(")");
  p.attributes(draft);
  p.functional_type(draft);
}
void custom_call_from_generic(TextParser& p, Draft& draft) {
  p.need<std::string>(draft, "call_target_name", "string");
}

/// Regions are copies of the functions that `called_computations` names (ir/pass/inline_calls.cc).
GenericForm custom_call_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  out.regions.clear();
  return out;
}

// ---- composite "name" %a {decomposition = @f} : (T) -> T ---------------------------------------

void print_composite(TextPrinter& p, const Op& op) {
  p << " " << quoted(op.attr<std::string>("name"));
  if (!op.operands.empty()) p << " ";
  p.operands(op);
  p.other_attributes(op, {"name"});
  p.functional_type(op);
}
void parse_composite(TextParser& p, Draft& draft) {
  draft.attrs.set("name", p.string());
  draft.operands = p.operands();
  p.attributes(draft);
  p.functional_type(draft);
}
void composite_from_generic(TextParser& p, Draft& draft) {
  p.need<std::string>(draft, "name", "string");
  p.need<Opaque>(draft, "decomposition", "symbol");
}

// ---- rng_bit_generator %state, algorithm = DEFAULT : (T) -> (T, T) -----------------------------

void print_rng(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p << ", algorithm = " << op.attr<std::string>("rng_algorithm");
  p.other_attributes(op, {"rng_algorithm"});
  p.functional_type(op);
}
void parse_rng(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  p.expect("algorithm");
  p.expect("=");
  draft.attrs.set("rng_algorithm", std::string(p.word("an algorithm")));
  p.attributes(draft);
  p.functional_type(draft);
}
void rng_from_generic(TextParser& p, Draft& draft) {
  enum_from_generic(p, draft, "rng_algorithm", "rng_algorithm", {"DEFAULT", "THREE_FRY", "PHILOX"},
                    true);
}
GenericForm rng_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  enum_to_generic(out.attrs, "rng_algorithm", "rng_algorithm");
  return out;
}
std::string_view rng_name(const Op&, int result) { return result == 0 ? "output_state" : "output"; }

}  // namespace

namespace formats {
const TextFormat while_{.print = print_while,
                        .parse = parse_while,
                        .from_generic = while_from_generic,
                        .argument_name = while_argument_name};
const TextFormat call{.print = print_call,
                      .parse = parse_call,
                      .from_generic = call_from_generic,
                      .to_generic = call_to_generic};
const TextFormat custom_call{.print = print_custom_call,
                             .parse = parse_custom_call,
                             .from_generic = custom_call_from_generic,
                             .to_generic = custom_call_to_generic};
const TextFormat composite{
    .print = print_composite, .parse = parse_composite, .from_generic = composite_from_generic};
const TextFormat rng_bit_generator{.print = print_rng,
                                   .parse = parse_rng,
                                   .from_generic = rng_from_generic,
                                   .to_generic = rng_to_generic,
                                   .result_name = rng_name};
}  // namespace formats
}  // namespace strata::ir
