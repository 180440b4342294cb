// Calls of compiled functions in steady state: nothing is allocated, by jit or by a handle for
// fixed types.
#include <algorithm>
#include <array>
#include <fstream>

#include "strata/api/testing.h"
#include "strata/base/testing/allocations.h"

namespace strata {
namespace {

struct Pair {
  Array a, b;
  STRATA_FIELDS(a, b)
};

/// Allocations of a call, once it has run a few times.
template <class Call>
std::size_t allocations_of(Call call) {
  for (int i = 0; i < 3; ++i) call();
  const std::size_t before = allocations();
  for (int i = 0; i < 10; ++i) call();
  return allocations() - before;
}

TEST(Dispatch, AJittedCallAllocatesNothing) {
  auto f = jit([](Pair p, Array x) { return Pair{p.a + x, p.b * x}; });
  Pair p{ones({}), ones({4})};
  Array x = ones({4});
  p = f(p, x);
  EXPECT_EQ(allocations_of([&] { p = f(p, x); }), 0u);
  EXPECT_GT(allocations_of([] { return std::make_unique<int>(1); }), 0u);  // the count counts
}

TEST(Dispatch, AnEagerOperationAllocatesNothing) {
  Array x = ones({16});
  EXPECT_EQ(allocations_of([&] { x = tanh(x); }), 0u);
  EXPECT_EQ(allocations_of([&] { x = x + x; }), 0u);
  const Array c = 1.5f;
  EXPECT_EQ(allocations_of([&] { x = x * c; }), 0u);
  EXPECT_EQ(allocations_of([&] { x = x * 1.5f; }), 0u);
}

TEST(Dispatch, AnEagerOperationIsFoundByAllThatItDependsOn) {
  auto one = [](const Array& x, const Array& y) {
    return testing::type_of(x + y) + " " + (x + y).to_string();
  };
  for (int round = 0; round < 2; ++round) {  // the second finds what the first made
    const Array a = array({1, 2}), b = array({3, 4}), f = array({0.5f, 1.5f}),
                row = array({{1}, {2}});
    EXPECT_EQ(one(a, b), "i32[2] [4 6]");
    EXPECT_EQ(one(a, a), "i32[2] [2 4]");
    EXPECT_EQ(one(a, f), "f32[2] [1.5 3.5]");
    EXPECT_EQ(one(f, a), "f32[2] [1.5 3.5]");
    EXPECT_EQ(one(a, row), "i32[2,2] [[2 3]\n [3 4]]");
    EXPECT_EQ(one(a, 7), "i32[2] [8 9]");
    EXPECT_EQ(one(a, 0.25), "f32[2] [1.25 2.25]");
    EXPECT_EQ(one(Array(2), Array(3)), "i32[] 5");
    const Array two = 2;
    EXPECT_EQ(one(two, two), "i32[] 4");
    EXPECT_TRUE((two + two).weak());
    EXPECT_FALSE((a + two).weak());
    EXPECT_EQ(testing::type_of(a / b), "f32[2]");
    EXPECT_EQ(testing::type_of(a < b), "i1[2]");
    EXPECT_EQ((a * b).to_string(), "[3 8]");
    EXPECT_EQ((-a).to_string(), "[-1 -2]");
    EXPECT_THAT(testing::message_of([&] { (void)(a.astype(int8) + 300); }),
                ::testing::HasSubstr("integer 300 does not fit i8"));
    EnableX64 wide;
    EXPECT_EQ(testing::type_of(a / b), "f64[2]");
  }
}

/// Pages of this process that are in memory.
std::int64_t resident_pages() {
  std::ifstream in("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  in >> all >> resident;
  return resident;
}

TEST(Dispatch, LongLoopsKeepTheirSize) {
  auto step = jit([](Array x, Array y) { return x * 0.5f + y; });
  Array x = ones({64, 64}), y = ones({64, 64});
  auto loops = [&](int turns) {
    for (int i = 0; i < turns; ++i) {
      x = step(x, y);
      y = sum(tanh(x + y), {.axis = 0}) / 64.0f + zeros({64, 1});
    }
  };
  loops(200);
  // The least of several: what the system had taken away comes back while a loop runs.
  std::int64_t grown = 1 << 30;
  for (int round = 0; round < 4; ++round) {
    const std::int64_t before = resident_pages();
    loops(5000);
    grown = std::min(grown, resident_pages() - before);
  }
  EXPECT_LE(grown, 64) << "pages";  // of 4 KB; a leak of a byte a turn in arrays of 16 KB: 20000
}

/// A state of some weights of 8 KB, each with a moment.
struct State {
  std::array<Array, 60> weights, moments;
  Array steps;
  STRATA_FIELDS(weights, moments, steps)
};

State stepped(const State& s, const Array& x) {
  State out;
  for (std::size_t i = 0; i < s.weights.size(); ++i) {
    out.moments[i] = s.moments[i] * 0.9f + s.weights[i] * x;
    out.weights[i] = s.weights[i] - out.moments[i];
  }
  out.steps = s.steps + 1;
  return out;
}

TEST(Dispatch, AStepThatTakesItsStateAllocatesNothing) {
  auto step = jit(stepped, {.donate_argnums = {0}});
  State s;
  for (Array& w : s.weights) w = ones({2048});
  for (Array& m : s.moments) m = zeros({2048});
  s.steps = zeros({}, DType::i32);
  const Array x = ones({}) * 0.01f;
  s = step(std::move(s), x);
  const std::byte* memory = s.weights[7].literal().data();
  EXPECT_EQ(allocations_of([&] { s = step(std::move(s), x); }), 0u);
  EXPECT_EQ(s.weights[7].literal().data(), memory);
  EXPECT_EQ(s.steps.item<int>(), 14);
}

TEST(Dispatch, AStepLeavesAStateThatOthersHold) {
  auto step =
      jit([](Array x, Array y) { return std::pair{x + y, x * y}; }, {.donate_argnums = {0, 1}});
  Array x = array({1.0f, 2.0f}), y = array({3.0f, 4.0f});
  const Array held = x;
  auto [sum, product] = step(std::move(x), std::move(y));
  EXPECT_EQ(held.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(sum.to_vector<float>(), (std::vector<float>{4, 6}));
  EXPECT_EQ(product.to_vector<float>(), (std::vector<float>{3, 8}));
  Array twice = array({2.0f});
  Array again = twice;
  EXPECT_EQ(step(std::move(twice), std::move(again)).first.to_vector<float>(),
            (std::vector<float>{4}));
}

TEST(Dispatch, AHandleAllocatesNothing) {
  auto f = jit([](Array x, Array y) { return sin(x) + sum(y); });
  Array x = ones({300}), y = ones({64, 64});  // larger ones than threads keep
  auto handle = f.compile(x, y);
  EXPECT_EQ(allocations_of([&] { x = handle(x, y); }), 0u);
}

TEST(Dispatch, AHandleGivesWhatJitGives) {
  auto f = jit([](Pair p, Array x) { return Pair{p.a - x, exp(p.b)}; });
  Pair p{array({1.0f, 2.0f}), array({0.5f, -1.0f})};
  auto handle = f.compile(p, Array(2.0f));
  Pair want = f(p, 2.0f), got = handle(p, 2.0f);  // a C++ scalar has no memory of its own
  EXPECT_TRUE(got.a.literal().same_bits(want.a.literal()));
  EXPECT_TRUE(got.b.literal().same_bits(want.b.literal()));
  EXPECT_EQ(f.cache_size(), 1u);
}

TEST(Dispatch, AHandleOnlyReadsWhatJitWouldTake) {
  auto f = jit([](Array x) { return x + 1; }, {.donate_argnums = {0}});
  Array x = ones({3});
  auto handle = f.compile(x);
  Array y = handle(std::move(x));
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 2, 2}));
}

TEST(Dispatch, AHandleRefusesOtherTypes) {
  auto handle = jit([](Array x) { return x + 1; }, {.name = "step"}).compile(ones({3}));
  try {
    (void)handle(ones({4}));
    ADD_FAILURE() << "it took f32[4]";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("argument 0 was compiled as f32[3], got f32[4]"));
  }
}

TEST(Dispatch, KeysTellTypesAndStructuresApart) {
  auto f = jit([](const std::vector<Array>& all) { return all.front() + 1; });
  (void)f(std::vector<Array>{ones({2, 3})});
  (void)f(std::vector<Array>{ones({3, 2})});
  (void)f(std::vector<Array>{ones({6})});
  (void)f(std::vector<Array>{ones({2, 3}, DType::i32)});
  (void)f(std::vector<Array>{ones({2, 3}), ones({})});
  EXPECT_EQ(f.cache_size(), 5u);
  (void)f(std::vector<Array>{ones({3, 2})});
  EXPECT_EQ(f.cache_size(), 5u);
}

}  // namespace
}  // namespace strata
