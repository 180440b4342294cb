// Random numbers against JAX 0.10.2 (jax.random with PRNGKey(42) unless stated): bits, uniform and randint equal, normal
// within ulps.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;

const auto key42 = [] { return random::key(42); };

TEST(Random, KeysSplitsAndBits) {
  testing::shows_names("random.split random.fold_in random.bits");
  expect_array(random::key(-1), "ui32[2]", {0, 4294967295.0});
  expect_array(random::split(key42(), 3), "ui32[3,2]", {1832780943, 270669613, 64467757, 2916123636, 2465931498, 255383827});
  expect_array(random::split(random::key(0)), "ui32[2,2]", {1797259609, 2579123966, 928981903, 3453687069});
  expect_array(random::fold_in(key42(), 7), "ui32[2]", {2547012911, 1371500959});
  expect_array(random::bits(key42(), {2, 3}), "ui32[2,3]", {2098992034, 2919706841, 2646866425, 2409546199, 1935504149, 2516274904});
  expect_array(random::bits(key42(), {5}, uint8), "ui8[5]", {162, 217, 249, 215, 21});
  expect_array(random::bits(key42(), {5}, uint16), "ui16[5]", {5026, 12505, 63993, 49623, 29461});
}

TEST(Random, TracedKeysGiveTheSame) {
  auto f = jit([](Array seed, Array i) { return random::fold_in(random::key(seed), i); });
  expect_array(f(42, 7), "ui32[2]", {2547012911, 1371500959});
}

TEST(Random, UniformIsEqual) {
  testing::shows_names("random.uniform");
  expect_array(random::uniform(key42(), {6}), "f32[6]", {0.48870956897735596, 0.6797971725463867, 0.6162714958190918, 0.5610160827636719, 0.4506446123123169, 0.58586585521698}, 0);
  // XLA contracts the product and the sum of the range; we round both (decisions: no contraction).
  expect_array(random::uniform(key42(), {4}, float32, -2.0f, 3.0f), "f32[4]", {0.4435478448867798, 1.3989858627319336, 1.081357479095459, 0.8050804138183594}, 2.5e-7);
  expect_array(random::uniform(key42(), {4}, bfloat16), "bf16[4]", {0.6328125, 0.84375, 0.96875, 0.8359375}, 0);
  expect_array(random::uniform(key42(), {4}, float16), "f16[4]", {0.076171875, 0.1904296875, 0.9755859375, 0.7568359375}, 0);
}

TEST(Random, NormalIsWithinUlps) {
  testing::shows_names("random.normal");
  expect_array(random::normal(key42(), {8}), "f32[8]", {-0.02830461598932743, 0.4671318531036377, 0.2957029640674591, 0.15354591608047485, -0.12403281778097153, 0.21692314743995667, -1.440878987312317, 0.755859911441803}, 2.5e-7);
  expect_array(random::truncated_normal(key42(), -2, 2, {6}), "f32[6]", {-0.027016498148441315, 0.44438081979751587, 0.2818770706653595, 0.14650805294513702, -0.11836230009794235, 0.2069074809551239}, 2.5e-7);
  expect_array(random::gumbel(key42(), {4}), "f32[4]", {0.3340933918952942, 0.952019453048706, 0.7255305647850037, 0.5481715202331543}, 2.5e-7);
  const Array many = random::normal(random::key(1), {4096});
  EXPECT_NEAR(mean(many).item<double>(), 0, 0.05);
  EXPECT_NEAR(var(many).item<double>(), 1, 0.05);
}

TEST(Random, IntegersAreEqual) {
  testing::shows_names("random.randint");
  expect_array(random::randint(key42(), {8}, 0, 10), "i32[8]", {4, 4, 1, 9, 9, 9, 7, 7});
  expect_array(random::randint(key42(), {6}, -5, 1000000), "i32[6]", {278646, 848442, 367222, 982777, 576641, 288488});
  expect_array(random::randint(key42(), {6}, -128, 128, int8), "i8[6]", {68, -110, 55, 65, 13, -21});
  expect_array(random::categorical(key42(), log(array({{.1, .2, .7}, {.5, .25, .25}}))), "i32[2]", {2, 0});
  expect_array(random::bernoulli(key42(), 0.3f, Sizes{8}), "i1[8]", {0, 0, 0, 0, 0, 0, 1, 0});
}

}  // namespace
}  // namespace strata
