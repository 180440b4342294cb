// The native driver does what walking the plan does.
#include "strata/compile/llvm/compile_plan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "strata/base/thread_pool.h"
#include "strata/compile/llvm/jit.h"
#include "strata/compile/plan/interpret_plan.h"
#include "strata/compile/plan/make_plan.h"

namespace strata::compile {
namespace {

using loop::Builder;
using loop::Index;
using loop::Inst;
using loop::Kernel;
using loop::Opcode;
using loop::Ref;

constexpr std::int64_t kElements = 64;  // of one vector of i32
constexpr std::int64_t kBytes = kElements * 4;
constexpr std::int64_t kSlots = 8;  // vectors in one buffer

/// y = x * factor + addend, in `grid` points.
std::unique_ptr<Kernel> affine(std::int64_t grid, int factor, int addend) {
  auto kernel = std::make_unique<Kernel>("affine");
  kernel->grid = grid;
  Builder b(*kernel);
  Ref* x = b.parameter(DType::i32, kElements, Ref::Mode::in);
  Ref* y = b.parameter(DType::i32, kElements, Ref::Mode::out);
  std::int64_t each = kElements / grid;
  Index first = b.grid() * each;
  b.vector(0, each, 8, [&](Index i) {
    Inst* product = b.binary(Opcode::mul, b.load(x, first + i), b.constant(DType::i32, factor));
    b.store(y, first + i, b.binary(Opcode::add, product, b.constant(DType::i32, addend)));
  });
  return kernel;
}

/// flag = x[0] < 50.
std::unique_ptr<Kernel> is_small() {
  auto kernel = std::make_unique<Kernel>("is_small");
  Builder b(*kernel);
  Ref* x = b.parameter(DType::i32, kElements, Ref::Mode::in);
  Ref* flag = b.parameter(DType::i1, 1, Ref::Mode::out);
  b.store(flag, 0, b.compare(loop::Compare::lt, b.load(x, 0), b.constant(DType::i32, 50)));
  return kernel;
}

class RandomPlan {
 public:
  explicit RandomPlan(unsigned seed) : random_(seed) {
    plan_.kernels.push_back(affine(1, 1, 3));
    plan_.kernels.push_back(affine(8, 3, -1));
    plan_.kernels.push_back(affine(64, -1, 7));
    plan_.kernels.push_back(is_small());
    using Kind = PlanBuffer::Kind;
    plan_.buffers = {{Kind::argument, 0, kBytes * kSlots, 0},
                     {Kind::constant, 0, kBytes * kSlots, 0},
                     {Kind::result, 0, kBytes * kSlots, 0},
                     {Kind::result, 1, kBytes * kSlots, 0},
                     {Kind::temporary, 0, kBytes * kSlots, 64},
                     {Kind::temporary, 0, kBytes, 64 + kBytes * kSlots}};
    plan_.steps = steps(3);
  }
  Plan& plan() { return plan_; }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  /// A vector of the buffers [first, last], counted by an enclosing loop at times.
  Address vector(int first, int last) {
    Address a{first + pick(last - first + 1), pick(kSlots / 2) * kBytes, -1, 0};
    if (!loops_.empty() && pick(2)) {
      a.counter = loops_[static_cast<std::size_t>(pick(static_cast<int>(loops_.size())))];
      a.stride = kBytes;
    }
    return a;
  }
  Steps steps(int depth) {
    Steps all;
    for (int n = 2 + pick(3); n > 0; --n) all.push_back(step(depth));
    return all;
  }
  Step step(int depth) {
    switch (depth == 0 ? pick(2) : pick(6)) {
      case 0: return {Copy{vector(0, 4), vector(2, 4), pick(2) ? kBytes : 20}};
      case 1:
        return {Launch{pick(3), {vector(0, 4), vector(2, 4)}, pick(2) == 1, false, 1 + pick(3)}};
      case 2: return loop(depth);
      case 3: return while_small(depth);
      case 4: return branch(depth, true);
      default: return branch(depth, false);
    }
  }
  Step loop(int depth) {
    CountedLoop l{plan_.num_counters++, pick(static_cast<int>(kSlots / 2) + 1), pick(2) == 1, {}};
    loops_.push_back(l.counter);
    l.body = steps(depth - 1);
    loops_.pop_back();
    return {std::move(l)};
  }
  /// Ends, for the body adds 3 to what is compared, after which nothing writes it.
  Step while_small(int depth) {
    Address counted{4, (kSlots - 1) * kBytes, -1, 0}, flag{5, 0, -1, 0};
    WhileLoop w;
    w.condition.push_back({Launch{3, {counted, flag}, false, false, 1}});
    w.predicate = flag;
    auto outer = std::move(loops_);
    loops_.clear();
    if (depth > 1) w.body.push_back(step(0));
    loops_ = std::move(outer);
    w.body.push_back({Launch{0, {counted, counted}, false, false, 1}});
    return {std::move(w)};
  }
  Step branch(int depth, bool boolean) {
    Branch b{vector(0, 4), boolean, {}};
    for (int arms = boolean ? 2 : 1 + pick(3); arms > 0; --arms)
      b.branches.push_back(steps(depth - 1));
    return {std::move(b)};
  }

  std::mt19937 random_;
  Plan plan_;
  std::vector<int> loops_;
};

/// All memory a plan of these tests sees.
class Memory {
 public:
  explicit Memory(unsigned seed) {
    std::mt19937 random(seed);
    for (auto& v : words_) v = static_cast<std::int32_t>(random() % 9) - 3;
  }
  RunContext context() {
    auto at = [&](std::int64_t buffer) {
      return reinterpret_cast<std::byte*>(words_.data()) + buffer * kBytes * kSlots;
    };
    argument_ = at(0);
    constant_ = at(1);
    results_[0] = at(2);
    results_[1] = at(3);
    return {&argument_, results_, &constant_, at(4)};
  }
  bool operator==(const Memory& other) const { return words_ == other.words_; }

 private:
  alignas(64) std::array<std::int32_t, static_cast<std::size_t>(kElements* kSlots * 7)> words_;
  void* argument_ = nullptr;
  void* constant_ = nullptr;
  void* results_[2] = {};
};

TEST(CompilePlan, RandomPlansGiveWhatWalkingThemGives) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    RandomPlan random(seed);
    Memory walked(seed), native(seed), timed(seed);
    interpret(random.plan(), walked.context());
    run_driver(compile_plan(random.plan()).run, native.context());
    run_driver(compile_plan(random.plan(), {.timed = true}).run, timed.context());
    ASSERT_TRUE(walked == native) << "seed " << seed;
    ASSERT_TRUE(walked == timed) << "seed " << seed;
  }
}

/// Plans that are alike but for the direction of a loop, of which the last iteration's copy stays.
TEST(CompilePlan, LoopsInEitherDirectionHaveDriversOfTheirOwn) {
  for (bool reverse : {false, true}) {
    Plan plan;
    plan.buffers = {{PlanBuffer::Kind::argument, 0, kBytes * kSlots, 0},
                    {PlanBuffer::Kind::result, 0, kBytes * kSlots, 0}};
    plan.num_counters = 1;
    CountedLoop loop{0, 4, reverse, {}};
    loop.body.push_back({Copy{{0, 0, 0, kBytes}, {1, 0, -1, 0}, kBytes}});
    plan.steps.push_back({std::move(loop)});
    Memory walked(3), native(3);
    interpret(plan, walked.context());
    run_driver(compile_plan(plan).run, native.context());
    EXPECT_TRUE(walked == native) << "reverse " << reverse;
  }
}

/// Many in a row are a table (emit_launches.h).
TEST(CompilePlan, RowsOfLaunchesGiveWhatWalkingThemGives) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    RandomPlan random(seed);
    Plan& plan = random.plan();
    std::mt19937 dice(seed);
    auto place = [&](int first) {
      return Address{first + static_cast<int>(dice() % static_cast<unsigned>(5 - first)),
                     static_cast<std::int64_t>(dice() % kSlots) * kBytes, -1, 0};
    };
    plan.steps.clear();
    for (int i = 0; i < 200; ++i) {
      if (i == 150) plan.steps.push_back({Copy{place(0), place(2), kBytes}});
      plan.steps.push_back({Launch{static_cast<int>(dice() % 3),
                                   {place(0), place(2)},
                                   dice() % 2 == 1,
                                   false,
                                   1 + static_cast<std::int64_t>(dice() % 3)}});
    }
    Memory walked(seed), native(seed), timed(seed);
    interpret(plan, walked.context());
    run_driver(compile_plan(plan).run, native.context());
    runtime::LaunchTimes times;
    run_driver(compile_plan(plan, {.timed = true}).run, timed.context(), &times);
    ASSERT_TRUE(walked == native) << "seed " << seed;
    ASSERT_TRUE(walked == timed) << "seed " << seed;
    ASSERT_EQ(times.totals.size(), 200u);
    for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(times.spans.at(i).launch, static_cast<int>(i));
  }
}

TEST(CompilePlan, LaunchesAreTimedInTheirOrder) {
  Plan plan;
  plan.kernels.push_back(affine(1, 2, 1));
  plan.buffers = {{PlanBuffer::Kind::temporary, 0, kBytes, 0}};
  plan.num_counters = 1;
  Address a{0, 0, -1, 0};
  CountedLoop loop{0, 5, false, {}};
  loop.body.push_back({Launch{0, {a, a}, false, false, 1}});
  plan.steps.push_back({Launch{0, {a, a}, false, false, 1}});
  plan.steps.push_back({std::move(loop)});
  Memory memory(1);
  runtime::LaunchTimes times;
  const Driver driver = compile_plan(plan, {.timed = true});
  run_driver(driver.run, memory.context(), &times);
  ASSERT_EQ(times.totals.size(), 2u);
  EXPECT_EQ(times.totals[0].runs, 1);
  EXPECT_EQ(times.totals[1].runs, 5);
  ASSERT_EQ(times.spans.size(), 6u);
  std::int64_t last = 0, sum = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(times.spans[i].launch, i == 0 ? 0 : 1);
    EXPECT_LE(last, times.spans[i].begin_ns);
    EXPECT_LE(times.spans[i].begin_ns, times.spans[i].end_ns);
    last = times.spans[i].end_ns;
    sum += times.spans[i].end_ns - times.spans[i].begin_ns;
  }
  EXPECT_EQ(sum, times.totals[0].ns + times.totals[1].ns);
  run_driver(driver.run, memory.context());  // tells nobody
  EXPECT_EQ(times.spans.size(), 6u);
}

/// A loop that launches for long fills no memory, and its totals are whole.
TEST(CompilePlan, SpansOfALaunchAreBounded) {
  Plan plan;
  plan.kernels.push_back(affine(1, 2, 1));
  plan.buffers = {{PlanBuffer::Kind::temporary, 0, kBytes, 0}};
  plan.num_counters = 1;
  CountedLoop loop{0, runtime::LaunchTimes::kMostSpans + 10, false, {}};
  loop.body.push_back({Launch{0, {{0, 0, -1, 0}, {0, 0, -1, 0}}, false, false, 1}});
  plan.steps.push_back({std::move(loop)});
  Memory memory(1);
  runtime::LaunchTimes times;
  run_driver(compile_plan(plan, {.timed = true}).run, memory.context(), &times);
  EXPECT_EQ(times.spans.size(), runtime::LaunchTimes::kMostSpans);
  EXPECT_EQ(times.totals.at(0).runs,
            static_cast<std::int64_t>(runtime::LaunchTimes::kMostSpans) + 10);
}

/// What no driver launches has no number: those of the others are theirs.
TEST(CompilePlan, LaunchesAreNumberedAsThePlanTellsThem) {
  Plan plan;
  plan.kernels.push_back(affine(1, 2, 1));
  plan.kernels.push_back(affine(3, 1, 0));
  plan.kernels[0]->name = "in_no_turn";
  plan.kernels[1]->name = "last";
  plan.buffers = {{PlanBuffer::Kind::temporary, 0, kBytes, 0}};
  plan.num_counters = 1;
  const Address a{0, 0, -1, 0};
  CountedLoop none{0, 0, false, {}};
  none.body.push_back({Launch{0, {a, a}, false, false, 1}});
  plan.steps.push_back({std::move(none)});
  plan.steps.push_back({Launch{1, {a, a}, false, false, 1}});
  Memory memory(1);
  runtime::LaunchTimes times;
  run_driver(compile_plan(plan, {.timed = true}).run, memory.context(), &times);
  const std::vector<runtime::Launch> told = launches(plan);
  ASSERT_EQ(told.size(), 1u);
  ASSERT_EQ(times.totals.size(), 1u);
  EXPECT_EQ(told[0].name, "last");
  EXPECT_NE(told[0].text.find("last #1 grid"), std::string::npos) << told[0].text;
}

TEST(CompilePlan, CodeGoesWithItsLastHandle) {
  auto loaded = [] { return compile_counts().made + compile_counts().from_disk; };
  const std::int64_t before = loaded();
  std::int64_t units = 0;
  for (int time = 1; time <= 3; ++time) {
    const Driver first = compile_plan(RandomPlan(5).plan()),
                 second = compile_plan(RandomPlan(5).plan());
    if (time == 1) units = loaded() - before;
    EXPECT_GT(units, 0);
    EXPECT_EQ(loaded() - before, time * units) << "loaded once for both, and anew each time";
  }
}

TEST(CompilePlan, EqualPlansShareTheirDriver) {
  const Driver first = compile_plan(RandomPlan(3).plan());
  EXPECT_EQ(first.run, compile_plan(RandomPlan(3).plan()).run);
  EXPECT_NE(first.run, compile_plan(RandomPlan(4).plan()).run);
}

}  // namespace
}  // namespace strata::compile
