// C++ scalars that bodies and branches return are arrays; what is static in a carry stays so.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;

TEST(ScalarResults, OfBranches) {
  auto relu = [](Array x) {
    return cond(x > 0, [](Array x) { return x; }, [](Array) { return 0.0f; }, x);
  };
  expect_array(relu(3.0f), "f32[]", {3});
  expect_array(relu(-3.0f), "f32[]", {0});
  expect_array(vmap(relu)(array({-1.0f, 2.0f})), "f32[2]", {0, 2});
  expect_array(grad(relu)(2.0f), "f32[]", {1});
  auto both = cond(
      true, [](Array x) { return std::pair(x, 1); }, [](Array x) { return std::pair(-x, 2); },
      5.0f);
  expect_array(both.first, "f32[]", {5});
  expect_array(both.second, "i32[]", {1});
  std::vector branches = {+[](Array) { return 10; }, +[](Array) { return 20; }};
  expect_array(switch_(1, branches, Array(0)), "i32[]", {20});
}

TEST(ScalarResults, OfBodies) {
  auto [last, ys] = scan([](Array c, Array x) { return std::pair(c + x, 2.5); }, 0, array({1, 2}));
  expect_array(last, "i32[]", {3});
  expect_array(ys, "f32[2]", {2.5, 2.5});
  auto [reset, none_] = scan([](Array, Array) { return std::pair(7, nullptr); }, 0, array({1, 2}));
  expect_array(reset, "i32[]", {7});
  expect_array(while_loop([](Array) { return false; }, [](Array c) { return c; }, 1.5f), "f32[]",
               {1.5});
  expect_array(fori_loop(0, 3, [](Array, Array) { return 4.0f; }, 0.0f), "f32[]", {4});
  expect_array(map([](Array) { return 2.0f; }, array({1, 2, 3})), "f32[3]", {2, 2, 2});
  expect_array(map([](Array) { return 2.0f; }, array({1, 2, 3}), {.batch_size = 2}), "f32[3]",
               {2, 2, 2});
  expect_array(vmap([](Array) { return true; })(array({1, 2})), "i1[2]", {1, 1});
}

TEST(ScalarResults, OfCarriesInPairsAndVectors) {
  auto count = [](std::pair<Array, Array> c, Array x) {
    return std::pair(std::pair(c.first + x, c.second + 1), nullptr);
  };
  auto [total, counted] = scan(count, std::pair(0.0f, 0), array({1.0f, 2.0f, 3.0f})).first;
  expect_array(total, "f32[]", {6});
  expect_array(counted, "i32[]", {3});
  const auto fibonacci = fori_loop(
      0, 10, [](Array, std::vector<Array> c) { return std::vector{c[1], c[0] + c[1]}; },
      std::vector{0, 1});
  expect_array(fibonacci[0], "i32[]", {55});
}

TEST(StaticData, OfACarryStays) {
  using Stepped = std::pair<Array, int>;
  auto step = [](Stepped c, Array x) {
    return std::pair(Stepped(c.first + c.second * x, c.second), x);
  };
  const auto last = scan(step, Stepped(Array(0), 2), array({1, 2, 3})).first;
  expect_array(last.first, "i32[]", {12});
  EXPECT_EQ(last.second, 2);
}

}  // namespace
}  // namespace strata
