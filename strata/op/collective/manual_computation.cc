// sdy.manual_computation, sdy.named_computation: bodies of which Shardy knows more than their
// operations.
//
// Contract (Shardy, sdy dialect): one region, whose arguments are parts of the operands and whose
// results are parts of the results. named_computation: the parts are all, its body is called.
// manual_computation: `manual_axes` of the mesh cut operands and results as `in_shardings` and
// `out_shardings` say; where they cut nothing the body is called, elsewhere its parts need devices
// of their own, which are not simulated.
#include "strata/ir/text/format_shardy.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kManual{"the body is written for one device of several"};
constexpr None kInlined{"named computations are inlined before transforms and compilation"};

void verify(const Op& op) {
  std::string self = std::string(short_name(op.name()));
  if (op.regions.size() != 1) throw Error(self, "needs one region, got {}", op.regions.size());
  const Block& body = op.region(0);
  if (body.num_arguments() != static_cast<int>(op.operands.size()))
    throw Error(self, "the body has {} arguments for {} operands", body.num_arguments(),
                op.operands.size());
  if (static_cast<int>(body.results.size()) != op.num_results())
    throw Error(self, "the body has {} results for {}", body.results.size(), op.num_results());
  bool cuts = op.attrs.has("manual_axes");
  auto expect_part = [&](const Type& part, const Type& whole, std::string_view what, int i) {
    bool fits = cuts ? part.kind() == whole.kind() && part.dtype() == whole.dtype() &&
                           part.rank() == whole.rank()
                     : part == whole;
    if (!fits)
      throw Error(self, "{} {} of the body is {}, outside {}", what, i, part.to_string(),
                  whole.to_string());
  };
  for (int i = 0; i < body.num_arguments(); ++i)
    expect_part(body.argument(i)->type(), op.operand(i)->type(), "argument", i);
  for (int i = 0; i < op.num_results(); ++i)
    expect_part(body.results[static_cast<std::size_t>(i)]->type(), op.result(i)->type(), "result",
                i);
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  const Block& body = op.region(0);
  for (int i = 0; i < body.num_arguments(); ++i)
    if (body.argument(i)->type() != op.operand(i)->type())
      throw Error(std::string(short_name(op.name())), "its parts need devices of their own")
          .at(op.where.text())
          .unsupported();
  return evaluator.run(body, operands);
}

Work cost(const Op& op) { return cost_of(op.region(0)); }

}  // namespace

const OpDef& manual_computation_def() {
  static const OpDef d{
      .info = {.name = "sdy.manual_computation",
               .text = &ir::formats::manual_computation,
               .verify = verify},
      .summary = "a body written for one device of several (Shardy, manual_computation)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = kManual,
      .linearize = kManual,
      .transpose = kManual,
      .batch = kManual,
      .shard = kManual,
      .cost = cost,
      .lowering = kManual,
  };
  return d;
}

const OpDef& named_computation_def() {
  static const OpDef d{
      .info = {.name = "sdy.named_computation",
               .text = &ir::formats::named_computation,
               .verify = verify},
      .summary = "a body under a name (Shardy, named_computation)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = kInlined,
      .linearize = kInlined,
      .transpose = kInlined,
      .batch = kInlined,
      .shard = kInlined,
      .cost = cost,
      .lowering = Structured{Structured::Kind::call},
      .decompose = call_first_region,
  };
  return d;
}

}  // namespace strata::op
