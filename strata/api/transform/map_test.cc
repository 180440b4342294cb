// A function on each element, alone and in batches.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using testing::message_of;
using Pair = std::pair<Array, Array>;

const Pair kXs = {arange(0.0, 10.0).reshape({5, 2}), array({1.f, 10.f, 100.f, 1000.f, 10000.f})};
Pair f(const Pair& p) { return {sum(p.first) * p.second, p.first * 2}; }

TEST(Map, BatchesGiveWhatElementsAloneGive) {
  testing::shows_names("lax.map");
  const std::vector<double> sums = {1, 50, 900, 13000, 170000},
                            twice = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18};
  for (std::optional<std::int64_t> size :
       {std::optional<std::int64_t>(), std::optional<std::int64_t>(0),
        std::optional<std::int64_t>(1), std::optional<std::int64_t>(2),
        std::optional<std::int64_t>(5), std::optional<std::int64_t>(9)}) {
    SCOPED_TRACE(size.value_or(-1));
    const Pair y = lax::map(f, kXs, {.batch_size = size});
    expect_array(y.first, "f32[5]", sums);
    expect_array(y.second, "f32[5,2]", twice);
  }
}

TEST(Map, TracesABatchAndTheRest) {
  std::vector<Shape> seen;
  auto g = [&](const Array& x) {
    seen.push_back(x.shape());
    return sum(x);
  };
  expect_array(jit([&](Array x) { return lax::map(g, x, {.batch_size = 2}); })(kXs.first), "f32[5]",
               {1, 5, 9, 13, 17});
  EXPECT_EQ(seen, (std::vector<Shape>{{2}, {2}}));
}

TEST(Map, Differentiates) {
  auto loss = [](Array x) {
    return sum(lax::map([](const Array& row) { return row * row; }, x, {.batch_size = 2}));
  };
  expect_array(grad(loss)(kXs.first), "f32[5,2]", {0, 2, 4, 6, 8, 10, 12, 14, 16, 18});
}

TEST(Map, OfNothing) {
  EXPECT_EQ(testing::type_of(
                lax::map([](const Array& x) { return sum(x); }, zeros({0, 3}), {.batch_size = 2})),
            "f32[0]");
  EXPECT_THAT(message_of([] { lax::map(f, kXs, {.batch_size = -2}); }),
              ::testing::HasSubstr("map: batch_size is at least 0, got -2"));
  EXPECT_THAT(message_of([] { lax::map(f, Pair(zeros({2, 2}), zeros(3)), {.batch_size = 2}); }),
              ::testing::HasSubstr("xs have different lengths: 2 and 3"));
}

}  // namespace
}  // namespace strata
