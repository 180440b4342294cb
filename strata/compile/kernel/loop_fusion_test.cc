// Maps as machine code: the reference's bits, with as many lanes as a map is given.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "strata/compile/compile_testing.h"
#include "strata/op/build.h"
#include "strata/op/elementwise/function.h"
#include "strata/op/index/indexing.h"
#include "strata/op/testing/run.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using ir::Values;
using testing::expect_compiled_equals_reference;

/// Rounds of a generator of random bits: x += y, y = rotated y ^ x.
Value* rounds(Builder& b, Value* x, Value* y, int count) {
  for (int i = 0; i < count; ++i) {
    x = op::add(b, x, y);
    Value *left = op::broadcast_in_dim(b, op::scalar(b, DType::ui32, 5 + i % 20), y->shape(), {}),
          *right = op::broadcast_in_dim(b, op::scalar(b, DType::ui32, 27 - i % 20), y->shape(), {});
    y = op::xor_(b, op::or_(b, op::shift_left(b, y, left), op::shift_right_logical(b, y, right)),
                 x);
  }
  return op::add(b, x, y);
}

/// Long chains have more lanes, of integers most; sizes that fill strips, points, and neither.
TEST(CompiledMaps, LongChains) {
  for (const Shape& shape : {Shape{1 << 16}, Shape{65551}, Shape{257, 301}})
    for (int count : {4, 20}) {
      Block block;
      Value *x = block.add_argument(Type(DType::ui32, shape)),
            *y = block.add_argument(Type(DType::ui32, shape));
      Builder b(block);
      Value* bits = rounds(b, x, y, count);
      Value* number = op::convert(b, bits, DType::f32);
      block.results = {bits, number};
      expect_compiled_equals_reference(block);
      if (shape.rank() == 1) continue;
      block.results = {op::tanh(b, op::log(b, op::exp(b, op::sin(b, number))))};
      expect_compiled_equals_reference(block);
    }
}

/// Strips of much code are narrow, and its bits are the same: whole strips and a shorter one, rows,
/// pieces of rows.
TEST(CompiledMaps, NarrowStripsOfMuchCode) {
  const auto widest = [](const Block& block) {  // of the kernel of most code
    const Plan plan = make_plan(*prepare(block), {}, testing::v3());
    const auto most = std::max_element(
        plan.kernels.begin(), plan.kernels.end(),
        [](const auto& a, const auto& b) { return a->arena.size() < b->arena.size(); });
    int out = 1;
    for (const loop::Inst& inst : (*most)->arena) out = std::max(out, inst.type.lanes);
    return out;
  };
  const auto code = [](std::int64_t n, int times) {
    return op::testing::build({Type(DType::f64, {5, n}), Type(DType::f64, {n})},
                              [&](Builder& b, const Values& v) {
                                Value *x = op::add(b, op::abs(b, v[0]), op::full_like(b, v[0], 2)),
                                      *q = op::broadcast_in_dim(b, v[1], v[0]->shape(), {1});
                                for (int i = 0; i < times; ++i) x = op::zeta(b, x, q);
                                return Values{op::concatenate(b, {x, v[0]}, 1), x};
                              });
  };
  EXPECT_EQ(widest(*code(37, 0)), 16);
  EXPECT_LT(widest(*code(37, 1)), 16);
  expect_compiled_equals_reference(*code(37, 1));
}

/// A large array is read once by all that reads it in place: maps, sums and extrema of rows; not by
/// what turns it, nor by what waits for another of these. Rows that are no whole strips: read
/// elsewhere than they are written, or not, or as one with those before them.
TEST(CompiledMaps, RowsThatAreNoWholeStrips) {
  for (DType t : {DType::f32, DType::bf16, DType::i8})
    for (std::int64_t n : {3, 5, 6, 7, 9, 10, 11, 12, 13, 31, 50, 63, 70}) {
      SCOPED_TRACE(n);
      const auto f = op::testing::build(
          {Type(t, {301, n}), Type(t, {n}), Type(t, {301, 1}), Type(t, {5, 61, n})},
          [&](Builder& b, const Values& v) {
            const Shape& shape = v[0]->shape();
            Value* zero = op::full_like(b, op::slice(b, v[1], {0}, {1}, {1}), 0);
            return Values{
                op::add(b, v[0], op::broadcast_in_dim(b, v[1], shape, {1})),
                op::mul(b, v[0], op::broadcast_in_dim(b, v[2], shape, {0, 1})),
                op::slice(b, v[0], {0, 1}, {301, n}, {1, 1}),
                op::pad(b, v[0], op::reshape(b, zero, Shape{}), {0, 1}, {0, 2}),
                op::reverse(b, v[0], {1}),
                op::concatenate(b, {v[0], op::slice(b, v[0], {0, 2}, {301, n}, {1, 1})}, 1),
                op::broadcast_in_dim(b, v[3], Shape{5, 3, 61, n}, {0, 2, 3})};
          });
      expect_compiled_equals_reference(*f);
    }
}

/// Rows that were moved about before all became one dimension, or others: they are rows still, with
/// whole strips and a shorter one.
TEST(CompiledMaps, RowsOfWhatIsReshaped) {
  for (DType t : {DType::f32, DType::bf16, DType::i8, DType::c64})
    for (std::int64_t n : {7, 50, 100}) {
      SCOPED_TRACE(std::string(name(t)) + std::to_string(n));
      const auto f = op::testing::build({Type(t, {37, 22, n}), Type(t, {n})}, [&](Builder& b,
                                                                                  const Values& v) {
        Value *turned = op::transpose(b, v[0], {1, 0, 2}),
              *more = op::add(b, turned, op::broadcast_in_dim(b, v[1], turned->shape(), {2}));
        return Values{
            op::reshape(b, turned, Shape{37 * 22 * n}), op::reshape(b, more, Shape{11, 2 * 37 * n}),
            op::reshape(b, op::reshape(b, turned, Shape{22 * 37, n}), Shape{2, 11 * 37 * n})};
      });
      expect_compiled_equals_reference(*f);
    }
}

/// Rows that are reduced sixteen abreast, and those that are left: several reductions, maps of what
/// they give, numbers of a row that are read and stored, of each type, with zeros of both signs and
/// what is no number among the elements.
TEST(CompiledMaps, InterleavedRows) {
  const double inf = std::numeric_limits<double>::infinity(),
               odd[] = {0.0, -0.0, std::nan(""), inf, -inf, -0.0};
  for (DType t : {DType::f32, DType::bf16, DType::f16, DType::i32})
    for (std::int64_t n : {33, 40, 64, 77, 100, 101, 256})
      for (std::int64_t rows : {64, 133}) {
        SCOPED_TRACE(std::string(name(t)) + std::to_string(n));
        const auto f = op::testing::build(
            {Type(t, {rows, n}), Type(t, {rows}), Type(t, {n}), Type::scalar(t)},
            [&](Builder& b, const Values& v) {
              const Shape& shape = v[0]->shape();
              auto along = [&](Value* x) { return op::broadcast_in_dim(b, x, shape, {0}); };
              Value *most = op::reduce_max(b, v[0], {1}), *shifted = op::sub(b, v[0], along(most)),
                    *sum =
                        op::reduce(b, op::mul(b, shifted, shifted), v[3], {1}, op::Combiner::add);
              Value *row = op::add(b, op::mul(b, sum, v[1]), most),
                    *least = op::reduce(b, op::sub(b, shifted, along(row)), v[3], {1},
                                        op::Combiner::min);
              return Values{op::add(b, op::mul(b, shifted, along(row)),
                                    op::broadcast_in_dim(b, v[2], shape, {1})),
                            row, most, op::add(b, least, sum),
                            op::compare(b, v[0], along(v[1]), "LT")};
            });
        const Plan plan = make_plan(*prepare(*f), {}, testing::v3());
        EXPECT_EQ(std::any_of(plan.kernels.begin(), plan.kernels.end(),
                              [](const auto& k) {
                                return std::any_of(k->arena.begin(), k->arena.end(),
                                                   [](const loop::Inst& i) {
                                                     return i.code == loop::Opcode::call;
                                                   });
                              }),
                  n <= 100 || byte_width(t) == 2)
            << "turned in registers";
        std::vector<Literal> given = testing::arguments_of(*f, 3);
        for (bool numbers : {true, false}) {
          for (std::int64_t e = 0; is_float(t) && !numbers && e < given[0].count(); e += n + 5)
            given[0].set_number(e, odd[e % 6]);
          const std::vector<Literal> want = op::evaluate(*f, given);
          if (rows == 133)
            testing::expect_same_bits(testing::run_plan(*f, given), want, "interpreted");
          for (int threads : {1, 3}) {
            set_num_threads(threads);
            testing::expect_same_bits(testing::run_compiled(*f, given), want, "machine code");
          }
          set_num_threads(0);
        }
      }
}

/// Results may be where an argument lay: all that a block of rows reads it has read, or reads in
/// the same place.
TEST(CompiledMaps, RowsAbreastInTheirOwnMemory) {
  for (DType t : {DType::f32, DType::bf16}) {
    const auto f = op::testing::build({Type(t, {150, 50})}, [&](Builder& b, const Values& v) {
      auto along = [&](Value* x) { return op::broadcast_in_dim(b, x, v[0]->shape(), {0}); };
      Value* e = op::exp(b, op::sub(b, v[0], along(op::reduce_max(b, v[0], {1}))));
      return Values{op::div(b, e, along(op::reduce_sum(b, e, {1})))};
    });
    const std::vector<Literal> given = testing::arguments_of(*f, 3);
    testing::expect_same_bits(testing::run_donated(*f, given, {true}), op::evaluate(*f, given),
                              "in place");
  }
}

/// Rows of a table by their number, or by two, of which some are outside.
TEST(CompiledMaps, RowsThatAreLookedUp) {
  for (DType t : {DType::f32, DType::bf16})
    for (std::int64_t n : {3, 5, 8, 12, 16, 33, 48}) {
      SCOPED_TRACE(n);
      const auto f = op::testing::build(
          {Type(t, {9, n}), Type(DType::i32, {70, 1}), Type(t, {3, 4, n}),
           Type(DType::i32, {70, 2})},
          [&](Builder& b, const Values& v) {
            const op::IndexDims one{.window = {1},
                                    .dropped = {0},
                                    .operand_batch = {},
                                    .indices_batch = {},
                                    .index_map = {0},
                                    .index_vector = 1};
            const op::IndexDims two{.window = {1},
                                    .dropped = {0, 1},
                                    .operand_batch = {},
                                    .indices_batch = {},
                                    .index_map = {0, 1},
                                    .index_vector = 1};
            Value* rows = op::gather(b, v[0], v[1], one, {1, n});
            return Values{rows, op::add(b, op::gather(b, v[2], v[3], two, {1, 1, n}), rows),
                          op::reduce_sum(b, rows, {1})};
          });
      std::vector<Literal> given = testing::arguments_of(*f, 3);
      for (std::size_t i : {1, 3})
        for (std::int64_t e = 0; e < given[i].count(); ++e) given[i].set_integer(e, e * 7 % 13 - 2);
      const std::vector<Literal> want = op::evaluate(*f, given);
      testing::expect_same_bits(testing::run_plan(*f, given), want, "interpreted");
      testing::expect_same_bits(testing::run_compiled(*f, given), want, "machine code");
    }
}

TEST(CompiledMaps, ReadersOfALargeArrayAreOneKernel) {
  Block block;
  const Shape shape{1030, 1024};
  Value *x = block.add_argument(Type(DType::f32, shape)),
        *y = block.add_argument(Type(DType::f32, shape));
  Builder b(block);
  block.results = {op::add(b, x, x), op::reduce_sum(b, x, {1}),
                   op::reduce_max(b, op::mul(b, x, y), {1})};
  EXPECT_EQ(make_plan(*prepare(block), {}, testing::v3()).kernels.size(), 1U);
  expect_compiled_equals_reference(block, 1, false);
  block.results.push_back(op::transpose(b, x, {1, 0}));
  block.results.push_back(
      op::div(b, x,
              op::broadcast_in_dim(b, op::reduce_max(b, op::reduce_sum(b, op::abs(b, x), {1}), {0}),
                                   shape, {})));
  expect_compiled_equals_reference(block, 1, false);
}

/// Complex numbers are stored by the kernel that computes their parts: of both at every place, of
/// rows, across, of what others read as well.
TEST(CompiledMaps, ComplexNumbersAreStoredWhereTheyAreComputed) {
  for (DType dtype : {DType::f32, DType::f64})
    for (const Shape& shape : {Shape{3}, Shape{33, 70}, Shape{40, 40}, Shape{1100, 3}}) {
      Block block;
      Value *x = block.add_argument(Type(dtype, shape)),
            *y = block.add_argument(Type(dtype, shape));
      Builder b(block);
      Value *e = op::exp(b, x),
            *z = op::complex(b, op::mul(b, e, op::cos(b, y)), op::mul(b, e, op::sin(b, y)));
      block.results = {z, op::mul(b, z, z), e};
      EXPECT_EQ(make_plan(*prepare(block), {}, testing::v3()).kernels.size(), 1U)
          << shape.to_string();
      if (shape.rank() > 1) {
        Value* rows = op::complex(b, op::reduce_sum(b, x, {1}), op::reduce_max(b, y, {1}));
        block.results.push_back(rows);
        block.results.push_back(op::add(b, z, op::broadcast_in_dim(b, rows, shape, {0})));
        block.results.push_back(op::transpose(b, z, {1, 0}));
      }
      expect_compiled_equals_reference(block);
    }
}

/// The text of the kernels of x -> softmax(x) by rows, or of x - mean(x).
std::string rows_text(std::int64_t rows, std::int64_t length, bool softmax) {
  Block block;
  Value* x = block.add_argument(Type(DType::f32, Shape{rows, length}));
  Builder b(block);
  auto along = [&](Value* row) { return op::broadcast_in_dim(b, row, x->shape(), {0}); };
  if (softmax) {
    Value* e = op::exp(b, op::sub(b, x, along(op::reduce_max(b, x, {1}))));
    block.results = {op::div(b, e, along(op::reduce_sum(b, e, {1})))};
  } else {
    block.results = {op::sub(b, x, along(op::reduce_sum(b, x, {1})))};
  }
  std::string out;
  for (const auto& kernel : make_plan(*prepare(block), {}, testing::v3()).kernels)
    out += loop::print(*kernel);
  return out;
}

/// Rows of arrays past the caches are fetched while the ones before them are worked on for long.
TEST(CompiledMaps, LongPassesLookAhead) {
  EXPECT_THAT(rows_text(1024, 4096, true), ::testing::HasSubstr("load ahead 4096 "));
  EXPECT_THAT(rows_text(1021, 4097, true), ::testing::HasSubstr("load ahead 4097 "));
  EXPECT_THAT(rows_text(64, 4096, true), ::testing::Not(::testing::HasSubstr("ahead")));
  EXPECT_THAT(rows_text(1024, 4096, false), ::testing::Not(::testing::HasSubstr("ahead 4096 ")));
}
/// Others where they are read first, by pages; what stays in caches is not.
TEST(CompiledMaps, LargeArraysAreFetchedAPageAhead) {
  EXPECT_THAT(rows_text(4096, 4096, false), ::testing::HasSubstr("load ahead 1024 "));
  EXPECT_THAT(rows_text(1024, 4096, false), ::testing::Not(::testing::HasSubstr("ahead")));
}

/// What a later pass reads of a result that goes past the caches is kept beside it.
TEST(CompiledMaps, ResultsPastTheCachesAreKeptBeside) {
  for (std::int64_t rows : {64, 4096}) {
    Block block;
    Value* x = block.add_argument(Type(DType::f32, Shape{rows, 2048}));
    Builder b(block);
    Value* e = op::exp(b, x);
    block.results = {
        e, op::div(b, e, op::broadcast_in_dim(b, op::reduce_sum(b, e, {1}), x->shape(), {0}))};
    std::string text;
    for (const auto& kernel : make_plan(*prepare(block), {}, testing::v3()).kernels)
      text += loop::print(*kernel);
    EXPECT_EQ(text.find("scratch") != std::string::npos, rows == 4096) << text;
    expect_compiled_equals_reference(block);
  }
}

}  // namespace
}  // namespace strata::compile
