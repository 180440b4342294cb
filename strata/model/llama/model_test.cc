// Laws of the model: reading by pieces equals reading at once, gradients are slopes,
// rematerialisation changes no bit.
#include "strata/model/llama/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "strata/api/index.h"
#include "strata/api/random.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"

namespace strata::llama {
namespace {

const Config kTiny{.vocab_size = 29,
                   .base_emb_dim = 16,
                   .base_num_decoder_layers = 2,
                   .base_num_query_heads = 4,
                   .base_num_kv_heads = 2,
                   .head_dim = 6,
                   .base_mlp_dim = 20};
constexpr std::int64_t kLength = 11;

Config tiny(DType dtype, std::string remat_policy = "full_save") {
  Config c = kTiny;
  c.dtype = dtype;
  c.remat_policy = std::move(remat_policy);
  return c;
}

class LlamaTest : public testing::Test {
 protected:
  LlamaTest() { compile::register_cpu(); }
  static Array tokens(int seed, std::int64_t batch, std::int64_t length) {
    return random::randint(random::key(seed), {batch, length}, 0,
                           static_cast<int>(kTiny.vocab_size));
  }
  static Params params() { return init(random::key(7), kTiny); }
  static Array columns(const Array& x, std::int64_t from, std::int64_t to) {
    return x[{slice(), slice(from, to)}];
  }
};

bool same_bits(const Array& x, const Array& y) {
  const Literal a = x.literal(), b = y.literal();
  return a.type() == b.type() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

double relative(const Array& x, const Array& y) {
  const std::vector<double> a = x.to_vector<double>(), b = y.to_vector<double>();
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference += (a[i] - b[i]) * (a[i] - b[i]), size += b[i] * b[i];
  return std::sqrt(difference / size);
}

class CacheTest : public LlamaTest, public testing::WithParamInterface<DType> {};

TEST_P(CacheTest, EveryWayToCutGivesTheBitsOfForward) {
  const Config c = tiny(GetParam());
  const Params p = params();
  const Array text = tokens(1, 2, kLength);
  const Array whole =
      jit([&](const Params& q, const Array& t) { return forward(q, t, c); })(p, text);
  auto read = jit([&](const Params& q, const Array& t, const Array& first,
                      const Cache& cache) { return extend(q, t, first, cache, c); },
                  {.donate_argnums = {3}});
  // Bit i of `cuts` says whether a chunk ends after token i: all 16 ways for 5 tokens, then one by
  // one.
  constexpr std::int64_t kPrompt = 5;
  for (unsigned cuts = 0; cuts < 1u << (kPrompt - 1); ++cuts) {
    Cache cache = init_cache(c, 2, kLength);
    std::int64_t from = 0;
    for (std::int64_t to = 1; to <= kLength; ++to) {
      if (to < kPrompt && !(cuts >> (to - 1) & 1)) continue;
      auto [logits, next] =
          read(p, columns(text, from, to), Array(static_cast<int>(from)), std::move(cache));
      cache = std::move(next);
      ASSERT_TRUE(same_bits(logits, columns(whole, from, to)))
          << "tokens " << from << " to " << to << ", cuts " << cuts;
      from = to;
    }
  }
  EXPECT_EQ(read.cache_size(), static_cast<std::size_t>(kPrompt))
      << "one program for each size of a chunk";
}

TEST_P(CacheTest, NearTheForwardOfThePrefixAlone) {
  // That one adds over fewer positions, in another order.
  const Config c = tiny(GetParam());
  const Params p = params();
  const Array text = tokens(2, 1, kLength);
  auto [logits, cache] = extend(p, text, 0, init_cache(c, 1, 16), c);
  for (std::int64_t length = 1; length <= kLength; length += 5) {
    const Array prefix = forward(p, columns(text, 0, length), c);
    EXPECT_LE(relative(columns(logits, 0, length), prefix), GetParam() == bfloat16 ? 2e-2 : 1e-6)
        << length;
  }
}

TEST_P(CacheTest, OneTokensLogits) {
  const Config c = tiny(GetParam());
  const Params p = params();
  const Array text = tokens(3, 2, 4);
  const Array all = extend(p, text, 0, init_cache(c, 2, 8), c).first;
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(same_bits(extend(p, text, 0, init_cache(c, 2, 8), c, Array(i)).first,
                          columns(all, i, i + 1)))
        << i;
}

TEST_P(CacheTest, RowsDoNotMeet) {
  const Config c = tiny(GetParam());
  const Params p = params();
  const Array text = tokens(4, 3, 6);
  const Array together = extend(p, text, 0, init_cache(c, 3, 8), c).first;
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(same_bits(extend(p, text[{slice(i, i + 1)}], 0, init_cache(c, 1, 8), c).first,
                          together[{slice(i, i + 1)}]))
        << i;
}

TEST_P(CacheTest, CastOnceIsCastInside) {
  const Config c = tiny(GetParam());
  const Params p = params();
  const Array text = tokens(5, 1, 6);
  EXPECT_TRUE(same_bits(forward(cast(p, c.dtype), text, c), forward(p, text, c)));
}

INSTANTIATE_TEST_SUITE_P(Dtypes, CacheTest, testing::Values(float32, bfloat16),
                         [](const auto& i) { return std::string(name(i.param)); });

TEST_F(LlamaTest, LaterTokensChangeNothingBefore) {
  const Params p = params();
  const Array a = tokens(1, 1, kLength), b = tokens(2, 1, kLength);
  for (std::int64_t same = 1; same < kLength; same += 3) {
    const Array mixed = concatenate({columns(a, 0, same), columns(b, same, kLength)}, 1);
    EXPECT_TRUE(same_bits(columns(forward(p, a, kTiny), 0, same),
                          columns(forward(p, mixed, kTiny), 0, same)))
        << same;
  }
}

TEST_F(LlamaTest, GradientIsTheSlope) {
  EnableX64 wide;
  const Config c = tiny(float64);
  const Params p = cast(params(), float64);
  const Array x = tokens(1, 2, 7).astype(int32), y = tokens(2, 2, 7).astype(int32);
  auto of = [&](const Params& q) { return loss(q, x, y, c); };
  const Params g = grad(of)(p);
  // Along each weight's own random direction, so that no tensor hides behind another.
  const std::vector<std::string> names = tree::paths(p);
  const std::vector<Array> slopes = tree::leaves<Array>(g), values = tree::leaves<Array>(p);
  auto value = jit(of);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Array direction =
        random::normal(random::key(static_cast<int>(i)), values[i].shape(), float64);
    auto moved = [&](double step) {
      std::vector<Array> leaves = values;
      leaves[i] = values[i] + step * direction;
      return value(tree::unflatten<Array>(p, leaves)).item<double>();
    };
    constexpr double kStep = 1e-6;
    const double slope = (moved(kStep) - moved(-kStep)) / (2 * kStep),
                 said = sum(slopes[i] * direction).item<double>();
    EXPECT_NEAR(said, slope, 1e-7 * std::max(1.0, std::abs(slope))) << names[i];
    EXPECT_GT(std::abs(said), 1e-6) << names[i] << " has a part in the loss";
  }
}

TEST_F(LlamaTest, RematerialisationChangesNoBit) {
  const Params p = params();
  const Array x = tokens(1, 2, 7), y = tokens(2, 2, 7);
  for (const DType dtype : {float32, bfloat16}) {
    auto gradients = [&](const char* policy) {
      const Config c = tiny(dtype, policy);
      return jit([&](const Params& q) {
        return value_and_grad([&](const Params& r) { return loss(r, x, y, c); })(q);
      })(p);
    };
    const auto [loss, grads] = gradients("full_save");
    for (const char* policy : {"minimal", "full"}) {
      const auto [other_loss, other_grads] = gradients(policy);
      EXPECT_TRUE(same_bits(loss, other_loss)) << policy;
      std::vector<Array> theirs = tree::leaves<Array>(other_grads);
      std::size_t i = 0;
      tree::for_each_path(grads, [&](const std::string& path, const Array& g) {
        EXPECT_TRUE(same_bits(g, theirs[i++])) << policy << ", " << path;
      });
    }
  }
}

TEST_F(LlamaTest, NarrowProductsWideWeights) {
  const Params p = params();
  const Array x = tokens(1, 2, 7), y = tokens(2, 2, 7);
  auto gradients = [&](DType dtype) {
    return value_and_grad([&](const Params& q) { return loss(q, x, y, tiny(dtype)); })(p);
  };
  const auto [wide_loss, wide] = gradients(float32);
  const auto [narrow_loss, narrow] = gradients(bfloat16);
  EXPECT_EQ(narrow_loss.dtype(), float32);
  EXPECT_NEAR(narrow_loss.item<float>(), wide_loss.item<float>(), 0.02);
  const std::vector<Array> reference = tree::leaves<Array>(wide);
  std::size_t i = 0;
  tree::for_each_path(narrow, [&](const std::string& path, const Array& g) {
    EXPECT_EQ(g.dtype(), float32) << path << ": gradients of f32 weights are f32";
    EXPECT_LE(relative(g, reference[i++]), 0.05) << path;
  });
  EXPECT_EQ(forward(p, x, tiny(bfloat16)).dtype(), bfloat16);
}

TEST_F(LlamaTest, UntrainedLossIsThatOfAGuess) {
  // Logits of variance near 1: log V and about half a nat.
  EXPECT_NEAR(loss(params(), tokens(1, 8, 32), tokens(2, 8, 32), kTiny).item<float>(),
              std::log(29.0) + 0.5, 0.35);
}

TEST_F(LlamaTest, CountsItsWeights) {
  std::int64_t weights = 0;
  const Params p = params();
  tree::for_each(p, [&](const Array& w) { weights += w.size(); });
  EXPECT_EQ(count(kTiny), weights);
}

TEST_F(LlamaTest, InitialWeightsHaveTheVarianceOfTheirInputs) {
  Config c = kTiny;
  c.base_emb_dim = 64, c.base_mlp_dim = 128, c.vocab_size = 300;
  const Params p = init(random::key(1), c);
  auto deviation = [](const Array& w) { return std_(w).item<float>(); };
  EXPECT_NEAR(deviation(p.token_embedder) * std::sqrt(64.0), 1, 0.03);
  EXPECT_NEAR(deviation(p.layers.query) * std::sqrt(64.0), 1, 0.05);
  EXPECT_NEAR(deviation(p.layers.out) * std::sqrt(24.0), 1, 0.05);
  EXPECT_NEAR(deviation(p.layers.down) * std::sqrt(128.0), 1, 0.03);
  EXPECT_NEAR(deviation(p.logits_dense) * std::sqrt(64.0), 1, 0.03);
  EXPECT_EQ(deviation(p.decoder_norm), 0);
}

TEST_F(LlamaTest, SaysWhatDoesNotFit) {
  EXPECT_THROW((void)forward(params(), tokens(1, 1, 4)[0], kTiny), Error);
  EXPECT_THROW(extend(params(), tokens(1, 1, 9), 0, init_cache(kTiny, 1, 8), kTiny), Error);
}

}  // namespace
}  // namespace strata::llama
