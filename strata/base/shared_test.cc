#include "strata/base/shared.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata {
namespace {

struct Counted {
  static inline int living = 0;
  explicit Counted(int v) : value(v) { ++living; }
  Counted(const Counted& other) : value(other.value) { ++living; }
  ~Counted() { --living; }
  int value;
};

TEST(Shared, CopiesShareUntilOneIsWritten) {
  auto a = Shared<std::vector<int>>::of(std::vector<int>{1, 2});
  Shared<std::vector<int>> b = a;
  EXPECT_EQ(a.get(), b.get());
  b.own().push_back(3);
  EXPECT_EQ(*a, (std::vector<int>{1, 2}));
  EXPECT_EQ(*b, (std::vector<int>{1, 2, 3}));
  const void* alone = b.get();
  b.own().push_back(4);
  EXPECT_EQ(b.get(), alone);
}

TEST(Shared, NothingIsMadeWhenItIsWritten) {
  Shared<std::string> a;
  EXPECT_FALSE(a);
  EXPECT_EQ(a.get(), nullptr);
  a.own() += "x";
  EXPECT_EQ(*a, "x");
}

TEST(Shared, TheValueLivesAsLongAsItsLastCopy) {
  {
    auto a = Shared<Counted>::of(Counted(7));
    EXPECT_EQ(Counted::living, 1);
    Shared<Counted> b = a, c = std::move(a);
    EXPECT_FALSE(a);
    b = Shared<Counted>();
    EXPECT_EQ(Counted::living, 1);
    EXPECT_EQ(c->value, 7);
    Shared<Counted>& same = c;
    c = same;
    EXPECT_EQ(c->value, 7);
  }
  EXPECT_EQ(Counted::living, 0);
}

}  // namespace
}  // namespace strata
