// reduce: (%a init: %z) applies stablehlo.add across dimensions = [1], or with its region as
// `reducer(...)`.
#include "strata/ir/text/combiner_text.h"
#include "strata/ir/text/format_help.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

const std::string& combiner(const Op& op) { return op.attr<std::string>("combiner"); }

/// reducer(%a0: T, %e0: T) (%a1: T, %e1: T)  {...}: the region's arguments are all accumulators,
/// then all elements.
void print_reducer(TextPrinter& p, const Op& op) {
  const Block& region = op.region(0);
  int n = region.num_arguments() / 2;
  p.newline();
  p << " reducer";
  for (int i = 0; i < n; ++i) {
    const Value *a = region.argument(i), *e = region.argument(n + i);
    p.format("({}: {}, {}: {}) ", p.name(a), a->type().to_string(), p.name(e),
             e->type().to_string());
  }
  p << " ";
  p.region(region);
}

void print(TextPrinter& p, const Op& op) {
  std::size_t n = op.operands.size() / 2;
  for (std::size_t i = 0; i < n; ++i)
    p.format("{}({} init: {})", i > 0 ? ", " : "", p.name(op.operands[i]),
             p.name(op.operands[n + i]));
  std::string_view applied = combiner_operation(combiner(op));
  if (!applied.empty()) p << " applies " << applied;
  p.format(" across dimensions = {}", TextPrinter::list(op.attr<Ints>("dimensions")));
  p.other_attributes(op, {"dimensions", "combiner"});
  p.functional_type(op);
  if (applied.empty()) print_reducer(p, op);
}

void parse_reducer(TextParser& p, Draft& draft) {
  std::vector<TextParser::Argument> accumulators, elements;
  p.expect("reducer");
  while (p.consume("(")) {
    for (auto* side : {&accumulators, &elements}) {
      if (side == &elements) p.expect(",");
      std::string_view name = p.value_name();
      p.expect(":");
      side->push_back({name, parse_type(p)});
      p.skip_location();
    }
    p.expect(")");
  }
  accumulators.insert(accumulators.end(), elements.begin(), elements.end());
  draft.regions.push_back(p.region(accumulators));
}

void parse(TextParser& p, Draft& draft) {
  Values inits;
  do {
    p.expect("(");
    draft.operands.push_back(p.operand());
    p.expect("init");
    p.expect(":");
    inits.push_back(p.operand());
    p.expect(")");
  } while (p.consume(","));
  draft.operands.insert(draft.operands.end(), inits.begin(), inits.end());
  bool applies = p.consume("applies");
  if (applies) {
    std::size_t where = p.offset();
    std::string_view operation = p.word("an operation");
    std::string word(combiner_of_operation(operation));
    if (word.empty())
      p.fail_at(where, fmt::format("reduce applies {}, which is no plain combiner", operation),
                Code::unsupported);
    if (inits.size() != 1) p.fail_at(where, "reduce applies one operation to several inputs");
    draft.attrs.set("combiner", word);
  }
  p.expect("across");
  p.expect("dimensions");
  p.expect("=");
  draft.attrs.set("dimensions", p.ints());
  p.attributes(draft);
  p.functional_type(draft);
  if (!applies) parse_reducer(p, draft);
}

void from_generic(TextParser& p, Draft& draft) {
  need_ints(p, draft, "dimensions");
  if (draft.regions.empty()) {
    if (combiner_operation(p.need<std::string>(draft, "combiner", "combiner")).empty() ||
        draft.operands.size() != 2)
      p.fail_at(p.op_offset(), "reduce has no region");
    return;
  }
  combiner_from_generic(p, draft, draft.operands.size() == 2);
}

GenericForm to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  combiner_to_generic(out, op);
  return out;
}

}  // namespace

namespace formats {
const TextFormat reduce{
    .print = print, .parse = parse, .from_generic = from_generic, .to_generic = to_generic};
}  // namespace formats
}  // namespace strata::ir
