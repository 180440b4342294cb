#include "strata/op/reduce/cumulative.h"

#include <gtest/gtest.h>

#include <cmath>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/reduce/windows.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::run;
using testing::run_both;

Attrs attrs_of(int dim, const char* combiner, bool reverse, std::int64_t block = 0) {
  Attrs attrs{
      {"dimension", std::int64_t{dim}}, {"combiner", std::string(combiner)}, {"reverse", reverse}};
  if (block > 0) attrs.set("block", block);
  return attrs;
}

const bool samples = add_samples("strata.cumulative", [](std::vector<Sample>& out) {
  auto sample = [&](const char* what, DType t, Shape shape, const Attrs& attrs, double start) {
    out.push_back({.what = what,
                   .operands = {random_literal(Type(t, std::move(shape)), 1 + out.size(), 0, 9),
                                Literal::full(Type::scalar(t), start)},
                   .attrs = attrs});
  };
  for (DType t :
       {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i8, DType::ui64})
    for (bool reverse : {false, true}) {
      sample("along memory", t, {2, 21}, attrs_of(1, "add", reverse), 0);
      sample("along columns", t, {2, 18, 3}, attrs_of(1, "max", reverse), 3);
    }
  sample("a product", DType::f64, {2, 5}, attrs_of(1, "mul", false), 2);
  sample("a minimum from above", DType::f32, {3, 4}, attrs_of(0, "min", true), 5);
  sample("any", DType::i1, {4, 3}, attrs_of(0, "or", false), 0);
  sample("parity", DType::ui8, {2, 20}, attrs_of(1, "xor", true), 5);
  sample("in blocks", DType::f32, {2, 7}, attrs_of(1, "add", true, 3), 1);
  sample("in blocks that fit", DType::f32, {2, 6, 2}, attrs_of(1, "add", false, 3), 1);
  sample("empty", DType::f32, {2, 0}, attrs_of(1, "add", false), 1);
});

Attrs window_attrs(const Shape& shape, int dim, bool reverse, const char* combiner) {
  WindowDims d = WindowDims::trivial(shape.rank());
  auto i = static_cast<std::size_t>(dim);
  d.size[i] = shape[dim];
  (reverse ? d.high : d.low)[i] = shape[dim] - 1;
  Attrs attrs{{"combiner", std::string(combiner)}};
  set_window_attrs(attrs, d);
  return attrs;
}
/// A reduction over windows of a whole dimension, from `init`.
Literal over_windows(const Literal& x, double init, int dim, bool reverse, const char* combiner) {
  return run({x, Literal::full(Type::scalar(x.dtype()), init)}, [&](Builder& b, const Values& v) {
    return Values{
        b.create("stablehlo.reduce_window", v, window_attrs(x.shape(), dim, reverse, combiner))
            .result()};
  })[0];
}

TEST(Cumulative, LoweringIsReferenceForLinesOfEveryLength) {
  for (std::int64_t n : {1, 2, 15, 16, 17, 255, 256, 257, 300, 4096, 4111, 9000})
    for (bool reverse : {false, true}) {
      run_both({random_literal(Type(DType::f32, {1, n}), 7), Literal::scalar(0.5f)},
               [&](Builder& b, const Values& v) {
                 return b.create("strata.cumulative", v, attrs_of(1, "add", reverse)).results();
               });
      run_both({random_literal(Type(DType::f32, {n, 2}), 7), Literal::scalar(0.5f)},
               [&](Builder& b, const Values& v) {
                 return b.create("strata.cumulative", v, attrs_of(0, "add", reverse)).results();
               });
    }
}

TEST(Cumulative, BlocksThatDoNotFitAndManyColumns) {
  for (bool reverse : {false, true}) {
    auto program = [&](int dim, std::int64_t block) {
      return [=](Builder& b, const Values& v) {
        return b.create("strata.cumulative", v, attrs_of(dim, "add", reverse, block)).results();
      };
    };
    Literal start = Literal::scalar(0.25f);
    run_both({random_literal(Type(DType::f32, {3, 700}), 1), start}, program(1, 300));
    run_both({random_literal(Type(DType::f32, {70, 530}), 2), start}, program(0, 30));
    run_both({random_literal(Type(DType::f32, {20, 40}), 3), start}, program(1, 0));
  }
}

/// Along each dimension, each result is the one before it and one element more.
TEST(Cumulative, WindowsOfAWholeDimensionAreRunningSums) {
  Literal x = random_literal(Type(DType::i32, {3, 40, 5}), 11, -9, 9);
  for (int dim : {0, 1, 2})
    for (bool reverse : {false, true})
      for (double init : {0.0, 3.0}) {
        Literal y = over_windows(x, init, dim, reverse, "add");
        std::int64_t n = x.shape()[dim];
        std::vector<std::int64_t> strides = x.shape().strides();
        std::int64_t stride = strides[static_cast<std::size_t>(dim)];
        for (std::int64_t e = 0; e < x.count(); ++e) {
          std::int64_t at = e / stride % n;
          double want =
              init * static_cast<double>(reverse ? at + 1
                                                 : n - at);  // init, and the padding of this window
          for (std::int64_t k = reverse ? at : 0; k <= (reverse ? n - 1 : at); ++k)
            want += x.number(e + (k - at) * stride);
          ASSERT_EQ(y.number(e), want)
              << "dimension " << dim << " element " << e << " from " << init;
        }
      }
}

/// Lines longer than a block go through totals; sums of small integers are exact in any order.
TEST(Cumulative, LongLines) {
  for (auto [shape, dim] :
       {std::pair{Shape{70000}, 0}, std::pair{Shape{2, 66000, 1}, 1}, std::pair{Shape{9000, 2}, 0}})
    for (bool reverse : {false, true}) {
      Literal x = random_literal(Type(DType::f32, shape), 5, 0, 9);
      for (std::int64_t e = 0; e < x.count(); ++e) x.set_number(e, std::floor(x.number(e)));
      Literal y = over_windows(x, 0, dim, reverse, "add"),
              z = over_windows(x, 1, dim, reverse, "add");
      std::int64_t stride = shape.strides()[static_cast<std::size_t>(dim)], n = shape[dim];
      for (std::int64_t line = 0; line < x.count() / n; ++line) {
        double sum = 0;
        for (std::int64_t k = 0; k < n; ++k) {
          std::int64_t e =
              line / stride * n * stride + line % stride + (reverse ? n - 1 - k : k) * stride;
          sum += x.number(e);
          ASSERT_EQ(y.number(e), sum) << k;
          ASSERT_EQ(z.number(e), sum + static_cast<double>(n - k)) << k;
        }
      }
    }
}

TEST(Cumulative, ErrorsGrowSlowly) {
  constexpr std::int64_t n = 60000;
  Literal x = random_literal(Type(DType::f32, {n}), 3), y = over_windows(x, 0, 0, false, "add");
  double sum = 0, magnitude = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    sum += x.number(k), magnitude += std::fabs(x.number(k));
    ASSERT_LE(std::fabs(y.number(k) - sum), 0x1p-24 * 52 * magnitude)
        << k;  // 4 + 16 + 16 + 15 + 1 roundings
  }
}

TEST(Cumulative, NarrowFloatsRoundOnce) {
  Literal x(Type(DType::bf16, {3}));
  x.set_number(0, 256), x.set_number(1, 1), x.set_number(2, 1);
  EXPECT_EQ(over_windows(x, 0, 0, false, "add").number(2), 258);
}

TEST(Cumulative, ASumOfNothingButMinusZeroIsTheInitialZero) {
  Literal x = Literal::full(Type(DType::f32, {20}), -0.0);
  EXPECT_FALSE(std::signbit(over_windows(x, 0.0, 0, false, "add").number(19)));
  EXPECT_TRUE(std::signbit(over_windows(x, -0.0, 0, false, "add").number(19)));
}

/// By a region that is associative but does not commute: (a, b) after (c, d) is the composition of
/// x -> a x + b and x -> c x + d.
TEST(Cumulative, RegionsRunInTheWindowsOrder) {
  Type t = Type::scalar(DType::i32);
  auto region = [&] {
    std::vector<std::unique_ptr<Block>> out;
    out.push_back(testing::build({t, t, t, t}, [](Builder& b, const Values& v) {
      return Values{mul(b, v[0], v[2]), add(b, mul(b, v[1], v[2]), v[3])};
    }));
    return out;
  };
  // Short lines, and long ones, which use pieces of 64.
  for (auto& [shape, dim] : {std::pair{Shape{2, 7, 3}, 0},
                             {Shape{2, 7, 3}, 1},
                             {Shape{2, 7, 3}, 2},
                             {Shape{2, 130, 3}, 1},
                             {Shape{192, 2}, 0},
                             {Shape{700}, 0}})
    for (bool reverse : {false, true})
      for (bool identity : {true, false}) {
        const Literal a = random_literal(Type(DType::i32, shape), 1, -3, 3),
                      c = random_literal(Type(DType::i32, shape), 2, -3, 3);
        Literal first = Literal::scalar(std::int32_t{identity ? 1 : 2}),
                second = Literal::scalar(std::int32_t{identity ? 0 : 3});
        Literals got = run({a, c, first, second}, [&](Builder& b, const Values& v) {
          return b
              .create("stablehlo.reduce_window", v, window_attrs(a.shape(), dim, reverse, "region"),
                      region())
              .results();
        });
        std::int64_t n = a.shape()[dim],
                     stride = a.shape().strides()[static_cast<std::size_t>(dim)];
        for (std::int64_t e = 0; e < a.count(); ++e) {
          std::int64_t at = e / stride % n, x = first.integer(0), y = second.integer(0);
          for (std::int64_t w = 0; w < n; ++w) {  // place w of the window
            std::int64_t k = reverse ? at + w : at + w - (n - 1);
            bool inside = k >= 0 && k < n;
            std::int64_t p = inside ? a.integer(e + (k - at) * stride) : first.integer(0);
            std::int64_t q = inside ? c.integer(e + (k - at) * stride) : second.integer(0);
            y = static_cast<std::int32_t>(y * p + q), x = static_cast<std::int32_t>(x * p);
          }
          ASSERT_EQ(got[0].integer(e), x) << dim << reverse << identity << " element " << e;
          ASSERT_EQ(got[1].integer(e), y) << dim << reverse << identity << " element " << e;
        }
      }
}

/// Millions of terms of a sum of exponentials by a region, three levels of pieces: in sequence each
/// would be lost beside the sum.
TEST(Cumulative, LongLinesByARegionLoseLittle) {
  const std::int64_t n = 20000;
  const Literal x = Literal::full(Type(DType::f32, {n}), 0.1), zero = Literal::scalar(0.0f);
  Type t = Type::scalar(DType::f32);
  std::vector<std::unique_ptr<Block>> region;
  region.push_back(testing::build({t, t}, [](Builder& b, const Values& v) {
    return Values{add(b, mul(b, v[0], full_like(b, v[0], 1)), v[1])};
  }));
  const Literals got = run({x, zero}, [&](Builder& b, const Values& v) {
    return b
        .create("stablehlo.reduce_window", v, window_attrs(x.shape(), 0, false, "region"),
                std::move(region))
        .results();
  });
  for (std::int64_t i = 0; i < n; i += 37)
    EXPECT_NEAR(got[0].number(i), 0.1f * static_cast<double>(i + 1),
                1e-5 * 0.1 * static_cast<double>(i + 1));
}

TEST(Cumulative, RefusesWhatItDoesNotKnow) {
  auto message = [](const Type& x, const Type& start, const Attrs& attrs) -> std::string {
    Block block;
    Builder b(block);
    try {
      b.create("strata.cumulative", {block.add_argument(x), block.add_argument(start)}, attrs);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  Type x(DType::f32, {3}), start = Type::scalar(DType::f32);
  EXPECT_NE(message(x, x, attrs_of(0, "add", false)).find("the start of"), std::string::npos);
  EXPECT_NE(message(x, start, attrs_of(1, "add", false)).find("dimension 1"), std::string::npos);
  EXPECT_NE(message(x, start, attrs_of(0, "region", false)).find("combiner"), std::string::npos);
  EXPECT_NE(message(x, start, attrs_of(0, "and", false)).find("combiner and"), std::string::npos);
  EXPECT_NE(message(Type(DType::c64, {3}), Type::scalar(DType::c64), attrs_of(0, "add", false))
                .find("no sums"),
            std::string::npos);
  EXPECT_NE(
      message(x, start, attrs_of(0, "add", false).set("block", std::int64_t{-1})).find("block"),
      std::string::npos);
}

}  // namespace
}  // namespace strata::op
