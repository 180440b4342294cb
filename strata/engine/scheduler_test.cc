// Random traffic without a model: budgets hold, pages are conserved, nobody starves.
#include "strata/engine/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "strata/base/error.h"

namespace strata::engine {
namespace {

using testing::ElementsAre;

SequencePtr sequence(std::int64_t id, std::size_t prompt, std::int64_t draws) {
  auto s = std::make_shared<Sequence>();
  s->id = id;
  for (std::size_t i = 0; i < prompt; ++i)
    s->known.push_back(static_cast<std::int32_t>(static_cast<std::size_t>(id) * 1000 + i));
  s->prompt = static_cast<std::int64_t>(prompt);
  s->most = s->prompt + draws;
  return s;
}

/// Reads what is planned, and draws where all is read; who has all it may have ends.
void carry_out(Scheduler& scheduler, const Plan& plan) {
  for (const Planned& row : plan.rows) {
    Sequence& s = *row.sequence;
    const bool draws = row.tokens == s.left();
    scheduler.read(s, row.tokens);
    if (!draws) continue;
    s.known.push_back(static_cast<std::int32_t>(s.known.size() % 7));
    if (static_cast<std::int64_t>(s.known.size()) >= s.most) scheduler.remove(row.sequence);
  }
}

std::vector<std::int64_t> ids(const std::vector<SequencePtr>& list) {
  std::vector<std::int64_t> out;
  for (const SequencePtr& s : list) out.push_back(s->id);
  return out;
}

TEST(Scheduler, ReadsPromptsInPiecesUnderOneBudget) {
  Scheduler scheduler({.pages = 64, .page_size = 4, .max_batch = 4, .chunk = 8, .step_tokens = 12});
  for (std::int64_t id : {1, 2, 3}) scheduler.add(sequence(id, 20, 5));
  Plan plan = scheduler.plan();
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[0].tokens, 8);
  EXPECT_EQ(plan.rows[1].tokens, 4) << "what is left of the budget";
  for (int i = 0; i < 3; ++i) {
    carry_out(scheduler, plan);
    plan = scheduler.plan();
  }
  // The first one draws now, before prompts get their pieces.
  EXPECT_EQ(plan.rows[0].sequence->id, 1);
  EXPECT_EQ(plan.rows[0].tokens, 1);
  ASSERT_EQ(plan.rows.size(), 3u);
  EXPECT_EQ(plan.rows[1].tokens, 4) << "the end of the second prompt";
  EXPECT_EQ(plan.rows[2].tokens, 7);
}

TEST(Scheduler, OrderIsPriorityThenArrival) {
  Scheduler scheduler({.max_batch = 2});
  std::vector<SequencePtr> all;
  for (std::int64_t id = 1; id <= 4; ++id) all.push_back(sequence(id, 5, 3));
  all[2]->priority = -1;
  all[3]->priority = 2;
  for (const SequencePtr& s : all) scheduler.add(s);
  scheduler.plan();
  EXPECT_THAT(ids(scheduler.running()), ElementsAre(3, 1));
  EXPECT_THAT(ids(scheduler.waiting()), ElementsAre(2, 4));
}

TEST(Scheduler, PutsBackTheLastInOrder) {
  Scheduler scheduler({.pages = 6, .page_size = 2, .max_batch = 3, .reserve = 0});
  for (std::int64_t id : {1, 2, 3}) scheduler.add(sequence(id, 3, 9));
  carry_out(scheduler, scheduler.plan());
  EXPECT_THAT(ids(scheduler.running()), ElementsAre(1, 2, 3));
  const SequencePtr third = scheduler.running()[2];
  for (int i = 0; i < 2 && third->slot >= 0; ++i) carry_out(scheduler, scheduler.plan());
  EXPECT_THAT(ids(scheduler.running()), ElementsAre(1, 2));
  EXPECT_THAT(ids(scheduler.waiting()), ElementsAre(3));
  EXPECT_EQ(third->computed, 0);
  EXPECT_EQ(scheduler.times_put_back(), 1);
  scheduler.check();
}

TEST(Scheduler, LetsInWhoIsExpectedToFitToTheEnd) {
  const auto put_back = [](double reserve) {
    Scheduler scheduler({.pages = 16, .page_size = 2, .max_batch = 8, .reserve = reserve});
    for (std::int64_t id = 1; id <= 8; ++id) scheduler.add(sequence(id, 3, 9));
    while (!scheduler.running().empty() || !scheduler.waiting().empty())
      carry_out(scheduler, scheduler.plan());
    return scheduler.times_put_back();
  };
  EXPECT_GT(put_back(0), 0);
  EXPECT_EQ(put_back(1), 0);
}

TEST(Scheduler, LearnsHowLongOutputsAre) {
  Scheduler scheduler({.pages = 100, .max_batch = 1});
  const std::int64_t before = scheduler.expected_output();
  for (std::int64_t id = 1; id <= 40; ++id) scheduler.add(sequence(id, 2, 12));
  while (!scheduler.running().empty() || !scheduler.waiting().empty())
    carry_out(scheduler, scheduler.plan());
  EXPECT_GT(before, 200);
  EXPECT_LT(scheduler.expected_output(), 30);
  EXPECT_GE(scheduler.expected_output(), 12);
}

TEST(Scheduler, SamplesWaitForThePromptThatTheyShare) {
  Scheduler scheduler({.pages = 64, .page_size = 4, .max_batch = 4, .chunk = 8});
  const SequencePtr first = sequence(1, 20, 5), second = sequence(2, 20, 5),
                    other = sequence(3, 2, 2);
  second->known = first->known;
  second->after = first;
  for (const SequencePtr& s : {first, second, other}) scheduler.add(s);
  carry_out(scheduler, scheduler.plan());
  EXPECT_THAT(ids(scheduler.running()), ElementsAre(1, 3)) << "others pass";
  carry_out(scheduler, scheduler.plan());
  carry_out(scheduler, scheduler.plan());
  const Plan plan = scheduler.plan();
  ASSERT_THAT(ids(plan.let_in), ElementsAre(2));
  EXPECT_EQ(second->found, 19) << "four pages, and all but the last token of the fifth";
  ASSERT_EQ(plan.copies.size(), 1u);
  EXPECT_EQ(plan.copies[0].from, first->pages[4]);
  EXPECT_EQ(plan.copies[0].to, second->pages[4]);
  EXPECT_EQ(second->pages[0], first->pages[0]);
}

TEST(Scheduler, GuessesPutNobodyBack) {
  Scheduler scheduler({.pages = 5, .page_size = 2, .max_batch = 2, .reserve = 0});
  const SequencePtr one = sequence(1, 3, 9), two = sequence(2, 3, 9);
  one->guesses = two->guesses = 4;
  scheduler.add(one);
  scheduler.add(two);
  carry_out(scheduler, scheduler.plan());
  const Plan plan = scheduler.plan();  // positions 3 of each, and one page that is free
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[0].guesses, 2);
  EXPECT_EQ(plan.rows[1].guesses, 0);
  EXPECT_EQ(scheduler.times_put_back(), 0);
}

TEST(Scheduler, RandomTrafficStarvesNobody) {
  const char* rounds = std::getenv("STRATA_ENGINE_ROUNDS");
  const unsigned seeds = rounds == nullptr ? 60 : 300 * static_cast<unsigned>(std::atoi(rounds));
  std::int64_t put_back = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
    };
    ScheduleOptions o{.pages = 8 + below(24),
                      .page_size = 1 + below(5),
                      .max_batch = 1 + below(6),
                      .chunk = 1 + below(9),
                      .step_tokens = 1 + below(20),
                      .share_beginnings = below(2) == 0,
                      .reserve = static_cast<double>(below(3)) / 2};
    Scheduler scheduler(o);
    const std::int64_t most = o.pages * o.page_size;
    std::set<std::int64_t> open;
    std::map<std::int64_t, SequencePtr> all;
    const auto drop_ended = [&] {
      std::erase_if(open, [&](std::int64_t id) { return all[id]->ended; });
    };
    int steps = 0;
    for (std::int64_t id = 1; id <= 60 || !open.empty(); ++steps) {
      ASSERT_LT(steps, 20000) << "seed " << seed;
      if (id <= 60 && below(2) == 0) {
        const std::int64_t prompt = 1 + below(most - 1);
        SequencePtr s = sequence(id, static_cast<std::size_t>(prompt), 1);
        for (std::size_t i = 0; i < s->known.size(); ++i)
          s->known[i] = static_cast<std::int32_t>(i) + (id % 3 == 0 ? 100 : 0);
        s->most = std::min(most, prompt + 1 + below(12));
        s->priority = below(2);
        s->guesses = below(4);
        all[id] = s;
        scheduler.add(s);
        open.insert(id++);
      }
      if (!open.empty() && below(20) == 0) scheduler.remove(all[*open.begin()]);
      drop_ended();
      const Plan plan = scheduler.plan();
      scheduler.check();
      std::int64_t tokens = 0, draws = 0;
      for (const Planned& row : plan.rows) {
        ASSERT_GE(row.sequence->slot, 0);
        ASSERT_LE(row.tokens, std::max<std::int64_t>(o.chunk, 1));
        ASSERT_LE(row.sequence->computed + row.tokens + row.guesses,
                  static_cast<std::int64_t>(row.sequence->pages.size()) * o.page_size);
        tokens += row.tokens + row.guesses;
        draws += row.sequence->left() == 1;
      }
      ASSERT_LE(tokens, std::max(o.step_tokens, draws + 1)) << "seed " << seed;
      if (!open.empty()) {
        ASSERT_FALSE(plan.rows.empty() && plan.were_back.empty()) << "seed " << seed;
      }
      carry_out(scheduler, plan);
      drop_ended();
      scheduler.check();
    }
    EXPECT_EQ(scheduler.pool().available(), o.pages);
    put_back += scheduler.times_put_back();
  }
  EXPECT_GT(put_back, 0);
}

TEST(Scheduler, RefusesNumbersOutOfRange) {
  EXPECT_THROW(Scheduler({.max_batch = 0}), Error);
  EXPECT_THROW(Scheduler({.chunk = 0}), Error);
  EXPECT_THROW(Scheduler({.step_tokens = 0}), Error);
  EXPECT_THROW(Scheduler({.reserve = 1.5}), Error);
  EXPECT_THROW(Scheduler({.pages = 0}), Error);
}

}  // namespace
}  // namespace strata::engine
