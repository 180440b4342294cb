// Devices of one launch that meet: many threads at random moments, and what ends a wait.
#include "strata/op/collective/lockstep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <thread>

namespace strata::op {
namespace {

using Group = std::vector<int>;
using ::testing::HasSubstr;

/// Runs f(d) as each of n devices.
template <class F>
void on_devices(int n, F f) {
  std::vector<std::thread> threads;
  for (int d = 0; d < n; ++d) threads.emplace_back([&f, d] { f(d); });
  for (std::thread& t : threads) t.join();
}

TEST(Lockstep, EveryoneSeesWhatAllBroughtInEachTurn) {
  constexpr int kDevices = 8, kTurns = 300;
  Lockstep run(1, kDevices);
  const Group all{0, 1, 2, 3, 4, 5, 6, 7}, even{6, 4, 2, 0}, odd{1, 3, 5, 7};
  std::atomic<int> wrong = 0;
  on_devices(kDevices, [&](int d) {
    std::mt19937 random(static_cast<unsigned>(d));
    for (int turn = 0; turn < kTurns; ++turn) {
      const Group& group = turn % 3 == 0 ? all : d % 2 == 0 ? even : odd;
      int mine = 1000 * turn + d, made = -1;
      auto brought = run.meet(d, group, "sum", {{&mine}, {&made}});
      if (!brought) {
        ++wrong;
        return;
      }
      for (std::size_t i = 0; i < group.size(); ++i)
        wrong += *static_cast<int*>((*brought)[i].operands[0]) != 1000 * turn + group[i];
      if (random() % 4 == 0) std::this_thread::yield();
      // Each writes for its neighbour, as a sum by shares does.
      const auto place =
          static_cast<std::size_t>(std::find(group.begin(), group.end(), d) - group.begin());
      *static_cast<int*>((*brought)[(place + 1) % group.size()].results[0]) = turn;
      wrong += !run.leave(d, group, "sum").ok();
      wrong += made != turn;
    }
    run.end(d);
  });
  EXPECT_EQ(wrong, 0);
}

/// What the devices hear, one line each.
std::string heard(Lockstep& run, int n, const std::function<Status(int)>& f) {
  std::vector<std::string> lines(static_cast<std::size_t>(n));
  on_devices(n, [&](int d) {
    Status s = f(d);
    lines[static_cast<std::size_t>(d)] = s.ok() ? "ok" : s.message();
    run.end(d, s.ok() ? "" : s.message());
  });
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

TEST(Lockstep, OtherOperationsOfOneGroupAreNamed) {
  Lockstep run(1, 2);
  const std::string text = heard(run, 2, [&](int d) {
    return run.meet(d, Group{0, 1}, d == 0 ? "all_reduce" : "all_gather", {}).status();
  });
  EXPECT_THAT(text, HasSubstr("is in all_"));
  EXPECT_THAT(text, HasSubstr("of the same group, is in all_"));
}
TEST(Lockstep, AFailureEndsTheOthersWaiting) {
  Lockstep run(2, 2);
  const std::string text = heard(run, 4, [&](int d) {
    if (d == 3) return Status(Code::io, "the disk is gone");
    return run.meet(d, Group{0, 1, 2, 3}, "all_reduce", {}).status();
  });
  EXPECT_THAT(text, HasSubstr("device 3 (replica 1, partition 1) failed: the disk is gone"));
}
TEST(Lockstep, OneThatHasEndedIsNotWaitedFor) {
  Lockstep run(1, 3);
  const std::string text = heard(run, 3, [&](int d) {
    if (d == 1) return Status();
    return run.meet(d, Group{0, 1, 2}, "all_reduce", {}).status();
  });
  EXPECT_THAT(text, HasSubstr("device 0 waits in all_reduce for device 1, which has ended"));
}
TEST(Lockstep, AllThatWaitForEachOtherAreTold) {
  Lockstep run(1, 3);
  const std::string text = heard(run, 3, [&](int d) {
    return run.meet(d, Group{d == 2 ? 0 : d, d == 2 ? 2 : d + 1}, "permute", {}).status();
  });
  EXPECT_THAT(text, HasSubstr("devices wait for each other for ever"));
}

}  // namespace
}  // namespace strata::op
