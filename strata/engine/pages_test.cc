// Pages are held by those who say so, and whole ones are found by what they hold.
#include "strata/engine/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "strata/base/error.h"

namespace strata::engine {
namespace {

using Tokens = std::vector<std::int32_t>;
using testing::ElementsAre;

Tokens numbers(std::int32_t from, std::int32_t to) {
  Tokens out;
  for (std::int32_t i = from; i < to; ++i) out.push_back(i);
  return out;
}

TEST(PagePool, GivesEachPageOnce) {
  PagePool pool(3, 4);
  const Tokens mine = {*pool.take(), *pool.take(), *pool.take()};
  EXPECT_THAT(mine, testing::UnorderedElementsAre(0, 1, 2));
  EXPECT_EQ(pool.take(), std::nullopt);
  pool.check(std::vector<Tokens>{mine});
  pool.release(mine);
  EXPECT_EQ(pool.available(), 3);
  pool.check({});
  EXPECT_THROW(PagePool(0, 4), Error);
  EXPECT_THROW(PagePool(4, 0), Error);
}

TEST(PagePool, FindsWholePagesOfEqualBeginnings) {
  PagePool pool(8, 4);
  const Tokens text = numbers(0, 11);
  const Tokens mine = {*pool.take(), *pool.take(), *pool.take()};
  pool.keep(mine, text);  // two whole pages
  EXPECT_THAT(pool.find(text), ElementsAre(mine[0], mine[1]));
  // At least one token is left to read.
  EXPECT_THAT(pool.find(numbers(0, 8)), ElementsAre(mine[0]));
  EXPECT_THAT(pool.find(numbers(0, 9)), ElementsAre(mine[0], mine[1]));
  EXPECT_THAT(pool.find(numbers(0, 4)), ElementsAre());
  EXPECT_THAT(pool.find(numbers(4, 11)), ElementsAre()) << "equal tokens behind another beginning";
  const std::vector<Tokens> holders = {mine, {mine[0], mine[1]}, {mine[0]}, {mine[0], mine[1]}};
  pool.check(holders);
  for (const Tokens& pages : holders) pool.release(pages);
  EXPECT_EQ(pool.available(), 8);
  EXPECT_EQ(pool.look(text), (std::pair<std::int64_t, std::int64_t>(2, 2)));
  EXPECT_THAT(pool.find(text), ElementsAre(mine[0], mine[1])) << "free pages are found";
}

TEST(PagePool, GivesAwayEndsBeforeBeginnings) {
  PagePool pool(3, 2);
  const Tokens mine = {*pool.take(), *pool.take(), *pool.take()};
  pool.keep(mine, numbers(0, 5));  // the third holds one token: nobody finds it
  pool.release(mine);
  EXPECT_EQ(pool.take(), mine[2]);
  EXPECT_EQ(pool.take(), mine[1]);
  EXPECT_THAT(pool.find(numbers(0, 5)), ElementsAre(mine[0]));
}

TEST(PagePool, SaltsShareNothing) {
  PagePool pool(6, 2);
  const Tokens mine = {*pool.take(), *pool.take()}, other = {*pool.take(), *pool.take()};
  pool.keep(mine, numbers(0, 4), "mine");
  EXPECT_THAT(pool.find(numbers(0, 5)), ElementsAre());
  EXPECT_THAT(pool.find(numbers(0, 5), "yours"), ElementsAre());
  pool.keep(other, numbers(0, 4));
  EXPECT_THAT(pool.holding(numbers(0, 4), "mine"), ElementsAre(mine[0], mine[1]));
  EXPECT_THAT(pool.holding(numbers(0, 4)), ElementsAre(other[0], other[1]));
  EXPECT_EQ(pool.known(), 4);
  pool.forget();
  EXPECT_EQ(pool.known(), 0);
  EXPECT_THAT(pool.holding(numbers(0, 4), "mine"), ElementsAre());
  pool.check(std::vector<Tokens>{mine, other});
  pool.release(mine);
  pool.release(other);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(pool.take());
  EXPECT_EQ(pool.evicted(), 0) << "nothing that was known is gone";
}

TEST(PagePool, FindsPagesOfWhichAPartGoesOn) {
  PagePool pool(8, 4);
  const Tokens mine = {*pool.take(), *pool.take(), *pool.take()};
  pool.keep(mine, numbers(0, 10));
  EXPECT_EQ(pool.find_part(std::span(mine).first(2), numbers(0, 12)), std::nullopt);
  pool.keep(mine, numbers(0, 10), {}, true);
  const auto part = [&](std::size_t whole, const Tokens& text, std::string_view salt = {}) {
    const auto found = pool.find_part(std::span(mine).first(whole), text, salt);
    return found ? std::pair(found->page, found->tokens) : std::pair(-1, std::int64_t{0});
  };
  EXPECT_EQ(part(2, numbers(0, 12)), std::pair(mine[2], std::int64_t{2}));
  EXPECT_EQ(part(2, numbers(0, 10)), std::pair(mine[2], std::int64_t{1})) << "one is left to read";
  EXPECT_EQ(part(2, numbers(0, 9)).first, -1);
  EXPECT_EQ(part(2, {0, 1, 2, 3, 4, 5, 6, 7, 9, 9}).first, -1);
  EXPECT_EQ(part(1, {0, 1, 2, 3, 4, 5, 9, 9}), std::pair(mine[1], std::int64_t{2}));
  EXPECT_EQ(part(0, numbers(0, 4)), std::pair(mine[0], std::int64_t{3}));
  EXPECT_EQ(part(0, numbers(0, 4), "salt").first, -1);
  // The longer of two parts, whichever comes first in order.
  const Tokens other = {*pool.take()};
  pool.keep(other, Tokens{0, 1, 2, 9});
  EXPECT_EQ(part(0, {0, 1, 2, 9, 9}), std::pair(other[0], std::int64_t{4}));
  EXPECT_EQ(part(0, {0, 1, 2, 5, 9}).second, 3);
  EXPECT_EQ(part(0, {0, 1, 5, 5, 9}).second, 2);
  pool.release(mine);
  pool.hold(mine[2]);
  pool.check(std::vector<Tokens>{other, {mine[2]}});
  pool.release(std::vector{mine[2]});
  EXPECT_THAT(pool.find(numbers(0, 10)), ElementsAre(mine[0], mine[1])) << "a part is no page";
}

TEST(PagePool, RandomSchedulesLoseNothing) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return random() % n; };
    PagePool pool(12, 2);
    struct Text {
      Tokens tokens, pages;
    };
    std::vector<Text> texts;
    for (int turn = 0; turn < 400; ++turn) {
      if (below(3) > 0) {
        Text t;
        for (std::size_t i = 0, n = 1 + below(9); i < n; ++i)
          t.tokens.push_back(static_cast<std::int32_t>(below(2)));
        t.pages = pool.find(t.tokens);
        while (t.pages.size() * 2 < t.tokens.size()) {
          const auto page = pool.take();
          if (!page) break;
          t.pages.push_back(*page);
        }
        pool.keep(t.pages,
                  std::span(t.tokens).first(std::min(t.tokens.size(), t.pages.size() * 2)));
        texts.push_back(t);
      } else if (!texts.empty()) {
        const auto i = static_cast<std::ptrdiff_t>(below(texts.size()));
        const Text& t = texts[static_cast<std::size_t>(i)];
        // Who leaves tells of the last page, too.
        if (below(2) > 0 && t.pages.size() * 2 >= t.tokens.size())
          pool.keep(t.pages, t.tokens, {}, true);
        const auto part = pool.find_part({}, Tokens{0, 1, 0});
        if (part) pool.hold(part->page), pool.release(std::span(&part->page, 1));
        pool.release(texts[static_cast<std::size_t>(i)].pages);
        texts.erase(texts.begin() + i);
      }
      std::vector<Tokens> holders;
      for (const Text& t : texts) holders.push_back(t.pages);
      pool.check(holders);
    }
  }
}

}  // namespace
}  // namespace strata::engine
