#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>

#include "strata/loop/interpreter.h"
#include "strata/loop/loop.h"

namespace strata::loop {
namespace {

/// Values of an index expression at all points of a nest: `row` in [0, rows) around strips of
/// `extent`.
struct Nest {
  std::int64_t rows, extent;
  int lanes;
  template <class Expression>
  std::vector<std::int64_t> values(Expression expression, BuilderOptions options = {}) const {
    Kernel kernel("nest");
    kernel.grid = rows;
    Builder b(kernel, options);
    Ref* out = b.parameter(DType::i64, rows * extent, Ref::Mode::out);
    Index row = b.grid();
    b.vector(0, extent, lanes,
             [&](Index i) { b.store(out, row * extent + i, expression(b, row, i)); });
    std::vector<std::int64_t> result(static_cast<std::size_t>(rows * extent));
    void* parameters[] = {result.data()};
    interpret(kernel, parameters);
    return result;
  }
};

/// A kernel with one vector loop of the extent, for looking at what indices simplify to.
struct Loop {
  explicit Loop(std::int64_t extent, std::int64_t grid = 1, int lanes = 16)
      : kernel("loop"), b(kernel) {
    kernel.grid = grid;
    row = b.grid();
    b.vector(0, extent, lanes, [&](Index index) { i = index; });
  }
  Kernel kernel;
  Builder b;
  Index row, i;
};

TEST(Index, EqualSumsAreEqual) {
  Loop l(100, 5);
  EXPECT_EQ(l.row * 3 + l.i + 4, Index(4) + l.i + l.row + l.row * 2);
  EXPECT_EQ(l.row - l.row, Index(0));
  EXPECT_EQ((l.row + 2) * 0, Index(0));
}

TEST(Index, RangeOfAVectorLoopIsItsExtent) {
  Loop l(100);
  EXPECT_EQ(l.i.min(), 0);
  EXPECT_EQ(l.i.max(), 99);  // although 7 strips of 16 lanes count to 111
  EXPECT_EQ((l.i * -3 + 5).min(), 5 - 297);
  EXPECT_EQ(l.i.lanes(), 16);
}

TEST(Index, UnknownAndOverflowingRangesAreFull) {
  Loop l(100);
  EXPECT_EQ((l.i * INT64_MAX).max(), INT64_MAX);
  EXPECT_EQ((l.i * INT64_MAX).min(), INT64_MIN);
}

TEST(Div, SplitsOffWhatTheDivisorDivides) {
  Loop l(100, 7);
  Index flat = l.row * 100 + l.i;
  EXPECT_EQ(l.b.div(flat, 100), l.row);
  EXPECT_EQ(l.b.mod(flat, 100), l.i);
}

TEST(Div, FactorsACommonDivisor) {
  Loop l(16, 100);
  Index flat = l.row * 16 + l.i;
  EXPECT_EQ(l.b.div(flat, 64), l.b.div(l.row, 4));
  EXPECT_EQ(l.b.mod(flat, 64), l.b.mod(l.row, 4) * 16 + l.i);
  EXPECT_EQ(l.b.div(flat, 64).lanes(), 1);
}

TEST(Div, KeepsStripsWholeWhereTheLanesDivideTheDivisor) {
  Loop l(960);
  EXPECT_EQ(l.b.div(l.i, 48).lanes(), 1);
  Index column = l.b.mod(l.i, 48);
  ASSERT_EQ(column.terms().size(), 2u);
  EXPECT_EQ(column.terms()[0].coefficient,
            1);  // the lane, of the older id: accesses stay contiguous
  EXPECT_EQ(column.max(), 47);
}

TEST(Div, TakenApartAndPutTogetherIsTheSame) {
  Loop l(1000, 3);
  Index flat = l.row * 1000 + l.i;
  EXPECT_EQ(l.b.div(flat, 7) * 7 + l.b.mod(flat, 7), flat);
  Index tens = l.b.div(flat, 70), sevens = l.b.mod(l.b.div(flat, 7), 10), ones = l.b.mod(flat, 7);
  EXPECT_EQ((tens * 10 + sevens) * 7 + ones, flat);
}

TEST(Div, EqualsArithmeticAtAllPoints) {
  std::mt19937 random(7);
  auto below = [&](int n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  constexpr std::int64_t kFactors[] = {0,  1,  1,  2,   3,   4,  8,  12,  16,
                                       48, 64, 96, 100, 130, -1, -4, -16, -48};
  constexpr std::int64_t kDivisors[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 48, 64, 96, 100, 1000};
  for (int trial = 0; trial < 600; ++trial) {
    Nest nest{1 + below(7), 1 + below(70), 2 << below(4)};
    std::int64_t x = kFactors[below(18)], y = kFactors[below(18)], z = below(200),
                 d = kDivisors[below(14)], e = kDivisors[below(14)];
    std::int64_t lift =
        std::max<std::int64_t>(0, -x) * nest.rows + std::max<std::int64_t>(0, -y) * nest.extent;
    auto index = [&](const Index& row, const Index& i) { return row * x + i * y + (z + lift); };
    auto quotient = nest.values(
        [&](Builder& b, Index row, Index i) { return b.value(b.div(b.div(index(row, i), d), e)); });
    auto remainder = nest.values(
        [&](Builder& b, Index row, Index i) { return b.value(b.mod(index(row, i), d)); });
    auto both = nest.values([&](Builder& b, Index row, Index i) {
      return b.value(b.mod(b.div(index(row, i), d), e) * 3 + b.mod(index(row, i), d));
    });
    for (std::int64_t row = 0; row < nest.rows; ++row) {
      for (std::int64_t i = 0; i < nest.extent; ++i) {
        std::int64_t n = row * x + i * y + z + lift;
        auto at = static_cast<std::size_t>(row * nest.extent + i);
        ASSERT_EQ(quotient[at], n / d / e) << n << " / " << d << " / " << e;
        ASSERT_EQ(remainder[at], n % d) << n << " % " << d;
        ASSERT_EQ(both[at], n / d % e * 3 + n % d) << n << " by " << d << ", " << e;
      }
    }
  }
}

// 5 (v / 3) + v % 5 and 5 (v / 3) + v % 3 are not v: only parts by one divisor make the whole.
TEST(Div, PartsByDifferentDivisorsStayApart) {
  Nest nest{3, 70, 16};
  auto mixed = [&](std::int64_t d, std::int64_t e, std::int64_t by) {
    return nest.values([=](Builder& b, Index row, Index i) {
      return b.value(b.div(row * 71 + i, d) * by + b.mod(row * 71 + i, e));
    });
  };
  for (auto [d, e, by] :
       {std::array{3, 5, 5}, {3, 3, 5}, {5, 3, 3}, {5, 3, 5}, {4, 4, 4}, {64, 48, 48}}) {
    auto values = mixed(d, e, by);
    for (std::int64_t row = 0; row < nest.rows; ++row)
      for (std::int64_t i = 0; i < nest.extent; ++i) {
        std::int64_t n = row * 71 + i;
        ASSERT_EQ(values[static_cast<std::size_t>(row * nest.extent + i)], n / d * by + n % e)
            << d << ", " << e << ", " << by;
      }
  }
}

TEST(Div, RangesHoldAtAllPoints) {
  std::mt19937 random(11);
  auto below = [&](int n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  for (int trial = 0; trial < 300; ++trial) {
    Nest nest{1 + below(7), 1 + below(70), 2 << below(4)};
    std::int64_t x = below(70), y = below(20), d = 1 + below(60);
    std::int64_t low = 0, high = 0;
    auto values = nest.values([&](Builder& b, Index row, Index i) {
      Index index = b.mod(row * x + i * y, d) + b.div(row + i * y, d) * 2;
      low = index.min();
      high = index.max();
      return b.value(index);
    });
    for (std::int64_t v : values)
      ASSERT_TRUE(v >= low && v <= high) << v << " in [" << low << ", " << high << "]";
  }
}

TEST(Less, IsDecidedByRanges) {
  Loop l(100, 7);
  EXPECT_EQ(l.b.less(l.i, 100), l.b.constant_int(DType::i1, 1));
  EXPECT_EQ(l.b.less(l.row + 100, l.i), l.b.constant_int(DType::i1, 0));
}

TEST(Less, IsUniformWhereStripsDoNotStraddle) {
  Loop l(100, 7);
  EXPECT_EQ(l.b.less(l.i, 48)->type.lanes, 1);
  EXPECT_EQ(l.b.less(l.row * 16, l.i + 1)->type.lanes, 1);
  EXPECT_EQ(l.b.less(l.i, 47)->type.lanes, 16);
}

TEST(Less, EqualsArithmeticAtAllPoints) {
  std::mt19937 random(3);
  auto below = [&](int n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  for (int trial = 0; trial < 600; ++trial) {
    Nest nest{1 + below(7), 1 + below(70), 2 << below(4)};
    std::int64_t x = below(40) - 20, y = below(20) - 10, z = below(200) - 100,
                 w = (below(5) - 2) * 8;
    auto values = nest.values([&](Builder& b, Index row, Index i) {
      return b.convert(DType::i64, b.less(row * x + i * y, i * w + z));
    });
    auto by_value = nest.values([&](Builder& b, Index row, Index i) {
      Inst *left = b.convert(DType::i16, b.value(row * x + i * y)),
           *right = b.convert(DType::i16, b.value(i * w + z));
      return b.convert(DType::i64, b.compare(static_cast<Compare>(trial % 6), left, right));
    });
    for (std::int64_t row = 0; row < nest.rows; ++row) {
      for (std::int64_t i = 0; i < nest.extent; ++i) {
        std::int64_t left = row * x + i * y, right = i * w + z;
        auto at = static_cast<std::size_t>(row * nest.extent + i);
        ASSERT_EQ(values[at], left < right);
        bool expected[] = {left == right, left != right, left<right, left <= right, left> right,
                           left >= right};
        ASSERT_EQ(by_value[at], expected[trial % 6]);
      }
    }
  }
}

TEST(IndexOf, SeesThroughArithmeticThatCannotWrap) {
  Loop l(100, 7);
  Inst* doubled = l.b.binary(Opcode::mul, l.b.convert(DType::i32, l.b.value(l.i)),
                             l.b.constant_int(DType::i32, 2));
  EXPECT_EQ(l.b.index_of(doubled, 0, 1000), l.i * 2);
  Inst* less = l.b.binary(Opcode::sub, doubled, l.b.convert(DType::i32, l.b.value(l.i)));
  EXPECT_EQ(l.b.index_of(less, 0, 1000), l.i);
  Inst* from = l.b.binary(Opcode::sub, l.b.constant_int(DType::i32, 99),
                          l.b.convert(DType::i32, l.b.value(l.i)));
  EXPECT_EQ(l.b.index_of(from, 0, 1000), l.i * -1 + 99);
  Inst* narrow = l.b.convert(DType::i8, l.b.value(l.i * 2));  // 198 is no i8
  EXPECT_EQ(l.b.index_of(narrow, 0, 1000).terms().size(), 1u);
}

TEST(IndexOf, KnowsTheCallersRange) {
  Kernel kernel("k");
  Builder b(kernel);
  Ref* x = b.parameter(DType::i32, 4, Ref::Mode::in);
  Index index = b.index_of(b.load(x, 0), 3, 8);
  EXPECT_EQ(index.min(), 3);
  EXPECT_EQ(index.max(), 8);
  EXPECT_EQ(b.index_of(b.load(x, 1), 5, 5), Index(5));
}

}  // namespace
}  // namespace strata::loop
