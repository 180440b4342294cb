#include "strata/op/index/scatter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::run;
using testing::run_both;

Attrs scatter_attrs(const IndexDims& dims, const std::string& combiner, bool unique = false) {
  Attrs attrs{{"combiner", combiner}, {"indices_are_sorted", false}, {"unique_indices", unique}};
  set_scatter_dims(attrs, dims);
  return attrs;
}
testing::Program scattered(const Attrs& attrs) {
  return [attrs](Builder& b, const Values& v) {
    return Values{b.create("stablehlo.scatter", v, attrs).result()};
  };
}

const IndexDims kRows{.window = {1},
                      .dropped = {0},
                      .operand_batch = {},
                      .indices_batch = {},
                      .index_map = {0},
                      .index_vector = 1};
const IndexDims kElements{.window = {},
                          .dropped = {0},
                          .operand_batch = {},
                          .indices_batch = {},
                          .index_map = {0},
                          .index_vector = 1};
/// Windows of two dimensions, components swapped.
const IndexDims kWindows{.window = {0, 2},
                         .dropped = {},
                         .operand_batch = {},
                         .indices_batch = {},
                         .index_map = {1, 0},
                         .index_vector = 1};
const IndexDims kBatched{.window = {2},
                         .dropped = {},
                         .operand_batch = {0, 1},
                         .indices_batch = {1, 0},
                         .index_map = {2},
                         .index_vector = 2};

std::vector<std::unique_ptr<Block>> difference_region() {
  std::vector<std::unique_ptr<Block>> out;
  Type scalar = Type::scalar(DType::f32);
  out.push_back(testing::build({scalar, scalar}, [](Builder& b, const Values& v) {
    return Values{sub(b, mul(b, v[0], op::scalar(b, DType::f32, 0.5)), v[1])};
  }));
  return out;
}

/// (a, b, c, d) -> (b c, a + d)
std::vector<std::unique_ptr<Block>> exchange_region() {
  std::vector<std::unique_ptr<Block>> out;
  Type scalar = Type::scalar(DType::f64);
  out.push_back(testing::build({scalar, scalar, scalar, scalar}, [](Builder& b, const Values& v) {
    return Values{mul(b, v[1], v[2]), add(b, v[0], v[3])};
  }));
  return out;
}

const bool samples = add_samples("stablehlo.scatter", [](std::vector<Sample>& out) {
  Literal rows = Literal::of<std::int32_t>({4, 1}, {2, 0, 2, 1}),
          distinct = Literal::of<std::int32_t>({2, 1}, {2, 0});
  for (DType t :
       {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i8, DType::ui64})
    for (const char* combiner : {"add", "min", "max", "assign"})
      out.push_back({.what = combiner,
                     .operands = {random_literal(Type(t, {3, 5}), 1, 0, 9), rows,
                                  random_literal(Type(t, {4, 5}), 2, 0, 9)},
                     .attrs = scatter_attrs(kRows, combiner)});
  for (const char* combiner : {"and", "or", "xor", "assign"})
    out.push_back({.what = combiner,
                   .operands = {random_literal(Type(DType::i1, {3, 5}), 1), rows,
                                random_literal(Type(DType::i1, {4, 5}), 2)},
                   .attrs = scatter_attrs(kRows, combiner)});
  Literal x = random_literal(Type(DType::f32, {3, 5}), 3);
  out.push_back({.what = "unique product",
                 .operands = {x, distinct, random_literal(Type(DType::f32, {2, 5}), 4)},
                 .attrs = scatter_attrs(kRows, "mul", true)});
  out.push_back({.what = "repeated product of constants",
                 .operands = {random_literal(Type(DType::i32, {3, 5}), 3), rows,
                              random_literal(Type(DType::i32, {4, 5}), 4)},
                 .attrs = scatter_attrs(kRows, "mul")});
  out.push_back({.what = "unique assignment",
                 .operands = {x, distinct, random_literal(Type(DType::f32, {2, 5}), 4)},
                 .attrs = scatter_attrs(kRows, "assign", true)});
  for (const char* combiner : {"add", "assign", "max"}) {
    out.push_back({.what = "outside",
                   .operands = {x, Literal::of<std::int32_t>({4, 1}, {-1, 3, 1, 1000000}),
                                random_literal(Type(DType::f32, {4, 5}), 5)},
                   .attrs = scatter_attrs(kRows, combiner)});
    out.push_back({.what = "overlapping windows that stick out",
                   .operands = {x, Literal::of<std::int32_t>({4, 2}, {1, 0, 3, 2, 2, 1, -1, -1}),
                                random_literal(Type(DType::f32, {2, 4, 3}), 6)},
                   .attrs = scatter_attrs(kWindows, combiner)});
    out.push_back({.what = "batching dimensions",
                   .operands = {random_literal(Type(DType::f32, {2, 3, 4}), 7),
                                Literal::of<std::int32_t>({3, 2, 1}, {0, 3, 1, 2, 2, 5}),
                                random_literal(Type(DType::f32, {3, 2, 2}), 8)},
                   .attrs = scatter_attrs(kBatched, combiner)});
    out.push_back({.what = "elements",
                   .operands = {random_literal(Type(DType::f32, {6}), 9),
                                Literal::of<std::int8_t>({5, 1}, {5, 0, 5, 3, 5}),
                                random_literal(Type(DType::f32, {5}), 10)},
                   .attrs = scatter_attrs(kElements, combiner)});
  }
  out.push_back({.what = "unsigned indices without a vector dimension",
                 .operands = {x, Literal::of<std::uint32_t>({2}, {2, 4000000000u}),
                              random_literal(Type(DType::f32, {2, 5}), 11)},
                 .attrs = scatter_attrs({{1}, {0}, {}, {}, {0}, 1}, "add")});
  out.push_back(
      {.what = "no updates",
       .operands = {x, Literal(Type(DType::i32, {0, 1})), Literal(Type(DType::f32, {0, 5}))},
       .attrs = scatter_attrs(kRows, "add")});
  out.push_back({.what = "region",
                 .operands = {x, rows, random_literal(Type(DType::f32, {4, 5}), 12)},
                 .attrs = scatter_attrs(kRows, "region"),
                 .regions = difference_region});
  out.push_back({.what = "two arrays",
                 .operands = {random_literal(Type(DType::f64, {3, 5}), 13),
                              random_literal(Type(DType::f64, {3, 5}), 14), rows,
                              random_literal(Type(DType::f64, {4, 5}), 15),
                              random_literal(Type(DType::f64, {4, 5}), 16)},
                 .attrs = scatter_attrs(kRows, "region"),
                 .regions = exchange_region});
});

TEST(Scatter, AddsRepeatedRowsAndSkipsOthers) {
  Literal x = Literal::of<float>({3, 2}, {0, 1, 10, 11, 20, 21}),
          u = Literal::of<float>({4, 2}, {1, 1, 2, 2, 4, 4, 8, 8});
  Literal y = run_both({x, Literal::of<std::int32_t>({4, 1}, {2, -1, 2, 3}), u},
                       scattered(scatter_attrs(kRows, "add")))[0];
  EXPECT_TRUE(testing::same(y, Literal::of<float>({3, 2}, {0, 1, 10, 11, 25, 26})))
      << testing::to_text(y);
}

TEST(Scatter, TheLastAssignmentWins) {
  Literal y =
      run_both({Literal(Type(DType::i32, {3})), Literal::of<std::int32_t>({3, 1}, {1, 1, 2}),
                Literal::of<std::int32_t>({3}, {5, 6, 7})},
               scattered(scatter_attrs(kElements, "assign")))[0];
  EXPECT_TRUE(testing::same(y, Literal::of<std::int32_t>({3}, {0, 6, 7})));
}

TEST(Scatter, WindowsThatStickOutAreDropped) {
  IndexDims dims{.window = {1},
                 .dropped = {},
                 .operand_batch = {},
                 .indices_batch = {},
                 .index_map = {0},
                 .index_vector = 1};
  Literal y =
      run_both({Literal(Type(DType::i32, {4})), Literal::of<std::int32_t>({3, 1}, {-1, 1, 2}),
                Literal::of<std::int32_t>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})},
               scattered(scatter_attrs(dims, "add")))[0];
  EXPECT_TRUE(testing::same(y, Literal::of<std::int32_t>({4}, {0, 4, 5, 6})))
      << testing::to_text(y);
}

TEST(Scatter, NarrowFloatsRoundAtEachUpdate) {
  Literal x = Literal::full(Type(DType::bf16, {1}), 256),
          u = Literal::full(Type(DType::bf16, {2}), 1);
  EXPECT_EQ(run_both({x, Literal(Type(DType::i32, {2, 1})), u},
                     scattered(scatter_attrs(kElements, "add")))[0]
                .number(0),
            256);
}

TEST(Scatter, LoweringAgreesOnAllSamples) {
  for (const Sample& s : registered_samples_of("stablehlo.scatter"))
    run_both(s.operands, [&](Builder& b, const Values& v) {
      return b
          .create("stablehlo.scatter", v, s.attrs,
                  s.regions ? s.regions() : std::vector<std::unique_ptr<Block>>())
          .results();
    });
}

TEST(Scatter, WorkIsCutWhereUpdatesCannotMeet) {
  auto grid = [](const std::vector<Type>& types, const IndexDims& dims) {
    auto block = testing::build(types, scattered(scatter_attrs(dims, "add")));
    return scatter_grid(*block->ops().back());
  };
  EXPECT_EQ(grid({Type(DType::f32, {8, 200}), Type(DType::i32, {9, 1}), Type(DType::f32, {9, 200})},
                 kRows),
            4);  // pieces of 64
  EXPECT_EQ(
      grid({Type(DType::f32, {8}), Type(DType::i32, {9, 1}), Type(DType::f32, {9})}, kElements), 1);
  EXPECT_EQ(grid({Type(DType::f32, {8, 8}), Type(DType::i32, {9, 2}), Type(DType::f32, {2, 9, 3})},
                 kWindows),
            1);
  EXPECT_EQ(
      grid({Type(DType::f32, {2, 3, 4}), Type(DType::i32, {3, 2, 1}), Type(DType::f32, {3, 2, 2})},
           kBatched),
      6);
}

TEST(Scatter, LongRowsAgree) {
  Literals in{random_literal(Type(DType::f32, {8, 200}), 1),
              random_literal(Type(DType::i32, {9, 1}), 2, 0, 8),
              random_literal(Type(DType::f32, {9, 200}), 3)};
  run_both(in, scattered(scatter_attrs(kRows, "add")));
}

/// <scatter(x, u), w> = <x, x'> + <u, u'> with (x', u') the transposes of w, in exact arithmetic;
/// true for add and assign.
void expect_adjoint(const Sample& s) {
  Literals in = s.operands;
  auto whole = [](Literal& v) {
    for (std::int64_t i = 0; i < v.count(); ++i) v.set_number(i, std::floor(4 * v.number(i)));
  };
  whole(in[0]), whole(in[2]);
  Literal w = random_literal(in[0].type(), 99);
  whole(w);
  auto inner = [](const Literal& a, const Literal& b) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.count(); ++i) sum += a.number(i) * b.number(i);
    return sum;
  };
  Literal y = run(in, scattered(s.attrs))[0];
  in.push_back(w);
  Literals ct = run(in, [&](Builder& b, const Values& v) {
    const Op& op = b.create("stablehlo.scatter", {v[0], v[1], v[2]}, s.attrs);
    Values operands{nullptr, v[1], nullptr}, cotangents{v[3]};
    Values out = (*def(op).transpose)(b, op, operands, {true, false, true}, cotangents);
    return Values{out[0], out[2]};
  });
  EXPECT_EQ(inner(y, w), inner(in[0], ct[0]) + inner(in[2], ct[1])) << s.what;
}

TEST(Scatter, TransposesAreAdjoint) {
  for (const Sample& s : registered_samples_of("stablehlo.scatter")) {
    const std::string& combiner = s.attrs.get<std::string>("combiner");
    if (s.operands[0].dtype() == DType::f32 && (combiner == "add" || combiner == "assign"))
      expect_adjoint(s);
  }
}

TEST(Scatter, TiedMaximaShareTheTangent) {
  Literals y = testing::run_jvp(
      {Literal::of<float>({2}, {3, 0}), Literal::of<std::int32_t>({2, 1}, {0, 0}),
       Literal::of<float>({2}, {1, 3})},
      {Literal::of<float>({2}, {10, 20}), std::nullopt, Literal::of<float>({2}, {40, 80})},
      scattered(scatter_attrs(kElements, "max")));
  EXPECT_TRUE(testing::same(y[1], Literal::of<float>({2}, {45, 20}))) << testing::to_text(y[1]);
}

TEST(Scatter, RepeatedProductsHaveNoDerivative) {
  EXPECT_THROW(
      testing::run_jvp({Literal::of<float>({2}, {3, 0}), Literal::of<std::int32_t>({2, 1}, {0, 0}),
                        Literal::of<float>({2}, {1, 3})},
                       {std::nullopt, std::nullopt, Literal::of<float>({2}, {40, 80})},
                       scattered(scatter_attrs(kElements, "mul"))),
      Error);
}

TEST(Scatter, RefusesBrokenConstraints) {
  auto with = [](const std::vector<Type>& types, const IndexDims& dims,
                 const std::string& combiner) {
    testing::build(types, scattered(scatter_attrs(dims, combiner)));
  };
  Type x(DType::f32, {3, 5}), i(DType::i32, {4, 1}), u(DType::f32, {4, 5});
  with({x, i, u}, kRows, "add");
  EXPECT_THROW(with({x, i}, kRows, "add"), Error);
  EXPECT_THROW(with({x, i, Type(DType::f32, {4, 6})}, kRows, "add"), Error);  // C4
  EXPECT_THROW(with({x, i, Type(DType::f32, {3, 5})}, kRows, "add"), Error);  // C4
  EXPECT_THROW(with({x, i, Type(DType::f64, {4, 5})}, kRows, "add"), Error);  // C6
  EXPECT_THROW(with({x, i, u}, kRows, "and"), Error);
  EXPECT_THROW(with({x, i, u}, kRows, "region"), Error);
  EXPECT_THROW(with({x, i, u}, kElements, "add"), Error);
}

/// One mistake in the numbers each, and what is stated of it.
TEST(Scatter, NamesTheConstraint) {
  auto message = [](const Type& x, const Type& i, const Type& u, IndexDims dims) -> std::string {
    try {
      testing::build({x, i, u}, scattered(scatter_attrs(dims, "add")));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  Type x(DType::f32, {2, 3, 4}), i(DType::i32, {3, 2, 1}), u(DType::f32, {3, 2, 2});
  EXPECT_EQ(message(x, i, u, kBatched), "");
  auto expect = [&](const char* said, void (*change)(IndexDims&)) {
    IndexDims dims = kBatched;
    change(dims);
    Type updates = dims.window.empty() ? Type(DType::f32, {3, 2}) : u;
    EXPECT_THAT(message(x, i, updates, dims), ::testing::HasSubstr(said));
  };
  expect("(C2)", [](IndexDims& d) { d.dropped = {2}; });
  expect("(C8)", [](IndexDims& d) { d.window = {7}; });
  expect("(C11)", [](IndexDims& d) { d.window = {}, d.dropped = {5}; });
  expect("(C9)", [](IndexDims& d) { d.window = {}, d.dropped = {0}; });
  expect("(C12)", [](IndexDims& d) { d.operand_batch = {1, 0}; });
  expect("(C13)", [](IndexDims& d) { d.operand_batch = {0, 9}; });
  expect("(C14)", [](IndexDims& d) { d.indices_batch = {0, 0}; });
  expect("(C15)", [](IndexDims& d) { d.indices_batch = {1, 9}; });
  expect("(C16)", [](IndexDims& d) { d.indices_batch = {1, 2}; });
  expect("(C17)", [](IndexDims& d) { d.indices_batch = {}; });
  expect("(C18)", [](IndexDims& d) { d.indices_batch = {0, 1}; });
  expect("(C19)", [](IndexDims& d) { d.index_map = {1, 2}; });
  expect("(C20)", [](IndexDims& d) { d.index_map = {0}; });
  expect("(C21)", [](IndexDims& d) { d.index_map = {4}; });
  expect("(C22)", [](IndexDims& d) { d.index_vector = 4; });
  EXPECT_THAT(message(x, i, Type(DType::f32, {3, 2}), kBatched), ::testing::HasSubstr("(C4)"));
  EXPECT_THAT(message(x, i, Type(DType::f64, {3, 2, 2}), kBatched), ::testing::HasSubstr("(C6)"));
}

}  // namespace
}  // namespace strata::op
