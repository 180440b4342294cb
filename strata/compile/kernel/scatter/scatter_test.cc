// Scatters of many single elements, which use blocks, and of indices in order, which are cut for
// several threads: the bits of the reference evaluator.
#include "strata/op/index/scatter.h"

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using op::IndexDims;

const IndexDims kElements{.window = {},
                          .dropped = {0},
                          .operand_batch = {},
                          .indices_batch = {},
                          .index_map = {0},
                          .index_vector = 1};
const IndexDims kPairs{.window = {},
                       .dropped = {0, 1},
                       .operand_batch = {},
                       .indices_batch = {},
                       .index_map = {1, 0},
                       .index_vector = 1};
/// Two dimensions of updates and windows of one element.
const IndexDims kWindows{.window = {0},
                         .dropped = {},
                         .operand_batch = {},
                         .indices_batch = {},
                         .index_map = {0},
                         .index_vector = 2};

std::unique_ptr<Block> scattered(const Type& into, const Type& indices, const Shape& updates,
                                 const IndexDims& dims, const std::string& combiner, bool sorted) {
  auto f = std::make_unique<Block>();
  Builder b(*f);
  Value *x = f->add_argument(into), *i = f->add_argument(indices),
        *u = f->add_argument(into.with(updates));
  ir::Attrs attrs{
      {"combiner", combiner}, {"indices_are_sorted", sorted}, {"unique_indices", false}};
  op::set_scatter_dims(attrs, dims);
  f->results = {b.create("stablehlo.scatter", {x, i, u}, std::move(attrs)).result()};
  return f;
}

/// Numbers from -2 to `high` + 1, some of them outside, none where `inside`.
Literal indices(const Type& type, std::int64_t high, bool inside, bool sorted = false) {
  std::mt19937 random(7);
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < type.shape().count(); ++i)
    all.push_back(inside
                      ? static_cast<std::int64_t>(random() % static_cast<unsigned>(high))
                      : static_cast<std::int64_t>(random() % static_cast<unsigned>(high + 4)) - 2);
  if (sorted) std::sort(all.begin(), all.end());
  Literal out(type);
  for (std::size_t i = 0; i < all.size(); ++i)
    out.set_integer(static_cast<std::int64_t>(i), all[i]);
  return out;
}

void expect_reference(const Block& f, const Literal& indices) {
  const std::vector<Literal> given{testing::random_literal(f.argument(0)->type(), 1), indices,
                                   testing::random_literal(f.argument(2)->type(), 2)};
  const std::vector<Literal> expected = op::evaluate(f, given);
  testing::expect_same_bits(testing::run_plan(f, given), expected, "interpreted");
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    testing::expect_same_bits(testing::run_compiled(f, given), expected, "machine code");
  }
  set_num_threads(0);
  testing::expect_same_bits(testing::run_compiled(f, given, true), expected,
                            "machine code for any size");
}

TEST(Scatter, BlocksHaveTheReferencesBits) {
  for (std::int64_t n : {64, 70, 256, 800})
    for (bool inside : {true, false})
      for (const char* combiner : {"add", "max", "assign"}) {
        SCOPED_TRACE(std::to_string(n) + combiner);
        const Type single(DType::i32, {n, 1}), pairs(DType::i64, {n, 2}),
            windows(DType::i32, {2, n / 2, 1});
        expect_reference(
            *scattered(Type(DType::f32, {40}), single, {n}, kElements, combiner, false),
            indices(single, 40, inside));
        expect_reference(*scattered(Type(DType::bf16, {9, 7}), pairs, {n}, kPairs, combiner, false),
                         indices(pairs, 7, inside));
        expect_reference(
            *scattered(Type(DType::i8, {40}), windows, {1, 2, n / 2}, kWindows, combiner, false),
            indices(windows, 40, inside));
      }
}

std::int64_t points(const Block& f) { return op::scatter_grid(*f.ops().back()); }

/// Of many updates each of two points applies those of its half, and many meet. What is stated to
/// be in order is cut otherwise, and few updates not at all.
TEST(Scatter, ManyUpdatesHaveOwners) {
  const std::int64_t many = (1 << 15) + 43;  // a last block of strips and single ones
  const Type one(DType::i32, {many, 1}), two(DType::i64, {many, 2}), few(DType::i32, {1000, 1});
  for (DType type : {DType::f32, DType::bf16, DType::i8, DType::f64, DType::c64})
    for (const char* combiner : {"add", "assign"})
      for (std::int64_t size : {1, 2, 999, 1 << 20}) {
        SCOPED_TRACE(fmt::format("{} {} {}", name(type), combiner, size));
        const auto f = scattered(Type(type, {size}), one, {many}, kElements, combiner, false);
        EXPECT_EQ(points(*f), 2);
        if (type == DType::f32 || size == 999) expect_reference(*f, indices(one, size, false));
      }
  const auto pairs = scattered(Type(DType::bf16, {2100, 2100}), two, {many}, kPairs, "max", false);
  EXPECT_EQ(points(*pairs), 2);
  expect_reference(*pairs, indices(two, 2100, false));
  EXPECT_EQ(points(*scattered(Type(DType::f32, {1 << 20}), few, {1000}, kElements, "add", false)),
            1);
}

/// Where each update goes to the same place, and where it is the same.
TEST(Scatter, OwnersOfWhatIsUniform) {
  const std::int64_t many = 1 << 15;
  for (const bool same_place : {true, false}) {
    Block f;
    Builder b(f);
    Value *x = f.add_argument(Type(DType::f32, {9})),
          *i = f.add_argument(Type(DType::i32, same_place ? Shape{} : Shape{many, 1})),
          *u = f.add_argument(Type(DType::f32, same_place ? Shape{many} : Shape{}));
    if (same_place) i = op::broadcast_in_dim(b, i, {many, 1}, {});
    if (!same_place) u = op::broadcast_in_dim(b, u, {many}, {});
    f.results = {op::scatter(b, x, i, u, kElements, "add", false)};
    EXPECT_EQ(points(f), 2);
    const std::vector<Literal> given{
        testing::random_literal(f.argument(0)->type(), 1),
        same_place ? Literal::of<std::int32_t>({}, {7}) : indices(f.argument(1)->type(), 9, false),
        testing::random_literal(f.argument(2)->type(), 2)};
    testing::expect_same_bits(testing::run_compiled(f, given), op::evaluate(f, given),
                              "machine code");
  }
}

/// The same of slices that are not cut: by places along the first dimension, and along another one;
/// slices of which places may overlap each other have no owners.
TEST(Scatter, ManySlicesHaveOwners) {
  const std::int64_t many = (1 << 13) + 19;
  const IndexDims first{.window = {1},
                        .dropped = {0},
                        .operand_batch = {},
                        .indices_batch = {},
                        .index_map = {0},
                        .index_vector = 1};
  const IndexDims second{.window = {1},
                         .dropped = {1},
                         .operand_batch = {},
                         .indices_batch = {},
                         .index_map = {1},
                         .index_vector = 1};
  const IndexDims windows{.window = {1},
                          .dropped = {},
                          .operand_batch = {},
                          .indices_batch = {},
                          .index_map = {0},
                          .index_vector = 1};
  for (const DType index : {DType::i32, DType::i64, DType::ui8})
    for (const char* combiner : {"add", "assign"}) {
      SCOPED_TRACE(fmt::format("{} by {}", combiner, name(index)));
      const Type one(index, {many, 1});
      const Literal at = index == DType::ui8 ? indices(one, 250, true) : indices(one, 77, false);
      for (const std::int64_t width : {5, 8, 40}) {
        const auto f =
            scattered(Type(DType::f32, {77, width}), one, {many, width}, first, combiner, false);
        EXPECT_EQ(points(*f), 2) << width;
        expect_reference(*f, at);
      }
      const auto g = scattered(Type(DType::bf16, {5, 77}), one, {many, 5}, second, combiner, false);
      EXPECT_EQ(points(*g), 2);
      const auto h = scattered(Type(DType::f32, {77}), one, {many, 5}, windows, combiner, false);
      EXPECT_EQ(points(*h), 1);
      expect_reference(*g, at);
      expect_reference(*h, at);
    }
}

/// Runs of all lengths, indices outside, what is stated to be in order and is not.
TEST(Scatter, IndicesInOrderAreCutBetweenRuns) {
  constexpr std::int64_t kMany = 1 << 14;
  for (std::int64_t n : {kMany, kMany + 37})
    for (std::int64_t high : {3, 1000, 100000})
      for (bool sorted : {true, false}) {
        SCOPED_TRACE(std::to_string(n) + " " + std::to_string(high) + (sorted ? " in order" : ""));
        const Type single(DType::i32, {n, 1});
        const auto f = scattered(Type(DType::f32, {high}), single, {n}, kElements, "add", true);
        EXPECT_EQ(op::scatter_grid(*f->ops()[0]), 4);
        expect_reference(*f, indices(single, high, false, sorted));
        if (high > 1000) continue;
        const IndexDims rows{.window = {1},
                             .dropped = {0},
                             .operand_batch = {},
                             .indices_batch = {},
                             .index_map = {0},
                             .index_vector = 1};
        const auto of_rows =
            scattered(Type(DType::bf16, {high, 5}), single, {n, 5}, rows, "add", true);
        EXPECT_EQ(op::scatter_grid(*of_rows->ops()[0]), 4);
        expect_reference(*of_rows, indices(single, high, false, sorted));
      }
}

/// Slices of several dimensions are read as one where they are behind each other in inputs and
/// updates, else not.
TEST(Scatter, SlicesOfSeveralDimensions) {
  const IndexDims slices{.window = {1, 2},
                         .dropped = {0},
                         .operand_batch = {},
                         .indices_batch = {},
                         .index_map = {0},
                         .index_vector = 1};
  const IndexDims apart{.window = {0, 2},
                        .dropped = {0},
                        .operand_batch = {},
                        .indices_batch = {},
                        .index_map = {0},
                        .index_vector = 1};
  const IndexDims middle{.window = {1, 2},
                         .dropped = {1},
                         .operand_batch = {},
                         .indices_batch = {},
                         .index_map = {1},
                         .index_vector = 1};
  const Type single(DType::i32, {70, 1});
  for (const char* combiner : {"add", "assign"})
    for (const auto& [a, b] :
         {std::pair<std::int64_t, std::int64_t>{5, 2}, {8, 5}, {3, 100}, {40, 48}, {2, 1}})
      for (const DType type : {DType::f32, DType::bf16}) {
        SCOPED_TRACE(fmt::format("{} {}x{}", combiner, a, b));
        expect_reference(
            *scattered(Type(type, {9, a, b}), single, {70, a, b}, slices, combiner, false),
            indices(single, 9, false));
        expect_reference(
            *scattered(Type(type, {9, a, b + 3}), single, {70, a, b}, slices, combiner, false),
            indices(single, 9, false));
        expect_reference(
            *scattered(Type(type, {9, a + 1, b}), single, {70, a, b}, slices, combiner, false),
            indices(single, 9, false));
        expect_reference(
            *scattered(Type(type, {9, a, b}), single, {a, 70, b}, apart, combiner, false),
            indices(single, 9, false));
        expect_reference(
            *scattered(Type(type, {a, 9, b}), single, {70, a, b}, middle, combiner, false),
            indices(single, 9, false));
      }
}

/// No two places of one window meet, wherever it begins: x[3:7, 1:9, 2:8] += y.
TEST(Scatter, OneWindow) {
  const IndexDims window{.window = {0, 1, 2},
                         .dropped = {},
                         .operand_batch = {},
                         .indices_batch = {},
                         .index_map = {0, 1, 2},
                         .index_vector = 0};
  const Type three(DType::i32, {3});
  for (const char* combiner : {"add", "max", "assign"})
    for (const auto& [size, grid] : {std::pair<Shape, std::int64_t>{{4, 8, 6}, 32},
                                     {{9, 10, 40}, 4},
                                     {{1, 1, 33}, 1},
                                     {{9, 1, 1}, 1}}) {
      SCOPED_TRACE(fmt::format("{} {}", combiner, size.to_string()));
      const auto f = scattered(Type(DType::f32, {9, 10, 40}), three, size, window, combiner, false);
      EXPECT_EQ(points(*f), grid);
      for (const std::vector<std::int32_t>& at :
           {std::vector<std::int32_t>{0, 0, 0}, {3, 1, 2}, {5, 2, 34}, {8, 9, 7}, {-1, 0, 0}})
        expect_reference(*f, Literal::of<std::int32_t>({3}, at));
    }
}

/// Slices whose elements are apart in the updates go element by element through all indices;
/// dimensions of one place count for nothing.
TEST(Scatter, SlicesThatLieApart) {
  const IndexDims apart{.window = {0},
                        .dropped = {1},
                        .operand_batch = {},
                        .indices_batch = {},
                        .index_map = {1},
                        .index_vector = 1};
  const std::int64_t many = (1 << 15) + 43;
  for (const char* combiner : {"add", "max", "assign"})
    for (const std::int64_t n : {1, 7, 64, 650})
      for (const std::int64_t size : {1, 5, 33}) {
        SCOPED_TRACE(fmt::format("{} {} of {}", combiner, n, size));
        const Type single(DType::i32, {n, 1});
        const auto f =
            scattered(Type(DType::f32, {size, 77}), single, {size, n}, apart, combiner, false);
        if (n > 1) EXPECT_EQ(points(*f), size);
        expect_reference(*f, indices(single, 77, false));
      }
  const Type one(DType::i32, {many, 1});
  const auto flat = scattered(Type(DType::f32, {1, 77}), one, {1, many}, apart, "add", false);
  EXPECT_EQ(points(*flat), 2);  // owners
  expect_reference(*flat, indices(one, 77, false));
}

}  // namespace
}  // namespace strata::compile
