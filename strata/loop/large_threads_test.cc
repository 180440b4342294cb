// LAPACK called from several threads at once gives what it gives one of them: Debian's serial
// OpenBLAS is not safe for that by itself (lapack/routine.h).
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "strata/loop/kernel/native.h"
#include "strata/loop/testing/matrices.h"

namespace strata::loop::large {
namespace {

using namespace testing;

constexpr std::int64_t kSide = 64, kElements = kSide * kSide;

/// A factorisation of a matrix of kSide rows: all numbers of its results.
using Factor = std::function<Array<float>(const Array<float>&)>;

/// Calls from four threads whose bits differ from those of one thread by itself.
int differing(const Factor& factor, int calls_each) {
  constexpr int kThreads = 4;
  std::vector<Array<float>> inputs, want;
  for (int i = 0; i < kThreads; ++i) {
    inputs.push_back(random<float>(kElements, 100 * i));
    want.push_back(factor(inputs.back()));
  }
  std::atomic<int> waiting{kThreads}, wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      for (int call = 0; call < calls_each; ++call) wrong += factor(inputs[i]) != want[i];
    });
  for (std::thread& t : threads) t.join();
  return wrong;
}

TEST(LargeThreads, EigenvectorsAreThoseOfOneThread) {
  EXPECT_EQ(differing(
                [](const Array<float>& a) {
                  auto out = array<float>(kElements + kSide);
                  run_native("strata_eigh",
                             {const_cast<float*>(a.data()), out.data(), out.data() + kElements},
                             {factor::kF32, kSide}, 1);
                  return out;
                },
                200),
            0);
}

TEST(LargeThreads, SingularVectorsAreThoseOfOneThread) {
  EXPECT_EQ(differing(
                [](const Array<float>& a) {
                  auto out = array<float>(2 * kElements + kSide);
                  float* const u = out.data() + kSide;
                  run_native("strata_svd",
                             {const_cast<float*>(a.data()), out.data(), u, u + kElements},
                             {factor::kF32, kSide, kSide, 0}, 1);
                  return out;
                },
                200),
            0);
}

TEST(LargeThreads, ReflectorsAreThoseOfOneThread) {
  EXPECT_EQ(differing(
                [](const Array<float>& a) {
                  auto out = array<float>(kElements + kSide);
                  run_native("strata_geqrf",
                             {const_cast<float*>(a.data()), out.data(), out.data() + kElements},
                             {factor::kF32, kSide, kSide, kSide}, 1);
                  return out;
                },
                2000),
            0);
}

TEST(LargeThreads, EliminationIsThatOfOneThread) {
  EXPECT_EQ(differing(
                [](const Array<float>& a) {
                  auto out = array<float>(kElements);
                  auto pivots = array<std::int32_t>(kSide), permutation = pivots;
                  run_native(
                      "strata_lu",
                      {const_cast<float*>(a.data()), out.data(), pivots.data(), permutation.data()},
                      {factor::kF32, kSide, kSide, 1}, 1);
                  return out;
                },
                2000),
            0);
}

}  // namespace
}  // namespace strata::loop::large
