#include "strata/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace strata {
namespace {

/// Runs `f(begin, end)` on the pool.
template <class F>
void parallel(std::int64_t points, std::int64_t grain, F f) {
  parallel_for(
      points, grain,
      [](void* ctx, std::int64_t begin, std::int64_t end) { (*static_cast<F*>(ctx))(begin, end); },
      &f);
}

class ThreadPoolTest : public ::testing::TestWithParam<int> {
 protected:
  ThreadPoolTest() { set_num_threads(GetParam()); }
  ~ThreadPoolTest() override {
    testing_hooks::inject_yields(0);
    set_num_threads(0);
  }
};
INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, ::testing::Values(1, 2, 3, 8));

TEST_P(ThreadPoolTest, EveryPointRunsOnceInItsChunk) {
  testing_hooks::inject_yields(42);
  for (std::int64_t points : {0, 1, 7, 64, 1000}) {
    for (std::int64_t grain : {1, 3, 64, 5000}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(points));
      parallel(points, grain, [&](std::int64_t begin, std::int64_t end) {
        EXPECT_EQ(begin % grain, 0);
        EXPECT_EQ(end, std::min(points, begin + grain));
        for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
      });
      for (auto& n : seen) EXPECT_EQ(n, 1);
    }
  }
}

/// All threads wait in the first chunk that each takes: nobody is done with its share and takes
/// another's.
TEST_P(ThreadPoolTest, EachThreadBeginsWithItsShare) {
  const std::int64_t threads = GetParam(), chunks = 4 * threads + 1;
  for (int run = 0; run < 20; ++run) {
    std::atomic<std::int64_t> arrived = 0;
    std::vector<std::atomic<int>> first(static_cast<std::size_t>(chunks));
    thread_local int last_run = -1;
    last_run = -1;
    parallel(chunks, 1, [&](std::int64_t begin, std::int64_t) {
      if (std::exchange(last_run, run) == run) return;
      ++first[static_cast<std::size_t>(begin)];
      for (++arrived; arrived < threads;) std::this_thread::yield();
    });
    for (std::int64_t c = 0; c < chunks; ++c) {
      bool begins_share = false;
      for (std::int64_t t = 0; t < threads; ++t) begins_share |= c == chunks * t / threads;
      EXPECT_EQ(first[static_cast<std::size_t>(c)], begins_share)
          << "chunk " << c << " of " << threads << " threads";
    }
  }
}

TEST_P(ThreadPoolTest, ManyShortRunsAndPauses) {
  std::atomic<std::int64_t> sum = 0;
  for (int run = 0; run < 3000; ++run) {
    parallel(4, 1, [&](std::int64_t begin, std::int64_t) { sum += begin; });
    if (run % 1000 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the others fall asleep
  }
  EXPECT_EQ(sum, 3000 * 6);
}

TEST_P(ThreadPoolTest, BriefCallsRunEveryPointOnce) {
  for (std::uint64_t seed : {0u, 42u}) {  // late threads, too
    testing_hooks::inject_yields(seed);
    for (int run = 0; run < 2000; ++run) {
      const std::int64_t points = 1 + run % 9, grain = 1 + run % 2;
      std::atomic<std::int64_t> sum = 0;
      auto add = [](void* ctx, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          *static_cast<std::atomic<std::int64_t>*>(ctx) += i + 1;
      };
      parallel_for_brief(points, grain, add, &sum);
      EXPECT_EQ(sum, points * (points + 1) / 2);
    }
  }
}

TEST_P(ThreadPoolTest, ABriefCallThatWaitedLongIsFollowedByCallsOnTheCaller) {
  struct Callers {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> elsewhere = 0;
    std::atomic<bool> slow = true;
  } callers;
  auto note = [](void* ctx, std::int64_t, std::int64_t) {
    auto& c = *static_cast<Callers*>(ctx);
    if (std::this_thread::get_id() != c.caller) {
      ++c.elsewhere;
      if (c.slow) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    } else if (c.slow) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // leaves some to the others
    }
  };
  while (GetParam() > 1 && callers.elsewhere == 0) parallel_for_brief(8, 1, note, &callers);
  callers.elsewhere = 0;
  callers.slow = false;
  for (int run = 0; run < 10; ++run) parallel_for_brief(8, 1, note, &callers);
  EXPECT_EQ(callers.elsewhere, 0);
}

TEST_P(ThreadPoolTest, NestedCallsRunInOrderOnTheirThread) {
  parallel(4, 1, [&](std::int64_t, std::int64_t) {
    auto self = std::this_thread::get_id();
    std::int64_t next = 0;
    parallel(10, 3, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_EQ(begin, next);
      next = end;
    });
    EXPECT_EQ(next, 10);
  });
}

TEST_P(ThreadPoolTest, SeveralCallersAtOnce) {
  std::atomic<int> total = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int run = 0; run < 200; ++run)
        parallel(8, 1, [&](std::int64_t, std::int64_t) { ++total; });
    });
  for (auto& c : callers) c.join();
  EXPECT_EQ(total, 4 * 200 * 8);
}

TEST_P(ThreadPoolTest, AnExceptionReachesTheCallerAndThePoolGoesOn) {
  for (std::int64_t bad : {0, 5, 9}) {
    EXPECT_THROW(parallel(10, 1,
                          [&](std::int64_t begin, std::int64_t) {
                            if (begin == bad) throw std::runtime_error("no");
                          }),
                 std::runtime_error);
  }
  std::atomic<int> n = 0;
  parallel(10, 1, [&](std::int64_t, std::int64_t) { ++n; });
  EXPECT_EQ(n, 10);
}

TEST_P(ThreadPoolTest, ChunksNeitherFlushNorSeeTheCallersMode) {
  constexpr unsigned kFlush = 0x8040;
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | kFlush);
  std::atomic<unsigned> flags = 0;
  parallel(16, 1, [&](std::int64_t, std::int64_t) { flags |= _mm_getcsr() & 0xffc0u & ~0x1f80u; });
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(after & kFlush, kFlush);
}

TEST_P(ThreadPoolTest, AForkedChildHasItsOwnPool) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer allows no threads after a fork";
#endif
  parallel(8, 1, [](std::int64_t, std::int64_t) {});
  pid_t child = fork();
  if (child == 0) {
    std::atomic<int> n = 0;
    for (int run = 0; run < 20; ++run) parallel(8, 1, [&](std::int64_t, std::int64_t) { ++n; });
    _exit(n == 160 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_P(ThreadPoolTest, TellsHowLongItsThreadsWorked) {
  static constexpr auto kEach = std::chrono::milliseconds(2);
  auto sleep = [](void*, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) std::this_thread::sleep_for(kEach);
  };
  auto within = [](void* f, std::int64_t, std::int64_t) {
    parallel_for(4, 1, *static_cast<void (**)(void*, std::int64_t, std::int64_t)>(f), nullptr);
  };
  void (*inner)(void*, std::int64_t, std::int64_t) = sleep;
  parallel_for(8, 1, sleep, nullptr);  // before the clock: not counted
  BusyClock clock;
  EXPECT_EQ(clock.ns(), 0);
  auto began = std::chrono::steady_clock::now();
  parallel_for(8, 1, sleep, nullptr);
  parallel_for(2, 1, within, &inner);  // as many again, in chunks of chunks
  std::int64_t span = std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count();
  EXPECT_GE(clock.ns(), std::chrono::nanoseconds(kEach).count() * 16);
  EXPECT_LE(clock.ns(), span * num_threads());
}

TEST(ThreadPool, CountsThreads) {
  set_num_threads(3);
  EXPECT_EQ(num_threads(), 3);
  set_num_threads(0);
  EXPECT_GE(num_threads(), 1);
}

}  // namespace
}  // namespace strata
