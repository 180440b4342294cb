// Reductions as machine code: of truth values, which it combines as numbers, of a few elements that
// run across, and extrema of rows. The reference's bits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "strata/compile/compile_testing.h"
#include "strata/compile/fuse/fuse.h"
#include "strata/op/lowering_kind.h"

namespace strata::compile {
namespace {

using op::Combiner;

/// Over dimension `d`, from an initial value, of an array or of what a comparison gives, in which
/// `one_of` tells how many elements are true.
void expect_reference(const Shape& shape, int d, Combiner combiner, std::int64_t one_of,
                      bool computed) {
  SCOPED_TRACE(::testing::Message()
               << static_cast<int>(combiner) << " of " << Type(DType::i1, shape).to_string()
               << " over " << d << ", one of " << one_of);
  auto block = std::make_unique<ir::Block>();
  const Type x(computed ? DType::f32 : DType::i1, shape);
  ir::Value *v = block->add_argument(x), *init = block->add_argument(Type::scalar(DType::i1));
  ir::Builder b(*block);
  if (computed)
    v = op::compare(b, v, op::broadcast_in_dim(b, op::scalar(b, DType::f32, 0.5), shape, {}), "GT");
  block->results = {op::reduce(b, v, init, {d}, combiner)};
  Literal values(x);
  for (std::int64_t i = 0; i < values.count(); ++i) values.set_number(i, i * 7 % one_of == 0);
  for (bool from : {false, true}) {
    const std::vector<Literal> arguments{values, Literal::scalar(from)};
    const std::vector<Literal> want = op::evaluate(*block, arguments),
                               got = testing::run_compiled(*block, arguments);
    EXPECT_TRUE(got[0].same_bits(want[0])) << "from " << from;
  }
}

TEST(ReducedTruth, ByEveryCombiner) {
  for (Combiner combiner : {Combiner::and_, Combiner::or_, Combiner::xor_, Combiner::min,
                            Combiner::max, Combiner::add, Combiner::mul})
    for (auto& [shape, d] : {std::pair{Shape{3, 7}, 1},
                             {Shape{5, 100}, 1},
                             {Shape{2, 9001}, 1},
                             {Shape{40, 9}, 0},
                             {Shape{700, 33}, 0},
                             {Shape{3, 20, 5}, 1}})
      for (std::int64_t one_of : {1, 2, 1000000})
        for (bool computed : {false, true}) expect_reference(shape, d, combiner, one_of, computed);
}

/// So few elements that they are combined where they are read, the most of those, and more; with
/// zeros of both signs, infinities and NaN among them.
TEST(ReducedAcross, AFewAndMore) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> odd = {0.0f, -0.0f, inf, -inf, std::nanf(""), 1.0f, -3.5f, 1e-40f};
  for (DType dtype : {DType::f32, DType::bf16, DType::i32})
    for (Combiner combiner : {Combiner::add, Combiner::mul, Combiner::min, Combiner::max})
      for (std::int64_t elements : {1, 2, 8, 9, 12, 13, 30})
        for (std::int64_t inner : {5, 64, 2500}) {
          ir::Block block;
          const Type x(dtype, {3, elements, inner});
          ir::Value *v = block.add_argument(x), *init = block.add_argument(Type::scalar(dtype));
          ir::Builder b(block);
          block.results = {op::reduce(b, v, init, {1}, combiner),
                           op::reduce(b, op::add(b, v, v), init, {1}, combiner)};
          Literal values(x), initial(Type::scalar(dtype));
          for (std::int64_t i = 0; i < values.count(); ++i)
            values.set_number(i, is_float(dtype) && i % 5 == 0
                                     ? odd[static_cast<std::size_t>(i / 5) % 8]
                                     : static_cast<double>(i % 7 - 3));
          initial.set_number(0, 2);
          const std::vector<Literal> arguments{values, initial};
          const std::vector<Literal> want = op::evaluate(block, arguments),
                                     got = testing::run_compiled(block, arguments);
          for (std::size_t r = 0; r < 2; ++r)
            testing::expect_same_bits(
                {got[r]}, {want[r]},
                fmt::format("{} of {}", static_cast<int>(combiner), x.to_string()));
        }
}

// Reduced dimensions beside kept ones, several of them neighbours: whole strips of a piece, pieces
// that strips cross, arrays large enough that the next row's pieces are fetched.
TEST(ReducedHereAndThere, HasTheReferencesBits) {
  struct Case {
    Shape shape;
    std::vector<std::int64_t> dims;
  };
  for (const Case& c : {Case{{5, 7, 8, 8}, {0, 2, 3}},       Case{{9, 3, 56, 56}, {0, 2, 3}},
                        Case{{4, 6, 5, 7}, {0, 2, 3}},       Case{{40, 66, 16}, {0, 2}},
                        Case{{64, 70, 64}, {0, 2}},          Case{{3, 4, 5, 6, 32}, {0, 1, 4}},
                        Case{{6, 5, 4, 3}, {0, 1, 3}},       Case{{6, 5, 4, 3}, {0, 2}},
                        Case{{3, 40, 9, 8}, {1, 2}},         Case{{2, 3, 20, 30, 3}, {0, 2, 3}},
                        Case{{300, 17, 50}, {0, 2}},         Case{{700, 3, 13}, {0, 2}},
                        Case{{3, 2, 5000}, {0, 2}},          Case{{90, 40, 1}, {0, 2}},
                        Case{{48, 5, 7, 40, 1}, {2, 3}},     Case{{9, 300, 1, 1}, {1}},
                        Case{{30, 9, 20, 1}, {0, 2}},        Case{{30, 77, 1}, {0, 2}},
                        Case{{5, 1, 300, 1}, {0, 1, 3}},     Case{{1, 40, 1, 50}, {0, 2}},
                        Case{{300, 50, 1, 1, 9}, {0, 2, 4}}, Case{{40, 34, 7, 7}, {0, 2, 3}},
                        Case{{2, 41, 2048}, {0, 2}}})
    for (DType dtype : {DType::f32, DType::f16}) {
      SCOPED_TRACE(c.shape.to_string());
      ir::Block block;
      ir::Builder b(block);
      ir::Value* x = block.add_argument(Type(dtype, c.shape));
      const ir::Ints dims(c.dims.begin(), c.dims.end());
      block.results = {op::reduce_sum(b, x, dims), op::reduce_max(b, op::mul(b, x, x), dims)};
      testing::expect_compiled_equals_reference(block, 3, c.shape.count() < 10000);
    }
}

/// Rows abreast where columns are few: a strip of them and part of one, a last block of fewer rows,
/// chunks of long sums, elements computed on the way.
TEST(ReducedAcross, FewColumnsOfManyRows) {
  for (const Shape& shape :
       {Shape{64, 20, 2}, Shape{67, 300, 3}, Shape{130, 700, 5}, Shape{71, 13, 8},
        Shape{64, 256, 16}, Shape{65, 257, 24}, Shape{70, 40, 32}, Shape{3, 30, 50, 7}})
    for (DType dtype : {DType::f32, DType::bf16, DType::i8, DType::c64}) {
      SCOPED_TRACE(Type(dtype, shape).to_string());
      const ir::Ints dims{shape.rank() - 2};
      ir::Block block, computed;
      ir::Builder b(block), c(computed);
      ir::Value *x = block.add_argument(Type(dtype, shape)),
                *init = block.add_argument(Type::scalar(dtype));
      block.results = {op::reduce_sum(b, x, dims), op::reduce(b, x, init, dims, Combiner::mul)};
      if (!is_complex(dtype)) block.results.push_back(op::reduce_max(b, x, dims));
      testing::expect_compiled_equals_reference(block, 5, shape.count() < 8000);
      ir::Value* y = computed.add_argument(Type(dtype, shape));
      computed.results = {op::reduce_sum(c, op::mul(c, y, y), dims)};
      testing::expect_compiled_equals_reference(computed, 6, false);
    }
}

std::size_t reducing_groups(const ir::Block& block) {
  const auto prepared = prepare(block);
  const Fusion fusion = fuse(*prepared);
  return static_cast<std::size_t>(
      std::count_if(fusion.groups.begin(), fusion.groups.end(),
                    [](const Group& g) { return op::is_reduction(*g.roots.front()); }));
}

/// Over the same dimensions, of one array or of what is computed from it, of several types and
/// combiners: one kernel, by columns, rows, runs, in one phase and in two.
TEST(ReducedBeside, ReadsOnce) {
  struct Case {
    Shape shape;
    ir::Ints dims;
  };
  for (const Case& c :
       {Case{{40, 300}, {0}}, Case{{700, 33}, {0}}, Case{{9, 600}, {0}}, Case{{4, 300, 24}, {1}},
        Case{{40, 66, 16}, {0, 2}}, Case{{40, 34, 7, 7}, {0, 2, 3}},
        Case{{130, 2, 7, 9}, {0, 2, 3}}, Case{{3, 70000}, {1}}, Case{{290, 300}, {0, 1}},
        Case{{8, 12, 70}, {0}}, Case{{6000, 1, 3}, {0}}}) {
    SCOPED_TRACE(c.shape.to_string());
    ir::Block block;
    ir::Builder b(block);
    ir::Value *x = block.add_argument(Type(DType::f32, c.shape)),
              *y = block.add_argument(Type(DType::f32, c.shape)),
              *init = block.add_argument(Type::scalar(DType::f32));
    block.results = {op::reduce_sum(b, x, c.dims),
                     op::reduce(b, op::mul(b, x, y), init, c.dims, Combiner::add),
                     op::reduce(b, op::convert(b, x, DType::bf16),
                                op::convert(b, init, DType::bf16), c.dims, Combiner::max),
                     op::reduce_sum(b, op::convert(b, x, DType::i32), c.dims)};
    EXPECT_EQ(reducing_groups(block), 1u);
    testing::expect_compiled_equals_reference(block, 5, c.shape.count() < 30000);
  }
}

/// What reads another's result, by whatever way, waits for it; other shapes and dimensions, few
/// elements and general combiners stand alone.
TEST(ReducedBeside, OnlyWhatIsAlike) {
  const Shape shape{300, 64};
  ir::Block block;
  ir::Builder b(block);
  ir::Value *x = block.add_argument(Type(DType::f32, shape)),
            *few = block.add_argument(Type(DType::f32, {40, 8}));
  ir::Value *sum = op::reduce_sum(b, x, {0}), *other = op::reduce_max(b, x, {0}),
            *from_sum = op::sub(b, x, op::broadcast_in_dim(b, sum, shape, {1}));
  ir::Value* spread = op::reduce_sum(b, op::mul(b, from_sum, from_sum), {0});
  ir::Value* largest =
      op::reduce_max(b, op::mul(b, from_sum, op::broadcast_in_dim(b, spread, shape, {1})), {0});
  block.results = {other,
                   spread,
                   largest,
                   op::reduce_sum(b, op::sub(b, x, op::full_like(b, x, 3)), {0, 1}),
                   op::reduce_sum(b, few, {0}),
                   op::reduce_max(b, few, {0})};
  EXPECT_EQ(reducing_groups(block), 6u);
  testing::expect_compiled_equals_reference(block, 5);
}

/// The largest and the least of rows that hold zeros of both signs, infinities, and what is no
/// number with either sign, at each place of a strip; of what is in memory and of what is
/// computed, alone and beside another reduction.
TEST(ReducedAlong, ExtremaOfOddRows) {
  const double inf = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<double, double>> rows = {
      {-0.0, 0.0},  {0.0, -0.0},   {-0.0, -0.0}, {-1.0, 0.0},  {-1.0, -0.0},
      {1.0, 0.0},   {1.0, -0.0},   {-inf, -inf}, {inf, inf},   {-inf, inf},
      {1.0, nan},   {-inf, nan},   {inf, -nan},  {-1.0, -nan}, {nan, 1.0},
      {-nan, -nan}, {1e-7, -1e-7}, {-0.0, 1e-7}, {0.0, -1e-7}};
  for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16})
    for (std::int64_t length : {33, 100, 4099})
      for (Combiner combiner : {Combiner::max, Combiner::min}) {
        const Shape shape{static_cast<std::int64_t>(rows.size()) * 3, length};
        ir::Block block;
        ir::Value *x = block.add_argument(Type(dtype, shape)),
                  *init = block.add_argument(Type::scalar(dtype));
        ir::Builder b(block);
        ir::Value* whole = op::reduce(b, x, init, {1}, combiner);
        block.results = {
            whole, op::reduce(b, op::neg(b, x), init, {1}, combiner),
            op::reduce_sum(b, op::sub(b, x, op::broadcast_in_dim(b, whole, shape, {0})), {1}),
            op::reduce(b, x, init, {0, 1}, combiner)};
        Literal values(Type(dtype, shape)), initial(Type::scalar(dtype));
        for (std::int64_t r = 0; r < shape[0]; ++r)
          for (std::int64_t i = 0; i < length; ++i) {
            const auto& [most, one] = rows[static_cast<std::size_t>(r / 3)];
            values.set_number(r * length + i, i == (r * 29 + 5) % length ? one : most);
          }
        for (double start : {combiner == Combiner::max ? -inf : inf, 0.0, -0.0}) {
          initial.set_number(0, start);
          const std::vector<Literal> arguments{values, initial};
          testing::expect_same_bits(
              testing::run_compiled(block, arguments), op::evaluate(block, arguments),
              fmt::format("{} {} of rows of {}", name(dtype), static_cast<int>(combiner), length));
        }
      }
}

}  // namespace
}  // namespace strata::compile
