#include "strata/op/reduce/reduce.h"

#include <gtest/gtest.h>

#include <limits>

#include "strata/base/error.h"
#include "strata/ir/text/parser.h"
#include "strata/op/build.h"
#include "strata/op/calculus/linearize.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::build;
using testing::run;

Attrs reduce_attrs(const Ints& dims, const std::string& combiner) {
  return {{"dimensions", dims}, {"combiner", combiner}};
}
Value* reduced(Builder& b, const Values& v, const Ints& dims, const std::string& combiner) {
  return b.create("stablehlo.reduce", v, reduce_attrs(dims, combiner)).result();
}

/// What distinguishes spellings of an argument maximum, for the recogniser.
struct Spelling {
  std::string direction = "GT", nan = "NE", tie = "EQ", order = "LT";
  bool swapped = false;      // operands of `or` and `and` the other way round, comparisons mirrored
  bool total_order = false;  // the value comparison is a total order
  bool picks_new = false;    // the selected values change places
  bool tie_first = false;    // the value is selected by the index's predicate too
};

std::unique_ptr<Block> arg_region(DType dtype, const Spelling& s = {}) {
  return build(
      {Type::scalar(dtype), Type::scalar(DType::i32), Type::scalar(dtype),
       Type::scalar(DType::i32)},
      [&](Builder& b, const Values& v) {
        auto either = [&](Value* x, Value* y) { return s.swapped ? or_(b, y, x) : or_(b, x, y); };
        auto both = [&](Value* x, Value* y) { return s.swapped ? and_(b, y, x) : and_(b, x, y); };
        auto compared = [&](Value* x, Value* y, std::string d) {
          if (s.swapped && (d == "GT" || d == "LT")) {
            std::swap(x, y);
            d = d == "GT" ? "LT" : "GT";
          }
          return compare(b, x, y, d);
        };
        Value* beats = compared(v[0], v[2], s.direction);
        if (s.total_order) beats->op()->attrs.set("compare_type", std::string("TOTALORDER"));
        Value* first = s.nan.empty() ? beats : either(beats, compared(v[0], v[0], s.nan));
        Value* chosen =
            either(first, both(compared(v[0], v[2], s.tie), compared(v[1], v[3], s.order)));
        Value* value = s.picks_new ? select(b, first, v[2], v[0])
                                   : select(b, s.tie_first ? chosen : first, v[0], v[2]);
        return Values{value, select(b, chosen, v[1], v[3])};
      });
}

std::unique_ptr<Block> sum_region(DType dtype) {
  return build({Type::scalar(dtype), Type::scalar(dtype)},
               [](Builder& b, const Values& v) { return Values{add(b, v[0], v[1])}; });
}
/// current * 0.5 - new: neither commutative nor associative.
std::unique_ptr<Block> other_region() {
  Type scalar = Type::scalar(DType::f32);
  return build({scalar, scalar}, [](Builder& b, const Values& v) {
    return Values{sub(b, mul(b, v[0], op::scalar(b, DType::f32, 0.5)), v[1])};
  });
}
std::vector<std::unique_ptr<Block>> one(std::unique_ptr<Block> region) {
  std::vector<std::unique_ptr<Block>> out;
  out.push_back(std::move(region));
  return out;
}
Values arg_extremum_of(Builder& b, const Values& v, const Ints& dims,
                       const Spelling& spelling = {}) {
  return b
      .create("stablehlo.reduce", v, reduce_attrs(dims, "region"),
              one(arg_region(v[0]->dtype(), spelling)))
      .results();
}

Literal neutral(const char* combiner, DType dtype) {
  return initial_value(*parse_combiner(combiner), dtype);
}

Literal counting(const Type& type, int dim) {
  Literal out(type);
  std::int64_t stride = type.shape().strides()[static_cast<std::size_t>(dim)];
  for (std::int64_t i = 0; i < out.count(); ++i) out.set_integer(i, i / stride % type.shape()[dim]);
  return out;
}

/// Changes nothing among small numbers, and is finite, so that differences can be taken around it.
Literal start(const char* combiner, DType dtype) {
  if (is_float(dtype) && (combiner == std::string("min") || combiner == std::string("max")))
    return Literal::full(Type::scalar(dtype), combiner[1] == 'i' ? 100 : -100);
  return neutral(combiner, dtype);
}

const bool samples = add_samples("stablehlo.reduce", [](std::vector<Sample>& out) {
  for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i8,
                      DType::ui32, DType::i64})
    for (const char* combiner : {"add", "mul", "min", "max"})
      out.push_back(
          {.what = combiner,
           .operands = {random_literal(Type(dtype, {3, 4, 5}), 1, -3, 3), start(combiner, dtype)},
           .attrs = reduce_attrs({1}, combiner)});
  for (DType dtype : {DType::i1, DType::i32, DType::ui8})
    for (const char* combiner : {"and", "or", "xor"})
      out.push_back(
          {.what = combiner,
           .operands = {random_literal(Type(dtype, {3, 4}), 2, -3, 3), start(combiner, dtype)},
           .attrs = reduce_attrs({1}, combiner)});
  for (const char* combiner : {"add", "mul", "min", "max"}) {
    Literal init = Literal::scalar(1.25f), x = random_literal(Type(DType::f32, {3, 4, 5}), 3);
    out.push_back({.what = "several dimensions",
                   .operands = {x, start(combiner, DType::f32)},
                   .attrs = reduce_attrs({2, 0}, combiner)});
    out.push_back(
        {.what = "an initial value", .operands = {x, init}, .attrs = reduce_attrs({2}, combiner)});
    out.push_back({.what = "all",
                   .operands = {x, start(combiner, DType::f32)},
                   .attrs = reduce_attrs({0, 1, 2}, combiner)});
    out.push_back({.what = "none", .operands = {x, init}, .attrs = reduce_attrs({}, combiner)});
    out.push_back({.what = "empty",
                   .operands = {random_literal(Type(DType::f32, {3, 0}), 3), init},
                   .attrs = reduce_attrs({1}, combiner)});
  }
  out.push_back(
      {.what = "longer than a chunk",
       .operands = {random_literal(Type(DType::f32, {2, 4099}), 4), Literal::scalar(0.0f)},
       .attrs = reduce_attrs({1}, "add"),
       .smooth = false});
  out.push_back({.what = "longer than a chunk, columns",
                 .operands = {random_literal(Type(DType::f32, {515, 3}), 4), Literal::scalar(0.0f)},
                 .attrs = reduce_attrs({0}, "add"),
                 .smooth = false});
  out.push_back({.what = "edges",
                 .operands = {edge_literal(DType::f32), Literal::scalar(0.0f)},
                 .attrs = reduce_attrs({0}, "max"),
                 .smooth = false});
  out.push_back({.what = "region",
                 .operands = {random_literal(Type(DType::f32, {3, 4}), 5), Literal::scalar(0.5f)},
                 .attrs = reduce_attrs({0}, "region"),
                 .regions = [] { return one(other_region()); },
                 .smooth = false});
  for (const char* combiner : {"min", "max"})
    out.push_back(
        {.what = "from infinity",
         .operands = {random_literal(Type(DType::f32, {3, 4}), 2), neutral(combiner, DType::f32)},
         .attrs = reduce_attrs({1}, combiner),
         .smooth = false});
  for (DType dtype : {DType::f32, DType::i32, DType::bf16}) {
    Type type(dtype, {3, 5}), index(DType::i32, {3, 5});
    out.push_back({.what = "argument maximum",
                   .operands = {random_literal(type, 6), counting(index, 1), start("max", dtype),
                                Literal::scalar(0)},
                   .attrs = reduce_attrs({1}, "region"),
                   .regions = [dtype] { return one(arg_region(dtype)); }});
  }
});

// ---- order -------------------------------------------------------------------------------------

TEST(ReduceOrder, ShapeAloneDecides) {
  Type type(DType::f32, {7, 5000});
  EXPECT_EQ(reduce_order(type, std::vector<int>{1}).lanes, 32);
  EXPECT_EQ(reduce_order(type, std::vector<int>{1}).chunks(), 2);
  EXPECT_EQ(reduce_order(type, std::vector<int>{0}).lanes, 1);
  EXPECT_EQ(reduce_order(Type(DType::f32, {7, 50, 1, 1}), std::vector<int>{1}).lanes, 32)
      << "what has one element lies nowhere";
  EXPECT_EQ(reduce_order(Type(DType::f32, {7, 50, 1, 1}), std::vector<int>{0, 3}).lanes, 1);
  EXPECT_EQ(reduce_order(type, std::vector<int>{0, 1}).count, 35000);
  EXPECT_EQ(reduce_order(Type(DType::f32, {0}), std::vector<int>{0}).chunks(), 0);
}

TEST(ReduceOrder, RowsGoByLanesThenHalves) {
  // 1e8 swallows small numbers, so the sum tells the order: lane 0 holds 1e8 + 1 (lost), lane 16
  // holds -1e8 + 1 (lost).
  std::vector<float> x(64, 0.0f);
  x[0] = 1e8f, x[32] = 1, x[16] = -1e8f, x[48] = 1, x[1] = 3;
  auto sum = [](Builder& b, const Values& v) { return Values{reduce_sum(b, v[0], {0})}; };
  EXPECT_EQ(run({Literal::of<float>({64}, x)}, sum)[0].number(0), 3.0);
}

TEST(ReduceOrder, ColumnsGoInSequence) {
  auto sum = [](Builder& b, const Values& v) { return Values{reduce_sum(b, v[0], {0})}; };
  Literal y = run({Literal::of<float>({4, 2}, {1e8f, 1e8f, 1, 1, -1e8f, -1e8f, 1, 1})}, sum)[0];
  EXPECT_EQ(y.number(0), 1.0);
  auto one = [](Builder& b, const Values& v) {
    return Values{reduce_in_sequence(b, v[0], scalar(b, DType::f32, 0), Combiner::add)};
  };
  EXPECT_EQ(run({Literal::of<float>({4, 1}, {1e8f, 1, -1e8f, 1})}, one)[0].number(0), 1.0);
}

TEST(ReduceOrder, LongSumsGoByPiecesThatMeetInDouble) {
  const std::vector<int> rows{0};
  EXPECT_FALSE(reduce_order(Type(DType::f32, {65535}), rows).is_long());
  EXPECT_EQ(reduce_order(Type(DType::f32, {65536}), rows).piece, 512);
  EXPECT_EQ(reduce_order(Type(DType::bf16, {65536, 2}), rows).piece, 32);
  EXPECT_FALSE(reduce_order(Type(DType::f64, {65536}), rows).is_long());
  // 1 is lost beside 1e8 within a lane, and not in another piece or chunk.
  auto sum = [](Builder& b, const Values& v) { return Values{reduce_sum(b, v[0], {0})}; };
  auto total = [&](std::int64_t n, std::int64_t apart, std::int64_t columns) {
    std::vector<float> x(static_cast<std::size_t>(n * columns), 0.0f);
    for (std::int64_t i = 0; i < columns; ++i) {
      auto at = [&](std::int64_t k) -> float& {
        return x[static_cast<std::size_t>(k * columns + i)];
      };
      at(0) = 1e8f, at(apart) = 1, at(n - 1) = -1e8f;
    }
    const Shape shape = columns > 1 ? Shape{n, columns} : Shape{n};
    return run({Literal::of<float>(shape, x)}, sum)[0].number(0);
  };
  EXPECT_EQ(total(65536, 480, 1), 0.0);
  EXPECT_EQ(total(65536, 512, 1), 1.0);
  EXPECT_EQ(total(65536, 4096, 1), 1.0);
  EXPECT_EQ(total(65536, 31, 2), 0.0);
  EXPECT_EQ(total(65536, 32, 2), 1.0);
  EXPECT_EQ(total(65536, 256, 2), 1.0);
}

TEST(ReduceOrder, NarrowFloatsRoundOnce) {
  std::vector<float> ones(1001,
                          1.0f);  // bf16 steps by 8 there: rounding each time would stop at 256
  auto sum = [](Builder& b, const Values& v) {
    return Values{reduce_sum(b, convert(b, v[0], DType::bf16), {0})};
  };
  EXPECT_EQ(run({Literal::of<float>({1001}, ones)}, sum)[0].number(0), 1000.0);
}

TEST(Reduce, SumOfNegativeZerosKeepsTheSign) {
  auto sum = [](Builder& b, const Values& v) { return Values{reduced(b, v, {0}, "add")}; };
  Literal y = run({Literal::of<float>({3}, {-0.0f, -0.0f, -0.0f}), Literal::scalar(-0.0f)}, sum)[0];
  EXPECT_TRUE(std::signbit(y.number(0)));
}

TEST(Reduce, ExtremaPropagateNan) {
  for (const char* combiner : {"min", "max"}) {
    auto f = [&](Builder& b, const Values& v) { return Values{reduced(b, v, {0}, combiner)}; };
    Literal y = run({Literal::of<float>({3}, {1, std::numeric_limits<float>::quiet_NaN(), 2}),
                     Literal::scalar(0.0f)},
                    f)[0];
    EXPECT_TRUE(std::isnan(y.number(0))) << combiner;
  }
}

TEST(Reduce, BooleansAddAsOr) {
  auto f = [](Builder& b, const Values& v) { return Values{reduced(b, v, {0}, "add")}; };
  EXPECT_EQ(
      run({Literal::of<bool>({3}, {true, true, false}), Literal::scalar(false)}, f)[0].integer(0),
      1);
}

// ---- argument maxima ---------------------------------------------------------------------------

TEST(ArgExtremum, RecognisesJaxSpellings) {
  EXPECT_TRUE(arg_extremum(*arg_region(DType::f32))->maximum);
  EXPECT_TRUE(arg_extremum(*arg_region(DType::bf16, {.swapped = true}))->maximum);
  EXPECT_FALSE(arg_extremum(*arg_region(DType::f32, {.direction = "LT"}))->maximum);
  EXPECT_FALSE(
      arg_extremum(*arg_region(DType::f32, {.direction = "LT", .swapped = true}))->maximum);
  EXPECT_TRUE(is_arg_extremum(*arg_region(DType::i32)));
  EXPECT_TRUE(is_arg_extremum(*arg_region(DType::i32, {.nan = ""})));
  EXPECT_TRUE(arg_extremum(*arg_region(DType::i1, {.nan = ""}))->maximum);
}

TEST(ArgExtremum, RecognisesWhatJaxPrints) {
  auto module = ir::parse(R"(
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2xi32> {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
      %1:2 = stablehlo.reduce(%x init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
       reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
        %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %4 = stablehlo.or %2, %3 : tensor<i1>
        %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %7 = stablehlo.and %5, %6 : tensor<i1>
        %8 = stablehlo.or %4, %7 : tensor<i1>
        %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
        %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
        stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
      }
      return %1#1 : tensor<2xi32>
    })");
  ASSERT_TRUE(module.ok()) << module.status().message();
  const Block& body = (*module)->entry()->body;
  EXPECT_TRUE(arg_extremum(body.results[0]->op()->region(0))->maximum);
  Literal y = evaluate(body, Literals{Literal::of<float>({2, 3}, {1, 5, 5, 7, 2, 7})})[0];
  EXPECT_TRUE(testing::same(y, Literal::of<std::int32_t>({2}, {1, 0})));
}

TEST(ArgExtremum, RefusesNearMisses) {
  EXPECT_FALSE(
      is_arg_extremum(*arg_region(DType::f32, {.nan = ""})));  // NaN would depend on the order
  EXPECT_FALSE(is_arg_extremum(*arg_region(DType::f32, {.nan = "EQ"})));
  EXPECT_FALSE(
      is_arg_extremum(*arg_region(DType::f32, {.direction = "GE"})));  // ties go to the first seen
  EXPECT_FALSE(is_arg_extremum(*arg_region(DType::f32, {.tie = "NE"})));
  EXPECT_FALSE(is_arg_extremum(*arg_region(DType::f32, {.order = "GT"})));  // the last index
  EXPECT_FALSE(is_arg_extremum(*arg_region(DType::f32, {.order = "LE"})));
  EXPECT_FALSE(is_arg_extremum(*arg_region(DType::f32, {.total_order = true})));
  EXPECT_FALSE(is_arg_extremum(*arg_region(DType::f32, {.picks_new = true})));
  EXPECT_FALSE(is_arg_extremum(
      *arg_region(DType::f32, {.tie_first = true})));  // another predicate for the value
  EXPECT_FALSE(is_arg_extremum(*sum_region(DType::f32)));
}

TEST(ArgExtremum, FirstOfEqualsAndNanWin) {
  float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  Literal x = Literal::of<float>(
      {4, 4}, {1, 7, 7, 2, nan, 9, nan, 1, -inf, -inf, -inf, -inf, -1, -2, -3, -1});
  Literals in{x, counting(Type(DType::i32, {4, 4}), 1), Literal::scalar(-inf), Literal::scalar(0)};
  Literals y = run(in, [](Builder& b, const Values& v) { return arg_extremum_of(b, v, {1}); });
  EXPECT_EQ(
      std::vector<std::int32_t>(y[1].span<std::int32_t>().begin(), y[1].span<std::int32_t>().end()),
      (std::vector<std::int32_t>{1, 0, 0, 0}));
  in[2] = Literal::scalar(inf);
  y = run(in, [](Builder& b, const Values& v) {
    return arg_extremum_of(b, v, {1}, {.direction = "LT"});
  });
  EXPECT_EQ(
      std::vector<std::int32_t>(y[1].span<std::int32_t>().begin(), y[1].span<std::int32_t>().end()),
      (std::vector<std::int32_t>{0, 0, 0, 2}));
}

TEST(ArgExtremum, IsWhatTheSequenceGives) {
  // The same region, hidden from the recogniser by a comparison it does not know, runs in sequence.
  Literal x = random_literal(Type(DType::f32, {6, 50}), 9, -4, 4);
  for (std::int64_t i = 0; i < x.count(); ++i)
    x.set_number(i, std::round(x.number(i)) + 0.5);  // many ties, no zeros
  x.set_number(17, std::nan("")), x.set_number(20, std::nan(""));
  Literals in{x, counting(Type(DType::i32, {6, 50}), 1),
              Literal::scalar(-std::numeric_limits<float>::infinity()), Literal::scalar(0)};
  auto known = run(in, [](Builder& b, const Values& v) { return arg_extremum_of(b, v, {1}); });
  auto sequence = run(in, [](Builder& b, const Values& v) {
    auto region = build(
        {Type::scalar(DType::f32), Type::scalar(DType::i32), Type::scalar(DType::f32),
         Type::scalar(DType::i32)},
        [](Builder& rb, const Values& a) {
          Value* first = or_(rb, not_(rb, compare(rb, a[0], a[2], "LE")),
                             compare(rb, a[0], a[0], "NE"));  // not LE is GT but for NaN
          first = and_(rb, first,
                       or_(rb, compare(rb, a[2], a[2], "EQ"), compare(rb, a[0], a[0], "NE")));
          Value* chosen = or_(
              rb, first, and_(rb, compare(rb, a[0], a[2], "EQ"), compare(rb, a[1], a[3], "LT")));
          return Values{select(rb, first, a[0], a[2]), select(rb, chosen, a[1], a[3])};
        });
    EXPECT_FALSE(is_arg_extremum(*region));
    return b.create("stablehlo.reduce", v, reduce_attrs({1}, "region"), one(std::move(region)))
        .results();
  });
  EXPECT_TRUE(testing::same(known[0], sequence[0]));
  EXPECT_TRUE(testing::same(known[1], sequence[1]));
}

// ---- derivatives -------------------------------------------------------------------------------

TEST(ReduceJvp, TiesShareTheTangent) {
  auto f = [](Builder& b, const Values& v) { return Values{reduced(b, v, {0}, "max")}; };
  Literals y = testing::run_jvp({Literal::of<float>({4}, {1, 3, 3, 2}),
                                 Literal::scalar(-std::numeric_limits<float>::infinity())},
                                {Literal::of<float>({4}, {10, 20, 40, 80}), std::nullopt}, f);
  EXPECT_EQ(y[1].number(0), 30.0);
}

TEST(ReduceJvp, NeutralConstantsAreNoCandidates) {
  Literal x = Literal::full(Type(DType::f32, {2}), -std::numeric_limits<float>::infinity()),
          t = Literal::of<float>({2}, {1, 3});
  Literals y = run({x, t}, [](Builder& b, const Values& v) {
    const Op& op = *reduce_max(b, v[0], {0})->op();
    Values operands{v[0], op.operand(1)}, tangents{v[1], nullptr};
    return (*def(op).jvp)(b, op, operands, tangents).tangents;
  });
  EXPECT_EQ(y[0].number(0), 2.0);
}

TEST(ReduceJvp, ProductWithZeros) {
  auto f = [](Builder& b, const Values& v) { return Values{reduced(b, v, {0}, "mul")}; };
  Literals y = testing::run_jvp({Literal::of<float>({3}, {2, 0, 5}), Literal::scalar(3.0f)},
                                {Literal::of<float>({3}, {1, 1, 1}), std::nullopt}, f);
  EXPECT_EQ(y[0].number(0), 0.0);
  EXPECT_EQ(y[1].number(0), 30.0);
}

TEST(ReduceJvp, ArgumentMaximumCarriesTheWinnersTangent) {
  Literals in{Literal::of<float>({3}, {1, 5, 5}), Literal::of<std::int32_t>({3}, {0, 1, 2}),
              Literal::scalar(-std::numeric_limits<float>::infinity()), Literal::scalar(0)};
  Literals y = testing::run_jvp(
      in, {Literal::of<float>({3}, {1, 2, 4}), std::nullopt, std::nullopt, std::nullopt},
      [](Builder& b, const Values& v) { return arg_extremum_of(b, v, {0}); });
  ASSERT_EQ(y.size(), 3u);  // the index has no tangent
  EXPECT_EQ(y[2].number(0), 2.0);
}

/// d/dx_k of ((1 + x_0) x_0 + x_1) x_1 + x_2) x_2 ..., backwards: acc -> (acc + x) x.
TEST(ReduceVjp, GeneralRegionsToo) {
  Type scalar = Type::scalar(DType::f64), vector(DType::f64, {2});
  auto region = [&] {
    return build({scalar, scalar}, [](Builder& b, const Values& v) {
      return Values{mul(b, add(b, v[0], v[1]), v[1])};
    });
  };
  auto f = build({vector, scalar}, [&](Builder& b, const Values& v) {
    return b.create("stablehlo.reduce", v, reduce_attrs({0}, "region"), one(region())).results();
  });
  Literals y = run({Literal::of<double>({2}, {2, 3}), Literal::scalar(1.0), Literal::scalar(1.0)},
                   [&](Builder& b, const Values& v) {
                     LinearBlock l = linearize(b, *f, {v.begin(), 2}, {true, true});
                     return transpose(b, *l.linear, {&v[2], 1});
                   });
  // acc_1 = (1 + 2) 2 = 6, acc_2 = (6 + 3) 3 = 27; d acc_2 = 3 d acc_1 + (6 + 2 3) dx_1, d acc_1 =
  // 2 d acc_0 + (1 + 2 2) dx_0
  EXPECT_TRUE(testing::same(y[0], Literal::of<double>({2}, {15, 12}))) << testing::to_text(y[0]);
  EXPECT_EQ(y[1].number(0), 6.0);
}

TEST(ReduceJvp, GeneralRegionsAreDifferentiatedStepByStep) {
  Literals y = testing::run_jvp(
      {Literal::of<float>({3}, {1, 5, 5}), Literal::scalar(0.0f)},
      {Literal::of<float>({3}, {1, 2, 4}), std::nullopt}, [](Builder& b, const Values& v) {
        return b
            .create("stablehlo.reduce", v, reduce_attrs({0}, "region"), one(sum_region(DType::f32)))
            .results();
      });
  EXPECT_EQ(y[0].number(0), 11.0);
  EXPECT_EQ(y[1].number(0), 7.0);
}

// ---- constraints -------------------------------------------------------------------------------

TEST(ReduceInfer, RefusesBrokenConstraints) {
  auto with = [](const std::vector<Type>& types, const Ints& dims, const std::string& combiner) {
    build(types, [&](Builder& b, const Values& v) {
      return b.create("stablehlo.reduce", v, reduce_attrs(dims, combiner)).results();
    });
  };
  Type x(DType::f32, {2, 3}), scalar = Type::scalar(DType::f32);
  EXPECT_THROW(with({x, Type::scalar(DType::f64)}, {0}, "add"), Error);  // C2
  EXPECT_THROW(with({x}, {0}, "add"), Error);                            // C3
  EXPECT_THROW(with({x, scalar}, {0, 0}, "add"), Error);                 // C5
  EXPECT_THROW(with({x, scalar}, {2}, "add"), Error);                    // C4
  EXPECT_THROW(with({x, scalar}, {0}, "region"), Error);                 // C6
  EXPECT_THROW(with({x, scalar}, {0}, "and"), Error);
  EXPECT_THROW(with({x, scalar}, {0}, "average"), Error);
  EXPECT_THROW(with({x, x, scalar, scalar}, {0}, "add"), Error);
}

}  // namespace
}  // namespace strata::op
