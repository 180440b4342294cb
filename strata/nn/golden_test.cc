// Initialisers beside JAX's and layers beside Flax's (tools/goldens/layers.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "strata/api/index.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/attention/attention.h"
#include "strata/nn/linear/embed.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/linear/swiglu.h"
#include "strata/nn/norm/norm.h"

namespace strata::nn {
namespace {

using nlohmann::json;

class LayersGoldenTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    compile::register_cpu();
    std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "testdata/layers.json");
    golden_ = json::parse(file);
  }
  static json golden_;
};
json LayersGoldenTest::golden_;

/// The script's `numbers`, to the last bit.
Array numbers(std::int64_t seed, const Sizes& shape) {
  std::vector<float> out(static_cast<std::size_t>(Shape::of(shape).count()));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] =
        static_cast<float>((seed * 7919 + static_cast<std::int64_t>(i) * 104729) % 2003 - 1001) /
        1024.0f;
  return array(out, shape);
}

/// Floats in their order as integers: the difference is the number of steps between them.
std::int64_t place(std::uint32_t bits) {
  return bits & 0x80000000u ? -static_cast<std::int64_t>(bits & 0x7fffffffu)
                            : static_cast<std::int64_t>(bits);
}

TEST_F(LayersGoldenTest, Initializers) {
  using namespace initializers;
  const Array key = random::key(golden_["manifest"]["seed"].get<int>());
  const std::vector<std::int64_t> shape = golden_["manifest"]["shape"],
                                  stack = golden_["manifest"]["stacked"];
  std::size_t checked = 0;
  // Decisions 6: what is uniform has the same bits; what is normal is within 4 ulp and nine in ten
  // have the same bits. The bounds of truncated normal numbers go through erf, where JAX is 5 ulp
  // from the truth, and a number near 0 is a difference of such: these are within 4 ulp of the
  // largest.
  enum class Same { bits, ulp, ulp_of_largest };
  auto check = [&](const std::string& name, const Initializer& init, Same same,
                   const Sizes& sizes) {
    const std::vector<float> got = init(key, sizes, DType::f32).to_vector<float>();
    const std::vector<std::uint32_t> want = golden_["initializers"].at(name);
    ASSERT_EQ(got.size(), want.size()) << name;
    std::int64_t most = 0, equal = 0;
    float largest = 0, difference = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::int64_t ulp =
          std::abs(place(std::bit_cast<std::uint32_t>(got[i])) - place(want[i]));
      most = std::max(most, ulp);
      equal += ulp == 0;
      largest = std::max(largest, std::abs(got[i]));
      difference = std::max(difference, std::abs(got[i] - std::bit_cast<float>(want[i])));
    }
    const float of_largest =
        difference / std::max(std::nextafter(largest, 2 * largest) - largest, 1e-30f);
    std::cout << fmt::format("{:18} {} of {} bit-equal, at most {} ulp, {:.1f} of the largest\n",
                             name, equal, got.size(), most, of_largest);
    if (same == Same::ulp_of_largest) {
      EXPECT_LE(of_largest, 4) << name;
    } else {
      EXPECT_LE(most, same == Same::bits ? 0 : 4) << name;
      EXPECT_GE(static_cast<double>(equal), 0.9 * static_cast<double>(got.size())) << name;
    }
    ++checked;
  };
  check("zeros", initializers::zeros, Same::bits, shape);
  check("ones", initializers::ones, Same::bits, shape);
  check("constant", constant(0.3), Same::bits, shape);
  check("uniform", uniform(0.7), Same::bits, shape);
  check("normal", normal(0.02), Same::ulp, shape);
  check("truncated_normal", truncated_normal(0.5, DType::f32, -1.5, 1.0), Same::ulp_of_largest,
        shape);
  check("lecun_normal", lecun_normal(), Same::ulp_of_largest, shape);
  check("lecun_uniform", lecun_uniform(), Same::bits, shape);
  check("glorot_normal", glorot_normal(), Same::ulp_of_largest, shape);
  check("glorot_uniform", glorot_uniform(), Same::bits, shape);
  check("he_normal", he_normal(), Same::ulp_of_largest, shape);
  check("he_uniform", he_uniform(), Same::bits, shape);
  check("fan_out", variance_scaling(0.5, Fan::out, Distribution::normal), Same::ulp, shape);
  check("fan_geo_avg", variance_scaling(2.0, Fan::geometric, Distribution::uniform), Same::bits,
        shape);
  check("embedding", default_embed_init(), Same::ulp, shape);
  check("stacked", lecun_normal({.batch_axis = {0}}), Same::ulp_of_largest, stack);
  check("field", he_normal({.in_axis = 1, .out_axis = 2}), Same::ulp_of_largest, stack);
  EXPECT_EQ(checked, golden_["initializers"].size());
}

TEST_F(LayersGoldenTest, Layers) {
  std::size_t checked = 0;
  auto check = [&](const std::string& name, const Array& result) {
    const std::vector<float> got = result.to_vector<float>(), want = golden_["layers"].at(name);
    ASSERT_EQ(got.size(), want.size()) << name;
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      difference += std::pow(got[i] - want[i], 2), size += std::pow(want[i], 2);
    std::cout << fmt::format("{:18} {:.1e}\n", name, std::sqrt(difference / size));
    EXPECT_LE(std::sqrt(difference / size), 1e-6) << name;
    ++checked;
  };
  const Array x = numbers(1, {2, 5, 8});
  const Embed embed{numbers(4, {10, 8})};
  const Array q = numbers(6, {2, 5, 4, 6}), k = numbers(7, {2, 5, 2, 6}),
              v = numbers(8, {2, 5, 2, 6});
  check("linear", Linear(numbers(2, {8, 6}), numbers(3, {6}))(x));
  check("embed", embed(array({{0, 9, 3}, {7, 7, 1}})));
  check("attend", embed.attend(x));
  check("rms_norm", RMSNorm{numbers(5, {8})}(x));
  check("causal_attention", causal_attention(q, k, v));
  check("last_query", causal_attention(q[{slice(), slice(4, 5)}], k, v));
  check("swiglu", SwiGLU{numbers(9, {8, 12}), numbers(10, {8, 12}), numbers(11, {12, 8})}(x));
  EXPECT_EQ(checked, golden_["layers"].size());
}

}  // namespace
}  // namespace strata::nn
