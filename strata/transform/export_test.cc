// Exported programs hold StableHLO's words alone and have the same bits.
#include "strata/transform/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"

namespace strata::transform {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using ir::Values;
using Program = std::function<Values(Builder&, const Values&)>;

std::unique_ptr<Block> build(const std::vector<Type>& types, const Program& program) {
  auto block = std::make_unique<Block>();
  for (const Type& t : types) block->add_argument(t);
  Builder b(*block);
  block->results = program(b, block->argument_values());
  return block;
}

bool only_theirs(const Block& block) {
  bool out = true;
  ir::walk(block, [&](const ir::Op& op) { out &= !op.name().starts_with("strata."); });
  return out;
}

void expect_same(const std::vector<Type>& types, const Program& program) {
  auto block = build(types, program), exported = ir::clone(*block);
  export_stablehlo(*exported);
  EXPECT_TRUE(only_theirs(*exported));
  std::vector<Literal> in;
  for (std::size_t i = 0; i < types.size(); ++i) in.push_back(op::random_literal(types[i], i + 1));
  std::vector<Literal> want = op::evaluate(*block, in), got = op::evaluate(*exported, in);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_TRUE(got[i].same_bits(want[i])) << "result " << i;
}

const Type kRow(DType::f32, {3}), kRows(DType::f32, {5, 3});

/// (w, c, x) -> (tanh(c w) + x; c x)
std::unique_ptr<Block> recurrence() {
  return build({kRow, kRow, kRow}, [](Builder& b, const Values& v) {
    return Values{op::add(b, op::tanh(b, op::mul(b, v[1], v[0])), v[2]), op::mul(b, v[1], v[2])};
  });
}

TEST(Export, ScansBecomeWhileLoops) {
  for (bool reverse : {false, true})
    expect_same({kRow, kRow, kRows}, [&](Builder& b, const Values& v) {
      return op::scan(b, recurrence(), {v[0]}, {v[1]}, {v[2]}, {5, reverse});
    });
}

TEST(Export, ScansOfNoSteps) {
  expect_same({kRow, kRow, Type(DType::f32, {0, 3})}, [](Builder& b, const Values& v) {
    return op::scan(b, recurrence(), {v[0]}, {v[1]}, {v[2]}, {0, false});
  });
}

TEST(Export, ScansInsideOthers) {
  expect_same({kRow, kRow, Type(DType::f32, {2, 5, 3})}, [](Builder& b, const Values& v) {
    auto outer = build({kRow, kRow, kRows}, [](Builder& ob, const Values& o) {
      return op::scan(ob, recurrence(), {o[0]}, {o[1]}, {o[2]}, {5, true});
    });
    return op::scan(b, std::move(outer), {v[0]}, {v[1]}, {v[2]}, {2, false});
  });
}

TEST(Export, MarksForDerivativesGo) {
  expect_same({kRow}, [](Builder& b, const Values& v) {
    auto body = build({kRow}, [](Builder& rb, const Values& r) {
      return Values{op::sin(rb, op::name(rb, r[0], "x"))};
    });
    Value* y = op::remat(b, std::move(body), {v[0]})[0];
    auto sine = [] {
      return build({kRow}, [](Builder& c, const Values& x) { return Values{op::sin(c, x[0])}; });
    };
    auto derivative = build({kRow, kRow}, [](Builder& c, const Values& x) {
      return Values{op::sin(c, x[0]), op::mul(c, op::cos(c, x[0]), x[1])};
    });
    return op::custom_jvp(b, sine(), std::move(derivative), {y});
  });
}

TEST(Export, ReferencesCannotBeSaid) {
  auto block = build({kRow}, [](Builder& b, const Values& v) {
    return Values{op::ref_get(b, op::ref_new(b, v[0]))};
  });
  try {
    export_stablehlo(*block);
    FAIL() << "a reference was exported";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("StableHLO has no words"));
  }
}

}  // namespace
}  // namespace strata::transform
