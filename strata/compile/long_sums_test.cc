// Products over very many terms: the bits of the reference evaluator, and sums as exact as their
// pieces.
#include "strata/transform/long_sums.h"

#include "strata/compile/compile_testing.h"
#include "strata/op/build.h"
#include "strata/op/dot_general.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

struct Case {
  Shape left, right;
  op::DotDims dims;
  DType dtype = DType::f32, result = DType::f32;
};

// Vectors, whose lanes are the pieces; whole pieces and a rest; few rows and columns; several
// dimensions of the sum in another order than in memory; a batch; narrow and integer numbers.
const Case kCases[] = {{{90288}, {90288}, {{}, {}, {0}, {0}}},
                       {{70001}, {70001}, {{}, {}, {0}, {0}}},
                       {{3, 33000}, {33000, 2}, {{}, {}, {1}, {0}}},
                       {{40000, 5}, {40000, 3}, {{}, {}, {0}, {0}}},
                       {{250, 200}, {200, 250}, {{}, {}, {0, 1}, {1, 0}}},
                       {{200, 2, 3, 170}, {2, 170, 200, 2}, {{1}, {0}, {3, 0}, {1, 2}}},
                       {{40000}, {40000, 3}, {{}, {}, {0}, {0}}, DType::f64, DType::f64},
                       {{40000}, {40000}, {{}, {}, {0}, {0}}, DType::f16, DType::f16},
                       {{40000}, {40000}, {{}, {}, {0}, {0}}, DType::i8, DType::i32}};

std::unique_ptr<Block> product(const Case& c) {
  auto f = std::make_unique<Block>();
  Builder b(*f);
  Value *l = f->add_argument(Type(c.dtype, c.left)), *r = f->add_argument(Type(c.dtype, c.right));
  f->results = {op::dot_general(b, l, r, c.dims, c.result)};
  return f;
}

TEST(LongSums, HaveTheReferencesBits) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.left.to_string() + " " + c.right.to_string());
    auto block = product(c);
    EXPECT_TRUE(op::sum_pieces(*block->ops()[0]));
    testing::expect_compiled_equals_reference(*block, 5);
    EXPECT_TRUE(transform::split_long_sums(*block));
    EXPECT_FALSE(transform::split_long_sums(*block)) << "pieces are short";
  }
}

TEST(LongSums, ShortOnesAreOneChain) {
  auto block = product({{32767}, {32767}, {{}, {}, {0}, {0}}});
  EXPECT_FALSE(op::sum_pieces(*block->ops()[0]));
  EXPECT_FALSE(transform::split_long_sums(*block));
}

TEST(LongSums, PiecesAreAtMost256AndCoverTheSum) {
  for (std::int64_t n : {std::int64_t{32768}, std::int64_t{1000000}, std::int64_t{1} << 21,
                         (std::int64_t{1} << 21) + 1, std::int64_t{1} << 40}) {
    const auto pieces = op::sum_pieces(*product({{n}, {n}, {{}, {}, {0}, {0}}})->ops()[0]);
    ASSERT_TRUE(pieces);
    EXPECT_EQ(pieces->length * pieces->count + pieces->rest, n);
    EXPECT_LT(pieces->rest, pieces->length);
    EXPECT_LE(pieces->count, 256);
    EXPECT_GE(pieces->count, 3);
  }
}

// One chain of so many tenths is off by hundredths, for what is added has few bits left beside the
// sum.
TEST(LongSums, LoseLittle) {
  constexpr std::int64_t kTerms = 1 << 22;
  auto block = product({{kTerms}, {kTerms}, {{}, {}, {0}, {0}}});
  const std::vector<float> ones(kTerms, 1), tenths(kTerms, .1f);
  const std::vector<Literal> out =
      op::evaluate(*block, std::vector<Literal>{Literal::of<float>({kTerms}, ones),
                                                Literal::of<float>({kTerms}, tenths)});
  const double exact = static_cast<double>(.1f) * kTerms;
  EXPECT_NEAR(out[0].span<float>()[0], exact, exact * 5e-4);
}

}  // namespace
}  // namespace strata::compile
