// Laws of every operation: it has samples; what is inferred is what is evaluated; compiled =
// reference; text is a fixpoint; costs are numbers. Derivatives, batching and sharding:
// law_derivative_test.cc, law_batch_test.cc, law_shard_test.cc.
#include <map>

#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/loop/interpreter.h"
#include "strata/loop/verify.h"
#include "strata/op/law_support.h"
#include "strata/op/legalize.h"
#include "strata/op/lower_alone.h"

namespace strata::op::laws {
namespace {

/// What a call or a composite computes stands in the module, not in the operation, and tuples are
/// taken apart before anything runs: these can have no samples.
bool never_runs(const OpDef& d) {
  const auto* structured = std::get_if<Structured>(&d.lowering);
  return (structured && structured->kind == Structured::Kind::call) ||
         d.info.name.ends_with("tuple") || d.info.name.ends_with("tuple_element");
}

TEST_P(Law, has_samples) {
  if (never_runs(def())) return;
  EXPECT_FALSE(samples().empty()) << "register samples of " << def().info.name << " (op/samples.h)";
}

TEST_P(Law, inferred_type_is_evaluated_type) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    auto f = program_of(def(), sample);
    Literals results = evaluate_in(sample, f->body, sample.operands);
    ASSERT_EQ(results.size(), f->body.results.size());
    for (std::size_t i = 0; i < results.size(); ++i)
      EXPECT_EQ(results[i].type().to_string(), f->body.results[i]->type().to_string())
          << "result " << i;
  }
}

Literals interpreted(const Op& op, const Sample& sample) {
  auto kernel = lower_alone(op);
  Status status = loop::verify(*kernel);
  EXPECT_TRUE(status.ok()) << status.message() << "\n" << loop::print(*kernel);
  Literals inputs = sample.operands, outputs;
  for (Value* r : op.results()) outputs.emplace_back(r->type());
  std::vector<void*> buffers;
  for (Literal& x : inputs) buffers.push_back(x.mutable_data());
  for (Literal& y : outputs) buffers.push_back(y.mutable_data());
  if (status.ok()) loop::interpret(*kernel, buffers);
  return outputs;
}

/// Each operation of a block in legal types: its kernel gives what its evaluation gives, on the
/// values that reach it.
void expect_compiled_is_reference(const Block& block, const Literals& arguments) {
  std::map<const Value*, Literal> values;
  for (int i = 0; i < block.num_arguments(); ++i)
    values[block.argument(i)] = arguments[static_cast<std::size_t>(i)];
  for (const auto& op : block.ops()) {
    Sample call;
    Block one;
    ir::ValueMap map;
    for (Value* v : op->operands) {
      call.operands.push_back(values.at(v));
      map.set(v, one.add_argument(v->type()));
    }
    Builder b(one);
    one.results = ir::clone(b, *op, map).results();
    Literals want = evaluate(one, call.operands);
    for (int r = 0; r < op->num_results(); ++r)
      values[op->result(r)] = want[static_cast<std::size_t>(r)];
    bool memory = takes_memory(*op) && needs_legalizing(*op);
    if (!is_elemental(*op) || memory) continue;
    Literals got = interpreted(*op, call);
    for (std::size_t r = 0; r < want.size(); ++r)
      ASSERT_EQ(difference(got[r], want[r]), "") << op->name() << ", result " << r;
  }
}

TEST_P(Law, compiled_is_reference) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    auto f = program_of(def(), sample);
    const Op& op = *f->body.ops().back();
    if (needs_legalizing(op) && op.regions.empty()) {
      expect_compiled_is_reference(*legalize(f->body), sample.operands);
      continue;
    }
    if (!is_elemental(op)) continue;
    Literals want = evaluate(f->body, sample.operands), got = interpreted(op, sample);
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_EQ(difference(got[i], want[i]), "") << "result " << i;
  }
}

TEST_P(Law, text_is_a_fixpoint) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    ir::Module module;
    module.functions.push_back(program_of(def(), sample));
    if (!only_arrays(module.functions[0]->body)) continue;
    std::string text = ir::print(module);
    auto again = ir::parse(text);
    ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << text;
    EXPECT_EQ(ir::print(**again), text);
    Literals want = evaluate_in(sample, module.functions[0]->body, sample.operands),
             got = evaluate_in(sample, (*again)->entry()->body, sample.operands);
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_EQ(difference(got[i], want[i]), "") << "result " << i;
  }
}

TEST_P(Law, cost_is_finite) {
  for (const Sample& sample : samples()) {
    auto f = program_of(def(), sample);
    Work work = def().cost(*f->body.ops().back());
    EXPECT_TRUE(work.flops >= 0 && work.bytes >= 0 && std::isfinite(work.flops + work.bytes))
        << sample.what;
  }
}

TEST_P(Law, missing_rules_have_reasons) {
  auto stated = [](const auto& rule) {
    return static_cast<bool>(rule) || std::string_view(rule.reason()).size() > 3;
  };
  EXPECT_TRUE(stated(def().jvp) && stated(def().linearize) && stated(def().transpose) &&
              stated(def().batch) && stated(def().shard));
  EXPECT_GT(std::string_view(def().summary).size(), 5u);
}

INSTANTIATE_TEST_SUITE_P(Op, Law, ::testing::ValuesIn(catalog()), test_name);

}  // namespace
}  // namespace strata::op::laws
