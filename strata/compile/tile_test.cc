// Maps that read across the grain, as machine code: the reference's bits, whatever the sizes.
#include "strata/compile/compile_testing.h"
#include "strata/op/build.h"
#include "strata/op/reduce/cumulative.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Value;
using ir::Values;
using testing::expect_compiled_equals_reference;

std::unique_ptr<Block> program(const std::vector<Type>& arguments,
                               const std::function<Values(Builder&, const Values&)>& f) {
  auto block = std::make_unique<Block>();
  Values v;
  for (const Type& t : arguments) v.push_back(block->add_argument(t));
  Builder b(*block);
  block->results = f(b, v);
  return block;
}

TEST(CompiledTiles, TransposesOfAllSizesAndTypes) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i8, DType::i1, DType::c64})
    for (const Shape& shape :
         {Shape{3, 70}, Shape{4, 5}, Shape{16, 16}, Shape{37, 19}, Shape{64, 48}, Shape{260, 272}})
      expect_compiled_equals_reference(*program({Type(t, shape)}, [](Builder& b, const Values& v) {
        return Values{op::transpose(b, v[0], {1, 0})};
      }));
}

TEST(CompiledTiles, EveryPermutation) {
  for (const Ints& p : {Ints{0, 2, 1}, Ints{1, 0, 2}, Ints{1, 2, 0}, Ints{2, 0, 1}, Ints{2, 1, 0}})
    for (const Shape& shape : {Shape{9, 20, 33}, Shape{18, 5, 17}, Shape{2, 40, 6}})
      expect_compiled_equals_reference(
          *program({Type(DType::f32, shape)},
                   [&](Builder& b, const Values& v) { return Values{op::transpose(b, v[0], p)}; }));
}

/// Parts of complex numbers are two apart, as does every second element; beside what runs along,
/// and both ways of one array.
TEST(CompiledTiles, TwoApart) {
  for (const Shape& shape : {Shape{5, 40}, Shape{33, 70}, Shape{64, 64}, Shape{260, 272}}) {
    const Shape across{shape[1], shape[0]};
    for (DType t : {DType::c64, DType::c128})
      expect_compiled_equals_reference(
          *program({Type(t, shape), Type(t, across)}, [&](Builder& b, const Values& v) {
            Value* turned = op::transpose(b, v[0], {1, 0});
            return Values{op::mul(b, turned, v[1]), op::real(b, turned),
                          op::sub(b, op::imag(b, turned), op::real(b, v[1]))};
          }));
    for (DType t : {DType::f32, DType::bf16})
      expect_compiled_equals_reference(
          *program({Type(t, Shape{shape[0], 2 * shape[1]})}, [&](Builder& b, const Values& v) {
            auto half = [&](std::int64_t first) {
              return op::slice(b, v[0], {0, first}, {shape[0], 2 * shape[1]}, {1, 2});
            };
            return Values{
                op::transpose(b, half(0), {1, 0}),
                op::add(b, op::transpose(b, half(0), {1, 0}), op::transpose(b, half(1), {1, 0})),
                op::add(b, half(0), half(1))};
          }));
  }
}

TEST(CompiledTiles, FusedWithWhatStandsAround) {
  Type x(DType::f32, {34, 50}), y(DType::f32, {50, 34}), row(DType::f32, {34});
  expect_compiled_equals_reference(*program({x, y, row}, [](Builder& b, const Values& v) {
    Value* t = op::transpose(b, op::exp(b, v[0]), {1, 0});
    Value* sum = op::add(b, op::mul(b, t, v[1]), op::broadcast_in_dim(b, v[2], v[1]->shape(), {1}));
    return Values{sum, op::tanh(b, sum)};
  }));
}

/// Arrays that caches do not hold have squares side by side, and results that go past the caches;
/// one of each size, and with a rest.
TEST(CompiledTiles, ArraysLargerThanCaches) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i8})
    for (const Shape& shape : {Shape{320, 272}, Shape{301, 333}, Shape{16, 9001}})
      expect_compiled_equals_reference(*program({Type(t, shape)}, [](Builder& b, const Values& v) {
        return Values{op::transpose(b, v[0], {1, 0})};
      }));
  expect_compiled_equals_reference(
      *program({Type(DType::f32, {2048, 4096})},
               [](Builder& b, const Values& v) { return Values{op::transpose(b, v[0], {1, 0})}; }));
  expect_compiled_equals_reference(*program({Type(DType::f32, {320, 272})}, [](Builder& b,
                                                                               const Values& v) {
    Value* t = op::transpose(b, v[0], {1, 0});
    Value *up = op::slice(b, t, {0, 0}, {270, 312}), *right = op::slice(b, t, {1, 8}, {271, 320});
    return Values{op::sub(b, up, right)};
  }));
}

/// What squares leave at the right and below is many elements, too: smaller squares, down to four,
/// and the rest.
TEST(CompiledTiles, SmallerSquaresOfWhatIsLeft) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::c64})
    for (const Shape& shape : {Shape{12, 9000}, Shape{24, 9000}, Shape{48, 3000}, Shape{9000, 31},
                               Shape{2, 13, 5003}, Shape{3, 5000, 9}})
      expect_compiled_equals_reference(
          *program({Type(t, shape), Type(t, shape)},
                   [](Builder& b, const Values& v) {
                     const int rank = v[0]->rank();
                     Ints turned = rank == 2 ? Ints{1, 0} : Ints{0, 2, 1};
                     return Values{
                         op::add(b, op::transpose(b, v[0], turned),
                                 op::reshape(b, v[1], op::transpose(b, v[0], turned)->shape()))};
                   }),
          1, false);
}

/// A part of a cache line never goes past the caches.
TEST(CompiledTiles, LinesAloneGoPastTheCaches) {
  for (auto [rows, whole] :
       {std::pair<std::int64_t, bool>{16, true}, {12, false}, {24, false}, {32, true}}) {
    const auto block =
        program({Type(DType::f32, {rows, 3 << 18})},
                [](Builder& b, const Values& v) { return Values{op::transpose(b, v[0], {1, 0})}; });
    const Plan plan = make_plan(*prepare(*block), {}, CpuTarget::named("x86-64-v4"));
    for (const auto& kernel : plan.kernels)
      EXPECT_EQ(std::any_of(kernel->arena.begin(), kernel->arena.end(),
                            [](const loop::Inst& i) { return i.streaming; }),
                whole)
          << rows;
  }
}

/// Reads of one array at neighbouring rows and columns share squares; what is outside is not
/// read.
TEST(CompiledTiles, NeighboursOfATransposedArray) {
  expect_compiled_equals_reference(
      *program({Type(DType::f32, {40, 51})}, [](Builder& b, const Values& v) {
        Value* t = op::transpose(b, v[0], {1, 0});
        Value *up = op::slice(b, t, {0, 0}, {50, 39}), *down = op::slice(b, t, {1, 1}, {51, 40}),
              *left = op::slice(b, t, {1, 0}, {51, 39});
        return Values{op::add(b, op::mul(b, up, down), left)};
      }));
}

/// Last dimensions that are too short for squares: those behind the contiguous one are taken as
/// one, with smaller squares and columns alone at the end of a line, and rows that are left.
TEST(CompiledTiles, ShortLastDimensions) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i8, DType::i1, DType::c64}) {
    expect_compiled_equals_reference(*program(
        {Type(t, {40, 3, 7, 48})},
        [](Builder& b, const Values& v) { return Values{op::transpose(b, v[0], {3, 0, 2, 1})}; }));
    expect_compiled_equals_reference(*program(
        {Type(t, {2, 33, 17, 35})},
        [](Builder& b, const Values& v) { return Values{op::transpose(b, v[0], {3, 1, 2, 0})}; }));
  }
  for (const Ints& p : {Ints{3, 2, 1, 0}, Ints{2, 3, 1, 0}, Ints{3, 1, 2, 0}, Ints{3, 0, 2, 1},
                        Ints{0, 3, 2, 1}, Ints{1, 3, 2, 0}})
    for (const Shape& shape :
         {Shape{5, 13, 10, 49}, Shape{12, 20, 6, 64}, Shape{3, 20, 31, 33}, Shape{9, 4, 11, 80}})
      expect_compiled_equals_reference(
          *program({Type(DType::f32, shape)},
                   [&](Builder& b, const Values& v) { return Values{op::transpose(b, v[0], p)}; }));
  // Few rows: smaller squares, and squares that end with the last row where nothing else is read.
  for (std::int64_t rows : {4, 7, 8, 9, 12, 17, 24, 30, 36, 61})
    for (bool beside : {false, true})
      expect_compiled_equals_reference(*program(
          {Type(DType::f32, {37, 50, rows}), Type(DType::f32, {rows, 50, 37})},
          [&](Builder& b, const Values& v) {
            Value* t = op::transpose(b, v[0], {2, 1, 0});
            if (!beside) return Values{t};
            Value* lies = op::exp(b, v[1]);  // whose memory the result may take
            return Values{op::add(b, t,
                                  op::mul(b, lies,
                                          op::broadcast_in_dim(b, op::reduce_sum(b, lies, {0, 1}),
                                                               lies->shape(), {2})))};
          }));
}

/// Lines of the result a power of two apart, along which squares go; with rows that no square
/// covers.
TEST(CompiledTiles, ShortLastDimensionsOfFarLines) {
  for (DType t : {DType::f32, DType::bf16, DType::i8})
    for (const Shape& shape : {Shape{2, 1024, 48}, Shape{4, 512, 70}, Shape{8, 384, 33}})
      expect_compiled_equals_reference(
          *program({Type(t, shape), Type(t, {shape[2], shape[1], shape[0]})},
                   [](Builder& b, const Values& v) {
                     Value* turned = op::transpose(b, v[0], {2, 1, 0});
                     return Values{turned, op::add(b, turned, v[1])};
                   }));
}

/// Beside what runs along the result, what stays for its rows, another array that is so, and two
/// results; of an array that is read both ways, or under a condition, all the same.
TEST(CompiledTiles, ShortLastDimensionsWithWhatStandsAround) {
  const Type x(DType::f32, {5, 8, 21, 40}), y(DType::f32, {40, 8, 21, 5}), row(DType::f32, {40}),
      last(DType::f32, {5}), square(DType::f32, {6, 40, 6, 40});
  expect_compiled_equals_reference(*program({x, x, y, row, last}, [](Builder& b, const Values& v) {
    Value *t = op::transpose(b, v[0], {3, 1, 2, 0}), *other = op::transpose(b, v[1], {3, 1, 2, 0});
    Value* sum = op::add(b, op::mul(b, op::exp(b, t), v[2]),
                         op::broadcast_in_dim(b, v[3], v[2]->shape(), {0}));
    return Values{sum, op::sub(b, other, sum)};
  }));
  expect_compiled_equals_reference(*program({x, last}, [](Builder& b, const Values& v) {
    Value* t = op::transpose(b, v[0], {3, 1, 2, 0});
    return Values{op::add(b, t, op::broadcast_in_dim(b, v[1], t->shape(), {3}))};
  }));
  expect_compiled_equals_reference(*program({square}, [](Builder& b, const Values& v) {
    return Values{
        op::add(b, op::transpose(b, v[0], {1, 0, 3, 2}), op::transpose(b, v[0], {3, 0, 1, 2}))};
  }));
  expect_compiled_equals_reference(*program({x}, [](Builder& b, const Values& v) {
    return Values{op::pad(b, op::transpose(b, v[0], {3, 1, 2, 0}), op::scalar(b, DType::f32, 2),
                          {0, 1, 0, 1}, {2, 0, 0, 1})};
  }));
}

/// One array read along and across; as large as what is fetched ahead of its reads.
TEST(CompiledTiles, AnArrayAndItsTranspose) {
  for (std::int64_t n : {8, 33, 1030})
    expect_compiled_equals_reference(
        *program({Type(DType::f32, {n, n})}, [](Builder& b, const Values& v) {
          return Values{op::add(b, op::exp(b, v[0]), op::transpose(b, v[0], {1, 0}))};
        }));
  expect_compiled_equals_reference(
      *program({Type(DType::f32, {16, 24, 24})}, [](Builder& b, const Values& v) {
        return Values{op::add(b, op::sub(b, v[0], op::transpose(b, v[0], {0, 2, 1})),
                              op::reverse(b, v[0], {2}))};
      }));
}

/// Under a condition that some rows of a square do not meet.
TEST(CompiledTiles, JoinedAndPaddedTransposes) {
  Type x(DType::f32, {40, 21}), y(DType::f32, {40, 30});
  expect_compiled_equals_reference(*program({x, y}, [](Builder& b, const Values& v) {
    Value* both =
        op::concatenate(b, {op::transpose(b, v[0], {1, 0}), op::transpose(b, v[1], {1, 0})}, 0);
    return Values{op::pad(b, both, op::scalar(b, DType::f32, 2), {3, 1}, {2, 5})};
  }));
  expect_compiled_equals_reference(*program({x}, [](Builder& b, const Values& v) {
    return Values{op::reverse(b, op::transpose(b, v[0], {1, 0}), {0, 1}),
                  op::reverse(b, op::transpose(b, v[0], {1, 0}), {1})};
  }));
}

/// Turned by a quarter, either way, and mirrored at both diagonals: rows of squares go forth or
/// back.
TEST(CompiledTiles, QuarterTurns) {
  for (const Shape& shape : {Shape{64, 40}, {33, 70}, {520, 515}})
    for (DType dtype : {DType::f32, DType::i8}) {
      const auto f = program({Type(dtype, shape)}, [](Builder& b, const Values& v) {
        Value* turned = op::transpose(b, v[0], {1, 0});
        return Values{op::reverse(b, turned, {0}), op::reverse(b, turned, {1}),
                      op::reverse(b, turned, {0, 1})};
      });
      for (const auto& kernel : make_plan(*prepare(*f), {}, testing::v3()).kernels)
        EXPECT_EQ(kernel->name, "transpose_tiling");
      expect_compiled_equals_reference(*f);
    }
}

/// A dimension that is two in the operand, and two that are one.
TEST(CompiledTiles, ReshapedOnTheWay) {
  expect_compiled_equals_reference(
      *program({Type(DType::f32, {48, 60})}, [](Builder& b, const Values& v) {
        return Values{op::reshape(b, op::transpose(b, v[0], {1, 0}), Shape{12, 5, 48})};
      }));
  expect_compiled_equals_reference(
      *program({Type(DType::f32, {6, 8, 60})}, [](Builder& b, const Values& v) {
        return Values{op::transpose(b, op::reshape(b, v[0], Shape{48, 60}), {1, 0})};
      }));
  expect_compiled_equals_reference(*program(
      {Type(DType::f32, {48, 60}), Type(DType::i8, {70, 33})}, [](Builder& b, const Values& v) {
        return Values{
            op::neg(b, op::reshape(b, op::neg(b, op::transpose(b, v[0], {1, 0})), Shape{48 * 60})),
            op::reshape(b, op::transpose(b, v[1], {1, 0}), Shape{70 * 33})};
      }));
}

TEST(CompiledCumulatives, LinesOfEveryKind) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i32, DType::i1})
    for (op::Combiner c : {op::Combiner::add, op::Combiner::max, op::Combiner::mul})
      for (bool reverse : {false, true})
        for (int dim : {0, 1, 2})
          expect_compiled_equals_reference(
              *program({Type(t, {3, 290, 35}), Type::scalar(t)}, [&](Builder& b, const Values& v) {
                return Values{
                    op::cumulative(b, v[0], v[1], {.dim = dim, .reverse = reverse, .combiner = c})};
              }));
}

/// Several short lines in a strip, or one in a part of it; several places of few columns side by
/// side, in one block and in more.
TEST(CompiledCumulatives, ShortLinesAndFewColumns) {
  struct Case {
    Shape shape;
    int dim;
  };
  const Case cases[] = {{{37, 2}, 1},     {{9001, 4}, 1},    {{2, 30, 8}, 2}, {{50, 3}, 1},
                        {{50, 7}, 1},     {{50, 13}, 1},     {{3, 4}, 1},     {{61, 40, 4}, 1},
                        {{8, 300, 7}, 1}, {{20, 31, 15}, 1}, {{7, 40, 3}, 1}, {{2100, 5, 2}, 1},
                        {{9, 4200, 3}, 1}};
  for (DType t : {DType::f32, DType::bf16, DType::i32, DType::i1})
    for (op::Combiner c : {op::Combiner::add, op::Combiner::max})
      for (bool reverse : {false, true})
        for (const Case& k : cases) {
          SCOPED_TRACE(k.shape.to_string());
          expect_compiled_equals_reference(
              *program({Type(t, k.shape), Type::scalar(t)},
                       [&](Builder& b, const Values& v) {
                         return Values{op::cumulative(
                             b, v[0], v[1], {.dim = k.dim, .reverse = reverse, .combiner = c})};
                       }),
              1, t == DType::f32);
        }
}

TEST(CompiledCumulatives, LongLinesAndManyColumns) {
  for (bool reverse : {false, true})
    for (auto [shape, dim] : {std::pair{Shape{2, 70001}, 1}, std::pair{Shape{9000, 3}, 0},
                              std::pair{Shape{40, 1100}, 0}, std::pair{Shape{5, 16400}, 1}})
      expect_compiled_equals_reference(*program(
          {Type(DType::f32, shape), Type::scalar(DType::f32)}, [&](Builder& b, const Values& v) {
            return Values{op::cumulative(b, v[0], v[1], {.dim = dim, .reverse = reverse})};
          }));
}

}  // namespace
}  // namespace strata::compile
