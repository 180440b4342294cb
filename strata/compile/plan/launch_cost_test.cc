// What a roofline is drawn from: operations counted in kernels, a work for each launch, copies told
// of.
#include "strata/compile/plan/launch_cost.h"

#include "strata/compile/compile_testing.h"
#include "strata/loop/tiles.h"

namespace strata::compile {
namespace {

using namespace testing;  // NOLINT: compile_testing.h
using loop::Inst;
using loop::Kernel;
using loop::Opcode;
using loop::Ref;

TEST(LaunchCost, CountsLanesOfAllGridPointsAndEachElementOnce) {
  Kernel kernel("axpb");
  kernel.grid = 4;
  loop::Builder b(kernel);
  Ref* x = b.parameter(DType::f32, 1024, Ref::Mode::in);
  Ref* y = b.parameter(DType::f32, 1024, Ref::Mode::out);
  loop::Index part = b.grid() * 256;
  b.for_(0, 3, 1, [&](loop::Index) {
    b.vector(0, 256, 16, [&](loop::Index i) {
      b.store(y, part + i,
              b.fma(b.load(x, part + i), b.constant(DType::f32, 2), b.constant(DType::f32, 1)));
    });
  });
  LaunchCost work = cost_of(kernel);
  EXPECT_EQ(work.flops, 3 * 1024 * 2);
  EXPECT_EQ(work.slots, 3 * 1024);
  EXPECT_EQ(work.read, 4096);  // read three times, and counted once
  EXPECT_EQ(work.written, 4096);
}

TEST(LaunchCost, AQuotientAndADoubleTakeMoreTimeAndAreOneOperation) {
  auto work = [](DType dtype, Opcode code) {
    Kernel kernel("k");
    loop::Builder b(kernel);
    Ref* x = b.parameter(dtype, 64, Ref::Mode::inout);
    b.vector(0, 64, 16,
             [&](loop::Index i) { b.store(x, i, b.binary(code, b.load(x, i), b.load(x, i))); });
    return cost_of(kernel);
  };
  EXPECT_EQ(work(DType::f32, Opcode::div).flops, 64);
  EXPECT_GT(work(DType::f32, Opcode::div).slots, work(DType::f32, Opcode::mul).slots);
  EXPECT_EQ(work(DType::f64, Opcode::mul).slots, 2 * work(DType::f32, Opcode::mul).slots);
}

TEST(LaunchCost, AnIntegerByANumberThatIsKnownIsNoQuotient) {
  auto slots = [](bool known) {
    Kernel kernel("k");
    loop::Builder b(kernel);
    Ref* x = b.parameter(DType::i32, 64, Ref::Mode::inout);
    b.vector(0, 64, 16, [&](loop::Index i) {
      b.store(x, i,
              b.binary(Opcode::rem, b.load(x, i),
                       known ? b.constant_int(DType::i32, 3) : b.load(x, i)));
    });
    return cost_of(kernel).slots;
  };
  EXPECT_LT(slots(true), slots(false));
}

TEST(LaunchCost, OfARareElementReadsWhatItTouches) {
  Kernel kernel("k");
  loop::Builder b(kernel);
  Ref* table = b.parameter(DType::f32, 1 << 20, Ref::Mode::in);
  Ref* y = b.parameter(DType::f32, 16, Ref::Mode::out);
  b.vector(0, 16, 16, [&](loop::Index i) { b.store(y, i, b.load(table, i * 1000)); });
  EXPECT_EQ(cost_of(kernel).read, 64);
  EXPECT_GT(cost_of(kernel).slots, 16);  // lanes that are apart
}

TEST(LaunchCost, OfTilesByTheSizesThatTheCallGives) {
  Kernel kernel("k");
  loop::Builder b(kernel);
  Ref* m = b.parameter(DType::i32, 4096, Ref::Mode::inout);
  std::vector<Inst*> args = {b.load(m, 0), b.load(m, 1024), b.load(m, 2048)};
  for (std::int64_t n : {32, 32, 32, 16, 32, 2, 1}) args.push_back(b.constant_int(DType::i64, n));
  b.call(std::string(loop::kTileProduct), {DType::i32, 1}, args);
  EXPECT_EQ(cost_of(kernel).tiles, 2.0 * 16 * 32 * 64);
}

TEST(LaunchCost, OfAProductIsTwoOperationsForEachMultiplication) {
  auto f = std::make_unique<ir::Block>();
  ir::Value* l = f->add_argument(Type(DType::f32, Shape{128, 96}));
  ir::Value* r = f->add_argument(Type(DType::f32, Shape{96, 256}));
  ir::Builder b(*f);
  f->results = {op::dot_general(b, l, r, {{}, {}, {1}, {0}}, DType::f32)};
  std::vector<LaunchCost> works = launch_costs(*f);
  ASSERT_EQ(works.size(), 1u);
  EXPECT_TRUE(works[0].parallel);
  const double least = 2.0 * 128 * 96 * 256;
  EXPECT_GE(works[0].flops, least);
  EXPECT_LE(works[0].flops, 1.25 * least);  // tiles at the border overlap others
  EXPECT_GE(works[0].read, 4.0 * 96 * (128 + 256));
  EXPECT_GE(works[0].written, 4.0 * 128 * 256);
}

/// An argument as a result, and twice the argument.
std::unique_ptr<ir::Block> passes_on(std::int64_t elements) {
  auto f = std::make_unique<ir::Block>();
  ir::Value* x = f->add_argument(Type(DType::f32, Shape{elements}));
  ir::Builder b(*f);
  f->results = {x, op::add(b, x, x)};
  return f;
}

TEST(LaunchCost, StandsBesideEachLaunchAndEachLargeCopy) {
  for (std::int64_t elements : {16, 4096}) {
    auto f = passes_on(elements);
    Plan plan = make_plan(*prepare(*f), {}, testing::v3());
    std::vector<runtime::Launch> told = launches(plan);
    EXPECT_EQ(told.size(), elements == 16 ? 1u : 2u) << print(plan);
    EXPECT_EQ(launch_costs(plan).size(), told.size());
  }
}

TEST(LaunchCost, ATimedDriverTellsOfLargeCopies) {
  auto f = passes_on(4096);
  register_cpu();
  auto executable = runtime::default_client().compile(*f, {.timed = true});
  std::vector<Literal> in = arguments_of(*f);
  std::vector<runtime::Buffer> arguments(in.begin(), in.end()),
      results = executable->results_for(arguments);
  void* from[] = {const_cast<std::byte*>(arguments[0].data())};
  void* to[] = {results[0].mutable_data(), results[1].mutable_data()};
  runtime::LaunchTimes times;
  executable->run_timed(from, to, times);
  executable->run_timed(from, to, times);
  ASSERT_EQ(times.totals.size(), executable->launches().size());
  for (std::size_t i = 0; i < times.totals.size(); ++i)
    EXPECT_EQ(times.totals[i].runs, 2) << executable->launches()[i].text;
  EXPECT_EQ(executable->launches().back().name, "copy");
  EXPECT_EQ(std::memcmp(to[0], from[0], f->argument(0)->type().bytes()), 0);
}

}  // namespace
}  // namespace strata::compile
