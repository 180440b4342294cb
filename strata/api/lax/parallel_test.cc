// Collective functions within other transforms, what goldens of upstream cannot hold, and what is
// said of mistakes.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using ::testing::HasSubstr;
using testing::message_of;

const VmapOptions kAxis{.axis_name = "i"};
Array numbers() { return arange(1.0f, 7.0f).reshape({3, 2}); }

TEST(Collectives, ASizeIsANumberOfCxx) {
  Array y = vmap(
      [](Array x) {
        EXPECT_EQ(lax::axis_size("i"), 3);
        EXPECT_EQ(lax::psum(1, "i").item<int>(), 3);
        EXPECT_EQ(lax::psum(1, "i", {.axis_index_groups = {{0}, {1}, {2}}}).item<int>(), 1);
        return x * static_cast<float>(lax::axis_size("i"));
      },
      kAxis)(array({1.f, 2.f, 3.f}));
  expect_array(y, "f32[3]", {3, 6, 9});
}

struct Params {
  Array w, b;
  STRATA_FIELDS(w, b)
};

TEST(Collectives, TreesLeafByLeaf) {
  auto f = [](Params p) {
    return std::tuple(lax::psum(p, "i"), lax::pmean(p, "i"), lax::all_gather(p, "i"),
                      lax::ppermute(p, "i", {{0, 1}, {1, 0}}));
  };
  auto [sum, mean, all, swapped] =
      vmap(f, kAxis)(Params{array({{1.f, 2.f}, {3.f, 5.f}}), array({10, 20})});
  expect_array(sum.w, "f32[2,2]", {4, 7, 4, 7});
  expect_array(mean.b, "f32[2]", {15, 15});
  expect_array(all.b, "i32[2,2]", {10, 20, 10, 20});
  expect_array(swapped.w, "f32[2,2]", {3, 5, 1, 2});
}

TEST(Collectives, OtherVmapsPassBy) {
  Array x = arange(0.0f, 24.0f).reshape({2, 3, 4});
  auto over_middle = vmap(
      [](Array row) {
        return lax::psum_scatter(lax::all_gather(row, "i", {.axis = 1}) * row.reshape({4, 1}), "i",
                                 {.scatter_dimension = 1});
      },
      kAxis);
  Array outside = vmap(over_middle)(x);
  Array inside = vmap(
      [](Array column) { return vmap([](Array v) { return lax::psum(v, "i") + 0 * v; })(column); },
      {.in_axes = {1}, .out_axes = {1}, .axis_name = "i"})(x);
  for (int k = 0; k < 2; ++k)
    EXPECT_EQ(outside[k].to_vector<float>(), over_middle(x[k]).to_vector<float>());
  EXPECT_EQ(inside.to_vector<float>(),
            (numpy::sum(x, {.axis = 1, .keepdims = true}) + 0 * x).to_vector<float>());
}

TEST(Collectives, AnInnerAxisOfTheSameNameHidesTheOuter) {
  auto f = [](Array row) {
    return vmap([](Array v) { return lax::psum(v, "i") + 10 * lax::axis_index("i"); }, kAxis)(row) +
           100 * lax::axis_index("i");
  };
  expect_array(vmap(f, kAxis)(array({{1, 2}, {3, 4}})), "i32[2,2]", {3, 13, 107, 117});
}

TEST(Collectives, InLoopsAndBranches) {
  Array x = array({1.f, 2.f, 3.f});
  auto scanned = [](Array v) {
    return scan(
               [](Array carry, Array) {
                 return std::pair(lax::psum(carry, "i") / 2, carry + lax::axis_index("i"));
               },
               v, zeros({3}))
        .first;
  };
  expect_array(vmap(scanned, kAxis)(x), "f32[3]", {6.75, 6.75, 6.75});  // 6/2; 9/2; 13.5/2
  // Nothing that enters the loop differs between the inputs, but for their places.
  auto places = [](Array) {
    return fori_loop(
        0, 2, [](Array, Array sum) { return sum + lax::axis_index("i"); },
        Array::scalar(std::int64_t{0}, DType::i32, false));
  };
  expect_array(vmap(places, kAxis)(x), "i32[3]", {0, 2, 4});
  auto whiled = [](Array v) {
    return while_loop([](Array c) { return lax::pmax(c, "i") < 20; },
                      [](Array c) { return c + lax::psum(c, "i"); }, v);
  };
  expect_array(vmap(whiled, kAxis)(x), "f32[3]", {31, 32, 33});
  auto branch = [](Array v) {
    return cond(
        v > 1.5f, [](Array y) { return lax::psum(y, "i"); },
        [](Array y) { return y - lax::pmax(y, "i"); }, v);
  };
  expect_array(vmap(branch, kAxis)(x), "f32[3]", {-2, 6, 6});
}

TEST(Collectives, UnderJitAndAroundIt) {
  auto f = [](Array x) { return x / lax::psum(x, "i") + lax::pshuffle(x, "i", {2, 0, 1}); };
  Array x = numbers(), want = vmap(f, kAxis)(x);
  EXPECT_EQ(jit(vmap(f, kAxis))(x).to_vector<float>(), want.to_vector<float>());
  EXPECT_EQ(vmap(jit(f), kAxis)(x).to_vector<float>(), want.to_vector<float>());
  EXPECT_EQ(vmap(remat(f), kAxis)(x).to_vector<float>(), want.to_vector<float>());
}

/// Within the vmap each input's gradient is of all results together; what the sum of all results
/// gives, outside.
TEST(Collectives, GradientsInsideAndOutside) {
  Array x = numbers();
  auto f = [](Array v) {
    Array others = lax::ppermute(v, "i", {{0, 1}, {1, 2}}), all = lax::all_gather(v, "i"),
          parts = lax::all_to_all(numpy::tile(v, {3, 1}), "i", 0, 0);
    return numpy::sum(sin(v) * lax::psum(v * v, "i") + others * v + numpy::sum(all * v, 0) +
                      numpy::sum(parts * v, 0));
  };
  Array inside = vmap(grad(f), kAxis)(x);
  Array outside = grad([&](Array xs) { return numpy::sum(vmap(f, kAxis)(xs)); })(x);
  expect_array(inside, "f32[3,2]", outside.to_vector<double>(), 1e-5);
  auto [value, tangent] = jvp([&](Array xs) { return numpy::sum(vmap(f, kAxis)(xs)); },
                              std::tuple(x), std::tuple(cos(x)));
  EXPECT_NEAR(tangent.item<float>(), numpy::sum(outside * cos(x)).item<float>(), 1e-3);
  auto remembered = vmap(grad([&](Array v) { return remat(f)(v); }), kAxis)(x);
  expect_array(remembered, "f32[3,2]", outside.to_vector<double>(), 1e-5);
}

TEST(Collectives, InDerivativesOfOnesOwn) {
  auto forward = custom_jvp([](Array v) { return lax::psum(v, "i"); },
                            [](std::tuple<Array> v, std::tuple<Array> t) {
                              return std::pair(lax::psum(std::get<0>(v), "i"),
                                               2 * lax::psum(std::get<0>(t), "i"));
                            });
  auto reverse =
      custom_vjp([](Array v) { return v * 1; }, [](Array v) { return std::pair(v * 1, v); },
                 [](Array r, Array ct) { return std::tuple(ct + lax::psum(r, "i")); });
  Array x = array({1.f, 2.f, 3.f});
  expect_array(vmap(forward, kAxis)(x), "f32[3]", {6, 6, 6});
  expect_array(vmap(grad(forward), kAxis)(x), "f32[3]", {6, 6, 6});
  expect_array(vmap(grad(reverse), kAxis)(x), "f32[3]", {7, 7, 7});
  expect_array(grad([&](Array xs) { return numpy::sum(vmap(reverse, kAxis)(xs)); })(x), "f32[3]",
               {7, 7, 7});
}

TEST(Collectives, RowsOfRaggedArrays) {
  testing::shows_names("lax.ragged_all_to_all");
  auto exchange = vmap(
      [](Array operand, Array output, Array from, Array send, Array to, Array receive) {
        return lax::ragged_all_to_all(operand, output, from, send, to, receive, {.axis_name = "i"});
      },
      kAxis);
  // Upstream's example.
  Array from = array({{0, 1}, {0, 1}}), send = array({{1, 2}, {1, 1}}),
        to = array({{0, 0}, {1, 2}}), receive = array({{1, 1}, {2, 1}});
  Array operand = array({{1, 2, 2}, {3, 4, 0}}), output = zeros({2, 4}, int32);
  expect_array(exchange(operand, output, from, send, to, receive), "i32[2,4]",
               {1, 3, 0, 0, 2, 2, 4, 0});
  for (DType t : {float32, bfloat16, complex64})
    EXPECT_EQ(exchange(operand.astype(t), output.astype(t), from, send, to, receive)
                  .astype(int32)
                  .to_vector<int>(),
              std::vector<int>({1, 3, 0, 0, 2, 2, 4, 0}));
  // Rows of several elements, two slices for each, an empty one, and what stays of the output.
  Array rows = arange(0.0f, 16.0f).reshape({2, 4, 2}), before = full({2, 3, 2}, -1.0f);
  Array places = array({{0, 1, 2, 3}, {3, 2, 1, 0}}), ones = array({{1, 0, 1, 1}, {1, 1, 0, 0}}),
        targets = array({{1, 0, 0, 2}, {0, 2, 0, 0}}),
        arriving = array({{1, 0, 1, 1}, {1, 1, 0, 0}});
  expect_array(exchange(rows, before, places, ones, targets, arriving), "f32[2,3,2]",
               {14, 15, 0, 1, 12, 13, 4, 5, -1, -1, 6, 7});
  // Linear in the rows and in the output: a row's cotangent goes back to who sent it.
  auto weighed = [&](Array r, Array o) {
    return numpy::sum(exchange(r, o, places, ones, targets, arriving) *
                      arange(1.0f, 13.0f).reshape({2, 3, 2}));
  };
  auto [to_rows, to_output] = grad<0, 1>(weighed)(rows, before);
  expect_array(to_rows, "f32[2,4,2]", {3, 4, 0, 0, 7, 8, 11, 12, 0, 0, 0, 0, 5, 6, 1, 2});
  expect_array(to_output, "f32[2,3,2]", {0, 0, 0, 0, 0, 0, 0, 0, 9, 10, 0, 0});
  EXPECT_THAT(
      message_of([&] { (void)exchange(operand, output, from.astype(float32), send, to, receive); }),
      HasSubstr("offsets and sizes are integers"));
  EXPECT_THAT(
      message_of([&] { (void)exchange(operand, output.astype(float32), from, send, to, receive); }),
      HasSubstr("rows of i32[3] cannot become rows of f32[4]"));
}

TEST(Collectives, SomeGetNothing) {
  auto f = [](Array v) { return lax::ppermute(v, "i", {{0, 2}}); };
  expect_array(vmap(f, kAxis)(array({5.f, 6.f, 7.f})), "f32[3]", {0, 0, 5});
  EXPECT_TRUE(vmap([](Array v) { return lax::pmax(v, "i"); }, kAxis)(zeros({0, 2})).shape() ==
              Shape({0, 2}));
}

TEST(Collectives, MistakesAreTold) {
  Array x = array({1.f, 2.f, 3.f});
  EXPECT_THAT(
      message_of([&] { (void)lax::psum(x, "i"); }),
      HasSubstr("psum: of f32[3]: unbound axis name: i. Bound here: none is. vmap(f, {.axis_name = "
                "\"i\"}) binds it while f runs"));
  EXPECT_THAT(message_of([&] { (void)vmap([](Array v) { return lax::pmax(v, "j"); }, kAxis)(x); }),
              HasSubstr("pmax: of f32[]: unbound axis name: j. Bound here: i."));
  EXPECT_THAT(message_of([&] { (void)vmap([](Array v) { return lax::pmax(v, "j"); }, kAxis)(x); }),
              HasSubstr("parallel_test.cc"));
  EXPECT_THAT(message_of([&] { (void)lax::axis_index("i"); }),
              HasSubstr("axis_index: unbound axis name: i"));
  EXPECT_THAT(message_of([&] {
                (void)vmap([](Array v) { return lax::axis_index("i") + v; }, kAxis)(x),
                    lax::axis_size("i");
              }),
              HasSubstr("axis_size: unbound axis name: i"));
  EXPECT_THAT(
      message_of([&] { (void)vmap(grad([](Array v) { return lax::pmax(v, "i"); }), kAxis)(x); }),
      HasSubstr("the max over axis i has no derivative"));
  EXPECT_THAT(message_of([&] {
                (void)vmap([](Array v) { return lax::ppermute(v, "i", {{0, 1}, {2, 1}}); },
                           kAxis)(x);
              }),
              HasSubstr("sources and destinations must be unique"));
  EXPECT_THAT(message_of([&] {
                (void)vmap([](Array v) { return lax::all_to_all(v, "i", 0, 0); },
                           kAxis)(zeros({3, 2}));
              }),
              HasSubstr("axis 0 of f32[2] must have an element for each of 3 inputs"));
}

}  // namespace
}  // namespace strata
