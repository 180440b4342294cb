// Where temporaries are: apart while both are alive, as low as that allows.
#include <gtest/gtest.h>

#include <random>

#include "strata/compile/plan/make_plan.h"

namespace strata::compile {
namespace {

/// Copies among temporaries, each used between two moments of its own.
Plan random_plan(unsigned seed, int buffers) {
  std::mt19937 random(seed);
  Plan plan;
  std::vector<std::pair<int, int>> uses;  // moment, buffer
  for (int i = 0; i < buffers; ++i) {
    plan.buffers.push_back(
        {PlanBuffer::Kind::temporary, 0, static_cast<std::int64_t>(random() % 5 * 100), -1});
    int first = static_cast<int>(random() % 50),
        length = random() % 4 ? static_cast<int>(random() % 4) : static_cast<int>(random() % 50);
    uses.push_back({first, i});
    uses.push_back({first + length, i});
  }
  std::sort(uses.begin(), uses.end());
  for (auto [moment, buffer] : uses) plan.steps.push_back({Copy{{buffer}, {buffer}, 1}});
  return plan;
}

std::int64_t size_of(const PlanBuffer& b) {
  return std::max<std::int64_t>(64, (b.bytes + 63) / 64 * 64);
}
bool meet(std::int64_t a, std::int64_t a_end, std::int64_t b, std::int64_t b_end) {
  return a < b_end && b < a_end;
}

TEST(MemoryPlan, ThoseAliveTogetherLieApartAndLow) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Plan plan = random_plan(seed, 1 + static_cast<int>(seed % 40));
    assign_memory(plan);
    const std::size_t n = plan.buffers.size();
    std::vector<std::int64_t> first(n, -1), last(n, -1);
    for (std::size_t t = 0; t < plan.steps.size(); ++t) {
      auto i = static_cast<std::size_t>(std::get<Copy>(plan.steps[t].what).from.buffer);
      if (first[i] < 0) first[i] = static_cast<std::int64_t>(t);
      last[i] = static_cast<std::int64_t>(t);
    }
    std::int64_t end = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const PlanBuffer& a = plan.buffers[i];
      EXPECT_EQ(a.offset % 64, 0);
      EXPECT_GE(a.offset, 0);
      end = std::max(end, a.offset + size_of(a));
      bool rests = a.offset == 0;  // on the ground, or on one that is alive with it
      for (std::size_t k = 0; k < n; ++k) {
        const PlanBuffer& b = plan.buffers[k];
        if (k == i || !meet(first[i], last[i] + 1, first[k], last[k] + 1)) continue;
        EXPECT_FALSE(meet(a.offset, a.offset + size_of(a), b.offset, b.offset + size_of(b)))
            << "seed " << seed << ": " << i << " and " << k;
        rests |= b.offset + size_of(b) == a.offset;
      }
      EXPECT_TRUE(rests) << "seed " << seed << ": " << i;
    }
    EXPECT_EQ(plan.arena_bytes, end);
  }
}

}  // namespace
}  // namespace strata::compile
