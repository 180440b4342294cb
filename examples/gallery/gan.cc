// Two networks against each other: one makes points of the plane out of noise, the other tells them
// from those of a ring of eight clouds, and each has its own optimizer. In the end the generated
// points cover all clouds. Source: Goodfellow et al., Generative Adversarial Nets
// (2014), with the loss that does not saturate; Mescheder et al., Which Training Methods for GANs
// do actually Converge? (2018), the penalty on the slope at true points; Karras et al., Progressive
// Growing of GANs (2018), the moving average of the maker's weights, which makes the result.
#include <strata/core.h>

#include <string>

#include "require.h"
#include "strata/nn/ema.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/optim/optimizer.h"
#include "strata/optim/rules/adam.h"

using namespace strata;

constexpr std::int64_t kBatch = 256, kNoise = 4, kWidth = 64, kClouds = 8;
constexpr double kSpread = 0.1;

struct Network {
  nn::Linear first, second, out;
  STRATA_FIELDS(first, second, out)

  Network(std::int64_t in, std::int64_t results, nn::Rngs& rngs)
      : first(in, kWidth, rngs), second(kWidth, kWidth, rngs), out(kWidth, results, rngs) {}
  Array operator()(const Array& x) const {
    const nn::ModuleScope scope(*this, "Network");
    return out(nn::leaky_relu(second(nn::leaky_relu(first(x)))));
  }
};

// The middles of the clouds, on a circle of radius 2: (kClouds, 2).
Array middles() {
  const Array angle = 2 * numpy::pi / kClouds * arange(kClouds);
  return 2 * stack({cos(angle), sin(angle)}, 1);
}
Array true_points(const random::Key& key) {
  random::Key keys = random::split(key, 2);
  return middles()[random::randint(keys[0], {kBatch}, 0, static_cast<int>(kClouds))] +
         kSpread * random::normal(keys[1], {kBatch, 2});
}
Array noise(const random::Key& key, std::int64_t n) { return random::normal(key, {n, kNoise}); }

// -log p of what is right: that points are true ones, and that others are made.
Array judge_loss(const Network& judge, const Array& real, const Array& made) {
  const Array slope = grad([&](const Array& x) { return sum(judge(x)); })(real);
  return mean(nn::softplus(-judge(real))) + mean(nn::softplus(judge(made))) +
         0.05 * mean(sum(square(slope), 1));
}
Array maker_loss(const Network& maker, const Network& judge, const Array& z) {
  return mean(nn::softplus(-judge(maker(z))));
}

int main() {
  nn::Rngs rngs(0);
  Network maker(kNoise, 2, rngs), judge(2, 1, rngs);
  optim::Optimizer of_maker(maker, optim::adam(1e-3, {.b1 = 0.5})),
      of_judge(judge, optim::adam(2e-3, {.b1 = 0.5}));
  nn::EMA average(maker, 0.995);
  auto step = nn::jit([](Network& maker, Network& judge, optim::Optimizer& of_maker,
                         optim::Optimizer& of_judge, nn::EMA& average, nn::Rngs& rngs) {
    const Array real = true_points(rngs("points")), made = maker(noise(rngs("noise"), kBatch));
    auto [judged, by_judge] = nn::value_and_grad(judge_loss)(judge, real, made);
    of_judge.update(judge, by_judge);
    auto [made_loss, by_maker] =
        nn::value_and_grad(maker_loss)(maker, judge, noise(rngs("noise"), kBatch));
    of_maker.update(maker, by_maker);
    average.update(maker);
    return std::pair(judged, made_loss);
  });

  // Which part of the made points lies within three spreads of a middle; how many of the clouds
  // have half of their share at least.
  auto measure = nn::jit([](const Network& maker) {
    const Array points = maker(noise(random::key(1), 4096));
    const Array far = sum(square(expand_dims(points, 1) - middles()), 2);
    const Array inside = min(far, 1) < square(3 * kSpread);
    const Array nearest = nn::one_hot(argmin(far, 1), kClouds);
    const Array share = mean(nearest * expand_dims(inside.astype(float32), 1), 0);
    return std::pair(mean(inside.astype(float32)), sum((share > 0.5 / kClouds).astype(int32)));
  });
  constexpr int kSteps = 4000;
  double inside = 0;
  int clouds = 0;
  for (int i = 1; i <= kSteps; ++i) {
    (void)step(maker, judge, of_maker, of_judge, average, rngs);
    if (i % (kSteps / 5) != 0) continue;
    auto [part, found] = measure(average.apply_to(maker));
    inside = part.item<double>(), clouds = found.item<int>();
    std::printf("step %d  %.0f %% of the points lie in %d clouds\n", i, 100 * inside, clouds);
  }
  require(inside > 0.85 && clouds == kClouds, "the points are those of the clouds");
}
