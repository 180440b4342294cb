// Laws of every operation: it has samples; what is inferred is what is evaluated; compiled = reference; text is a
// fixpoint; factors and costs are consistent. Derivatives and batching: law_derivative_test.cc, law_batch_test.cc.
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/loop/interpreter.h"
#include "strata/loop/verify.h"
#include "strata/op/law_support.h"
#include "strata/op/lower_alone.h"

namespace strata::op::laws {
namespace {

TEST_P(Law, has_samples) { EXPECT_FALSE(samples().empty()) << "register samples of " << def().info.name << " (op/samples.h)"; }

TEST_P(Law, inferred_type_is_evaluated_type) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    auto f = program_of(def(), sample);
    Literals results = evaluate(f->body, sample.operands);
    ASSERT_EQ(results.size(), f->body.results.size());
    for (std::size_t i = 0; i < results.size(); ++i)
      EXPECT_EQ(results[i].type().to_string(), f->body.results[i]->type().to_string()) << "result " << i;
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

TEST_P(Law, compiled_is_reference) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    auto f = program_of(def(), sample);
    const Op& op = *f->body.ops().back();
    if (!is_elemental(op)) return;
    Literals want = evaluate(f->body, sample.operands), got = interpreted(op, sample);
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(difference(got[i], want[i]), "") << "result " << i;
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
    Literals want = evaluate(module.functions[0]->body, sample.operands), got = evaluate((*again)->entry()->body, sample.operands);
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(difference(got[i], want[i]), "") << "result " << i;
  }
}

/// Every dimension that is made of factors that pass through has their product as its size.
void check_factors(const Factors& t, const std::vector<std::vector<int>>& value, const Value* v) {
  ASSERT_EQ(static_cast<int>(value.size()), v->rank());
  for (int d = 0; d < v->rank(); ++d) {
    std::int64_t product = 1;
    bool passes = !value[static_cast<std::size_t>(d)].empty();
    for (int f : value[static_cast<std::size_t>(d)]) {
      ASSERT_LT(static_cast<std::size_t>(f), t.kinds.size());
      passes = passes && t.kinds[static_cast<std::size_t>(f)] != 'm';
      product *= t.sizes[static_cast<std::size_t>(f)];
    }
    if (passes) {
      EXPECT_EQ(product, v->shape()[d]) << "dimension " << d << " of " << v->type().to_string();
    }
  }
}

TEST_P(Law, factors_fit_shapes) {
  if (!def().shard) return;
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    auto f = program_of(def(), sample);
    const Op& op = *f->body.ops().back();
    Factors t = (*def().shard)(op);
    ASSERT_EQ(t.kinds.size(), t.sizes.size());
    ASSERT_EQ(t.kinds.find_first_not_of("prnm"), std::string::npos) << t.kinds;
    ASSERT_EQ(t.operands.size(), op.operands.size());
    ASSERT_EQ(static_cast<int>(t.results.size()), op.num_results());
    for (std::size_t i = 0; i < t.operands.size(); ++i) check_factors(t, t.operands[i], op.operands[i]);
    for (std::size_t i = 0; i < t.results.size(); ++i) check_factors(t, t.results[i], op.result(static_cast<int>(i)));
  }
}

TEST_P(Law, cost_is_finite) {
  for (const Sample& sample : samples()) {
    auto f = program_of(def(), sample);
    Work work = def().cost(*f->body.ops().back());
    EXPECT_TRUE(work.flops >= 0 && work.bytes >= 0 && std::isfinite(work.flops + work.bytes)) << sample.what;
  }
}

TEST_P(Law, missing_rules_have_reasons) {
  auto stated = [](const auto& rule) { return static_cast<bool>(rule) || std::string_view(rule.reason()).size() > 3; };
  EXPECT_TRUE(stated(def().jvp) && stated(def().linearize) && stated(def().transpose) && stated(def().batch) && stated(def().shard));
  EXPECT_GT(std::string_view(def().summary).size(), 5u);
}

INSTANTIATE_TEST_SUITE_P(Op, Law, testing::ValuesIn(catalog()), test_name);

}  // namespace
}  // namespace strata::op::laws
