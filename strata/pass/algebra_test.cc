// Every rule of the table, on random elements: both sides have the same bits, and simplify finds
// it.
#include "strata/pass/algebra.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "strata/op/build.h"
#include "strata/op/def.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/pass/simplify.h"

namespace strata::pass {
namespace {

using op::Builder;
using op::Value;
using op::Values;

constexpr std::int64_t kElements = 64;

/// Random elements, and behind them what algebra gets wrong: zeros of both signs, ones, infinities,
/// NaN, subnormal numbers, the least and the greatest.
Literal elements(DType dtype, std::uint64_t seed) {
  Literal out = op::random_literal(Type(dtype, {kElements}), seed);
  std::vector<double> odd{0, 1};
  if (is_float(dtype)) {
    const double inf = std::numeric_limits<double>::infinity();
    odd.insert(odd.end(), {-0.0, -1, inf, -inf, std::nan(""), 1e-310, 1e-40, 6e-8, 1e300, -3e38});
  } else if (is_signed(dtype)) {
    odd.insert(odd.end(), {-1, -(std::pow(2.0, bit_width(dtype) - 1))});
  }
  for (std::size_t i = 0; i < odd.size(); ++i)  // rotated, so that they meet each other
    out.set_number(static_cast<std::int64_t>((i + seed) % odd.size()), odd[i]);
  return out;
}

/// The dtypes of a rule's letters: those of predicates are booleans.
struct Letters {
  std::map<std::string, DType> dtypes;  // in the order of arguments

  void note(const Term& term, DType dtype) {
    if (term.kind == Term::Kind::variable) dtypes.emplace(term.text, dtype);
    for (std::size_t i = 0; i < term.operands.size(); ++i)
      note(term.operands[i], operand_dtype(term, i, dtype));
  }
  static DType operand_dtype(const Term& term, std::size_t i, DType dtype) {
    return term.info->name == "stablehlo.select" && i == 0 ? DType::i1 : dtype;
  }
};

Value* build(Builder& b, const Term& term, DType dtype,
             const std::map<std::string, Value*>& letters) {
  switch (term.kind) {
    case Term::Kind::variable: return letters.at(term.text);
    case Term::Kind::number: return op::constant(b, Type(dtype, {kElements}), term.number);
    case Term::Kind::operation: break;
  }
  Values operands;
  for (std::size_t i = 0; i < term.operands.size(); ++i)
    operands.push_back(build(b, term.operands[i], Letters::operand_dtype(term, i, dtype), letters));
  return b.create(*term.info, operands).result();
}

/// One side of a rule as a program of its letters.
std::unique_ptr<ir::Block> program(const Term& term, DType dtype, const Letters& letters) {
  auto block = std::make_unique<ir::Block>();
  std::map<std::string, Value*> arguments;
  for (const auto& [name, of] : letters.dtypes)
    arguments.emplace(name, block->add_argument(Type(of, {kElements}), name));
  Builder b(*block);
  block->results = {build(b, term, dtype, arguments)};
  return block;
}

/// Whether the operations of a term know the dtype.
bool is_defined(const Term& term, DType dtype, const Letters& letters) {
  try {
    (void)program(term, dtype, letters);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

constexpr DType kDTypes[] = {DType::i1,  DType::i8,   DType::i32,  DType::i64,
                             DType::ui8, DType::ui32, DType::ui64, DType::bf16,
                             DType::f16, DType::f32,  DType::f64};

class AlgebraicRules : public ::testing::TestWithParam<AlgebraicRule> {};

TEST_P(AlgebraicRules, KeepBits) {
  const Term find = parse_term(GetParam().find), replace = parse_term(GetParam().replace);
  int checked = 0;
  for (DType dtype : kDTypes) {
    Letters letters;
    letters.note(find, dtype);
    if (!is_among(GetParam().elements, dtype) || !is_defined(find, dtype, letters)) continue;
    ++checked;
    const auto left = program(find, dtype, letters), right = program(replace, dtype, letters);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      std::vector<Literal> arguments;
      for (const auto& [name, of] : letters.dtypes)
        arguments.push_back(elements(of, seed * 17 + arguments.size() * 5));
      EXPECT_TRUE(op::evaluate(*left, arguments)[0].same_bits(op::evaluate(*right, arguments)[0]))
          << name(dtype) << ", seed " << seed;
    }
  }
  EXPECT_GT(checked, 0) << "no dtype knows it";
}

TEST_P(AlgebraicRules, AreFound) {
  const Term find = parse_term(GetParam().find);
  for (DType dtype : kDTypes) {
    Letters letters;
    letters.note(find, dtype);
    if (!is_among(GetParam().elements, dtype) || !is_defined(find, dtype, letters)) continue;
    auto block = program(find, dtype, letters);
    Builder b(*block);
    EXPECT_NE(by_algebra(b, *block->results[0]->op()), nullptr) << name(dtype);
    simplify(*block);
    for (const auto& op : block->ops())
      EXPECT_NE(&op->info(), find.info) << name(dtype) << " still has it";
  }
}

INSTANTIATE_TEST_SUITE_P(Table, AlgebraicRules, ::testing::ValuesIn(algebraic_rules()),
                         [](const ::testing::TestParamInfo<AlgebraicRule>& info) {
                           std::string out = std::to_string(info.index) + "_";
                           for (const char* c = info.param.find; *c; ++c)
                             if (std::isalnum(static_cast<unsigned char>(*c))) out += *c;
                           return out;
                         });

TEST(AlgebraicTerms, AreRead) {
  const Term term = parse_term("select(c, negate(x), -0)");
  ASSERT_EQ(term.operands.size(), 3u);
  EXPECT_EQ(term.info->name, "stablehlo.select");
  EXPECT_EQ(term.operands[0].kind, Term::Kind::variable);
  EXPECT_EQ(term.operands[1].operands[0].text, "x");
  EXPECT_TRUE(std::signbit(term.operands[2].number));
  EXPECT_THROW(parse_term("negate(x"), InternalError);
  EXPECT_THROW(parse_term("negate(x))"), InternalError);
  EXPECT_THROW(parse_term("nagate(x)"), InternalError);
  EXPECT_THROW(parse_term("value"), InternalError);
}

TEST(Algebra, WhatWouldChangeBitsStays) {
  for (const char* text : {"add(x, 0)", "multiply(x, 0)", "subtract(x, -0)", "subtract(x, x)"}) {
    const Term term = parse_term(text);
    Letters letters;
    letters.note(term, DType::f32);
    auto block = program(term, DType::f32, letters);
    Builder b(*block);
    EXPECT_EQ(by_algebra(b, *block->results[0]->op()), nullptr) << text;
  }
}

}  // namespace
}  // namespace strata::pass
