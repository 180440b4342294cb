// Sorts by keys as machine code: the reference's bits, whatever the comparator, the dimension and
// the number of threads.
#include "strata/op/sort/sort.h"

#include "strata/compile/compile_testing.h"
#include "strata/op/sort/sort_key.h"
#include "strata/op/testing/run.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using ir::Values;

using Comparator = std::function<std::unique_ptr<Block>()>;

std::unique_ptr<Block> program(const std::vector<Type>& types, std::int64_t dimension,
                               const Comparator& comparator) {
  auto block = std::make_unique<Block>();
  Values arrays;
  for (const Type& t : types) arrays.push_back(block->add_argument(t));
  Builder b(*block);
  block->results = op::sort(b, arrays, dimension, comparator());
  return block;
}

void expect_reference(const Block& block, const std::vector<Literal>& arguments) {
  std::vector<Literal> want = op::evaluate(block, arguments),
                       plan = testing::run_plan(block, arguments);
  auto expect_bits = [&](const std::vector<Literal>& got, const std::string& who) {
    for (std::size_t r = 0; r < want.size(); ++r)
      EXPECT_EQ(std::memcmp(got[r].data(), want[r].data(), want[r].bytes()), 0)
          << who << ", result " << r;
  };
  expect_bits(plan, "plan");
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    expect_bits(testing::run_compiled(block, arguments), std::to_string(threads) + " threads");
  }
  set_num_threads(0);
}

/// Edges of the dtype, again and again between other numbers.
Literal with_edges(const Type& type, unsigned seed) {
  Literal out = testing::random_literal(type, seed), edges = op::edge_literal(type.dtype());
  for (std::int64_t i = 0; i < out.count(); i += 3)
    op::copy_element(edges, i / 3 * 5 % edges.count(), out, i);
  return out;
}

TEST(SortByKeys, EachOrderAlongEachDimension) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::f16})
    for (const char* order : {"total", "numbers", "ieee"})
      for (std::int64_t d : {0, 1, 2}) {
        SCOPED_TRACE(::testing::Message() << name(t) << " " << order << " along " << d);
        Type x(t, {3, 70, 4});
        expect_reference(*program({x}, d, [&] { return op::comparator_of({t}, order, d == 1); }),
                         {with_edges(x, 1)});
      }
}

/// All NaNs of f16, quiet and signalling, among numbers: as f32 all would be quiet ones.
TEST(SortByKeys, SignallingNaNsOfF16HaveTheirPlace) {
  std::vector<std::uint16_t> bits = {0x7c02, 0x7e01, 0x3c00, 0x7c01, 0x7e00, 0xfc01,
                                     0xfe00, 0x7c00, 0xfc00, 0,      0x8000};
  Literal x(Type(DType::f16, {33}));
  for (std::size_t i = 0; i < 33; ++i)
    std::memcpy(x.mutable_data() + 2 * i, &bits[i * 7 % bits.size()], 2);
  for (std::int64_t k : {1, 4, 16, 20}) {
    Block f;
    Builder b(f);
    f.results = b.create("chlo.top_k", {f.add_argument(x.type())}, {{"k", k}}).results();
    expect_reference(f, {x});
  }
  Block f;
  Value* argument = f.add_argument(x.type());
  Builder b(f);
  f.results = {b.create("stablehlo.compare", {argument, op::reverse(b, argument, {0})},
                        {{"comparison_direction", std::string("LT")},
                         {"compare_type", std::string("TOTALORDER")}})
                   .result()};
  expect_reference(f, {x});
}

/// A comparator that does not look at the elements, but compares what stands outside: all are
/// equal, or each goes before the last.
TEST(SortByKeys, ComparatorsOfAConstant) {
  for (const char* kind : {"FLOAT", "TOTALORDER"}) {
    Block f;
    Builder b(f);
    Value *x = f.add_argument(Type(DType::f32, {5})), *one = op::scalar(b, DType::f32, 1);
    auto region = std::make_unique<Block>();
    for (int side = 0; side < 2; ++side) region->add_argument(Type::scalar(DType::f32));
    Builder rb(*region);
    region->results = {rb.create("stablehlo.compare", {one, one},
                                 {{"comparison_direction", std::string("LT")},
                                  {"compare_type", std::string(kind)}})
                           .result()};
    f.results = op::sort(b, {x}, 0, std::move(region));
    expect_reference(f, {testing::random_literal(x->type(), 1)});
  }
}

TEST(SortByKeys, IntegersAndBooleans) {
  for (DType t : {DType::i1, DType::i8, DType::ui8, DType::i16, DType::ui32, DType::i32, DType::i64,
                  DType::ui64})
    for (bool descending : {false, true}) {
      SCOPED_TRACE(::testing::Message() << name(t) << " " << descending);
      Type x(t, {2, 90});
      expect_reference(
          *program({x}, 1, [&] { return op::comparator_of({t}, "total", descending); }),
          {with_edges(x, 2)});
    }
}

TEST(SortByKeys, PayloadsGoWithThem) {
  Type x(DType::f32, {60, 5}), y(DType::i64, {60, 5}), z(DType::bf16, {60, 5});
  for (std::int64_t d : {0, 1})
    expect_reference(*program({x, y, z}, d,
                              [] {
                                return op::comparator_of({DType::f32, DType::i64, DType::bf16},
                                                         "numbers", false);
                              }),
                     {with_edges(x, 3), testing::random_literal(y, 4), with_edges(z, 5)});
}

TEST(SortByKeys, NumbersOfTheElements) {
  for (DType t : {DType::i32, DType::i64}) {
    auto block = std::make_unique<Block>();
    Value* x = block->add_argument(Type(DType::f32, {4, 80}));
    Builder b(*block);
    block->results = op::sort(b, {x, op::iota(b, Type(t, {4, 80}), 1)}, 1,
                              op::comparator_of({DType::f32, t}, "numbers", true));
    expect_reference(*block, {with_edges(x->type(), 6)});
  }
}

/// |l0| first, of equal ones the greater of l1.
TEST(SortByKeys, SeveralAndComputed) {
  Type x(DType::f32, {2, 75}), y(DType::i32, {2, 75});
  auto comparator = [] {
    auto region = std::make_unique<Block>();
    for (DType t : {DType::f32, DType::f32, DType::i32, DType::i32})
      region->add_argument(Type::scalar(t));
    Builder b(*region);
    Value *l = op::abs(b, region->argument(0)), *r = op::abs(b, region->argument(1));
    auto total = [&](const char* how) {
      return b
          .create("stablehlo.compare", {l, r},
                  {{"comparison_direction", std::string(how)},
                   {"compare_type", std::string("TOTALORDER")}})
          .result();
    };
    Value* second = op::compare(b, region->argument(2), region->argument(3), "GT");
    region->results = {op::or_(b, total("LT"), op::and_(b, total("EQ"), second))};
    return region;
  };
  Literal few = testing::random_literal(x, 7);
  for (std::int64_t i = 0; i < few.count(); ++i)
    few.set_number(i, static_cast<double>(i * 7 % 5 - 2));
  expect_reference(*program({x, y}, 1, comparator), {few, testing::random_literal(y, 8)});
}

/// As many as are sorted rather than kept in order.
TEST(SortByKeys, TheGreatestOfManyElements) {
  auto block = std::make_unique<Block>();
  Value* x = block->add_argument(Type(DType::f32, {3, 130}));
  Builder b(*block);
  block->results = b.create("chlo.top_k", {x}, {{"k", std::int64_t{100}}}).results();
  expect_reference(*block, {with_edges(x->type(), 9)});
}

/// `k` of the values of type x, or of their negations, in rows of edges, of random numbers, and of
/// equal ones.
void expect_top_k(const Type& x, std::int64_t k, bool computed = false) {
  SCOPED_TRACE(::testing::Message() << k << " of " << x.to_string());
  auto block = std::make_unique<Block>();
  Value* v = block->add_argument(x);
  Builder b(*block);
  if (computed) v = op::neg(b, v);
  block->results = b.create("chlo.top_k", {v}, {{"k", k}}).results();
  expect_reference(*block, {with_edges(x, static_cast<unsigned>(k))});
  expect_reference(*block, {testing::random_literal(x, static_cast<unsigned>(k))});
  expect_reference(*block, {Literal(x)});
}

/// Few are kept in order, past blocks that hold none of them.
TEST(TopK, TheGreatestFewOfLongRows) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i1, DType::ui8,
                  DType::i32, DType::ui64})
    for (auto [n, k] :
         {std::pair<std::int64_t, std::int64_t>{256, 1}, {300, 3}, {511, 8}, {1000, 16}})
      expect_top_k(Type(t, {3, n}), k);
}

/// The definition: all elements and their places sorted, of which the first stay.
void expect_definition(const Type& x, std::int64_t k) {
  SCOPED_TRACE(::testing::Message() << k << " of " << x.to_string());
  Block f, plain;
  Builder b(f), p(plain);
  const int d = x.rank() - 1;
  f.results = b.create("chlo.top_k", {f.add_argument(x)}, {{"k", k}}).results();
  const Type places = x.with(DType::i32);
  for (Value* v : op::sort(p, {plain.add_argument(x), op::iota(p, places, d)}, d,
                           op::comparator({x.dtype(), DType::i32}, "GT")))
    plain.results.push_back(op::slice_dim(p, v, d, 0, k));
  for (const std::vector<Literal>& values :
       {std::vector{with_edges(x, 5)}, std::vector{testing::random_literal(x, 6)},
        std::vector{Literal(x)}})
    testing::expect_same_bits(op::evaluate(f, values), op::evaluate(plain, values),
                              "the definition");
}

/// Of long rows the pieces that may hold some of many are read again: whole pieces, and a rest;
/// rows of equal elements, of numbers of both signs and of what is none.
TEST(TopK, TheGreatestOfVeryLongRows) {
  for (DType t :
       {DType::f32, DType::f64, DType::bf16, DType::f16, DType::ui8, DType::i32, DType::ui64})
    for (const auto& [shape, k] : {std::pair<Shape, std::int64_t>{Shape{3, 1088}, 17},
                                   {Shape{2, 2, 2500}, 20},
                                   {Shape{9001}, 64},
                                   {Shape{1, 20001}, 100}}) {
      expect_top_k(Type(t, shape), k);
      if (shape.count() < 5000) expect_definition(Type(t, shape), k);
    }
  for (DType t : {DType::i1, DType::f8E4M3FN}) expect_top_k(Type(t, {2, 2000}), 20);
  expect_top_k(Type(DType::f32, {2, 5000}), 30, true);
}

/// Many short rows have a lane each.
TEST(TopK, TheGreatestFewOfShortRows) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i1, DType::i8, DType::i32,
                  DType::ui64})
    for (std::int64_t rows : {8, 64, 75})
      for (auto [n, k] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {8, 2}, {8, 8}, {40, 5}})
        expect_top_k(Type(t, {rows, n}), k);
  expect_top_k(Type(DType::f32, {3, 30, 9}), 3, true);
}

TEST(SortByKeys, NoKernelRunsTheComparator) {
  auto block = program({Type(DType::f32, {300000})}, 0,
                       [] { return op::comparator_of({DType::f32}, "numbers", false); });
  Plan plan = make_plan(*prepare(*block), {}, testing::v3());
  EXPECT_TRUE(plan.kernels.empty());
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(std::get<LaunchNative>(plan.steps[0].what).symbol, "strata_sort");
}

}  // namespace
}  // namespace strata::compile
