// Products of several blocks and several parts of the sum: the bits of the reference evaluator,
// with the tiles of each kind of processor.
#include "strata/compile/kernel/gemm/gemm_testing.h"
#include "strata/compile/processor_testing.h"
#include "strata/op/linalg/dot_general.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using testing::arguments_of;
using testing::expect_compiled_equals_reference;
using Case = testing::Product;

std::unique_ptr<Block> product(const Case& c) {
  auto f = std::make_unique<Block>();
  Builder b(*f);
  f->results = {c.add_to(*f, b)};
  return f;
}

// A matrix by a vector: whole squares, rows and steps beside them, the second eight rows behind the
// first. Long sums of few rows and columns, read in place. Blocks of rows (equal ones that end with
// a shorter tile, too), of columns and of k, whole ones, shorter ones and those that end with a
// shorter tile; k by parts of equal length and not.
const Case kCases[] = {{140, 44, 8},
                       {140, 44, 8, true, true},
                       {140, 44, 7, false, true},
                       {132, 64, 20, false, false},
                       {140, 44, 12, false, false, DType::f16},
                       {140, 44, 9, true, true, DType::f32, true},
                       {70, 36, 2070, false, true},
                       {70, 36, 1800, true, false},
                       {70, 36, 1300, true, true, DType::f16},
                       {13, 20, 2048, true, false, DType::f32},
                       {150, 3, 530, true, false},
                       {400, 330, 7, true, true},
                       {400, 330, 7, false, false},
                       {150, 512, 9},
                       {1040, 3, 513},
                       {420, 6, 1300},
                       {400, 9, 330, true, false},
                       {400, 9, 330, false, true},
                       {150, 40, 3, false, false, DType::f64},
                       {30, 40, 1100, false, true, DType::f64},
                       {150, 40, 5, false, true, DType::i32},
                       {140, 44, 8, true, false, DType::i8},
                       {140, 44, 30, true, true, DType::ui8},
                       {140, 44, 7, false, true, DType::i8},
                       {70, 36, 2230, false, false, DType::i16},
                       {13, 20, 2048, true, true, DType::i8},
                       {1, 64, 66, true, false, DType::i8},
                       {150, 3, 1600, true, false, DType::i8},
                       {1, 1040, 2056, true, true},
                       {1, 39, 2500, true, true},
                       {23, 1, 1117, true, false},
                       {45, 1, 1024, true, false, DType::i32},
                       {16, 1, 1040, true, false, DType::f16},
                       {12, 1, 1300, true, false},
                       {23, 1, 117, true, false},
                       {32, 20, 4200, false, false},
                       {28, 7, 4099, false, false},
                       {64, 64, 4128, false, false, DType::f32, false},
                       {5, 48, 4100, false, false, DType::f64}};

TEST(Product, HasTheReferencesBitsWhateverItsBlocks) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text());
    expect_compiled_equals_reference(*product(c), 11);
  }
}

TEST(Product, HasThemForEachKindOfProcessor) {
  for (const char* processor : {"x86-64-v3", "x86-64-v4"}) {
    for (const Case& c : kCases) {
      SCOPED_TRACE(processor + (": " + c.text()));
      auto block = product(c);
      const std::vector<Literal> given = arguments_of(*block, 3);
      testing::expect_same_bits({testing::run_as_on(processor, *block, given)},
                                op::evaluate(*block, given), processor);
    }
  }
}

// A sum that was given is begun from once, however many parts k has.
TEST(Product, BeginsFromASumOnce) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{20, 36, 2070}, {70, 36, 4200}}) {
    SCOPED_TRACE(fmt::format("{} x {} over {}", m, n, k));
    Block f;
    Value *x = f.add_argument(Type(DType::f32, {m, k})),
          *y = f.add_argument(Type(DType::f32, {k, n})),
          *sums = f.add_argument(Type(DType::f32, {m, n}));
    Builder b(f);
    f.results = {op::dot_add(b, x, y, sums, {{}, {}, {1}, {0}})};
    expect_compiled_equals_reference(f, 5);
  }
}

// Pairs of bf16: few rows read the right side where it is, more pack it, odd ends do.
TEST(Product, HasThemOfPairs) {
  const Case cases[] = {{1, 80, 64},
                        {1, 81, 65},
                        {3, 200, 40, false, false},
                        {13, 70, 2050, true, false},
                        {6, 40, 72, true, true},
                        {70, 5, 90, false, true}};
  for (Case c : cases) {
    SCOPED_TRACE(c.text());
    c.dtype = DType::bf16;
    auto block = product(c);
    const std::vector<Literal> given = arguments_of(*block, 3);
    testing::expect_same_bits({testing::run_as_on("x86-64-v4,+avx512bf16", *block, given)},
                              op::evaluate(*block, given), "pairs");
  }
}

// Work for two threads is never one block, and a block is never so little that handing it over
// costs more.
TEST(Product, IsCutWhereThereIsWorkForSeveralThreads) {
  struct Cut {
    Case product;
    bool several;
  };
  for (const char* processor : {"x86-64-v3", "x86-64-v4"})
    for (const Cut& cut : {Cut{{64, 64, 64}, true},
                           {{32, 32, 65536, false, false}, true},
                           {{1, 256, 256}, true},
                           {{256, 1, 256, false, true}, true},
                           {{8, 8, 8}, false},
                           {{16, 32, 64}, false}}) {
      SCOPED_TRACE(processor + (": " + cut.product.text()));
      const Plan plan = make_plan(*prepare(*product(cut.product)), {}, CpuTarget::named(processor));
      EXPECT_EQ(plan.kernels.back()->grid > 1, cut.several) << plan.kernels.back()->grid;
    }
}

// A side that several blocks read is laid out once: the right one, the left one, both; along k and
// across; in several parts of equal length and not; of several products at once; pairs of short
// integers.
TEST(Product, LaysASideOutOnceForSeveralBlocks) {
  struct Laid {
    Case product;
    std::size_t sides;
    std::int64_t batch = 1;
  };
  const Laid all[] = {{{200, 72, 300}, 1},
                      {{220, 70, 300, false, true}, 1},
                      {{70, 300, 260, false, false}, 1},
                      {{203, 72, 1201, false, false}, 1},
                      {{140, 300, 1160, false, true}, 1},
                      {{1060, 530, 130, false, true}, 2},
                      {{200, 130, 600, true, false, DType::i8}, 1},
                      {{200, 72, 330, false, true, DType::f64}, 1},
                      {{400, 140, 230, false, false}, 1, 2}};
  for (const Laid& laid : all) {
    SCOPED_TRACE(laid.product.text());
    Block f;
    Builder b(f);
    if (laid.batch == 1) {
      f.results = {laid.product.add_to(f, b)};
    } else {
      ir::Value *l = f.add_argument(Type(DType::f32, {laid.batch, laid.product.k, laid.product.m})),
                *r = f.add_argument(Type(DType::f32, {laid.batch, laid.product.k, laid.product.n}));
      f.results = {op::dot_general(b, l, r, {{0}, {0}, {1}, {1}})};
    }
    const Plan plan = make_plan(*prepare(f), {}, CpuTarget::named("x86-64-v3"));
    std::size_t sides = 0;
    for (const auto& kernel : plan.kernels) sides += kernel->name == "pack";
    EXPECT_EQ(sides, laid.sides);
    const std::vector<Literal> given = arguments_of(f, 3), want = op::evaluate(f, given);
    if (laid.product.m < 1000)
      for (const char* processor : {"x86-64-v3", "x86-64-v4"})
        testing::expect_same_bits({testing::run_as_on(processor, f, given)}, want, processor);
    testing::expect_same_bits(testing::run_compiled(f, given), want, "machine code");
  }
}

// Short integers of all values, whose sums go around.
TEST(Product, OfShortIntegersIsExact) {
  for (DType t : {DType::i8, DType::ui8, DType::i16})
    for (const Case& c : {Case{140, 44, 8, true, false, t}, Case{33, 40, 1540, true, true, t},
                          Case{1, 64, 66, true, true, t}, Case{64, 1, 66, true, false, t},
                          Case{20, 30, 9, true, true, t}}) {
      SCOPED_TRACE(c.text());
      auto block = product(c);
      std::vector<Literal> given;
      for (const auto& a : block->arguments()) {
        given.emplace_back(a->type());
        for (std::int64_t i = 0; i < given.back().count(); ++i)
          given.back().set_integer(i, i % 5 == 0 ? -32768 : i * 2654435761 >> 7);
      }
      const std::vector<Literal> want = op::evaluate(*block, given);
      for (const char* processor : {"x86-64-v3", "x86-64-v4"})
        testing::expect_same_bits({testing::run_as_on(processor, *block, given)}, want, processor);
      testing::expect_same_bits(testing::run_compiled(*block, given), want, "machine code");
    }
}

// Bytes by fours, of either sign on either side: of one sign, one side's are shifted by 128, which
// each part of a column's sum takes back. Few columns change places with rows; long sums use
// parts; sides are laid out by each block, and once for several.
TEST(Product, OfBytesByFoursIsExact) {
  const Case cases[] = {{140, 44, 8},
                        {140, 44, 12, false, false},
                        {33, 40, 1540, true, true},
                        {1, 64, 68, true, true},
                        {40, 3, 400},
                        {9, 33, 8200, false, true},
                        {20, 70, 4612},
                        {200, 130, 600},
                        {12, 40, 6}};
  for (DType lhs : {DType::i8, DType::ui8})
    for (DType rhs : {DType::i8, DType::ui8})
      for (const Case& c : cases) {
        SCOPED_TRACE(fmt::format("{} by {}: {}", name(lhs), name(rhs), c.text()));
        Block f;
        Builder b(f);
        ir::Value* l = f.add_argument(Type(lhs, c.left_along ? Shape{c.m, c.k} : Shape{c.k, c.m}));
        ir::Value* r = f.add_argument(Type(rhs, c.right_along ? Shape{c.n, c.k} : Shape{c.k, c.n}));
        f.results = {op::dot_general(
            b, l, r, {{}, {}, {c.left_along ? 1 : 0}, {c.right_along ? 1 : 0}}, DType::i32)};
        std::vector<Literal> given;
        for (const auto& a : f.arguments()) {
          given.emplace_back(a->type());
          for (std::int64_t i = 0; i < given.back().count(); ++i)
            given.back().set_integer(i, i % 5 == 0 ? 128 : i * 2654435761 >> 7);
        }
        const std::vector<Literal> want = op::evaluate(f, given);
        for (const char* processor : {"x86-64-v4", "x86-64-v4,+avx512vnni"})
          testing::expect_same_bits({testing::run_as_on(processor, f, given)}, want, processor);
        testing::expect_same_bits(testing::run_compiled(f, given), want, "machine code");
        const Plan plan = make_plan(*prepare(f), {}, CpuTarget::named("x86-64-v4,+avx512vnni"));
        EXPECT_EQ(print(*plan.kernels.back()).find("dot4") != std::string::npos, c.k % 4 == 0);
      }
}

// Operands that are computed from transposed arrays, and from several of which the largest tells
// how it is.
TEST(Product, HasThemWhereItsOperandsAreReadAcross) {
  for (auto [m, n, k] : {std::tuple{70, 44, 90}, {1, 48, 70}, {96, 1, 70}, {13, 20, 900}})
    for (bool lhs : {false, true})
      for (bool rhs : {false, true}) {
        SCOPED_TRACE(fmt::format("{} x {} x {}, {} {}", m, n, k, lhs, rhs));
        Block f;
        Builder b(f);
        auto operand = [&](std::int64_t rows, std::int64_t columns, bool across) {
          const Type type(DType::f32, {rows, columns});
          ir::Value* scale = op::broadcast_in_dim(b, f.add_argument(Type(DType::f32, {columns})),
                                                  type.shape(), {1});
          if (!across) return op::mul(b, f.add_argument(type), scale);
          return op::mul(
              b,
              op::transpose(
                  b, op::convert(b, f.add_argument(Type(DType::bf16, {columns, rows})), DType::f32),
                  {1, 0}),
              scale);
        };
        ir::Value *l = operand(m, k, lhs), *r = operand(k, n, rhs);
        f.results = {op::dot_general(b, l, r, {{}, {}, {1}, {0}})};
        expect_compiled_equals_reference(f);
      }
}

// Joined heads: a row's contracting elements are in several pieces of memory, which are packed
// together once where several tiles read them.
TEST(Product, HasThemWhereSumsLieInPieces) {
  for (auto [b_, h, s, d, n] : {std::tuple{2, 4, 9, 8, 96}, {1, 3, 20, 7, 40}, {3, 5, 6, 4, 8}})
    for (DType dtype : {DType::f32, DType::bf16}) {
      SCOPED_TRACE(fmt::format("{} heads of {} rows, {}", h, s, name(dtype)));
      Block f;
      Builder b(f);
      ir::Value *x = f.add_argument(Type(dtype, {b_, h, s, d})),
                *w = f.add_argument(Type(dtype, {h, d, n}));
      f.results = {op::dot_general(b, x, w, {{}, {}, {1, 3}, {0, 1}})};
      expect_compiled_equals_reference(f);
      const Plan plan = make_plan(*prepare(f), {}, CpuTarget::named("x86-64-v3"));
      const auto& refs = plan.kernels.back()->refs;
      const auto laid_out = std::count_if(refs.begin(), refs.end(), [](const auto& r) {
        return r->mode == loop::Ref::Mode::scratch;
      });
      if (dtype == DType::f32) {
        EXPECT_EQ(laid_out, n > 16 ? 2 : 1);
      }
    }
}

/// What the program's kernels read or store is where a lane's number says, and is looked for by
/// none.
void expect_along_memory(const Block& f, std::initializer_list<loop::Opcode> codes) {
  for (const auto& kernel : make_plan(*prepare(f), {}, testing::v3()).kernels)
    for (const loop::Inst& inst : kernel->arena) {
      if (inst.is_variable || std::find(codes.begin(), codes.end(), inst.code) == codes.end())
        continue;
      for (const loop::Index::Term& term : inst.index.terms())
        EXPECT_TRUE(term.variable->is_variable || term.variable->type.lanes == 1)
            << loop::print(*kernel);
    }
}

// Features that stand second, and places of two dimensions that no tile divides: lanes cross from
// line to line, and what they read and store is one behind the other all the same.
TEST(Product, ReadsAndStoresPlacesOfSeveralDimensionsAlongMemory) {
  for (auto [n, c, h, w, o] : {std::tuple{3, 12, 16, 14, 10}, {2, 20, 9, 7, 33}}) {
    Block f;
    Builder b(f);
    ir::Value *x = f.add_argument(Type(DType::f32, {n, c, h, w})),
              *y = f.add_argument(Type(DType::f32, {c, o}));
    f.results = {op::transpose(b, op::dot_general(b, y, x, {{}, {}, {0}, {1}}), {1, 0, 2, 3})};
    expect_compiled_equals_reference(f);
    if (h * w % 16 != 0) continue;  // lanes cross from image to image, too
    expect_along_memory(f, {loop::Opcode::load, loop::Opcode::store});
  }
}

// Rows come between columns where the result goes: tiles end where columns do that stay together,
// or cross there; with what follows element by element, of batches, of sums in parts, of other
// numbers.
TEST(Product, ResultsWhoseRowsComeBetweenColumns) {
  struct Turned {
    std::int64_t batch, rows, outer, together, k;
    DType dtype = DType::f32;
  };
  for (const Turned& c : {Turned{1, 100, 17, 48, 4},
                          {1, 30, 9, 40, 20},
                          {1, 33, 5, 49, 3},
                          {1, 70, 4, 7, 30},
                          {2, 40, 3, 784, 6},
                          {1, 20, 6, 48, 2100},
                          {3, 12, 5, 80, 9},
                          {1, 50, 7, 48, 5, DType::f64},
                          {1, 50, 7, 48, 12, DType::bf16},
                          {1, 50, 7, 36, 8, DType::i32}})
    for (bool follows : {false, true}) {
      SCOPED_TRACE(
          fmt::format("{} x {} x {} x {} over {}", c.batch, c.rows, c.outer, c.together, c.k));
      Block f;
      Builder b(f);
      ir::Value *x = f.add_argument(Type(c.dtype, {c.batch, c.rows, c.k})),
                *y = f.add_argument(Type(c.dtype, {c.batch, c.k, c.outer, c.together}));
      ir::Value* z = op::transpose(b, op::dot_general(b, x, y, {{0}, {0}, {2}, {1}}), {0, 2, 1, 3});
      f.results = {
          follows ? op::add(b, z,
                            op::broadcast_in_dim(b, f.add_argument(Type(c.dtype, {c.together})),
                                                 z->shape(), {3}))
                  : z};
      expect_compiled_equals_reference(f);
      const std::vector<Literal> given = arguments_of(f, 3);
      for (const char* processor : {"x86-64-v3", "x86-64-v4,+avx512bf16"})
        testing::expect_same_bits({testing::run_as_on(processor, f, given)}, op::evaluate(f, given),
                                  processor);
    }
  Block f;
  Builder b(f);
  ir::Value *x = f.add_argument(Type(DType::f32, {100, 4})),
            *y = f.add_argument(Type(DType::f32, {4, 17, 48}));
  f.results = {op::transpose(b, op::dot_general(b, x, y, {{}, {}, {1}, {0}}), {1, 0, 2})};
  expect_along_memory(f, {loop::Opcode::store});
}

// Tiles of thin products follow each other along rows whose lines two tiles share, or which push
// each other out of the caches; those are not written past them by halves of lines.
TEST(Product, ThinOnesGoAlongTheRowsOfSomeResults) {
  struct Order {
    std::int64_t columns, k;
    const char* processor;
    bool along_rows, streams;
  };
  for (const Order& c : {Order{1500, 16, "x86-64-v3", true, false},
                         {1500, 16, "x86-64-v4", true, false},
                         {1536, 16, "x86-64-v3", true, false},
                         {1536, 16, "x86-64-v4", false, true},
                         {1552, 16, "x86-64-v3", false, true},
                         {1536, 160, "x86-64-v3", false, true}}) {
    SCOPED_TRACE(fmt::format("{} columns over {} for {}", c.columns, c.k, c.processor));
    const Plan plan =
        make_plan(*prepare(*product({2000, c.columns, c.k})), {}, CpuTarget::named(c.processor));
    const loop::Kernel& kernel = *plan.kernels.back();
    const loop::Inst *outer = nullptr, *vector = nullptr, *store = nullptr;
    for (const loop::Inst& i : kernel.arena) {
      if (!outer && i.code == loop::Opcode::for_) outer = &i;
      if (!vector && i.code == loop::Opcode::vector) vector = &i;
      if (!store && i.code == loop::Opcode::store) store = &i;
    }
    ASSERT_TRUE(outer && vector && store) << loop::print(kernel);
    EXPECT_EQ(store->streaming, c.streams);
    EXPECT_EQ(outer->end.max() != 256 / vector->lanes, c.along_rows)
        << loop::print(kernel);  // a block has 256 columns
  }
}

// Long rows from beyond the caches run along no lanes for a few columns; short ones, and those of a
// side that runs across, do.
TEST(Product, LongRowsByFewColumnsAreNotTurned) {
  auto turns = [](const Case& c) {
    const Plan plan = make_plan(*prepare(*product(c)), {}, CpuTarget::named("x86-64-v3"));
    return loop::print(*plan.kernels.back()).find("scratch") != std::string::npos;
  };
  EXPECT_FALSE(turns({1500, 3, 1024}));
  EXPECT_TRUE(turns({100, 3, 1024}));
  EXPECT_TRUE(turns({15000, 3, 128}));
}

// Results of many megabytes go past the caches, once: parts of the sum are added up elsewhere. Rows
// know nothing of each other, so those of a small product are the same.
TEST(Product, LargeResultsHaveTheBitsOfTheirRows) {
  constexpr std::int64_t kRows = 1024, kFew = 72, kColumns = 2304;
  for (std::int64_t k : {40, 1300}) {
    auto block = [&](std::int64_t rows) {
      auto f = std::make_unique<Block>();
      Builder b(*f);
      ir::Value *x = f->add_argument(Type(DType::f32, {rows, k})),
                *y = f->add_argument(Type(DType::f32, {k, kColumns}));
      f->results = {op::dot_general(b, x, y, {{}, {}, {1}, {0}})};
      return f;
    };
    const std::unique_ptr<Block> large = block(kRows), small = block(kFew);
    std::string text;
    for (const auto& kernel : make_plan(*prepare(*large), {}, testing::v3()).kernels)
      text += loop::print(*kernel);
    EXPECT_NE(text.find("store streaming"), std::string::npos) << text;
    std::vector<Literal> given = arguments_of(*large),
                         few{Literal(small->arguments()[0]->type()), given[1]};
    std::memcpy(few[0].mutable_data(), given[0].data(), few[0].bytes());
    const std::vector<Literal> want = testing::run_compiled(*small, few);
    for (int threads : {1, 3}) {
      set_num_threads(threads);
      const std::vector<Literal> got = testing::run_compiled(*large, given);
      Literal first(want[0].type());
      std::memcpy(first.mutable_data(), got[0].data(), first.bytes());
      testing::expect_same_bits({first}, want, fmt::format("k {}, {} threads", k, threads));
    }
    set_num_threads(0);
  }
}

/// Products of bf16 as this machine makes them when nobody asks for less, exceptions included: the
/// bound of docs/exceptions.md, from the exact sum.
TEST(Product, OfHalvesOnThisMachineIsWithinItsBound) {
  constexpr std::int64_t kRows = 37, kColumns = 50, kTerms = 301;
  constexpr double u = 0x1p-24;
  Block f;
  Builder b(f);
  ir::Value *x = f.add_argument(Type(DType::bf16, {kRows, kTerms})),
            *y = f.add_argument(Type(DType::bf16, {kTerms, kColumns}));
  f.results = {op::dot_general(b, x, y, {{}, {}, {1}, {0}}, DType::f32)};
  const std::vector<Literal> given = testing::arguments_of(f, 9);
  const Literal got =
      testing::run_with({.target = "native"}, f, {given.begin(), given.end()}).at(0);
  for (std::int64_t i = 0; i < kRows; ++i)
    for (std::int64_t j = 0; j < kColumns; ++j) {
      double exact = 0, size = 0;  // products of bf16 and sums of so few of them are exact in f64
      for (std::int64_t k = 0; k < kTerms; ++k) {
        const double term = given[0].number(i * kTerms + k) * given[1].number(k * kColumns + j);
        exact += term;
        size += std::abs(term);
      }
      ASSERT_LE(std::abs(got.number(i * kColumns + j) - exact),
                2 * kTerms * u * size + kTerms * 0x1p-126)
          << i << ", " << j;
    }
}

}  // namespace
}  // namespace strata::compile
