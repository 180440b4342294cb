// Indexing: NumPy's results for the same expressions.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using testing::type_of;

TEST(Index, Basic) {
  Array x = arange(24).reshape({2, 3, 4});
  expect_array(x[1][2][3], "i32[]", {23});
  expect_array(x[{0, 1}], "i32[4]", {4, 5, 6, 7});
  expect_array(x[{-1, slice(), 0}], "i32[3]", {12, 16, 20});
  expect_array(x[{ellipsis, -1}], "i32[2,3]", {3, 7, 11, 15, 19, 23});
  expect_array(x[{0, slice(1, none), slice(none, none, 2)}], "i32[2,2]", {4, 6, 8, 10});
  EXPECT_EQ(type_of(x[{newaxis, 0, ellipsis, newaxis}]), "i32[1,3,4,1]");
  Array v = arange(6);
  expect_array(v[slice(none, none, -1)], "i32[6]", {5, 4, 3, 2, 1, 0});
  expect_array(v[slice(4, 1, -2)], "i32[2]", {4, 2});
  expect_array(v[slice(-2, none)], "i32[2]", {4, 5});
  expect_array(v[slice(2)], "i32[2]", {0, 1});
  EXPECT_EQ(type_of(v[slice(4, 2)]), "i32[0]");
  EXPECT_EQ(type_of(v[slice(10, 20)]), "i32[0]");
}

TEST(Index, Arrays) {
  Array x = arange(12).reshape({3, 4});
  expect_array(x[array({2, 0})], "i32[2,4]", {8, 9, 10, 11, 0, 1, 2, 3});
  expect_array(x[{slice(), array({-1, 1})}], "i32[3,2]", {3, 1, 7, 5, 11, 9});
  expect_array(x[{array({0, 2}), array({1, 3})}], "i32[2]", {1, 11});
  expect_array(x[{array({{0}, {2}}), array({1, 3})}], "i32[2,2]", {1, 3, 9, 11});
  EXPECT_EQ(type_of(zeros({2, 3, 4})[{array({0, 1}), slice(), array({0, 1})}]), "f32[2,3]");
  expect_array(jit([&](Array i) { return x[{i, 1}]; })(2), "i32[]", {9});
}

TEST(Index, Updates) {
  Array x = zeros({2, 3}, int32);
  expect_array(x.at({0, 1}).set(5), "i32[2,3]", {0, 5, 0, 0, 0, 0});
  expect_array(x.at(1).set(array({1, 2, 3})), "i32[2,3]", {0, 0, 0, 1, 2, 3});
  expect_array(x.at({slice(), slice(none, none, 2)}).add(7), "i32[2,3]", {7, 0, 7, 7, 0, 7});
  expect_array(x.at({0, slice(none, none, -1)}).set(array({1, 2, 3})), "i32[2,3]",
               {3, 2, 1, 0, 0, 0});
  expect_array((x + 2).at({slice(), 1}).multiply(10), "i32[2,3]", {2, 20, 2, 2, 20, 2});
  expect_array(x.at({ellipsis}).set(4), "i32[2,3]", {4, 4, 4, 4, 4, 4});
  expect_array(arange(4).at(slice(1, 3)).max(2), "i32[4]", {0, 2, 2, 3});
}

TEST(Index, UpdatesAtArrays) {
  Array x = zeros({4});
  expect_array(x.at(array({1, 3, 1})).add(array({1.f, 2.f, 4.f})), "f32[4]", {0, 5, 0, 2});
  expect_array(x.at(array({0, 2})).set(9), "f32[4]", {9, 0, 9, 0});
  expect_array(zeros({2, 2}).at({array({0, 1}), array({1, 0})}).set(array({5.f, 6.f})), "f32[2,2]",
               {0, 5, 6, 0});
  expect_array(x.at(array({-1, 77})).set(1), "f32[4]", {0, 0, 0, 1});
}

TEST(Index, TakeAndTakeAlongAxis) {
  Array x = array({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  expect_array(take(x, array({2, 0}), 1), "f32[2,2]", {3, 1, 6, 4});
  expect_array(take(x, array({5, -1}), 0), "f32[2,3]", {nan, nan, nan, 4, 5, 6});
  expect_array(take(x, array({5}), 0, {.mode = "clip"}), "f32[1,3]", {4, 5, 6});
  expect_array(take_along_axis(x, array({{2}, {0}}), 1), "f32[2,1]", {3, 4});
  expect_array(take_along_axis(x, array({{1, 0, 1}}), 0), "f32[1,3]", {4, 2, 6});
}

TEST(Index, Masks) {
  Array x = arange(6).reshape({2, 3});
  expect_array(x[x > 2], "i32[3]", {3, 4, 5});
  expect_array(x[{array({false, true}), array({0, 2})}], "i32[2]", {3, 5});
  expect_array(x.at(x > 2).set(0), "i32[2,3]", {0, 1, 2, 0, 0, 0});
  EXPECT_EQ(type_of(x[x > 9]), "i32[0]");
  EXPECT_THAT(
      testing::message_of([&] { (void)jit([](Array v) { return v[v > 2]; })(x); }),
      ::testing::AllOf(::testing::StartsWith("index: the shape of the result depends on the "
                                             "elements of i1[2,3] made at index_test.cc:"),
                       ::testing::HasSubstr(", which is traced; where(mask, a, b) keeps the shape, "
                                            "nonzero(mask, {.size = n}) fixes it")));
}

TEST(Index, WideIndicesAreNotWrapped) {
  const EnableX64 wide;
  const std::int64_t far = (std::int64_t{1} << 32) + 1;  // 1 in 32 bits
  const Array x = array({1.f, 2.f, 4.f}, float32),
              at = array(std::vector<std::int64_t>{far, -1, 1});
  const Array unsigned_at = array(std::vector<std::uint32_t>{0xfffffffe, 0, 1}),
              widest = array(std::vector<std::uint64_t>{~std::uint64_t{0} - 1, 0, 1});
  expect_array(x.at(at).get({.mode = "fill"}), "f32[3]", {nan, 4, 2});
  expect_array(x.at(at).get({.mode = "clip"}), "f32[3]", {4, 4, 2});
  expect_array(x.at(at).add(8.f), "f32[3]", {1, 10, 12});
  expect_array(x.at(at).add(8.f, {.mode = "clip"}), "f32[3]", {1, 10, 20});
  for (const Array& i : {unsigned_at, widest}) {
    expect_array(x.at(i).get({.mode = "clip"}), "f32[3]", {4, 1, 2});
    expect_array(x.at(i).get({.mode = "fill", .fill_value = 9}), "f32[3]", {9, 1, 2});
    expect_array(x.at(i).add(8.f, {.mode = "clip"}), "f32[3]", {9, 10, 12});
    expect_array(take_along_axis(x, i, 0), "f32[3]", {nan, 1, 2});
  }
  const lax::GatherDimensionNumbers one{.offset_dims = {},
                                        .collapsed_slice_dims = {0},
                                        .start_index_map = {0},
                                        .operand_batching_dims = {},
                                        .start_indices_batching_dims = {}};
  const lax::ScatterDimensionNumbers into{.update_window_dims = {},
                                          .inserted_window_dims = {0},
                                          .scatter_dims_to_operand_dims = {0},
                                          .operand_batching_dims = {},
                                          .scatter_indices_batching_dims = {}};
  const Array rows = expand_dims(at, -1), updates = array({8.f, 16.f, 32.f}, float32);
  expect_array(lax::gather(x, rows, one, {1}, {.mode = lax::GatherScatterMode::FILL_OR_DROP}),
               "f32[3]", {nan, nan, 2});
  expect_array(lax::scatter_add(x, rows, updates, into, {.mode = lax::GatherScatterMode::CLIP}),
               "f32[3]", {17, 34, 12});
  expect_array(ops::segment_sum(updates, at, {.num_segments = 3}), "f32[3]", {0, 32, 0});
  expect_array(ops::segment_sum(updates, at, {.num_segments = 3, .mode = "clip"}), "f32[3]",
               {16, 32, 8});
}

TEST(Index, UnknownModesAreRefused) {
  Array x = array({1.f, 2.f});
  const auto refused = ::testing::HasSubstr(
      "mode is \"clip\", \"fill\", \"drop\" or \"promise_in_bounds\", got \"wrap\"");
  EXPECT_THAT(testing::message_of([&] { (void)x.at(0).get({.mode = "wrap"}); }), refused);
  EXPECT_THAT(testing::message_of([&] { (void)x.at(array({0})).set(1, {.mode = "wrap"}); }),
              refused);
  EXPECT_THAT(testing::message_of([&] {
                (void)ops::segment_sum(x, array({0, 1}), {.num_segments = 2, .mode = "wrap"});
              }),
              refused);
}

TEST(Index, ProductsAtUniquePlacesDifferentiate) {
  Array x = array({2.f, 3.f, 5.f});
  auto f = [&](Array v) { return sum(x.at(array({0, 2})).multiply(v, {.unique_indices = true})); };
  expect_array(grad(f)(array({7.f, 9.f})), "f32[2]", {2, 5});
}

TEST(Index, Differentiates) {
  Array x = arange(0.0, 6.0).reshape({2, 3});
  expect_array(grad([](Array v) { return sum(v[{1, slice(none, none, 2)}] * 2); })(x), "f32[2,3]",
               {0, 0, 0, 2, 0, 2});
  expect_array(grad([](Array v) { return sum(v[{array({1, 1, 0})}]); })(x), "f32[2,3]",
               {1, 1, 1, 2, 2, 2});
  expect_array(grad([](Array v) { return sum(v.at({0, 0}).set(v[{1, 1}] * 3)); })(x), "f32[2,3]",
               {0, 1, 1, 1, 4, 1});
  expect_array(grad([](Array v) { return sum(take_along_axis(v, array({{2}, {0}}), 1)); })(x),
               "f32[2,3]", {0, 0, 1, 1, 0, 0});
}

}  // namespace
}  // namespace strata
