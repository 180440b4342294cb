// Rules beside Optax's against their formulas in NumPy's f64 (testdata/beyond.json, by
// tools/goldens/beyond_optax.py).
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "strata/api/testing.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/optim/optax_golden.h"
#include "strata/optim/optim.h"

namespace strata::optim {
namespace {

class BeyondOptaxTest : public ::testing::Test {
 protected:
  BeyondOptaxTest() {
    compile::register_cpu();
    std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "testdata/beyond.json");
    golden_ = json::parse(file);
  }
  json golden_;
};

/// The script's `numbers`.
float number(std::int64_t seed, std::int64_t i) {
  return static_cast<float>((seed * 7919 + i * 104729) % 2003 - 1001) / 1024.0f;
}
Array numbers(std::int64_t seed, const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t n : shape) count *= n;
  std::vector<float> out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(number(seed, i));
  return numpy::reshape(array(out), shape);
}

TEST_F(BeyondOptaxTest, ShampooAndSoapStepByStep) {
  for (const json& c : golden_["steps"]) {
    Options options;
    for (const auto& [name, value] : c["options"].items()) options[name] = golden_option(value);
    const GradientTransformation tx = make(c["rule"].get<std::string>(), options);
    SCOPED_TRACE(tx.text());
    const auto gradients = [&](std::int64_t step) {
      std::vector<tree::Entry> entries;
      std::vector<Array> values;
      for (const auto& [name, shape] : golden_["shapes"].items()) {
        const auto k = static_cast<std::int64_t>(entries.size());
        entries.emplace_back(name);
        values.push_back(numbers(10 * step + k + 1, shape.get<std::vector<std::int64_t>>()));
      }
      return Tree(std::move(entries), std::move(values));
    };
    Tree state = tx.init(gradients(1));
    std::int64_t step = 0;
    for (const json& want : c["updates"]) {
      auto [updates, next] = tx.update(gradients(++step), state, nullptr);
      EXPECT_EQ(differences(state, next), "");
      state = next;
      for (const auto& [name, elements] : want.items()) {
        const std::vector<double> got = numpy::ravel(updates[name]).to_vector<double>();
        ASSERT_EQ(got.size(), elements.size());
        double largest = 0, apart = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
          largest = std::max(largest, std::abs(elements[i].get<double>()));
          apart = std::max(apart, std::abs(got[i] - elements[i].get<double>()));
        }
        EXPECT_LE(apart, 1e-4 * largest) << name << " in step " << step;
      }
    }
  }
}

TEST_F(BeyondOptaxTest, NormsAreClippedByThoseBefore) {
  const json& norms = golden_["norms"];
  const std::map<std::string, GradientTransformation> rules{
      {"quantile", clip_by_norm_quantile({.quantile = 0.25, .history = 16})},
      {"zscore", clip_by_norm_zscore({.decay = 0.9, .threshold = 2.5, .warmup_steps = 10})}};
  for (const auto& [name, tx] : rules) {
    SCOPED_TRACE(tx.text());
    const Tree direction({{"a", array({0.6f, 0.0f})}, {"b", array({-0.8f})}});
    Tree state = tx.init(direction);
    for (std::size_t i = 0; i < norms["given"].size(); ++i) {
      const json& given = norms["given"][i];
      const double norm = given.is_null() ? INFINITY : given.get<double>();
      auto [u, next] = tx.update(trees::scale(norm, direction), state, nullptr);
      state = next;
      const double want = norms[name][i];
      EXPECT_NEAR(u["a"].to_vector<double>()[0], 0.6 * want, 3e-6 * want + 1e-9) << i;
      EXPECT_NEAR(u["b"].item<double>(), -0.8 * want, 3e-6 * want + 1e-9) << i;
    }
  }
}

TEST_F(BeyondOptaxTest, TheDynamicMapHas256Values) {
  for (const bool is_signed : {true, false}) {
    const auto want = golden_["maps"][is_signed ? "signed" : "unsigned"].get<std::vector<float>>();
    ASSERT_EQ(want.size(), 256u);
    const auto& map = dynamic_map(is_signed);
    for (std::size_t i = 0; i < map.size(); ++i)
      EXPECT_NEAR(map[i], want[i], 1e-7 * std::abs(want[i])) << i;
    EXPECT_TRUE(std::is_sorted(map.begin(), map.end()));
  }
}

TEST_F(BeyondOptaxTest, CodesOfTenThousandBlocks) {
  const std::map<std::string, StateFormat> formats{{"dynamic", StateFormat::dynamic},
                                                   {"linear", StateFormat::linear},
                                                   {"fp8", StateFormat::fp8}};
  for (const json& c : golden_["codes"]) {
    SCOPED_TRACE(c["format"]);
    const StateFormat format = formats.at(c["format"].get<std::string>());
    const bool is_signed = c["is_signed"];
    const std::int64_t block = c["block_size"], count = c["blocks"].get<std::int64_t>() * block - 3;
    std::vector<float> given;
    for (std::int64_t i = 0; i < count; ++i) {
      const float x = std::ldexp(number(5, i), -static_cast<int>(i * 7 % 23));
      given.push_back(is_signed ? x : std::abs(x));
    }
    const QuantizedBlocks blocks = quantize_blocks(array(given), format, is_signed, block);
    EXPECT_EQ(blocks.codes.dtype(), format == StateFormat::fp8 ? DType::f8E4M3FN : DType::ui8);
    EXPECT_EQ(blocks.scales.size(), c["blocks"].get<std::int64_t>());
    const auto* codes = reinterpret_cast<const std::uint8_t*>(blocks.codes.literal().data());
    std::uint64_t digest = 0;
    for (std::int64_t i = 0; i < count; ++i)
      digest += codes[i] * (static_cast<std::uint64_t>(i) % 65521 + 1);
    for (std::size_t i = 0; i < c["first"].size(); ++i)
      EXPECT_EQ(codes[i], c["first"][i].get<int>()) << i;
    EXPECT_EQ(digest, c["digest"].get<std::uint64_t>());
    const std::vector<float> back =
        dequantize_blocks(blocks, format, is_signed, block).to_vector<float>();
    double error = 0;
    for (std::size_t i = 0; i < back.size(); ++i)
      error = std::max(error, std::abs(static_cast<double>(back[i]) - given[i]));
    EXPECT_NEAR(error, c["largest_error"].get<double>(), 1e-7);
  }
}

TEST_F(BeyondOptaxTest, QuantizedStatesHoldCodesUnderUpstreamsNames) {
  const Tree params({{"w", numbers(1, {64, 80})}, {"b", numbers(2, {80})}});
  for (const char* format : {"dynamic", "linear", "fp8"}) {
    SCOPED_TRACE(format);
    const GradientTransformation plain = adamw(0.01),
                                 few = quantized_state(plain, {.format = format});
    Tree state = few.init(params), whole = plain.init(params);
    EXPECT_EQ(state.names(),
              (std::vector<std::string>{"0/count", "0/mu/w/codes", "0/mu/w/scales", "0/mu/b",
                                        "0/nu/w/codes", "0/nu/w/scales", "0/nu/b"}));
    EXPECT_EQ(state["0/mu/w/codes"].shape(), params["w"].shape());
    EXPECT_EQ(state["0/nu/w/scales"].size(), 20);
    // The step on decoded moments is the plain rule's, and is what is encoded next.
    for (int i = 0; i < 3; ++i) {
      const Tree g =
          trees::map([&](const Array& x) { return numpy::sin(x * (7.0 + i)) + 0.1; }, params);
      const auto decoded = [&](const char* field, bool is_signed) {
        const std::string place = std::string("0/") + field + "/w";
        return dequantize_blocks({state[place + "/codes"], state[place + "/scales"]},
                                 few.text().find("fp8") != std::string::npos ? StateFormat::fp8
                                 : few.text().find("linear") != std::string::npos
                                     ? StateFormat::linear
                                     : StateFormat::dynamic,
                                 is_signed);
      };
      whole.set("0/mu/w", decoded("mu", true));
      whole.set("0/nu/w", decoded("nu", false));
      auto [want, after] = plain.update(g, whole, params);
      auto [got, next] = few.update(g, state, params);
      EXPECT_TRUE(tree::equal(got, want));
      EXPECT_EQ(differences(state, next), "");
      state = next;
      whole = after;
    }
  }
}

/// Twin of the rounding: the bits of x, and noise.
float rounded(float x, std::uint32_t noise) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t up = (noise & 0xffffu) < (bits & 0xffffu) ? 0x10000u : 0u;
  return std::bit_cast<float>((bits & 0xffff0000u) + up);
}

TEST_F(BeyondOptaxTest, RoundingIsItsPlainTwin) {
  const random::Key key = random::key(7);
  const Array x = numbers(3, {999}) * 0.37;
  const std::vector<float> given = x.to_vector<float>(),
                           got = round_stochastically(key, x).to_vector<float>();
  const auto noise = random::bits(key, {999}, DType::ui32).to_vector<std::uint32_t>();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], rounded(given[i], noise[i]));
}

TEST_F(BeyondOptaxTest, RoundingKeepsTheMeanAndWhatNeedsNone) {
  constexpr std::int64_t kDraws = 1 << 16;
  for (const float x : {1.001f, -3.3e-5f, 1.9999e20f}) {
    const Array many = numpy::full({kDraws}, static_cast<double>(x), DType::f32);
    const std::vector<double> got = round_stochastically(random::key(1), many).to_vector<double>();
    double sum = 0, least = INFINITY, greatest = -INFINITY;
    for (const double v : got) {
      sum += v;
      least = std::min(least, v);
      greatest = std::max(greatest, v);
    }
    const double width = greatest - least, part = (x - least) / width;
    EXPECT_GT(width, 0);
    const double deviation = width * std::sqrt(part * (1 - part) / kDraws);
    EXPECT_NEAR(sum / kDraws, x, 4 * deviation) << x;
  }
  const std::vector<float> settled{1.5f, -0.0f, INFINITY, -INFINITY, 0.0f};
  EXPECT_EQ(round_stochastically(random::key(2), array(settled)).to_vector<float>(), settled);
  EXPECT_TRUE(std::isnan(
      round_stochastically(random::key(2), array({std::nanf("")})).to_vector<float>()[0]));
  EXPECT_THAT(testing::message_of([] {
                (void)round_stochastically(random::key(0), numpy::ones({2}, DType::bf16));
              }),
              ::testing::HasSubstr("rounds f32 to bf16, got bf16[2]"));
}

TEST_F(BeyondOptaxTest, SmallUpdatesMoveBf16ParametersOnAverage) {
  const Tree params({{"w", numpy::ones({4096}, DType::bf16)}, {"s", numpy::ones({2})}});
  const Tree updates({{"w", numpy::full({4096}, 1e-4)}, {"s", numpy::full({2}, 1e-4)}});
  Tree nearest = params, random = params;
  for (int i = 0; i < 20; ++i) {
    nearest = apply_updates(nearest, updates);
    random = apply_updates(random, updates, {.key = random::key(3), .step = Array(i)});
  }
  const auto mean = [](const Tree& t) {
    return numpy::mean(numpy::astype(t["w"], DType::f32)).item<double>();
  };
  EXPECT_EQ(mean(nearest), 1.0);
  EXPECT_NEAR(mean(random), 1.002, 4 * 0.0078125 * std::sqrt(0.2 / 4096));
  EXPECT_EQ(random["w"].dtype(), DType::bf16);
  EXPECT_TRUE(tree::equal(random.filter(tree::path("s")), nearest.filter(tree::path("s"))));
  // As the last member of a chain, bit for bit.
  const GradientTransformation tx = chain(scale(1.0), stochastic_rounding(random::key(3)));
  Tree chained = params, state = tx.init(params);
  for (int i = 0; i < 20; ++i) {
    auto [u, next] = tx.update(updates, state, chained);
    chained = apply_updates(chained, u);
    state = next;
  }
  EXPECT_TRUE(tree::equal(chained, random));
  // A leaf's noise is its own: it does not depend on the others.
  const Tree alone({{"w", params["w"]}});
  const StochasticRounding one{.key = random::key(3), .step = Array(5)};
  EXPECT_TRUE(tree::equal(apply_updates(alone, updates, one),
                          apply_updates(params, updates, one).filter(tree::path("w"))));
}

TEST_F(BeyondOptaxTest, WrongProgramsAreTold) {
  const Tree p({{"w", numpy::ones({2, 2})}});
  const auto expect = [](auto f, const char* said) {
    EXPECT_THAT(testing::message_of(f), ::testing::HasSubstr(said));
  };
  expect([] { (void)scale_by_shampoo({.grafting = "lamb"}); },
         "grafting is adam, adagrad, sgd or none, got lamb");
  expect([] { (void)shampoo(0.1, {.precondition_frequency = 0}); },
         "precondition_frequency is a step or more, got 0");
  expect([] { (void)soap(0.1, {.precondition_frequency = -1}); },
         "precondition_frequency is a step or more, got -1");
  expect([&] { (void)soap(0.1).init(Tree({{"z", numpy::ones({2, 2}, DType::c64)}})); },
         "takes no complex parameters; z is one");
  expect([] { (void)quantized_state(adam(0.1), {.format = "int4"}); },
         "format is dynamic, linear or fp8, got int4");
  expect([] { (void)quantized_state(adam(0.1), {.block_size = 0}); },
         "block_size is an element or more, got 0");
  expect([&] { (void)quantized_state(sgd(0.1)).init(p); },
         "has none of the fields that are to be encoded");
  expect([] { (void)clip_by_norm_quantile({.quantile = 1.5}); },
         "quantile lies between 0 and 1, got 1.5");
  expect([] { (void)clip_by_norm_quantile({.history = 0}); }, "history is a norm or more, got 0");
  expect([] { (void)clip_by_norm_zscore({.threshold = 0.0}); }, "threshold is above 0, got 0");
}

}  // namespace
}  // namespace strata::optim
