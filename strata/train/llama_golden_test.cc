// The training step of a small Llama (8.9 M parameters) beside what JAX computes for it
// (tools/goldens/llama_step.py), and the same bits from any number of threads. Distances are
// relative L2 per tensor; each is printed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "strata/api/random.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/llama/family.h"
#include "strata/train/step/rules.h"
#include "strata/train/step/step.h"

namespace strata::train {
namespace {

using nlohmann::json;
using Tensors = std::map<std::string, std::vector<float>>;

constexpr double kGradient = 1e-5, kStep = 1e-4, kLosses = 1e-4, kRounding = 1.25;

// -- Inputs by formula, to the last bit those of tools/goldens/llama_step.py ---------------------

/// SplitMix64's output function at seed * 2^40 + i.
std::uint64_t hashed(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t x = ((seed << 40) + i + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// In [-1, 1) * 2^exponent, of 24 bits: exact.
float uniform(std::uint64_t seed, std::uint64_t i, int exponent) {
  return std::ldexp(
      static_cast<float>(static_cast<std::int64_t>(hashed(seed, i) >> 40) - (1 << 23)),
      exponent - 23);
}

struct Text {
  Array tokens, targets;
  std::vector<std::int32_t> flat;  // tokens, row-major
};

/// Rows of length + 1 hashed tokens; targets are one further.
Text text_of(std::uint64_t seed, std::int64_t batch, std::int64_t length, std::int64_t vocabulary) {
  std::vector<std::int32_t> x, y;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t s = 0; s <= length; ++s) {
      auto token =
          static_cast<std::int32_t>(hashed(seed, static_cast<std::uint64_t>(b * (length + 1) + s)) %
                                    static_cast<std::uint64_t>(vocabulary));
      if (s < length) x.push_back(token);
      if (s > 0) y.push_back(token);
    }
  return {array(x, Sizes{batch, length}), array(y, Sizes{batch, length}), x};
}

Array hashed_weights(const Shape& shape, const std::string& name, std::uint64_t seed,
                     int exponent) {
  std::vector<float> w(static_cast<std::size_t>(shape.count()));
  float offset = name.ends_with("norm") ? 1.0f : 0.0f;
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = uniform(seed, i, exponent) + offset;
  return array(w, shape.sizes());
}

// -- The golden ----------------------------------------------------------------------------------

struct Golden {
  json file;
  llama::Config config;
  Text text;

  Golden() {
    std::ifstream in(std::filesystem::path(__FILE__).parent_path() / "testdata/llama_step.json");
    file = json::parse(in);
    const json& s = file["shape"];
    config = {.vocab_size = s["vocab_size"],
              .base_emb_dim = s["emb_dim"],
              .base_num_decoder_layers = s["layers"],
              .base_num_query_heads = s["query_heads"],
              .base_num_kv_heads = s["kv_heads"],
              .head_dim = s["head_dim"],
              .base_mlp_dim = s["mlp_dim"]};
    text = text_of(file["seeds"]["tokens"], s["batch"], s["length"], config.vocab_size);
  }

  llama::Params weights() const {
    llama::Params p = llama::init(random::key(0), config);
    tree::for_each_path(p, [&](const std::string& path, Array& w) {
      const json& made = file["seeds"]["weights"][path];
      w = hashed_weights(w.shape(), path, made["seed"], made["exponent"]);
    });
    return p;
  }

  Optimizer optimizer() const {
    const json& o = file["adamw"];
    return {
        .rule = adamw(
            optim::constant_schedule(o["learning_rate"]),
            {.b1 = o["b1"], .b2 = o["b2"], .eps = o["eps"], .weight_decay = o["weight_decay"]})};
  }

  /// Where a tensor's entries were sampled; those of the embedding are in rows that the tokens use.
  std::size_t position(const std::string& name, std::size_t sample, std::size_t size) const {
    std::uint64_t word = hashed(file["seeds"]["samples"].get<std::uint64_t>() +
                                    file["seeds"]["weights"][name]["seed"].get<std::uint64_t>(),
                                sample);
    if (name != "token_embedder") return word % size;
    auto width = static_cast<std::uint64_t>(config.base_emb_dim);
    return static_cast<std::size_t>(text.flat[word % text.flat.size()]) * width +
           (word >> 32) % width;
  }
};

const Golden& golden() {
  static const Golden g;
  return g;
}

template <class P>
Tensors tensors_of(const P& p) {
  Tensors out;
  tree::for_each_path(
      p, [&](const std::string& path, const Array& w) { out[path] = w.to_vector<float>(); });
  return out;
}

double norm(const std::vector<float>& v) {
  double sum = 0;
  for (float x : v) sum += static_cast<double>(x) * x;
  return std::sqrt(sum);
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  return std::sqrt(sum);
}

/// Samples and norms of every tensor within `bound` of the golden's.
void expect_close(const Tensors& got, const json& want, double bound) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, values] : got) {
    const auto samples = want[name]["samples"].get<std::vector<float>>();
    std::vector<float> ours;
    for (std::size_t i = 0; i < samples.size(); ++i)
      ours.push_back(values[golden().position(name, i, values.size())]);
    double far = distance(ours, samples) / norm(samples), want_norm = want[name]["norm"];
    double norm_far = std::abs(norm(values) - want_norm) / want_norm;
    std::cout << fmt::format("  {:24} samples {:.2e}, norm {:.2e}\n", name, far, norm_far);
    EXPECT_LE(far, bound) << name;
    EXPECT_LE(norm_far, bound) << name;
  }
}

struct LossAndGradients {
  double loss;
  Tensors gradients;
};

LossAndGradients differentiate(DType dtype) {
  llama::Config config = golden().config;
  config.dtype = dtype;
  auto f = jit([config](const llama::Params& p, const Array& x, const Array& y) {
    return value_and_grad([&](const llama::Params& q) { return llama::loss(q, x, y, config); })(p);
  });
  auto [loss, gradients] = f(golden().weights(), golden().text.tokens, golden().text.targets);
  return {loss.item<double>(), tensors_of(gradients)};
}

const LossAndGradients& f32_gradients() {
  static const LossAndGradients g = differentiate(DType::f32);
  return g;
}

class LlamaGoldenTest : public testing::Test {
 protected:
  LlamaGoldenTest() { compile::register_cpu(); }
  ~LlamaGoldenTest() override { set_num_threads(0); }
};

TEST_F(LlamaGoldenTest, InputsAreTheGoldens) {
  const json& sums = golden().file["input_sums"];
  for (const auto& [name, values] : tensors_of(golden().weights())) {
    double sum = 0;
    for (float x : values) sum += x;  // exact but for the norms: few bits, few terms
    EXPECT_NEAR(sum, sums["weights"][name].get<double>(), 1e-9) << name;
  }
  std::int64_t sum = 0;
  for (std::int32_t t : golden().text.flat) sum += t;
  EXPECT_EQ(sum, sums["tokens"].get<std::int64_t>());
}

TEST_F(LlamaGoldenTest, GradientsInF32) {
  const json& want = golden().file["f32"];
  double loss = want["loss"];
  std::cout << fmt::format("  loss {:.9g}, JAX {:.9g}\n", f32_gradients().loss, loss);
  EXPECT_NEAR(f32_gradients().loss, loss, kGradient * loss);
  expect_close(f32_gradients().gradients, want["gradients"], kGradient);
}

// Our own f32 gradients stand for JAX's: they are equal to 1e-5, a thousandth of what bf16 rounds
// away.
TEST_F(LlamaGoldenTest, GradientsInBf16AreAsNearToF32AsJaxs) {
  const LossAndGradients narrow = differentiate(DType::bf16);
  const json& want = golden().file["bf16"];
  std::cout << fmt::format("  loss {:.9g}, JAX {:.9g}, in f32 {:.9g}\n", narrow.loss,
                           want["loss"].get<double>(), f32_gradients().loss);
  for (const auto& [name, values] : narrow.gradients) {
    double ours = distance(values, f32_gradients().gradients.at(name)),
           jaxs = want["distance_to_f32"][name], size = norm(f32_gradients().gradients.at(name));
    std::cout << fmt::format("  {:24} ours {:.3e}, JAX's {:.3e}, ratio {:.3f}\n", name, ours / size,
                             jaxs / size, ours / jaxs);
    EXPECT_LE(ours, kRounding * jaxs) << name;
  }
}

TEST_F(LlamaGoldenTest, FiftyStepsInF32) {
  const json& want = golden().file["f32"];
  const auto losses = want["losses"].get<std::vector<double>>();
  ASSERT_EQ(losses.size(), 50u);
  const Optimizer optimizer = golden().optimizer();
  auto step = make_step(llama::model(golden().config), optimizer);
  State state;
  state.params = tree::of(golden().weights());
  state.optimizer = optimizer.rule.init(state.params);
  double furthest = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    auto [outcome, next] = step(std::move(state), {golden().text.tokens, golden().text.targets});
    state = std::move(next);
    double loss = outcome.loss.item<double>(), far = std::abs(loss - losses[i]) / losses[i];
    furthest = std::max(furthest, far);
    EXPECT_LE(far, kLosses) << "step " << i << ": " << loss << ", JAX " << losses[i];
    if (i == 0) expect_close(tensors_of(state.params), want["weights_after_first_step"], kStep);
  }
  std::cout << fmt::format("  losses {:.6f} to {:.6f}, furthest from JAX's {:.2e}\n",
                           losses.front(), losses.back(), furthest);
}

// -- Bits ----------------------------------------------------------------------------------------

/// Losses and weights of three steps of a model large enough to be cut into pieces of work.
std::vector<float> three_steps(DType dtype, int threads) {
  set_num_threads(threads);
  llama::Config c{.vocab_size = 1024,
                  .base_emb_dim = 64,
                  .base_num_decoder_layers = 2,
                  .base_num_query_heads = 4,
                  .base_num_kv_heads = 2,
                  .head_dim = 16,
                  .base_mlp_dim = 160};
  c.dtype = dtype;
  const Optimizer optimizer{.rule = adamw(1e-3), .max_norm = 1.0};
  const model::ModelPtr model = llama::model(c);
  auto step = make_step(model, optimizer);
  Text text = text_of(7, 5, 96, c.vocab_size);
  State state = init(random::key(7), model, optimizer);
  std::vector<float> out;
  for (int i = 0; i < 3; ++i) {
    auto [outcome, next] = step(std::move(state), {text.tokens, text.targets});
    state = std::move(next);
    out.push_back(outcome.loss.item<float>());
  }
  for (const auto& [name, values] : tensors_of(state.params))
    out.insert(out.end(), values.begin(), values.end());
  return out;
}

class LlamaBitsTest : public LlamaGoldenTest, public testing::WithParamInterface<DType> {};

TEST_P(LlamaBitsTest, AreTheSameFromAnyThreadsAndRuns) {
  const std::vector<float> once = three_steps(GetParam(), 2);
  for (float x : once) ASSERT_TRUE(std::isfinite(x));
  for (int threads : {2, 1, 3}) {
    const std::vector<float> again = three_steps(GetParam(), threads);
    ASSERT_EQ(once.size(), again.size());
    EXPECT_EQ(std::memcmp(once.data(), again.data(), once.size() * sizeof(float)), 0)
        << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, LlamaBitsTest, testing::Values(DType::f32, DType::bf16),
                         [](const auto& p) {
                           return std::string(p.param == DType::f32 ? "f32" : "bf16");
                         });

}  // namespace
}  // namespace strata::train
