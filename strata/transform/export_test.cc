// Exported programs hold StableHLO's words alone and have the same bits.
#include "strata/transform/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/linalg/gmm.h"
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

// ---- products of groups, as other compilers take them -------------------------------------------

std::vector<std::string> names_of(const Block& block) {
  std::vector<std::string> out;
  ir::walk(block, [&](const ir::Op& op) { out.emplace_back(op.name()); });
  return out;
}

TEST(Export, ProductsOfGroupsAreWhatACompilerTakes) {
  using ::testing::Contains;
  using ::testing::Not;
  const Type lhs(DType::f32, {6, 3}), rhs(DType::f32, {4, 3, 5}), turned(DType::f32, {4, 5, 3}),
      dy(DType::f32, {6, 5}), sizes(DType::i32, {4}), first(DType::f32, {1, 6, 3}),
      second(DType::f32, {1, 4, 3, 5}), third(DType::i32, {1, 4});
  const auto product = [](bool t) {
    return [t](Builder& b, const Values& v) { return Values{op::gmm(b, v[0], v[1], v[2], t)}; };
  };
  const auto sums = [](Builder& b, const Values& v) {
    return Values{op::tgmm(b, v[0], v[1], v[2])};
  };
  const auto ragged = [](Builder& b, const Values& v) {
    return Values{b.create("chlo.ragged_dot", v,
                           {{"lhs_contracting_dimensions", op::Ints{1}},
                            {"rhs_contracting_dimensions", op::Ints{1}},
                            {"lhs_ragged_dimensions", op::Ints{0}},
                            {"rhs_group_dimensions", op::Ints{0}}})
                      .result()};
  };
  const std::vector<std::pair<std::vector<Type>, Program>> cases = {
      {{lhs, rhs, sizes}, product(false)},
      {{lhs, turned, sizes}, product(true)},
      {{lhs, dy, sizes}, sums},
      {{lhs, rhs, sizes}, ragged},
      {{first, second, third}, product(false)},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [types, program] = cases[i];
    const std::unique_ptr<Block> block = build(types, program);
    for (const std::string platform : {"tpu", "strata", "cpu", "cuda"}) {
      const std::unique_ptr<Block> exported = ir::clone(*block);
      export_stablehlo(*exported, products_of(platform));
      EXPECT_TRUE(only_theirs(*exported)) << i << platform;
      if (platform == "tpu" || (platform == "strata" && i == 3))
        EXPECT_THAT(names_of(*exported), Contains("chlo.ragged_dot")) << i << platform;
      else
        EXPECT_THAT(names_of(*exported), Not(Contains("chlo.ragged_dot"))) << i << platform;
      // Rows of some groups, none of one, a size below zero, and rows of no group.
      const std::vector<std::int32_t> of{2, 0, -1, 3};
      std::vector<Literal> in;
      for (std::size_t k = 0; k + 1 < types.size(); ++k)
        in.push_back(op::random_literal(types[k], k + 1));
      in.push_back(Literal::of<std::int32_t>(types.back().shape(), of));
      const std::vector<Literal> want = op::evaluate(*block, in);
      EXPECT_TRUE(op::evaluate(*exported, in)[0].same_bits(want[0])) << i << platform;
    }
  }
}

}  // namespace
}  // namespace strata::transform
