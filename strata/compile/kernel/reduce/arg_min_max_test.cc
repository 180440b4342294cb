// Argument maxima and minima of rows and columns as machine code: the reference's bits where values
// are equal, zero or no number.
#include <cmath>
#include <limits>

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Value;
using ir::Values;

std::unique_ptr<Block> region(DType value, DType place, const char* direction) {
  auto block = std::make_unique<Block>();
  Value *v = block->add_argument(Type::scalar(value)),
        *i = block->add_argument(Type::scalar(place)),
        *w = block->add_argument(Type::scalar(value)),
        *j = block->add_argument(Type::scalar(place));
  Builder b(*block);
  Value* first = op::or_(b, op::compare(b, v, w, direction), op::compare(b, v, v, "NE"));
  Value* sooner = op::and_(b, op::compare(b, v, w, "EQ"), op::compare(b, i, j, "LT"));
  block->results = {op::select(b, first, v, w), op::select(b, op::or_(b, first, sooner), i, j)};
  return block;
}

/// Of an array, or (computed) of its negation, over dimension `d` (-1: the last).
std::unique_ptr<Block> program(const Type& x, DType place, const char* direction,
                               bool computed = false, int d = -1) {
  auto block = std::make_unique<Block>();
  Value *values = block->add_argument(x), *places = block->add_argument(x.with(place)),
        *v = block->add_argument(Type::scalar(x.dtype())),
        *i = block->add_argument(Type::scalar(place));
  Builder b(*block);
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(region(x.dtype(), place, direction));
  if (computed) values = op::neg(b, values);
  block->results = b.create("stablehlo.reduce", {values, places, v, i},
                            {{"dimensions", Ints{d < 0 ? x.rank() - 1 : d}},
                             {"combiner", std::string("region")}},
                            std::move(regions))
                       .results();
  return block;
}

std::vector<Literal> arguments(const Type& x, DType place, double initial,
                               std::int64_t initial_place,
                               const std::function<double(std::int64_t)>& value) {
  std::vector<Literal> out{Literal(x), Literal(x.with(place)), Literal(Type::scalar(x.dtype())),
                           Literal(Type::scalar(place))};
  for (std::int64_t e = 0; e < x.shape().count(); ++e) {
    is_float(x.dtype()) ? out[0].set_number(e, value(e))
                        : out[0].set_integer(e, static_cast<std::int64_t>(value(e)));
    out[1].set_integer(e, e * 7 % 8009);  // places need not ascend; within a row they differ
  }
  is_float(x.dtype()) ? out[2].set_number(0, initial)
                      : out[2].set_integer(0, static_cast<std::int64_t>(initial));
  out[3].set_integer(0, initial_place);
  return out;
}

void expect_reference(const Block& block, const std::vector<Literal>& arguments) {
  std::vector<Literal> want = op::evaluate(block, arguments),
                       plan = testing::run_plan(block, arguments),
                       code = testing::run_compiled(block, arguments);
  for (std::size_t r = 0; r < want.size(); ++r)
    for (std::int64_t e = 0; e < want[r].count(); ++e) {
      auto same = [&](const Literal& got) {
        if (!is_float(got.dtype())) return got.integer(e) == want[r].integer(e);
        double a = got.number(e), b = want[r].number(e);
        return std::isnan(b) ? std::isnan(a) : a == b && std::signbit(a) == std::signbit(b);
      };
      EXPECT_TRUE(same(plan[r]) && same(code[r])) << "result " << r << " element " << e;
    }
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInf = std::numeric_limits<double>::infinity();

TEST(CompiledArgExtremum, OfManyTypesAndLengths) {
  for (DType t :
       {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::ui8, DType::i64})
    for (const Shape& shape :
         {Shape{5, 32}, Shape{5, 33}, Shape{5, 100}, Shape{5, 9}, Shape{3, 16}, Shape{40, 31},
          Shape{5, 3}, Shape{40, 2}, Shape{17, 7}, Shape{33, 1}, Shape{8, 8}, Shape{29, 8},
          Shape{70, 10}, Shape{33, 24}, Shape{24, 17}})
      for (const char* direction : {"GT", "LT"})
        for (bool computed : {false, true})
          expect_reference(*program(Type(t, shape), DType::i32, direction, computed),
                           arguments(Type(t, shape), DType::i32, 1, 3, [](std::int64_t e) {
                             return static_cast<double>(e * 37 % 23);
                           }));
}

TEST(CompiledArgExtremum, OfLongRowsInBlocks) {
  std::vector<std::function<double(std::int64_t)>> rows{
      [](std::int64_t e) { return static_cast<double>(e * 37 % 2003); },  // the best stands once
      [](std::int64_t e) { return static_cast<double>(e * 37 % 23); },    // in every block
      [](std::int64_t e) {
        return e % 1501 == 700 || e % 997 == 3 ? kNan : -1.0;
      },  // rows with none, one and several that are no number
      [](std::int64_t e) {
        return e % 1501 == 40 ? kNan : static_cast<double>(e % 2000);
      },  // in another block than the best of the rest
      [](std::int64_t e) { return e % 701 == 600   ? 0.0
                                  : e % 503 == 400 ? -0.0
                                                   : -1.0; },
      [](std::int64_t) { return -kInf; },
  };
  for (DType t : {DType::f32, DType::bf16, DType::i32})
    for (std::int64_t n : {1023, 1024, 1025, 1536, 2000})
      for (const auto& row : rows)
        for (const char* direction : {"GT", "LT"})
          for (bool computed : {false, true}) {
            const Type x(t, {4, n});
            if (!is_float(t) && &row != &rows[0] && &row != &rows[1]) continue;
            expect_reference(*program(x, DType::i32, direction, computed),
                             arguments(x, DType::i32, 1, 3, row));
          }
}

TEST(CompiledArgExtremum, OfShortRowsHereAndThere) {
  for (const Shape& shape : {Shape{30, 4, 3}, Shape{30, 12, 7}, Shape{3, 1, 50}})
    for (const char* direction : {"GT", "LT"}) {
      const Type x(DType::f32, shape);
      expect_reference(*program(x, DType::i32, direction, false, 1),
                       arguments(x, DType::i32, -1, 3, [](std::int64_t e) {
                         return e % 31 == 7 ? kNan : static_cast<double>(e * 37 % 23 - 4);
                       }));
    }
}

TEST(CompiledArgExtremum, OfTruth) {
  for (auto& [shape, d] : {std::pair{Shape{5, 33}, -1}, {Shape{3, 100}, -1}, {Shape{2, 9, 40}, 1}})
    for (const char* direction : {"GT", "LT"})
      for (std::int64_t one_of : {1, 2, 29, 1000})
        for (DType place : {DType::i32, DType::i64})
          for (double initial : {0., 1.}) {
            const Type x(DType::i1, shape);
            expect_reference(*program(x, place, direction, false, d),
                             arguments(x, place, initial, 50,
                                       [&](std::int64_t e) { return e % one_of == one_of - 1; }));
          }
}

TEST(CompiledArgExtremum, OfColumns) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i32, DType::ui8})
    for (const Shape& shape : {Shape{3, 8}, Shape{19, 45}, Shape{2, 33, 70}})
      for (const char* direction : {"GT", "LT"})
        expect_reference(
            *program(Type(t, shape), DType::i32, direction, shape.rank() == 3, shape.rank() - 2),
            arguments(Type(t, shape), DType::i32, 1, 3, [](std::int64_t e) {
              return e % 31 == 7 ? kNan : static_cast<double>(e * 37 % 23 - 4);
            }));
}

TEST(CompiledArgExtremum, OfWhatIsNoNumberOrHasTwoSigns) {
  std::vector<std::function<double(std::int64_t)>> rows{
      [](std::int64_t e) {
        return e % 40 == 17 || e % 40 == 30 ? kNan : 1.0;
      },  // two that are none
      [](std::int64_t) { return kNan; },
      [](std::int64_t e) { return e % 3 ? -0.0 : 0.0; },
      [](std::int64_t) { return -kInf; },
      [](std::int64_t) { return kInf; },
      [](std::int64_t e) { return e % 2 ? -1.0 : 0.0; },
  };
  for (const Type& x :
       {Type(DType::f32, {3, 40}), Type(DType::f32, {12, 10}), Type(DType::f32, {8, 20}),
        Type(DType::f32, {40, 3}), Type(DType::f32, {120, 1})})
    for (const auto& row : rows)
      for (double initial : {-kInf, kInf, 0.0, -0.0, kNan})
        for (const char* direction : {"GT", "LT"})
          for (DType place : {DType::i32, DType::ui64})
            expect_reference(*program(x, place, direction), arguments(x, place, initial, 50, row));
}

/// Places that count, as JAX writes them: rows, columns and rows across memory, where values are
/// equal, zero or no number.
TEST(CompiledArgExtremum, OfPlacesThatCount) {
  std::vector<std::function<double(std::int64_t)>> elements{
      [](std::int64_t e) { return static_cast<double>(e * 37 % 23 - 4); },
      [](std::int64_t e) { return e % 13 == 7 ? kNan : static_cast<double>(e % 3); },
      [](std::int64_t e) { return e % 3 ? -0.0 : 0.0; },
      [](std::int64_t e) { return e % 5 ? -kInf : kInf; },
      [](std::int64_t) { return -kInf; },
  };
  struct Way {
    Shape shape;
    int dim;
    bool turned;
  };
  for (DType t : {DType::f32, DType::bf16, DType::f64, DType::i32, DType::ui8, DType::i1})
    for (const Way& way :
         {Way{{40, 100}, 0, false}, Way{{3, 12, 9}, 1, false}, Way{{64, 10}, 1, false},
          Way{{20, 5}, 1, false}, Way{{30, 66}, 0, true}, Way{{5, 70}, 1, false}})
      for (const char* direction : {"GT", "LT"})
        for (double initial : {-kInf, kInf, 0.0, kNan})
          for (std::int64_t initial_place : {0, 2})
            for (const auto& element : elements) {
              if (!is_float(t) && (&element != &elements[0] || initial != 0)) continue;
              Block block;
              Builder b(block);
              const Type type(t, way.shape);
              Value *x = block.add_argument(type), *v = block.add_argument(Type::scalar(t)),
                    *i = op::scalar(b, DType::i32, static_cast<double>(initial_place));
              if (way.turned) x = op::transpose(b, x, {1, 0});
              const int dim = way.turned ? 1 : way.dim;
              std::vector<std::unique_ptr<Block>> regions;
              regions.push_back(region(t, DType::i32, direction));
              block.results =
                  b.create("stablehlo.reduce",
                           {x, op::iota(b, x->type().with(DType::i32), dim), v, i},
                           {{"dimensions", Ints{dim}}, {"combiner", std::string("region")}},
                           std::move(regions))
                      .results();
              std::vector<Literal> given =
                  arguments(type, DType::i32, is_float(t) ? initial : 0, 0, element);
              expect_reference(block, {given[0], given[2]});
            }
}

/// Rows whose neighbours are beside them: `x` is turned, its first dimension is reduced.
TEST(CompiledArgExtremum, OfRowsAcrossMemory) {
  std::vector<std::function<double(std::int64_t)>> elements{
      [](std::int64_t e) { return static_cast<double>(e * 37 % 23 - 4); },
      [](std::int64_t e) { return e % 131 == 7 ? kNan : -1.0; },
      [](std::int64_t e) { return e % 3 ? -0.0 : 0.0; },
  };
  for (DType t : {DType::f32, DType::bf16, DType::i32, DType::i1})
    for (const Shape& shape : {Shape{40, 100}, Shape{9, 33}, Shape{300, 1100}})
      for (const char* direction : {"GT", "LT"})
        for (bool computed : {false, true})
          for (const auto& element : elements) {
            if (!is_float(t) && (&element != &elements[0] || (computed && is_bool(t)))) continue;
            const Type x(t, shape);
            auto rows = program(Type(t, {shape[1], shape[0]}), DType::i32, direction, computed);
            Block turned;
            Builder b(turned);
            Values in;
            for (const Type& type :
                 {x, x.with(DType::i32), Type::scalar(t), Type::scalar(DType::i32)})
              in.push_back(turned.add_argument(type));
            for (int i : {0, 1})
              in[static_cast<std::size_t>(i)] =
                  op::transpose(b, in[static_cast<std::size_t>(i)], {1, 0});
            turned.results = ir::inline_block(b, *rows, in);
            expect_reference(turned, arguments(x, DType::i32, is_bool(t) ? 0 : 1, 3, element));
          }
}

}  // namespace
}  // namespace strata::compile
