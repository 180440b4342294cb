// Attention's laws and the errors of those who use it wrongly.
#include "strata/nn/attention/multi_head_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/random.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/random/streams.h"
#include "strata/nn/transform/jit.h"
#include "strata/nn/transform/vmap.h"

namespace strata::nn {
namespace {

class MultiHead : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  static MultiHeadAttention layer(const MultiHeadAttentionOptions& options = {.decode = false}) {
    Rngs rngs(0);
    return MultiHeadAttention(2, 6, rngs, options);
  }
  static Array input(std::initializer_list<std::int64_t> shape = {2, 4, 6}) {
    return random::normal(random::key(3), shape);
  }
  static double distance(const Array& a, const Array& b) {
    return numpy::max(numpy::abs(a - b)).item<double>();
  }
  template <class F>
  static std::string message(F f) {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
};

TEST_F(MultiHead, BothPathsAgree) {
  const Array mask = make_causal_mask(numpy::zeros({2, 4}));
  for (const bool causal : {false, true}) {
    MultiHeadAttention m = layer({.num_kv_heads = 1, .decode = false});
    const Array a = m(input(), {.mask = mask, .is_causal = causal});
    bool seen = false;
    const Array b = m(input(), {.mask = mask,
                                .observe =
                                    [&](const Array& w) {
                                      seen = true;
                                      EXPECT_EQ(w.shape(), Shape({2, 2, 4, 4}));
                                      EXPECT_NEAR(numpy::sum(w).item<float>(), 16, 1e-4);
                                    },
                                .is_causal = causal});
    EXPECT_TRUE(seen);
    EXPECT_LT(distance(a, b), 1e-6);
  }
}

TEST_F(MultiHead, DecodingIsTheForwardPass) {
  Rngs rngs(0);
  MultiHeadAttention m(
      4, 6, rngs, {.qkv_features = 8, .num_kv_heads = 2, .decode = true, .normalize_qk = true});
  const Array x = input({2, 5, 6});
  const Array want = m(x, {.decode = false, .is_causal = true});
  m.init_cache({2, 5, 6});
  const auto step =
      nn::jit([](MultiHeadAttention& layer, const Array& token) { return layer(token); });
  for (std::int64_t t = 0; t < 5; ++t) {
    const Array token = lax::dynamic_slice_in_dim(x, t, 1, 1);
    MultiHeadAttention eager = m;
    const Array got = step(m, token);
    EXPECT_LT(distance(got, lax::dynamic_slice_in_dim(want, t, 1, 1)), 1e-6) << t;
    EXPECT_EQ(got.to_vector<float>(), eager(token).to_vector<float>());
    EXPECT_EQ(eager.cache_index->item<int>(), t + 1);
  }
  EXPECT_EQ(step.cache_size(), 1u);
  EXPECT_THAT(message([&] { (void)m(lax::dynamic_slice_in_dim(x, 0, 1, 1)); }),
              testing::AllOf(testing::HasSubstr("full"), testing::HasSubstr("token 5")));
}

TEST_F(MultiHead, AQueryThatSeesNothingGetsTheMean) {
  const Array q = input({1, 2, 1, 3}), v = input({1, 4, 1, 3}), none = numpy::zeros({1, 1, 2, 4});
  const Array mean =
      numpy::broadcast_to(numpy::mean(v, Reduce{.axis = 1, .keepdims = true}), {1, 2, 1, 3});
  EXPECT_LT(distance(attend(q, v, v, {.mask = none}), mean), 1e-6);
  EXPECT_LT(
      distance(attend(q, v, v, {.mask = none, .dropout_rate = 0.5, .deterministic = true}), mean),
      1e-6);
}

TEST_F(MultiHead, DropoutKeepsTheMeanAndTakesItsOwnStream) {
  Rngs rngs(0);
  MultiHeadAttention m(2, 6, rngs, {.dropout_rate = 0.5, .deterministic = false, .decode = false});
  const Array a = m(input()), b = m(input());
  EXPECT_GT(distance(a, b), 1e-3);
  EXPECT_EQ(m.rngs->count.item<int>(), 2);
  reseed(m, Rngs({{"default", 7}}));
  EXPECT_EQ(m.rngs->count.item<int>(), 0);
  const Array c = m(input());
  reseed(m, Rngs({{"default", 7}}));
  EXPECT_EQ(m(input()).to_vector<float>(), c.to_vector<float>());
  // A stream that is lent is advanced, the layer's own is not.
  RngStream lent(5);
  (void)m(input(), {.rngs = lent});
  EXPECT_EQ(lent.count.item<int>(), 1);
  EXPECT_EQ(m.rngs->count.item<int>(), 1);
  EXPECT_EQ(m(input(), {.deterministic = true}).to_vector<float>(),
            m(input(), {.deterministic = true}).to_vector<float>());
  // Weights that are kept are divided by the probability: their mean stays.
  const Array one = numpy::ones({1, 64, 1, 1});
  const Array y = attend(one, one, one, {.dropout_rate = 0.25, .dropout_rng = random::key(1)});
  EXPECT_NEAR(numpy::mean(y).item<float>(), 1, 0.05);
}

TEST_F(MultiHead, AStackIsTheLoop) {
  Rngs rngs(0);
  Rngs parts = rngs.split(3);
  MultiHeadAttention stack =
      nn::vmap([](Rngs& r) { return MultiHeadAttention(2, 6, r, {.decode = false}); })(parts);
  const Array x = input();
  const Array all = nn::vmap([](MultiHeadAttention& m, const Array& x) { return m(x); },
                             {.in_axes = {0, std::nullopt}})(stack, x);
  for (std::int64_t i = 0; i < 3; ++i) {
    MultiHeadAttention one = tree::map([&](const Array& a) { return a[i]; }, stack);
    EXPECT_LT(distance(one(x), all[i]), 1e-6);
  }
}

TEST_F(MultiHead, ItsProductsPassTheDoor) {
  struct Watch : ProductHandler {
    std::vector<std::string> seen;
    std::optional<Array> product(const Product& p, const PlainProduct&) override {
      seen.push_back(fmt::format("{}/{} {} {}", p.module_path, p.op, p.number, p.weight));
      return {};
    }
  };
  for (const bool drops : {false, true}) {
    MultiHeadAttention m =
        layer({.dropout_rate = drops ? 0.5 : 0.0, .deterministic = true, .decode = false});
    const Array x = input(), plain = m(x);
    Watch watch;
    {
      const ProductScope scope(watch);
      EXPECT_EQ(m(x).to_vector<float>(), plain.to_vector<float>());
    }
    // Three projections, scores, weighted sums, the last projection.
    EXPECT_EQ(watch.seen.size(), 6u);
    EXPECT_EQ(watch.seen.front(), "query/dot_general 0 kernel");
    EXPECT_EQ(watch.seen.back(), "out/dot_general 0 kernel");
    EXPECT_EQ(watch.seen[3], drops ? "/einsum 0 " : "/dot_general 0 ");
    EXPECT_EQ(watch.seen[4], drops ? "/einsum 1 " : "/dot_general 1 ");
  }
}

TEST_F(MultiHead, MistakesAreNamed) {
  Rngs rngs(0);
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_THAT(message([&] { MultiHeadAttention(3, 8, rngs); }),
              AllOf(HasSubstr("8 features"), HasSubstr("3 heads")));
  EXPECT_THAT(message([&] { MultiHeadAttention(4, 8, rngs, {.num_kv_heads = 3}); }),
              AllOf(HasSubstr("num_heads 4"), HasSubstr("num_kv_heads 3")));
  MultiHeadAttention m = layer({});
  EXPECT_THAT(message([&] { (void)m(input()); }), HasSubstr(".decode"));
  EXPECT_THAT(message([&] { (void)m(input({2, 4, 5}), {.decode = false}); }),
              AllOf(HasSubstr("f32[2,4,5]"), HasSubstr("length, 6")));
  EXPECT_THAT(message([&] { (void)m(input({2, 1, 6}), {.decode = true}); }),
              HasSubstr("init_cache"));
  m.init_cache({2, 3, 6});
  EXPECT_THAT(message([&] { (void)m(input(), {.decode = true}); }),
              AllOf(HasSubstr("one token"), HasSubstr("[2,4,2,3]")));
  MultiHeadAttention drops = layer({.dropout_rate = 0.5, .decode = false, .keep_rngs = false});
  EXPECT_THAT(message([&] { (void)drops(input()); }),
              AllOf(HasSubstr("0.5"), HasSubstr(".deterministic")));
  EXPECT_THAT(message([&] { (void)drops(input(), {.deterministic = false}); }),
              HasSubstr("no stream"));
  const Array q = input({1, 2, 3, 4});
  EXPECT_THAT(message([&] { (void)attend(q, input({1, 2, 2, 4}), input({1, 2, 2, 4})); }),
              AllOf(HasSubstr("3 heads"), HasSubstr("2 heads")));
  EXPECT_THAT(message([&] { (void)attend(q, q, input({1, 3, 3, 4})); }),
              AllOf(HasSubstr("[1,2,3,4]"), HasSubstr("[1,3,3,4]")));
  EXPECT_THAT(message([&] { (void)attend(q, q, q, {.dropout_rate = 0.1}); }),
              HasSubstr("dropout_rng"));
  EXPECT_THAT(message([&] { (void)combine_masks({numpy::ones({2}), numpy::ones({2, 2})}); }),
              AllOf(HasSubstr("[2]"), HasSubstr("[2,2]")));
}

}  // namespace
}  // namespace strata::nn
