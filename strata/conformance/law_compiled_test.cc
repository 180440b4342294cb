// Law of every operation: each sample compiled, through the whole pipeline, has the reference's
// bits.
//
// op/law_test.cc states the same law for lowerings alone. Operations with effects and values other
// than arrays stay outside; an operation that has neither a lowering nor a decomposition states why
// in its definition.
#include <gtest/gtest.h>

#include <cstdlib>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/op/control/check.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/shape/refine.h"
#include "strata/runtime/client.h"

namespace strata::conformance {
namespace {

class CompiledLaw : public ::testing::TestWithParam<const op::OpDef*> {};

bool is_array(const Type& type) {
  return type.is_tensor() && type.shape().is_static() && !type.is_quantized();
}
bool is_array(const ir::Value* v) { return is_array(v->type()); }

/// An operation whose result's shape depends on values is compiled for the values at hand.
std::shared_ptr<runtime::Executable> compiled(const ir::Block& block, const op::Literals& operands,
                                              bool any_size) {
  if (!op::needs_values(block))
    return runtime::default_client().compile(block, {.any_size = any_size});
  std::vector<op::Known> known;
  for (const Literal& x : operands) known.push_back({x.type(), x});
  return runtime::default_client().compile(*op::refine(block, known), {.any_size = any_size});
}

/// Whether a sample is run in this way today: in both, but where STRATA_SAMPLE=N is set, as by
/// `make test`, in one of them, and in the other for the next N.
bool is_due(const op::OpDef& def, const op::Sample& sample, bool any_size) {
  const char* day = std::getenv("STRATA_SAMPLE");
  if (!day || !*day) return true;
  std::uint64_t number = static_cast<std::uint64_t>(std::atoll(day));
  for (unsigned char c : std::string(def.info.name) + sample.what) number += c;
  return number % 2 == any_size;
}

/// What is wrong with the sample, or nothing.
std::string failure(const op::OpDef& def, const op::Sample& sample) {
  ir::Block block;
  ir::Values arguments;
  for (const Literal& x : sample.operands) arguments.push_back(block.add_argument(x.type()));
  ir::Builder b(block);
  block.results = op::build_sample(b, def, sample, arguments).results();
  if (!std::all_of(arguments.begin(), arguments.end(),
                   [](const ir::Value* v) { return is_array(v); }) ||
      !std::all_of(block.results.begin(), block.results.end(),
                   [](const ir::Value* v) { return is_array(v); }))
    return "";
  op::Literals want = op::evaluate(block, sample.operands);
  for (bool any_size : {false, true}) {
    if (!is_due(def, sample, any_size)) continue;
    std::vector<runtime::Buffer> got = compiled(block, sample.operands, any_size)
                                           ->run({sample.operands.begin(), sample.operands.end()});
    const char* code = any_size ? "by code for any size: " : "";
    for (std::size_t r = 0; r < want.size(); ++r) {
      if (!(got[r].type() == want[r].type()))
        return fmt::format("{}result {} is {}, not {}", code, r, got[r].type().to_string(),
                           want[r].type().to_string());
      if (auto d = op::compare({.kind = op::Demand::Kind::bits}, got[r].literal(), want[r]))
        return fmt::format("{}result {} {}", code, r, op::to_string(*d));
    }
  }
  return "";
}

TEST_P(CompiledLaw, samples_have_the_references_bits) {
  const op::OpDef& def = *GetParam();
  if (def.info.has_effect ||
      (std::holds_alternative<op::None>(def.lowering) && def.decompose == nullptr))
    return;
  compile::register_cpu();
  for (const op::Sample& sample : op::samples_of(def.info.name)) {
    SCOPED_TRACE(sample.what);
    try {
      EXPECT_EQ(failure(def, sample), "");
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

std::string name(const ::testing::TestParamInfo<const op::OpDef*>& info) {
  std::string out = info.param->info.name;
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return out;
}
INSTANTIATE_TEST_SUITE_P(Conformance, CompiledLaw, ::testing::ValuesIn(op::catalog()), name);

}  // namespace
}  // namespace strata::conformance
