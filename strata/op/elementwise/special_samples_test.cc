// Samples of operations whose operands have roles (an order, a shape), and facts that no law says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "strata/base/error.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/catalog.h"
#include "strata/op/elementwise/function.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"

namespace strata::op {
namespace {

constexpr DType kFloats[] = {DType::bf16, DType::f16, DType::f32, DType::f64};

Literal list_of(DType dtype, const std::vector<double>& values) {
  Literal out(Type(dtype, {static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i)
    out.set_number(static_cast<std::int64_t>(i), values[i]);
  return out;
}

// No derivative in the order, so the laws of derivatives do not apply; the tests below stand for
// them.
const bool zeta_samples = add_samples("chlo.zeta", [](std::vector<Sample>& out) {
  for (DType t : kFloats) {
    Literal s = random_literal(Type(t, {3, 17}), 1, 1.1, 9),
            q = random_literal(Type(t, {3, 17}), 2, 0.1, 20);
    out.push_back({.what = "numbers", .operands = {s, q}, .smooth = false});
    out.push_back(
        {.what = "a scalar",
         .operands = {random_literal(Type(t, {}), 3, 2, 3), random_literal(Type(t, {}), 4, 1, 2)},
         .smooth = false});
    out.push_back({.what = "no elements",
                   .operands = {Literal(Type(t, {0, 4})), Literal(Type(t, {0, 4}))},
                   .smooth = false});
    out.push_back({.what = "left of zero, at poles",
                   .operands = {list_of(t, {2, 3, 4, 3, 2, 3, 2.5}),
                                list_of(t, {-0.5, -2.25, -7.5, -1, -1, 0, -3})},
                   .smooth = false});
    auto [left, right] = edge_pairs(t);
    out.push_back({.what = "edge values", .operands = {left, right}, .smooth = false});
  }
});

const bool polygamma_samples = add_samples("chlo.polygamma", [](std::vector<Sample>& out) {
  for (DType t : kFloats) {
    Literal n = list_of(t, {0, 1, 2, 3, 5, 8, 0, 1, 2}),
            x = list_of(t, {0.5, 1.5, 2.5, 0.1, 7, 3, -0.5, -1.25, -2.5});
    out.push_back({.what = "numbers", .operands = {n, x}, .smooth = false});
    out.push_back({.what = "a scalar",
                   .operands = {Literal::full(Type(t, {}), 1), Literal::full(Type(t, {}), 2)},
                   .smooth = false});
    out.push_back({.what = "no elements",
                   .operands = {Literal(Type(t, {0})), Literal(Type(t, {0}))},
                   .smooth = false});
    auto [left, right] = edge_pairs(t);
    out.push_back(
        {.what = "edge values, no whole orders", .operands = {left, right}, .smooth = false});
  }
});

const bool constant_like_samples = add_samples("chlo.constant_like", [](std::vector<Sample>& out) {
  Attrs half{{"value", Literal::full(Type(DType::f32, {}), 0.5)}};
  out.push_back({.what = "an array",
                 .operands = {random_literal(Type(DType::f32, {2, 3}), 1)},
                 .attrs = half});
  out.push_back(
      {.what = "a scalar", .operands = {random_literal(Type(DType::f32, {}), 1)}, .attrs = half});
  out.push_back({.what = "no elements, another type",
                 .operands = {Literal(Type(DType::i32, {0, 2}))},
                 .attrs = half});
});

/// f(order, x) and its derivative in x, in f64.
std::pair<double, double> value_and_slope(const char* op, double order, double x) {
  Block f, g;
  Builder in_f(f), in_g(g);
  Value *n = f.add_argument(Type(DType::f64, {})), *v = f.add_argument(Type(DType::f64, {}));
  f.results = in_f.create(def(op).info, {n, v}).results();
  Values operands{g.add_argument(Type(DType::f64, {})), g.add_argument(Type(DType::f64, {}))};
  JvpResult r = jvp(in_g, f, operands, Values{nullptr, full_like(in_g, operands[1], 1)});
  g.results = {r.results[0], r.tangents[0]};
  Literals out = evaluate(g, Literals{Literal::full(Type(DType::f64, {}), order),
                                      Literal::full(Type(DType::f64, {}), x)});
  return {out[0].number(0), out[1].number(0)};
}

TEST(Zeta, SlopeIsADifference) {
  for (const char* op : {"chlo.zeta", "chlo.polygamma"})
    for (double order : {2.0, 3.0, 5.0})
      for (double x : {0.3, 1.0, 2.5, 12.0}) {
        double h = 1e-6 * x, slope = value_and_slope(op, order, x).second;
        double difference =
            (value_and_slope(op, order, x + h).first - value_and_slope(op, order, x - h).first) /
            (2 * h);
        EXPECT_NEAR(slope / difference, 1, 1e-7) << op << " " << order << ", " << x;
      }
}

TEST(Zeta, HasNoSlopeInTheOrder) {
  for (const char* op : {"chlo.zeta", "chlo.polygamma"}) {
    Block f, g;
    Builder in_f(f), in_g(g);
    Value *n = f.add_argument(Type(DType::f64, {})), *v = f.add_argument(Type(DType::f64, {}));
    f.results = in_f.create(def(op).info, {n, v}).results();
    Values operands{g.add_argument(Type(DType::f64, {})), g.add_argument(Type(DType::f64, {}))};
    EXPECT_THROW(jvp(in_g, f, operands, Values{operands[0], nullptr}), Error) << op;
  }
}

TEST(ConstantLike, TakesAScalar) {
  Block block;
  Value* x = block.add_argument(Type(DType::f32, {2}));
  try {
    def("chlo.constant_like")
        .info.infer(Values{x}, Attrs{{"value", Literal(Type(DType::f32, {2}))}}, {});
    FAIL() << "accepted an array";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("value must be a scalar, got tensor<2xf32>"),
              std::string::npos)
        << error.what();
  }
}

/// Walks a narrow float type upward: each step reaches the next number, and stepping back returns.
TEST(NextAfter, VisitsEveryNarrowNumber) {
  for (DType t : {DType::f4E2M1FN, DType::f6E3M2FN, DType::f8E4M3FN, DType::f8E5M2,
                  DType::f8E4M3FNUZ, DType::f8E8M0FNU}) {
    std::vector<double> numbers;
    Literal all(Type(t, {1 << bit_width(t)}));
    for (std::int64_t i = 0; i < all.count(); ++i)
      all.mutable_data()[i] = static_cast<std::byte>(i);
    for (std::int64_t i = 0; i < all.count(); ++i)
      if (!std::isnan(all.number(i))) numbers.push_back(all.number(i));
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    Literal low(Type(t, {static_cast<std::int64_t>(numbers.size()) - 1})), high(low.type());
    for (std::int64_t i = 0; i < low.count(); ++i) {
      low.set_number(i, numbers[static_cast<std::size_t>(i)]);
      high.set_number(i, numbers[static_cast<std::size_t>(i) + 1]);
    }
    Block block;
    Builder b(block);
    Value *x = block.add_argument(low.type()), *y = block.add_argument(low.type());
    block.results = {next_after(b, x, y), next_after(b, y, x)};
    Literals got = evaluate(block, Literals{low, high});
    for (std::int64_t i = 0; i < low.count(); ++i) {
      EXPECT_EQ(got[0].number(i), high.number(i)) << name(t) << " above " << low.number(i);
      EXPECT_EQ(got[1].number(i), low.number(i)) << name(t) << " below " << high.number(i);
    }
  }
}

}  // namespace
}  // namespace strata::op
