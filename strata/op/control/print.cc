// interpreter.print: prints its operand as the reference evaluator comes by.
//
// Contract (the interpreter dialect of StableHLO): one tensor; no results; an effect. Prints "%0 =
// " and the value, under the name that the text gave it; what is printed goes to World::print
// (op/collective/world.h), whole, so that processes do not mix theirs.
#include <iostream>

#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/text/type_text.h"
#include "strata/op/collective/world.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"
#include "strata/op/value_text.h"

namespace strata::op {
namespace {

constexpr None kPrints{"printing has no derivative"};

constexpr char kName[] =
    "operand_name";  // the operand as the text names it; not printed, for it is read again

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("print", operands, 1);
  if (!operands[0]->type().is_tensor())
    throw Error("print", "the operand must be a tensor, got {}", operands[0]->type().to_string());
  return {};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  std::string text =
      fmt::format("%{} = {}\n", op.attrs.get_or<std::string>(kName, "0"), value_text(operands[0]));
  const auto& print = evaluator.process().world().print;
  if (print)
    print(text);
  else
    std::cout << text;
  return {};
}

void print_op(ir::TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.other_attributes(op, {kName});
  p << " : " << op.operand(0)->type().to_string();
}
void parse_op(ir::TextParser& p, ir::Draft& draft) {
  (void)p.peek();
  std::size_t from = p.offset();
  draft.operands = {p.operand()};
  std::string name(p.text().substr(from, p.offset() - from));
  name.erase(name.find_last_not_of(" \t\n") + 1);
  draft.attrs.set(kName, name.substr(name.find('%') + 1));
  p.attributes(draft);
  p.expect(":");
  std::size_t where = p.offset();
  p.operand_types(draft, {ir::parse_type(p)}, where);
}
ir::GenericForm to_generic(const Op& op) {
  ir::GenericForm out{.attrs = op.attrs, .regions = {}, .owned = {}};
  out.attrs.erase(kName);
  return out;
}
constexpr ir::TextFormat kText{.print = print_op, .parse = parse_op, .to_generic = to_generic};

}  // namespace

const OpDef& print_def() {
  static const OpDef d{
      .info = {.name = "interpreter.print",
               .infer = infer,
               .has_effect = true,
               .text = &kText,
               .quantized = quantized::as_stated},
      .summary = "prints its operand as the reference evaluator comes by (interpreter.print)",
      .traits = {.takes_complex = true, .takes_quantized = true},
      .evaluate = evaluate,
      .jvp = kPrints,
      .linearize = kPrints,
      .transpose = kPrints,
      .batch = None{"an effect happens once, not once for each example"},
      .shard = None{"whole arrays are printed"},
      .cost = move_cost,
      .lowering = None{"only reference evaluation prints"},
  };
  return d;
}

}  // namespace strata::op
