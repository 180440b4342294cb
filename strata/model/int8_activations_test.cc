// With activations of eight bits a model gives nearly the same distribution, and as before bits
// that depend on the sequence alone.
#include "strata/model/int8_activations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "strata/api/index.h"
#include "strata/api/packed.h"
#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/model.h"

namespace strata::model {
namespace {

/// A small model with matrices in Q4_1 and an embedding in Q8_0, as SmolLM2's file has them.
struct Small {
  decoder::Options options{.vocab_size = 99,
                           .width = 64,
                           .layers = 3,
                           .query_heads = 4,
                           .kv_heads = 2,
                           .head_dim = 16,
                           .mlp_width = 160,
                           .tied = true,
                           .ropes = {{.width = 16}},
                           .initial_deviation = 0.2};
  ModelPtr exact, rounded;
  tree::Tree params;
  Small() {
    params = decoder::model(options)
                 ->init(random::key(3))
                 .map([&](const tree::Entry& e, const Array& w) {
                   const bool kernel = e.name.ends_with("kernel");
                   if (!kernel && !e.name.ends_with("embedding")) return w;
                   const BlockFormat f = kernel ? BlockKind::q4_1 : BlockKind::q8_0;
                   options.packed.insert_or_assign(e.name, f);
                   return pack(kernel ? swapaxes(w, -1, -2) : w, f).blocks;
                 });
    exact = decoder::model(options);
    rounded = with_int8_activations(exact);
  }
  Array logits(const ModelPtr& m, const Array& tokens) const {
    return jit([m](const tree::Tree& p, const Array& t) { return m->forward(p, t); })(params,
                                                                                      tokens);
  }
};

class Int8ActivationsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

bool same_bits(const Array& x, const Array& y) {
  const Literal a = x.literal(), b = y.literal();
  return a.type() == b.type() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

TEST_F(Int8ActivationsTest, TheDistributionIsNearlyTheSame) {
  const Small s;
  const Array text = random::randint(random::key(1), {1, 64}, 0, 99);
  const std::vector<float> p = s.logits(s.exact, text).to_vector<float>(),
                           q = s.logits(s.rounded, text).to_vector<float>();
  ASSERT_NE(p, q);
  double divergence = 0, spread = 0;
  for (std::size_t t = 0; t < 64; ++t) {
    double of_p = 0, of_q = 0, sum = 0;
    for (std::size_t v = t * 99; v < (t + 1) * 99; ++v)
      of_p += std::exp(static_cast<double>(p[v])), of_q += std::exp(static_cast<double>(q[v]));
    for (std::size_t v = t * 99; v < (t + 1) * 99; ++v) {
      const double log_p = static_cast<double>(p[v]) - std::log(of_p),
                   log_q = static_cast<double>(q[v]) - std::log(of_q);
      sum += std::exp(log_p) * (log_p - log_q);
      spread = std::max(spread, std::abs(log_p + std::log(99.0)));
    }
    divergence += sum / 64;
  }
  EXPECT_GT(spread, 0.5);  // the distributions say something
  EXPECT_LT(divergence, 1e-2);
}

TEST_F(Int8ActivationsTest, BitsAreThoseOfTheSequenceAlone) {
  const Small s;
  const Array text = random::randint(random::key(2), {2, 40}, 0, 99);
  const auto read = jit([m = s.rounded](const tree::Tree& p, const Batch& b, const tree::Tree& t) {
    return m->extend_pages(p, b, t, true);
  });
  const auto [all, pages] =
      read(s.params,
           Batch{text, array(std::vector<std::int32_t>{0, 0}),
                 array(std::vector<std::int32_t>{40, 40}), reshape(arange(6), {2, 3})},
           s.rounded->init_pages(6, 16));
  // The second alone, in pieces, by another number of threads.
  const int threads = num_threads();
  set_num_threads(threads == 1 ? 3 : 1);
  tree::Tree cache = s.rounded->init_pages(9, 8);
  for (const auto& [at, count] : {std::pair(0, 17), {17, 1}, {18, 22}}) {
    const auto [logits, next] =
        read(s.params,
             Batch{text[{slice(1, 2), slice(at, at + count)}], array(std::vector<std::int32_t>{at}),
                   array(std::vector<std::int32_t>{count}),
                   reshape(remainder(arange(5) * 4 + 1, 9), {1, 5})},
             cache);
    EXPECT_TRUE(same_bits(logits[0], all[{slice(1, 2), slice(at, at + count)}][0])) << at;
    cache = next;
  }
  set_num_threads(threads);
}

TEST_F(Int8ActivationsTest, WeightsInFullAreMultipliedAsEver) {
  const decoder::Options plain{.vocab_size = 30,
                               .width = 32,
                               .layers = 1,
                               .query_heads = 2,
                               .kv_heads = 2,
                               .head_dim = 16,
                               .mlp_width = 32,
                               .ropes = {{.width = 16}}};
  const ModelPtr m = decoder::model(plain);
  const tree::Tree params = m->init(random::key(0));
  const Array text = random::randint(random::key(1), {1, 8}, 0, 30);
  EXPECT_TRUE(same_bits(m->forward(params, text), with_int8_activations(m)->forward(params, text)));
}

}  // namespace
}  // namespace strata::model
