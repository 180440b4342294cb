// Products over very many terms: the bits of the reference evaluator around the ends of chains,
// groups and pieces (op/linalg/dot_general.h), and sums that keep their digits.
#include "strata/pass/dot/split_k.h"

#include "strata/compile/compile_testing.h"
#include "strata/compile/kernel/reduce/long_testing.h"
#include "strata/op/build.h"
#include "strata/op/linalg/dot_general.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

struct Case {
  Shape lhs, rhs;
  op::DotDims dims;
  DType dtype = DType::f32, result = DType::f32;
};

// Vectors, whose lanes are the pieces; whole pieces, and a rest that ends with a chain, a group, or
// neither; rows, columns, both, many of both, a batch along memory and not; several dimensions of
// the sum in another order than in memory; narrow and integer numbers.
const Case kCases[] = {{{90288}, {90288}, {{}, {}, {0}, {0}}},
                       {{33792}, {33792}, {{}, {}, {0}, {0}}},
                       {{33824}, {33824}, {{}, {}, {0}, {0}}},
                       {{34849}, {34849}, {{}, {}, {0}, {0}}},
                       {{1, 34900}, {34900, 40}, {{}, {}, {1}, {0}}},
                       {{21, 34900}, {34900}, {{}, {}, {1}, {0}}},
                       {{34933}, {34933, 37}, {{}, {}, {0}, {0}}},
                       {{13, 34900}, {34900, 50}, {{}, {}, {1}, {0}}},
                       {{34900, 13}, {34900, 50}, {{}, {}, {0}, {0}}},
                       {{13, 34900}, {50, 34900}, {{}, {}, {1}, {1}}},
                       {{34900, 24}, {34900, 24}, {{1}, {1}, {0}, {0}}},
                       {{34900, 300}, {34900, 300}, {{1}, {1}, {0}, {0}}},
                       {{34900, 2, 24}, {34900, 3, 24}, {{2}, {2}, {0}, {0}}},
                       {{20, 34901}, {20, 34901}, {{0}, {0}, {1}, {1}}},
                       {{3, 33000}, {33000, 2}, {{}, {}, {1}, {0}}},
                       {{40000, 5}, {40000, 3}, {{}, {}, {0}, {0}}},
                       {{250, 200}, {200, 250}, {{}, {}, {0, 1}, {1, 0}}},
                       {{200, 2, 3, 170}, {2, 170, 200, 2}, {{1}, {0}, {3, 0}, {1, 2}}},
                       {{40000}, {40000, 3}, {{}, {}, {0}, {0}}, DType::f64, DType::f64},
                       {{40000}, {40000}, {{}, {}, {0}, {0}}, DType::f16, DType::f16},
                       {{34901}, {34901}, {{}, {}, {0}, {0}}, DType::bf16, DType::bf16},
                       {{9, 34901}, {34901, 20}, {{}, {}, {1}, {0}}, DType::bf16, DType::f32},
                       {{34901, 24}, {34901, 24}, {{1}, {1}, {0}, {0}}, DType::bf16, DType::f32},
                       {{40000}, {40000}, {{}, {}, {0}, {0}}, DType::i8, DType::i32}};

std::unique_ptr<Block> product(const Case& c) {
  auto f = std::make_unique<Block>();
  Builder b(*f);
  Value *l = f->add_argument(Type(c.dtype, c.lhs)), *r = f->add_argument(Type(c.dtype, c.rhs));
  f->results = {op::dot_general(b, l, r, c.dims, c.result)};
  return f;
}

TEST(LongSums, HaveTheReferencesBits) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.lhs.to_string() + " " + c.rhs.to_string());
    auto block = product(c);
    EXPECT_TRUE(op::sum_pieces(*block->ops()[0]));
    testing::expect_compiled_equals_reference(*block, 5);
    EXPECT_TRUE(pass::split_k(*block));
    EXPECT_FALSE(pass::split_k(*block)) << "pieces are short";
  }
}

TEST(LongSums, ShortOnesAreOneChain) {
  auto block = product({{32767}, {32767}, {{}, {}, {0}, {0}}});
  EXPECT_FALSE(op::sum_pieces(*block->ops()[0]));
  EXPECT_FALSE(pass::split_k(*block));
}

TEST(LongSums, PiecesCoverTheSum) {
  for (std::int64_t n : {std::int64_t{32768}, std::int64_t{1000000}, std::int64_t{1} << 40}) {
    const auto pieces = op::sum_pieces(*product({{n}, {n}, {{}, {}, {0}, {0}}})->ops()[0]);
    ASSERT_TRUE(pieces);
    EXPECT_EQ(pieces->count * op::SumPieces::kLength + pieces->rest, n);
    EXPECT_LT(pieces->rest, op::SumPieces::kLength);
    EXPECT_GE(pieces->count, 3);
  }
}

/// The relative error of the product of a number with itself and of nothing else, `n` times.
double error(const Case& c, float number, std::int64_t n) {
  Block block;
  Builder b(block);
  Value* v = block.add_argument(Type::scalar(DType::f32));
  auto side = [&](const Shape& shape) {
    return op::broadcast_in_dim(b, op::convert(b, v, c.dtype), shape, {});
  };
  block.results = {
      op::convert(b, op::dot_general(b, side(c.lhs), side(c.rhs), c.dims, c.result), DType::f32)};
  Literal stored(Type::scalar(c.dtype));
  stored.set_number(0, number);
  const double of_one = stored.number(0);
  double worst = 0;
  const std::vector<Literal> out =
      testing::run_compiled(block, std::vector<Literal>{Literal::scalar(number)});
  for (float y : out[0].span<float>())
    worst = std::max(worst, std::abs(y / (of_one * of_one * static_cast<double>(n)) - 1));
  return worst;
}

// A chain of so many equal terms rounds each of them the same way, up to hundredths of the sum.
TEST(LongSums, KeepTheDigitsOfEqualNumbers) {
  constexpr double kUlp = 1.2e-7;
  for (float number : {.1f, .7f, 1.0f / 3, 1.9f})
    for (std::int64_t n : testing::long_lengths(32768)) {
      SCOPED_TRACE(fmt::format("{} times {}", n, number));
      EXPECT_LT(error({{n}, {n}, {{}, {}, {0}, {0}}}, number, n), 8 * kUlp);
      EXPECT_LT(error({{2, n}, {n, 3}, {{}, {}, {1}, {0}}}, number, n), 8 * kUlp);
      const Case bf16{{n}, {n}, {{}, {}, {0}, {0}}, DType::bf16, DType::f32};
      EXPECT_LT(error(bf16, number, n), 8 * kUlp);
    }
}

}  // namespace
}  // namespace strata::compile
