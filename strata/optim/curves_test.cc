// A hundred steps in closed loop under the main rules: the losses of Optax (testdata/curves.json,
// by tools/goldens/optax_curves.py), and 8-bit states beside those of 32 bits.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/optim/optax_golden.h"
#include "strata/optim/optim.h"

namespace strata::optim {
namespace {

/// The script's `numbers`.
Array numbers(std::int64_t seed, const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t n : shape) count *= n;
  std::vector<float> out;
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(static_cast<float>((seed * 7919 + i * 104729) % 2003 - 1001) / 1024.0f);
  return numpy::reshape(array(out), shape);
}
Array network(const Tree& p) {
  const Array h =
      numpy::tanh(numpy::matmul(numbers(21, {16, 4}), p["hidden/kernel"]) + p["hidden/bias"]);
  return numpy::mean(numpy::square(numpy::matmul(h, p["out/kernel"]) - numbers(22, {16, 2})));
}
Tree start_of(const std::string& problem) {
  if (problem == "valley") return Tree({{"x", numbers(5, {4})}});
  return Tree({{"hidden/bias", numbers(1, {8})},
               {"hidden/kernel", numbers(2, {4, 8})},
               {"out/kernel", numbers(3, {8, 2})}});
}

TEST(OptaxCurves, AHundredStepsOfTheMainRules) {
  compile::register_cpu();
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "testdata/curves.json");
  const json golden = json::parse(file);
  const int every = golden["manifest"]["every"];
  int compared = 0;
  for (const json& c : golden["curves"]) {
    const std::string problem = c["problem"];
    SCOPED_TRACE(c["rule"].get<std::string>() + " on the " + problem);
    Options options;
    for (const auto& [name, value] : c["options"].items()) options[name] = golden_option(value);
    const GradientTransformation tx = make(c["rule"].get<std::string>(), options);
    const std::function<Array(const Tree&)> loss =
        problem == "valley" ? golden_objective("rosenbrock") : network;
    const auto step = jit([&](const Tree& p, const Tree& s) {
      const auto [value, slope] = value_and_grad(loss)(p);
      auto [u, next] = tx.update(
          slope, s, p, taken({.value = value, .grad = slope, .value_fn = loss}, tx.rule().needs()));
      return std::tuple(apply_updates(p, u), next, value);
    });
    Tree params = start_of(problem), state = tx.init(params);
    const std::size_t count = (c["losses"].size() - 1) * static_cast<std::size_t>(every);
    const double first = c["losses"][0];
    for (std::size_t i = 0; i <= count; ++i) {
      Array value;
      std::tie(params, state, value) = step(params, state);
      if (i % static_cast<std::size_t>(every) != 0) continue;
      const double want = c["losses"][i / static_cast<std::size_t>(every)];
      EXPECT_NEAR(value.item<double>(), want, 1e-3 * (want + 1e-4 * first)) << "step " << i;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 47);
}

/// A model of letters: of each pair of letters the embedding, a hidden layer, the next letter.
class Letters {
 public:
  explicit Letters(std::int64_t width) : width_(width) {
    const std::string verse =
        "the cat sat on the mat and saw the rat; the rat sat on the hat and saw the cat. ";
    for (int i = 0; i < 4; ++i) text_ += verse;
  }
  Tree start() const {
    random::Key key = random::key(4);
    const auto draw = [&](std::int64_t n, std::int64_t m) {
      const auto two = random::split(key);
      key = two[0];
      return random::normal(two[1], {n, m}) / std::sqrt(static_cast<double>(n));
    };
    return Tree({{"embed", draw(128, width_)},
                 {"hidden/kernel", draw(2 * width_, 4 * width_)},
                 {"hidden/bias", numpy::zeros({4 * width_})},
                 {"out/kernel", draw(4 * width_, 128)}});
  }
  /// The mean cross-entropy over the text, in nats a letter.
  Array loss(const Tree& p) const {
    const std::vector<std::int32_t> codes(text_.begin(), text_.end());
    const auto n = static_cast<std::int64_t>(codes.size());
    const Array all = array(codes);
    const auto part = [&](std::int64_t from) {
      return numpy::take(all, numpy::arange(n - 2) + from);
    };
    const Array pair = numpy::concatenate(
        {numpy::take(p["embed"], part(0), 0), numpy::take(p["embed"], part(1), 0)}, -1);
    const Array h = numpy::tanh(numpy::matmul(pair, p["hidden/kernel"]) + p["hidden/bias"]);
    return numpy::mean(losses::softmax_cross_entropy_with_integer_labels(
        numpy::matmul(h, p["out/kernel"]), part(2)));
  }
  /// Its loss after some steps.
  double trained(const GradientTransformation& tx, int steps) const {
    const auto step = jit([&](const Tree& p, const Tree& s) {
      const Tree slope = grad([&](const Tree& q) { return loss(q); })(p);
      auto [u, next] = tx.update(slope, s, p);
      return std::pair(apply_updates(p, u), next);
    });
    Tree params = start(), state = tx.init(params);
    for (int i = 0; i < steps; ++i) std::tie(params, state) = step(params, state);
    return loss(params).item<double>();
  }

 private:
  std::int64_t width_;
  std::string text_;
};

/// `STRATA_LETTER_STEPS=N` trains longer, as `make soak` does.
TEST(OptaxCurves, StatesOfEightBitsTrainAsThoseOf32) {
  compile::register_cpu();
  const char* said = std::getenv("STRATA_LETTER_STEPS");
  const int steps = said ? std::atoi(said) : 200;
  const Letters letters(said ? 64 : 32);
  const GradientTransformation plain = adamw(cosine_decay_schedule(1e-2, steps));
  const double begin = letters.loss(letters.start()).item<double>(),
               want = letters.trained(plain, steps);
  EXPECT_LT(want, 0.5 * begin);
  for (const char* format : {"dynamic", "fp8"}) {
    const double got =
        letters.trained(quantized_state(plain, {.format = format, .min_size = 1024}), steps);
    std::printf("%-8s %.5f nats a letter, %.5f with states of 32 bits\n", format, got, want);
    EXPECT_NEAR(got, want, 0.01 * want) << format;
  }
}

}  // namespace
}  // namespace strata::optim
