// Keys as a type: what goldens do not say (golden_random_test.cc has the functions beside JAX).
#include "strata/api/random/generators.h"
#include "strata/api/testing.h"

namespace strata {
namespace {

using random::Implementation;
using random::Key;
using testing::expect_array;
using testing::message_of;

std::vector<std::uint32_t> words(const Array& x) { return x.to_vector<std::uint32_t>(); }
Array word(std::uint32_t w) { return Array::scalar(std::uint64_t{w}, DType::ui32, false); }

/// A block of Random123's file kat_vectors.
void expect_block(Implementation generator, const std::vector<std::uint32_t>& counter,
                  const std::vector<std::uint32_t>& key, const std::vector<std::uint32_t>& wanted) {
  auto arrays = [](const std::vector<std::uint32_t>& from) {
    std::vector<Array> out;
    for (std::uint32_t w : from) out.push_back(word(w));
    return out;
  };
  std::vector<std::uint32_t> got;
  for (const Array& x : random::block(generator, arrays(key), arrays(counter)))
    got.push_back(x.item<std::uint32_t>());
  EXPECT_EQ(got, wanted) << random::name(generator);
}

TEST(Random, GeneratorsGiveThePublishedBlocks) {
  constexpr std::uint32_t ones = 0xffffffff;
  expect_block(Implementation::threefry2x32, {0, 0}, {0, 0}, {0x6b200159, 0x99ba4efe});
  expect_block(Implementation::threefry2x32, {ones, ones}, {ones, ones}, {0x1cb996fc, 0xbb002be7});
  expect_block(Implementation::threefry2x32, {0x243f6a88, 0x85a308d3}, {0x13198a2e, 0x03707344},
               {0xc4923a9c, 0x483df7a0});
  expect_block(Implementation::threefry4x32, {0, 0, 0, 0}, {0, 0, 0, 0},
               {0x9c6ca96a, 0xe17eae66, 0xfc10ecd4, 0x5256a7d8});
  expect_block(Implementation::threefry4x32, {ones, ones, ones, ones}, {ones, ones, ones, ones},
               {0x2a881696, 0x57012287, 0xf6c7446e, 0xa16a6732});
  expect_block(Implementation::threefry4x32, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
               {0xa4093822, 0x299f31d0, 0x082efa98, 0xec4e6c89},
               {0x59cd1dbb, 0xb8879579, 0x86b5d00c, 0xac8b6d84});
  expect_block(Implementation::philox2x32, {0, 0}, {0}, {0xff1dae59, 0x6cd10df2});
  expect_block(Implementation::philox2x32, {ones, ones}, {ones}, {0x2c3f628b, 0xab4fd7ad});
  expect_block(Implementation::philox2x32, {0x243f6a88, 0x85a308d3}, {0x13198a2e},
               {0xdd7ce038, 0xf62a4c12});
  expect_block(Implementation::philox4x32, {0, 0, 0, 0}, {0, 0},
               {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect_block(Implementation::philox4x32, {ones, ones, ones, ones}, {ones, ones},
               {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect_block(Implementation::philox4x32, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
               {0xa4093822, 0x299f31d0}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Random, KeysSayWhatTheyAre) {
  testing::shows_names("random.key_dtype random.key_impl");
  const Key k = random::key(42, Implementation::rbg);
  EXPECT_EQ(random::key_impl(k), "rbg");
  EXPECT_EQ(k.dtype(), random::key_dtype(Implementation::rbg));
  EXPECT_EQ(random::key_dtype().to_string(), "key<fry>");
  EXPECT_EQ(random::key(0).shape(), Shape{});
  const Key many = random::split(random::key(1), {3, 2});
  EXPECT_EQ(many.shape(), (Shape{3, 2}));
  EXPECT_EQ(many.size(), 6);
  const Key one = many[{2, 1}], column = many[{ellipsis, 0}];
  EXPECT_EQ(words(one), (std::vector<std::uint32_t>{words(many)[10], words(many)[11]}));
  EXPECT_EQ(column.shape(), Shape{3});
  EXPECT_EQ(many.reshape({6})[slice(2)].shape(), Shape{2});
  EXPECT_EQ(random::implementation("philox4x32"), Implementation::philox4x32);
  EXPECT_THROW(random::implementation("mersenne"), Error);
  EXPECT_THROW((void)random::key(0)[0], Error);
}

TEST(Random, KeysGoThroughTransforms) {
  const Key many = random::split(random::key(1), 3);
  const Array mapped = vmap([](const Key& k) { return random::uniform(k, {2}); })(many);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(mapped[i].to_vector<float>(), random::uniform(many[i], {2}).to_vector<float>());
  const Array scanned =
      scan([](const Key& k,
              const Key& x) { return std::pair(random::split(k)[0], random::uniform(x, {2})); },
           random::key(5), many)
          .second;
  EXPECT_EQ(scanned.to_vector<float>(), mapped.to_vector<float>());
  const Key folded = jit([](const Key& k, Array i) { return random::fold_in(k, i); })(
      random::key(42, Implementation::philox4x32), 9);
  EXPECT_EQ(words(folded), words(random::fold_in(random::key(42, Implementation::philox4x32), 9)));
  EXPECT_EQ(folded.implementation, Implementation::philox4x32);
  // The two generators' keys of two words are different structures to jit.
  auto f = jit([](const Key& k) { return random::bits(k); });
  const Key a = random::key(3), b{a.words, Implementation::philox4x32};
  EXPECT_EQ(words(f(a)), words(random::bits(a)));
  EXPECT_EQ(words(f(b)), words(random::bits(b)));
  EXPECT_NE(words(f(a)), words(f(b)));
}

TEST(Random, RawKeysAreTakenAsUpstreamTakesThem) {
  const Array raw = random::PRNGKey(42);
  EXPECT_EQ(words(random::bits(raw, {3})), words(random::bits(random::key(42), {3})));
  EXPECT_EQ(words(random::split(raw)[1]), words(random::split(random::key(42))[1]));
  EXPECT_THAT(message_of([] { (void)random::bits(array({1, 2})); }),
              ::testing::HasSubstr("a key of threefry2x32 is ui32[..., 2], got i32[2]"));
  EXPECT_THAT(message_of([] { (void)random::normal(random::split(random::key(0))); }),
              ::testing::HasSubstr("one key is needed, got an array of keys of shape [2]"));
}

TEST(Random, TheOriginalLayoutIsASwitch) {
  const random::ThreefryPartitionable off(false);
  const Key key = random::key(42);
  EXPECT_EQ(words(random::split(key)),
            (std::vector<std::uint32_t>{2465931498, 3679230171, 255383827, 267815257}));
  EXPECT_EQ(words(random::split(key, 3)),
            (std::vector<std::uint32_t>{3134548294, 3733159049, 3746501087, 894150801, 801545058,
                                        2363201431}));
  EXPECT_EQ(words(random::bits(key, {5})),
            (std::vector<std::uint32_t>{3134548294, 3733159049, 843694964, 894150801, 801545058}));
  EXPECT_EQ(words(random::bits(key, {2, 2})),
            (std::vector<std::uint32_t>{2465931498, 3679230171, 255383827, 267815257}));
  EXPECT_EQ(words(random::bits(key, {5}, uint8)),
            (std::vector<std::uint32_t>{45, 179, 215, 3, 244}));
  EXPECT_EQ(words(random::bits(key, {3}, uint16)), (std::vector<std::uint32_t>{45869, 983, 33780}));
  EXPECT_EQ(words(random::fold_in(key, 3)), (std::vector<std::uint32_t>{3134548294, 894150801}));
  EXPECT_EQ(random::bits(key, {3}, uint64).to_vector<std::uint64_t>(),
            (std::vector<std::uint64_t>{13462782411356743825u, 16033796027023006562u,
                                        16091099645456652183u}));
  {
    const random::ThreefryPartitionable on;
    EXPECT_EQ(words(random::split(key)),
              (std::vector<std::uint32_t>{1832780943, 270669613, 64467757, 2916123636}));
  }
}

TEST(Random, SixtyFourBits) {
  const EnableX64 wide;
  const std::int64_t seed = (std::int64_t{1} << 40) + 5;
  auto expect_bits = [&](Implementation generator, const std::vector<std::uint64_t>& wanted) {
    EXPECT_EQ(random::bits(random::key(seed, generator), {2}, uint64).to_vector<std::uint64_t>(),
              wanted)
        << random::name(generator);
  };
  expect_bits(Implementation::threefry2x32, {3616354601704340375u, 1361205111854300866u});
  expect_bits(Implementation::threefry4x32, {12358521420146191997u, 12559680488130781730u});
  expect_bits(Implementation::philox2x32, {12194261654858600395u, 12229455345866348677u});
  expect_bits(Implementation::philox4x32, {10079146229045576481u, 15525164138127772583u});
  expect_bits(Implementation::rbg, {7414369973855569025u, 714155761832396950u});
  const Key key = random::key(7);
  EXPECT_EQ(random::uniform(key, {2}, float64).to_vector<double>(),
            (std::vector<double>{0.8441069450823528, 0.04541258512665647}));
  const std::int64_t most = std::int64_t{1} << 62;
  EXPECT_EQ(random::randint(key, {2}, -most, most, int64).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{946239547446147269, 2305089687191887805}));
  expect_array(random::normal(key, {2}, float64), "f64[2]",
               {1.0114813355590866, -1.6910609087906374}, 1e-15);
}

TEST(Random, AKeyUsedTwiceIsReported) {
  const random::DebugKeyReuse on;
  const Key key = random::key(0);
  (void)random::normal(key, {2});
  const std::string message = message_of([&] { (void)random::uniform(key); });
  EXPECT_THAT(message, ::testing::HasSubstr("the key was used before, by normal at"));
  EXPECT_THAT(message, ::testing::HasSubstr("random_test.cc"));
  const Key copy = key;
  EXPECT_THROW((void)random::split(copy), Error);
  (void)random::uniform(random::clone(key));
  // A sampler may split its key as it likes, and fold_in leaves it fresh.
  const Key other = random::key(1);
  (void)random::fold_in(other, 1);
  (void)random::gamma(other, 2.0f, {3});
  EXPECT_THROW((void)random::gamma(other, 2.0f, {3}), Error);
  // Within a traced function as well.
  EXPECT_THROW(
      (void)jit([](const Key& k) { return random::normal(k) + random::normal(k); })(random::key(2)),
      Error);
  const random::DebugKeyReuse off(false);
  (void)random::uniform(key);
}

TEST(Random, TracedSeedsGiveTheSame) {
  auto f = jit([](Array seed, Array i) { return random::fold_in(random::key(seed), i); });
  expect_array(f(42, 7), "ui32[2]", {2547012911, 1371500959});
}

TEST(Random, SamplesHaveTheirMoments) {
  const Sizes many = 4096;
  auto expect_moments = [](const Array& x, double mean_, double variance) {
    EXPECT_NEAR(mean(x).item<double>(), mean_, 0.05 * std::max(1.0, mean_));
    EXPECT_NEAR(var(x).item<double>(), variance, 0.1 * std::max(1.0, variance));
  };
  expect_moments(random::normal(random::key(1), many), 0, 1);
  expect_moments(random::gamma(random::key(2), 3.0f, many), 3, 3);
  expect_moments(random::poisson(random::key(3), 4.0f, many).astype(float32), 4, 4);
  expect_moments(random::binomial(random::key(4), 40.0f, 0.5f, many), 20, 10);
  expect_moments(random::exponential(random::key(5), many), 1, 1);
  expect_moments(random::chisquare(random::key(6), 2.0f, many), 2, 4);
}

/// The slope of a quantile: what the probability of less gains by a is lost by x.
Array slope_of_quantile(const Array& a, const Array& x) {
  const double h = 1e-5;
  const Array by_a = (lax::igamma(a + h, x) - lax::igamma(a - h, x)) / (2 * h),
              by_x = (lax::igamma(a, x * (1 + h)) - lax::igamma(a, x * (1 - h))) / (2 * h * x);
  return -by_a / by_x;
}
void expect_near(const Array& got, const Array& want, double relative) {
  EXPECT_TRUE(numpy::allclose(got, want, {.rtol = relative, .atol = 1e-12}).item<bool>())
      << got << "\ninstead of\n"
      << want;
}

TEST(RandomDerivatives, GammaSamplesMoveAsTheirQuantiles) {
  EnableX64 on;
  const Array a = array({0.3, 0.9, 1.0, 2.5, 7.0, 40.0}, float64),
              t = array({1.0, -2.0, 0.5, 1.0, 3.0, -1.0}, float64);
  auto gamma = [](Array a) { return random::gamma(random::key(3), a, {}, float64); };
  auto logarithm = [](Array a) { return random::loggamma(random::key(3), a, {}, float64); };
  const Array x = gamma(a), slope = slope_of_quantile(a, x);
  expect_near(jvp(gamma, std::tuple(a), std::tuple(t)).second, slope * t, 1e-6);
  expect_near(grad([&](Array a) { return sum(t * gamma(a)); })(a), slope * t, 1e-6);
  expect_near(
      jit(vmap(grad([](Array a) { return random::gamma(random::key(3), a, {}, float64); })))(a),
      vmap([](Array a) {
        return slope_of_quantile(a, random::gamma(random::key(3), a, {}, float64));
      })(a),
      1e-6);
  const Array y = exp(logarithm(a));
  expect_near(grad([&](Array a) { return sum(t * logarithm(a)); })(a),
              slope_of_quantile(a, y) * t / y, 1e-6);
}

/// Means of many samples, whose derivatives are known: a / (a + b), df, df / (df - 2).
TEST(RandomDerivatives, MeansOfSamplersMadeOfGammas) {
  const Array a = 2.0f, b = 3.0f;
  auto beta = [](Array a, Array b) { return mean(random::beta(random::key(1), a, b, {20000})); };
  const auto [by_a, by_b] = grad<0, 1>(beta)(a, b);
  EXPECT_NEAR(by_a.item<float>(), 3.0 / 25, 3e-3);
  EXPECT_NEAR(by_b.item<float>(), -2.0 / 25, 3e-3);
  EXPECT_NEAR(
      grad([](Array df) { return mean(random::chisquare(random::key(2), df, {20000})); })(4.0f)
          .item<float>(),
      1, 0.03);
  EXPECT_NEAR(
      grad([](Array df) { return mean(square(random::t(random::key(3), df, {20000}))); })(12.0f)
          .item<float>(),
      -2.0 / 100, 3e-3);
  EXPECT_NEAR(
      grad([](Array df) { return mean(random::f(random::key(4), 5.0f, df, {20000})); })(12.0f)
          .item<float>(),
      -2.0 / 100, 3e-3);
  const Array shares = jacfwd([](Array alpha) {
    return mean(random::dirichlet(random::key(5), alpha, {20000}), 0);
  })(array({1.0f, 3.0f}));
  expect_near(shares, array({3.0f, -1.0f, -3.0f, 1.0f}).reshape({2, 2}) / 16, 0.05);
}

TEST(RandomDerivatives, OfGammaThereIsNoSecond) {
  auto gamma = [](Array a) { return random::gamma(random::key(3), a); };
  EXPECT_NE(testing::message_of([&] { (void)grad(grad(gamma))(2.0f); }), "no error");
  EXPECT_NE(testing::message_of([&] { (void)jacfwd(jacfwd(gamma))(2.0f); }), "no error");
}

TEST(Random, SplitComesApart) {
  testing::shows_names("random.split");
  const Key k = random::key(7);
  const Key both = random::split(k, 2);
  const auto [a, b] = random::split(k);
  EXPECT_EQ(words(a.words), words(both[0].words));
  EXPECT_EQ(words(b.words), words(both[1].words));
  EXPECT_EQ(words(random::split(k).words), words(both.words));
  const auto [c, d, e] = random::split<3>(k);
  EXPECT_EQ(words(e.words), words(random::split(k, 3)[2].words));
  const Key typed = random::key(1, Implementation::rbg);
  const auto [f, g] = random::split(typed);
  EXPECT_EQ(g.implementation, Implementation::rbg);
  // An array of keys as ever: rows, vmap, and inside programs.
  const auto draw = [](const Key& key) { return random::normal(key, {2}); };
  EXPECT_EQ(vmap(draw)(random::split(k)).to_vector<float>(), vmap(draw)(both).to_vector<float>());
  const Array sum = jit([](const Key& key) {
    auto [first, second] = random::split(key);
    return random::normal(first, {2}) + random::normal(second, {2});
  })(k);
  EXPECT_EQ(sum.to_vector<float>(), (draw(a) + draw(b)).to_vector<float>());
}

}  // namespace
}  // namespace strata
