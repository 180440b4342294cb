// What goldens do not say of lax.h: types, trees, loops, derivatives.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using testing::message_of;
using testing::shows_names;

TEST(LaxTypes, SayWhatFunctionsDo) {
  shows_names(
      "lax.DotDimensionNumbers lax.Precision lax.RoundingMethod lax.FftType "
      "lax.GatherDimensionNumbers lax.GatherScatterMode lax.ScatterDimensionNumbers");
  const Array x = array({{1.0f, 2.0f}, {3.0f, 4.0f}}), i = array({{1}, {5}});
  const lax::DotDimensionNumbers rows{
      .lhs_contracting = {1}, .rhs_contracting = {1}, .lhs_batch = {}, .rhs_batch = {}};
  for (lax::Precision p : {lax::Precision::DEFAULT, lax::Precision::HIGH, lax::Precision::HIGHEST})
    expect_array(lax::dot_general(x, x, rows, {.precision = p}), "f32[2,2]", {5, 11, 11, 25});
  expect_array(lax::round(array({0.5f, 1.5f}), lax::RoundingMethod::TO_NEAREST_EVEN), "f32[2]",
               {0, 2});
  expect_array(lax::round(array({0.5f, 1.5f}), lax::RoundingMethod::AWAY_FROM_ZERO), "f32[2]",
               {1, 2});
  expect_array(lax::fft(array({1.0f, 1.0f}), lax::FftType::RFFT, 2).astype(float32), "f32[2]",
               {2, 0});
  const lax::GatherDimensionNumbers row{.offset_dims = {1},
                                        .collapsed_slice_dims = {0},
                                        .start_index_map = {0},
                                        .operand_batching_dims = {},
                                        .start_indices_batching_dims = {}};
  using Mode = lax::GatherScatterMode;
  expect_array(lax::gather(x, i, row, {1, 2}, {.mode = Mode::CLIP}), "f32[2,2]", {3, 4, 3, 4});
  for (Mode fills : {Mode::FILL_OR_DROP, Mode::ONE_HOT})
    expect_array(lax::gather(x, i, row, {1, 2}, {.mode = fills, .fill_value = Array(-1.0f)}),
                 "f32[2,2]", {3, 4, -1, -1});
  const lax::ScatterDimensionNumbers into{.update_window_dims = {1},
                                          .inserted_window_dims = {0},
                                          .scatter_dims_to_operand_dims = {0},
                                          .operand_batching_dims = {},
                                          .scatter_indices_batching_dims = {}};
  expect_array(lax::scatter_add(x, i, x, into), "f32[2,2]", {1, 2, 4, 6});
  expect_array(lax::scatter_add(x, i, x, into, {.mode = Mode::CLIP}), "f32[2,2]", {1, 2, 7, 10});
}

TEST(LaxTypes, DimensionsOfConvolutionsAreNumbersOrLetters) {
  shows_names(
      "lax.ConvDimensionNumbers lax.ConvGeneralDilatedDimensionNumbers "
      "lax.RaggedDotDimensionNumbers");
  const lax::ConvGeneralDilatedDimensionNumbers letters{"NHC", "HIO", "NHC"};
  const lax::ConvDimensionNumbers numbers{
      .lhs_spec = {0, 2, 1}, .rhs_spec = {2, 1, 0}, .out_spec = {0, 2, 1}};
  EXPECT_EQ(lax::conv_dimension_numbers({1, 3, 1}, {2, 1, 1}, letters), numbers);
  EXPECT_EQ(lax::conv_dimension_numbers({1, 3, 1}, {2, 1, 1}, numbers), numbers);
  const Array x = array({1.0f, 2.0f, 4.0f}).reshape({1, 3, 1}),
              k = array({1.0f, 10.0f}).reshape({2, 1, 1});
  for (const lax::ConvGeneralDilatedDimensionNumbers& d :
       {letters, lax::ConvGeneralDilatedDimensionNumbers(numbers)})
    expect_array(lax::conv_general_dilated(x, k, 1, "VALID", {.dimension_numbers = d}),
                 "f32[1,2,1]", {21, 42});
  const lax::RaggedDotDimensionNumbers groups{.dot_dimension_numbers = {.lhs_contracting = {1},
                                                                        .rhs_contracting = {0},
                                                                        .lhs_batch = {},
                                                                        .rhs_batch = {}},
                                              .lhs_ragged_dimensions = {1},
                                              .rhs_group_dimensions = {}};
  expect_array(lax::ragged_dot_general(array({{1.0f, 2.0f, 4.0f}}), array({{1.0f}, {1.0f}, {1.0f}}),
                                       array({2, 1}), groups),
               "f32[2,1,1]", {3, 4});
}

TEST(LaxRandom, UniformNumbersLieBetweenTheirBounds) {
  shows_names("lax.rng_uniform lax.RandomAlgorithm");
  const std::vector<float> drawn = lax::rng_uniform(2.0f, 5.0f, {100, 10}).to_vector<float>();
  double sum = 0;
  for (float v : drawn) {
    EXPECT_TRUE(v >= 2 && v < 5) << v;
    sum += v;
  }
  EXPECT_NEAR(sum / 1000, 3.5, 0.2);
  for (int v : lax::rng_uniform(Array(-3), Array(4), {200}).to_vector<int>())
    EXPECT_TRUE(v >= -3 && v < 4) << v;
  EXPECT_THAT(message_of([] { (void)lax::rng_uniform(2.0f, Array(5), {1}); }),
              ::testing::HasSubstr("bounds are scalars of one dtype"));
  const Array key = array({1, 2, 3, 4}).astype(uint32);
  auto bits = [&](lax::RandomAlgorithm a) {
    return lax::rng_bit_generator(key, {8}, uint32, a).second.to_vector<std::uint32_t>();
  };
  EXPECT_EQ(bits(lax::RandomAlgorithm::RNG_DEFAULT), bits(lax::RandomAlgorithm::RNG_PHILOX));
  EXPECT_NE(bits(lax::RandomAlgorithm::RNG_DEFAULT), bits(lax::RandomAlgorithm::RNG_THREE_FRY));
}

TEST(LaxControl, SwitchAndMapTakeTrees) {
  shows_names("lax.switch");
  const std::vector<Array (*)(Array)> branches = {
      [](Array x) { return x + 1; }, [](Array x) { return x * 10; }, [](Array x) { return -x; }};
  for (auto [index, wanted] : {std::pair(-4, 4.0), {0, 4.0}, {1, 30.0}, {2, -3.0}, {9, -3.0}})
    expect_array(lax::switch_(Array(index), branches, Array(3.0f)), "f32[]", {wanted});
  auto chosen = jit([&](Array i, Array x) { return lax::switch_(i, branches, x); });
  expect_array(chosen(1, array({1.0f, 2.0f})), "f32[2]", {10, 20});
  const auto [total, first] = lax::map(
      [](const std::pair<Array, Array>& p) {
        return std::pair(sum(p.first) + p.second, p.first[{0}]);
      },
      std::pair(array({{1.0f, 2.0f}, {3.0f, 4.0f}}), array({10.0f, 20.0f})));
  expect_array(total, "f32[2]", {13, 27});
  expect_array(first, "f32[2]", {1, 3});
}

TEST(LaxReductions, TreesAreFoldedTogether) {
  using Best = std::pair<Array, Array>;
  const Best best = lax::reduce(
      Best(array({{3.0f, 7.0f}, {9.0f, 1.0f}}), array({{0, 1}, {2, 3}})),
      Best(Array(-inf), Array(0)),
      [](const Best& x, const Best& y) {
        return Best(where(x.first >= y.first, x.first, y.first),
                    where(x.first >= y.first, x.second, y.second));
      },
      1);
  expect_array(best.first, "f32[2]", {7, 9});
  expect_array(best.second, "i32[2]", {1, 2});
  EXPECT_THAT(message_of([] {
                (void)lax::reduce(
                    array({1.0f}), 0.0f,
                    [](const Array& x, const Array& y) { return (x + y).astype(int32); }, 0);
              }),
              ::testing::HasSubstr("the function returns"));
  expect_array(grad([](Array x) {
                 return sum(lax::reduce_window(x, 0.0f, lax::add, 2) * array({1.0f, 10.0f}));
               })(array({1.0f, 2.0f, 3.0f})),
               "f32[3]", {1, 11, 10});
}

/// f' by a difference, in f64.
template <class F>
double difference(F f, double at) {
  const double h = 1e-5;
  return (f(Array(at + h)).template item<double>() - f(Array(at - h)).template item<double>()) /
         (2 * h);
}

TEST(LaxIncomplete, DerivativesAreThoseOfTheFunctions) {
  EnableX64 wide;
  auto agrees = [](auto f, double at) {
    const double wanted = difference(f, at);
    EXPECT_NEAR(grad(f)(Array(at)).template item<double>(), wanted,
                1e-6 * std::max(1.0, std::abs(wanted)))
        << at;
    EXPECT_NEAR(
        jvp(f, std::tuple(Array(at)), std::tuple(Array(1.0))).second.template item<double>(),
        wanted, 1e-6 * std::max(1.0, std::abs(wanted)))
        << at;
  };
  for (double v : {0.4, 2.5}) {
    agrees([](const Array& x) { return lax::igamma(1.7, x); }, v);
    agrees([](const Array& a) { return lax::igamma(a, 1.3); }, v);
    agrees([](const Array& x) { return lax::igammac(1.7, x); }, v);
    agrees([](const Array& a) { return lax::igammac(a, 1.3); }, v);
    agrees([](const Array& a) { return lax::betainc(a, 1.6, 0.3); }, v);
    agrees([](const Array& b) { return lax::betainc(1.6, b, 0.3); }, v);
  }
  for (double v : {0.2, 0.8}) agrees([](const Array& x) { return lax::betainc(1.4, 2.2, x); }, v);
  const Array a = array(std::vector<double>{0.5, 2, 6}), x = array(std::vector<double>{1, 1.5, 3});
  expect_array(vmap([](const Array& p, const Array& q) { return lax::igamma(p, q); })(a, x),
               "f64[3]", lax::igamma(a, x).to_vector<double>(), 1e-12);
}

}  // namespace
}  // namespace strata
