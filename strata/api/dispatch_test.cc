// Calls of compiled functions in steady state: nothing is allocated, by jit or by a handle for fixed types.
#include <atomic>
#include <cstdlib>
#include <new>

#include "strata/api/testing.h"

namespace {
std::atomic<std::size_t> allocations{0};
void* counted(std::size_t bytes, std::size_t align) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* p = std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, 16); }
void* operator new(std::size_t bytes, std::align_val_t align) { return counted(bytes, static_cast<std::size_t>(align)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

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
  const std::size_t before = allocations.load();
  for (int i = 0; i < 10; ++i) call();
  return allocations.load() - before;
}

TEST(Dispatch, AJittedCallAllocatesNothing) {
  auto f = jit([](Pair p, Array x) { return Pair{p.a + x, p.b * x}; });
  Pair p{ones({}), ones({4})};
  Array x = ones({4});
  p = f(p, x);
  EXPECT_EQ(allocations_of([&] { p = f(p, x); }), 0u);
  EXPECT_GT(allocations_of([] { return std::make_unique<int>(1); }), 0u);  // the count counts
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
    handle(ones({4}));
    ADD_FAILURE() << "it took f32[4]";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("argument 0 was compiled as tensor<3xf32>, got tensor<4xf32>"));
  }
}

TEST(Dispatch, KeysTellTypesAndStructuresApart) {
  auto f = jit([](const std::vector<Array>& all) { return all.front() + 1; });
  f(std::vector<Array>{ones({2, 3})});
  f(std::vector<Array>{ones({3, 2})});
  f(std::vector<Array>{ones({6})});
  f(std::vector<Array>{ones({2, 3}, DType::i32)});
  f(std::vector<Array>{ones({2, 3}), ones({})});
  EXPECT_EQ(f.cache_size(), 5u);
  f(std::vector<Array>{ones({3, 2})});
  EXPECT_EQ(f.cache_size(), 5u);
}

}  // namespace
}  // namespace strata
