// Laws of decoders, whatever their options: reading by pieces, slopes, paths of products, axes.
#include "strata/model/decoder/model.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <map>
#include <set>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/packed.h"
#include "strata/api/random.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/attend.h"
#include "strata/model/remat_policy.h"
#include "strata/nn/linear/products.h"

namespace strata::model::decoder {
namespace {

/// Everything at once: windows, two rotary embeddings and none, caps, norms everywhere.
Options rich() {
  Options o{.family = "rich",
            .vocab_size = 31,
            .width = 16,
            .layers = 3,
            .query_heads = 4,
            .kv_heads = 2,
            .head_dim = 6,
            .mlp_width = 20};
  o.norm = NormKind::gemma;
  o.norm_place = NormPlace::around;
  o.head_norm = HeadNorm::each_head;
  o.qkv_bias = o.out_bias = o.mlp_bias = true;
  o.attention_scale = 0.4;
  o.attention_cap = 3;
  o.logit_cap = 5;
  o.embedding_scale = 4;
  o.windows = {4, 0, 3};
  o.ropes = {{.theta = 1e4, .width = 6}, {.theta = 100, .width = 6}};
  o.rope_of_layer = {1, 0, -1};
  o.initial_deviation = 0.3;
  return o;
}
Options plain() {
  Options o{.family = "plain",
            .vocab_size = 31,
            .width = 16,
            .layers = 2,
            .query_heads = 4,
            .kv_heads = 4,
            .head_dim = 4,
            .mlp_width = 24,
            .tied = true};
  o.attention_scale = 0.5;
  o.ropes = {{.width = 4}};
  o.initial_deviation = 0.3;
  return o;
}

class DecoderTest : public testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  static Options options() { return GetParam() ? rich() : plain(); }
  static Array tokens(std::int64_t batch, std::int64_t length) {
    return random::randint(random::key(5), {batch, length}, 0, 31);
  }
};

bool same_bits(const Array& x, const Array& y) {
  const Literal a = x.literal(), b = y.literal();
  return a.type() == b.type() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}
double distance(const Array& x, const Array& y) {
  return max(abs(astype(x, DType::f32) - astype(y, DType::f32))).item<double>();
}

TEST_P(DecoderTest, ExtendReadsTheSameInAnyPieces) {
  const ModelPtr m = model(options());
  const tree::Tree w = m->init(random::key(1));
  const Array text = tokens(2, 9);
  const Array whole = m->extend(w, text, Array(0), m->init_cache(2, 12)).first;
  EXPECT_LE(distance(whole, m->forward(w, text)), 1e-4);
  for (int piece : {1, 2, 4}) {
    tree::Tree cache = m->init_cache(2, 12);
    for (int from = 0; from < 9; from += piece) {
      const int to = std::min(from + piece, 9);
      auto [logits, next] = m->extend(w, text[{slice(), slice(from, to)}], Array(from), cache);
      EXPECT_TRUE(same_bits(logits, whole[{slice(), slice(from, to)}])) << piece << " " << from;
      cache = next;
    }
  }
  const Array only = m->extend(w, text, Array(0), m->init_cache(2, 12), Array(3)).first;
  EXPECT_TRUE(same_bits(only, whole[{slice(), slice(3, 4)}]));
}

TEST_P(DecoderTest, ARowOfPagesKnowsNothingOfTheOthers) {
  const ModelPtr m = model(options());
  const tree::Tree w = m->init(random::key(1));
  const Array text = tokens(1, 6);
  const auto one = [&](const Batch& b, std::int64_t pages) {
    return m->extend_pages(w, b, m->init_pages(pages, 4)).first;
  };
  const Array alone = one(
      {text, zeros({1}, DType::i32), Array(Literal::of(Shape({1}), std::vector<std::int32_t>{6})),
       Array(Literal::of(Shape({1, 2}), std::vector<std::int32_t>{1, 0}))},
      2);
  EXPECT_EQ(alone.dtype(), DType::f32);
  // Beside a row that reads two tokens, and one that reads none.
  const Array three = concatenate({tokens(1, 6) * 0 + 7, text, text}, 0);
  const Array among =
      one({three, zeros({3}, DType::i32),
           Array(Literal::of(Shape({3}), std::vector<std::int32_t>{2, 6, 0})),
           Array(Literal::of(Shape({3, 2}), std::vector<std::int32_t>{4, 0, 5, 2, 1, 3}))},
          6);
  EXPECT_TRUE(same_bits(alone, among[{slice(1, 2)}]));
}

TEST_P(DecoderTest, GradientsAreSlopes) {
  const ModelPtr m = model(options());
  const tree::Tree w = m->init(random::key(1));
  const Array text = tokens(2, 7);
  const Array x = text[{slice(), slice(0, 6)}], y = text[{slice(), slice(1, 7)}];
  const auto loss = jit([&](const tree::Tree& p) { return mean(m->token_losses(p, x, y)); });
  const tree::Tree g = jit([&](const tree::Tree& p) {
    return grad([&](const tree::Tree& q) { return mean(m->token_losses(q, x, y)); })(p);
  })(w);
  for (std::size_t i = 0; i < w.size(); ++i) {
    // Along its own gradient each weight changes the loss by the gradient's square.
    const double square = sum(g.value(i) * g.value(i)).item<double>();
    ASSERT_GT(square, 0) << w.entry(i).name;
    const double step = 3e-3 / std::sqrt(square);
    const auto moved = [&](double by) {
      std::vector<Array> values(w.values().begin(), w.values().end());
      values[i] = values[i] + g.value(i) * by;
      return loss(w.with_values(std::move(values))).item<double>();
    };
    const double slope = (moved(step) - moved(-step)) / (2 * step);
    EXPECT_NEAR(slope / square, 1, 0.05) << w.entry(i).name;
  }
}

TEST_P(DecoderTest, RematerialisationChangesNoBit) {
  const Array text = tokens(2, 7);
  const Array x = text[{slice(), slice(0, 6)}], y = text[{slice(), slice(1, 7)}];
  const auto gradients = [&](const std::string& policy) {
    Options o = options();
    o.remat_policy = policy;
    const ModelPtr m = model(o);
    return jit([&](const tree::Tree& p) {
      return grad([&](const tree::Tree& q) { return mean(m->token_losses(q, x, y)); })(p);
    })(m->init(random::key(1)));
  };
  const tree::Tree all = gradients("full_save");
  for (const RematPolicy& policy : remat_policies())
    EXPECT_TRUE(tree::equal(gradients(std::string(policy.name)), all)) << policy.name;
  for (const std::string& list :
       {fmt::format("names:{}", fmt::join(remat_tensors(), ",")), std::string("names:mlpwi_1")})
    EXPECT_TRUE(tree::equal(gradients(list), all)) << list;
  for (const char* name : {"some", "names:", "names:query_proj,some"}) {
    Options wrong = options();
    wrong.remat_policy = name;
    EXPECT_THROW((void)model(wrong), Error) << name;
  }
}

// Of eight layers on 128 tokens: what a policy keeps less shows in the memory between arguments and
// results.
TEST_P(DecoderTest, EachRematerialisationPolicyTakesLessMemory) {
  const auto bytes = [&](const std::string& policy) {
    Options o = options();
    o.layers = 8;
    o.windows.clear(), o.rope_of_layer.clear();
    o.remat_policy = policy;
    const ModelPtr m = model(o);
    const Array text = tokens(2, 65);
    const Array x = text[{slice(), slice(0, 64)}], y = text[{slice(), slice(1, 65)}];
    const auto gradient = jit([&](const tree::Tree& p) {
      return grad([&](const tree::Tree& q) { return mean(m->token_losses(q, x, y)); })(p);
    });
    return gradient.lower(m->init(random::key(1))).compile().memory_analysis().temp_size_in_bytes;
  };
  std::map<std::string_view, double> taken;
  for (const char* policy : {"full_save", "minimal", "save_dot_except_mlp", "full"}) {
    taken[policy] = static_cast<double>(bytes(policy));
    std::cout << "  " << policy << " " << taken[policy] << " bytes\n";
  }
  EXPECT_LT(taken["minimal"], 0.8 * taken["full_save"]);
  EXPECT_LT(taken["save_dot_except_mlp"], 0.9 * taken["minimal"]);
  EXPECT_LT(taken["full"], 0.9 * taken["save_dot_except_mlp"]);
}

TEST_P(DecoderTest, WeightsAreCountedAndHaveAxes) {
  const ModelPtr m = model(options());
  const tree::Tree w = m->init(random::key(1));
  std::int64_t all = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    all += w.value(i).size();
    ASSERT_TRUE(w.entry(i).metadata) << w.entry(i).name;
    EXPECT_EQ(static_cast<int>(w.entry(i).metadata->out_sharding.size()), w.value(i).ndim())
        << w.entry(i).name;
  }
  EXPECT_EQ(m->count(), all);
  EXPECT_GT(m->flops_per_step(2, 8), 6.0 * 16 * static_cast<double>(all) / 2);
}

TEST_P(DecoderTest, NarrowActivationsStayNear) {
  Options narrow = options();
  narrow.dtype = DType::bf16;
  const tree::Tree w = model(options())->init(random::key(1));
  const Array text = tokens(2, 7);
  const Array near = model(narrow)->forward(w, text);
  EXPECT_EQ(near.dtype(), DType::bf16);
  const Array exact = model(options())->forward(w, text);
  EXPECT_LE(distance(near, exact), 0.05 * max(abs(exact)).item<double>());
  EXPECT_GT(distance(near, exact), 0);
}

TEST_P(DecoderTest, EveryProductPassesTheDoorWithItsPath) {
  struct Watch : nn::ProductHandler {
    std::optional<Array> product(const nn::Product& p, const nn::PlainProduct&) override {
      seen.insert(p.module_path + " " + p.weight);
      return {};
    }
    std::set<std::string> seen;
  } watch;
  const ModelPtr m = model(options());
  const tree::Tree w = m->init(random::key(1));
  {
    const nn::ProductScope scope(watch);
    (void)m->forward(w, tokens(1, 3));
  }
  std::set<std::string> want = {"embedder embedding"};
  if (!options().tied) want.insert("logits kernel");
  for (const char* name : {"attention/query", "attention/key", "attention/value", "attention/out",
                           "mlp/gate", "mlp/up", "mlp/down"})
    want.insert(std::string("layers/") + name + " kernel");
  EXPECT_EQ(watch.seen, want);
}

INSTANTIATE_TEST_SUITE_P(Options, DecoderTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "rich" : "plain"; });

TEST(DecoderPackedTest, FactorsOfPackedTablesKeepTheirFractions) {
  compile::register_cpu();
  Options o = plain();
  o.width = 32;
  o.tied = false;
  o.embedding_scale = std::sqrt(32.0);
  const tree::Tree weights = model(o)->init(random::key(4));
  Options packed_options = o;
  const BlockFormat format = BlockFormat::named("Q8_0");
  packed_options.packed.emplace("embedder/embedding", format);
  const auto with_table = [&](const Array& table) {
    return weights.map([&](const tree::Entry& e, const Array& w) {
      return e.name == "embedder/embedding" ? table : w;
    });
  };
  const Packed table = pack(weights["embedder/embedding"], format);
  const Array read = random::randint(random::key(5), {2, 6}, 0, 31);
  const Array dense = model(o)->forward(with_table(unpack(table)), read),
              packed = model(packed_options)->forward(with_table(table.blocks), read);
  EXPECT_EQ(packed.to_vector<float>(), dense.to_vector<float>());
}

TEST(DecoderErrorTest, PagesNeedALengthWhereFrequenciesDependOnIt) {
  compile::register_cpu();
  Options o = plain();
  o.ropes = {{.type = Rope::Type::dynamic, .width = 4, .factor = 2, .length = 8}};
  const Batch b{zeros({1, 2}, DType::i32), zeros({1}, DType::i32), ones({1}, DType::i32),
                zeros({1, 1}, DType::i32)};
  const auto read = [&](const Options& options) {
    const ModelPtr m = model(options);
    return m->extend_pages(m->init(random::key(0)), b, m->init_pages(1, 4));
  };
  try {
    (void)read(o);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("max_length"));
  }
  o.max_length = 16;
  EXPECT_EQ(read(o).first.shape(), Shape({1, 31}));
}

// Llama 3.1 70B: one weight of all its layers has more elements than a generator counts to.
TEST(DecoderSizeTest, MoreThan2To32WeightsAreCountedAndDrawn) {
  compile::register_cpu();
  Options o = plain();
  o.vocab_size = 128256, o.width = 8192, o.layers = 80;
  o.query_heads = 64, o.kv_heads = 8, o.head_dim = 128, o.mlp_width = 28672;
  o.tied = false;
  o.ropes = {{.width = 128}};
  const ModelPtr m = model(o);
  EXPECT_EQ(m->count(), 70553706496);
  const tree::Tree params =
      eval_shape([&](const Array& key) { return m->init(key); }, random::key(0).words);
  EXPECT_EQ(params["layers/mlp/up/kernel"].shape(), Shape({80, 8192, 28672}));
}

TEST(DecoderErrorTest, LearnedPositionsEnd) {
  compile::register_cpu();
  Options o = plain();
  o.learned_positions = 8;
  const ModelPtr m = model(o);
  const tree::Tree w = m->init(random::key(0));
  EXPECT_EQ(m->forward(w, zeros({1, 8}, DType::i32)).shape(), Shape({1, 8, 31}));
  EXPECT_THROW((void)m->forward(w, zeros({1, 9}, DType::i32)), Error);
  EXPECT_THROW((void)m->extend(w, zeros({1, 1}, DType::i32), Array(0), m->init_cache(1, 9)), Error);
  EXPECT_THROW((void)m->extend(w, zeros({1, 5}, DType::i32), Array(0), m->init_cache(1, 4)), Error);
}

TEST(AttendTest, SinksJoinTheDenominatorAlone) {
  compile::register_cpu();
  const Array q = random::normal(random::key(0), {1, 3, 2, 4}),
              k = random::normal(random::key(1), {1, 3, 1, 4}),
              v = random::normal(random::key(2), {1, 3, 1, 5});
  const Array sinks = Array(Literal::of(Shape({2}), std::vector<float>{0.5f, -1.0f}));
  const Array plain = attend(q, k, v, {.scale = 0.5}),
              with = attend(q, k, v, {.scale = 0.5, .sinks = sinks});
  // The first query sees one key: its weight is e^s / (e^s + e^sink).
  for (int h = 0; h < 2; ++h) {
    const double s = 0.5 * sum(q[{0, 0, h}] * k[{0, 0, 0}]).item<double>();
    const double sink = h == 0 ? 0.5 : -1.0;
    const double weight = 1 / (1 + std::exp(sink - s));
    EXPECT_LE(distance(with[{0, 0, h}], plain[{0, 0, h}] * weight), 1e-6);
  }
}

}  // namespace
}  // namespace strata::model::decoder
