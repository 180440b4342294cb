// Layers by their definitions, and their gradients against finite differences.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "strata/api/index.h"
#include "strata/api/transform/grad.h"
#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/attention/attention.h"
#include "strata/nn/linear/embed.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/linear/swiglu.h"
#include "strata/nn/norm/norm.h"

namespace strata::nn {
namespace {

class LayersTest : public testing::Test {
 protected:
  LayersTest() { compile::register_cpu(); }
  static Array normals(int seed, const Sizes& shape, DType dtype = float32) {
    return random::normal(random::key(seed), shape, dtype);
  }
};

bool same_bits(const Array& x, const Array& y) {
  const Literal a = x.literal(), b = y.literal();
  return a.type() == b.type() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}
double largest(const Array& x) { return max(abs(x)).item<double>(); }

/// The derivative of sum(f(tree) * w) along a random direction of the whole tree, in f64, beside
/// the difference quotient.
template <class F, class P>
void expect_slope(const char* what, F f, const P& at) {
  EnableX64 wide;
  const P point = tree::map([](const Array& x) { return astype(x, float64); }, at);
  int seed = 50;
  const P direction = tree::map(
      [&](const Array& x) { return random::normal(random::key(seed++), x.shape(), float64); },
      point);
  const Array weights = random::normal(random::key(49), f(point).shape(), float64);
  auto value = [&](const P& p) { return sum(f(p) * weights); };
  auto moved = [&](double step) {
    return value(tree::map([&](const Array& x, const Array& d) { return x + step * d; }, point,
                           direction))
        .template item<double>();
  };
  const P slopes = grad(value)(point);
  double said = 0;
  tree::map([&](const Array& g, const Array& d) { return said += sum(g * d).item<double>(), g; },
            slopes, direction);
  const double slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
  EXPECT_NEAR(said, slope, 1e-7 * std::max(1.0, std::abs(slope))) << what;
}

TEST_F(LayersTest, GradientsAreSlopes) {
  const Array x = normals(1, {2, 4, 6});
  auto with_input = [](const auto& layer, const Array& x) { return std::pair(layer, x); };
  auto apply = [](const auto& both) { return both.first(both.second); };
  expect_slope("Linear", apply, with_input(Linear::init(random::key(2), 6, 5), x));
  expect_slope("RMSNorm", apply, with_input(RMSNorm{normals(3, {6})}, x));
  expect_slope("SwiGLU", apply, with_input(SwiGLU::init(random::key(4), 6, 9), x));
  const Array tokens = array({{0, 3, 3}, {1, 6, 2}});
  expect_slope(
      "Embed", [&](const Embed& e) { return e.attend(e(tokens)); },
      Embed::init(random::key(5), 7, 6));
  const Attention attention =
      Attention::init(random::key(6), 6, {.num_query_heads = 4, .num_kv_heads = 2, .head_dim = 4});
  expect_slope(
      "Attention", [](const auto& both) { return both.first(both.second, rotary_tables(4, 4)); },
      with_input(attention, x));
}

TEST_F(LayersTest, LinearWithoutBias) {
  const Linear layer = Linear::init(random::key(1), 3, 2, {.use_bias = false});
  EXPECT_EQ(tree::paths(layer), std::vector<std::string>{"kernel"});
  EXPECT_TRUE(same_bits(layer(normals(2, {4, 3})), matmul(normals(2, {4, 3}), layer.kernel)));
  EXPECT_EQ(tree::paths(Linear::init(random::key(1), 3, 2)).size(), 2u);
}

TEST_F(LayersTest, NormOfAnyScaleIsOfSizeOne) {
  const RMSNorm norm = RMSNorm::init(random::key(0), 16, 0.0);
  for (const double scale : {1e-6, 1.0, 1e6}) {
    const Array y = norm(scale * normals(1, {3, 16}));
    EXPECT_LT(largest(mean(y * y, -1) - 1.0), 1e-5) << scale;
  }
  EXPECT_EQ(norm(normals(1, {3, 16}, bfloat16)).dtype(), float32) << "the scale is f32";
}

TEST_F(LayersTest, RotationsKeepLengthsAndKnowDistancesAlone) {
  const std::int64_t width = 8, length = 12;
  const RotaryTables tables = rotary_tables(length, width);
  const Array q = broadcast_to(normals(1, {1, 1, 1, width}), {1, length, 1, width}),
              k = broadcast_to(normals(2, {1, 1, 1, width}), {1, length, 1, width});
  const Array a = apply_rotary(q, tables), b = apply_rotary(k, tables);
  EXPECT_LT(largest(sum(a * a, -1) - sum(q * q, -1)), 1e-4);
  const Array scores = einsum("bshd,bthd->st", a, b);
  for (int s = 1; s < length; ++s)
    for (int t = 1; t < length; ++t)
      EXPECT_NEAR((scores[{s, t}].item<float>()), (scores[{s - 1, t - 1}].item<float>()), 1e-4);
  EXPECT_TRUE(same_bits(apply_rotary(q, rotary_tables(1, width))[{slice(), slice(0, 1)}],
                        q[{slice(), slice(0, 1)}]))
      << "position 0 stands still";
}

TEST_F(LayersTest, RotationIsThatOfComplexNumbers) {
  const std::int64_t width = 6;
  const std::vector<float> x = normals(3, {1, 5, 1, width}).to_vector<float>();
  const std::vector<float> y =
      apply_rotary(normals(3, {1, 5, 1, width}), rotary_tables(5, width, 100.0)).to_vector<float>();
  for (std::size_t s = 0; s < 5; ++s)
    for (std::size_t i = 0; i < 3; ++i) {
      const std::complex<double> z(x[s * 6 + i], x[s * 6 + i + 3]);
      const std::complex<double> turned =
          z * std::polar(1.0, static_cast<double>(s) *
                                  std::pow(100.0, -2.0 * static_cast<double>(i) / 6.0));
      EXPECT_NEAR(y[s * 6 + i], turned.real(), 1e-6);
      EXPECT_NEAR(y[s * 6 + i + 3], turned.imag(), 1e-6);
    }
}

TEST_F(LayersTest, TablesOfPositionsAreRowsOfTheWhole) {
  const RotaryTables whole = rotary_tables(20, 8), some = rotary_tables(array({7, 3, 19}), 8);
  int row = 0;
  for (int position : {7, 3, 19}) {
    EXPECT_TRUE(same_bits(some.cos[row], whole.cos[position]));
    EXPECT_TRUE(same_bits(some.sin[row++], whole.sin[position]));
  }
}

TEST_F(LayersTest, GroupedHeadsAreHeadsWithTheirKeysRepeated) {
  const Array q = normals(1, {2, 5, 6, 4}), k = normals(2, {2, 5, 2, 4}),
              v = normals(3, {2, 5, 2, 4});
  EXPECT_LT(
      largest(causal_attention(q, k, v) - causal_attention(q, repeat(k, 3, 2), repeat(v, 3, 2))),
      1e-6);
}

TEST_F(LayersTest, AQuerySeesItsPastAlone) {
  const Array q = normals(1, {1, 5, 2, 4}), k = normals(2, {1, 5, 1, 4}),
              v = normals(3, {1, 5, 1, 4});
  const Array whole = causal_attention(q, k, v);
  for (int i = 0; i < 5; ++i) {
    // Keys behind query i hold something else; what it sees from a later start on is the same too.
    const Array past = less_equal(reshape(arange(5), {1, 5, 1, 1}), i);
    const Array other = causal_attention(q, where(past, k, 3.0), where(past, v, -7.0));
    EXPECT_TRUE(same_bits(other[{slice(), slice(i, i + 1)}], whole[{slice(), slice(i, i + 1)}]))
        << i;
    EXPECT_TRUE(same_bits(causal_attention(q[{slice(), slice(i, i + 1)}], k, v, i),
                          whole[{slice(), slice(i, i + 1)}]))
        << i;
  }
  EXPECT_LT(largest(whole[{0, 0}] - v[{0, 0}]), 1e-6) << "the first query sees one value";
}

TEST_F(LayersTest, ExtendingIsReadingAtOnce) {
  const Attention layer =
      Attention::init(random::key(1), 12, {.num_query_heads = 4, .num_kv_heads = 2, .head_dim = 6});
  const Array x = normals(2, {2, 7, 12});
  const Array whole = layer(x, rotary_tables(7, 6));
  for (std::int64_t cut = 1; cut < 7; ++cut) {
    KeyValues kept{zeros({2, 7, 2, 6}), zeros({2, 7, 2, 6})};
    auto part = [&](std::int64_t from, std::int64_t to) {
      auto [y, now] = layer.extend(x[{slice(), slice(from, to)}],
                                   rotary_tables(from + arange(to - from), 6), kept, from);
      kept = now;
      return y;
    };
    const Array first = part(0, cut), second = part(cut, 7);
    EXPECT_TRUE(same_bits(concatenate({first, second}, 1), whole)) << cut;
  }
}

TEST_F(LayersTest, InitialWeightsDoNotRepeat) {
  const Attention a =
      Attention::init(random::key(1), 8, {.num_query_heads = 2, .num_kv_heads = 2, .head_dim = 4});
  EXPECT_FALSE(same_bits(a.query, a.key));
  EXPECT_FALSE(same_bits(a.key, a.value));
  const SwiGLU s = SwiGLU::init(random::key(1), 8, 8);
  EXPECT_FALSE(same_bits(s.gate, s.up));
}

TEST_F(LayersTest, SaysWhatDoesNotFit) {
  EXPECT_THROW((void)causal_attention(normals(1, {1, 2, 3, 4}), normals(1, {1, 2, 2, 4}),
                                      normals(1, {1, 2, 2, 4})),
               Error);
  EXPECT_THROW(Attention::init(random::key(1), 8, {.num_query_heads = 3, .num_kv_heads = 2}),
               Error);
  EXPECT_THROW(rotary_tables(4, 5), Error);
  EXPECT_THROW((void)initializers::lecun_normal()(random::key(1), {4}, float32), Error);
}

}  // namespace
}  // namespace strata::nn
