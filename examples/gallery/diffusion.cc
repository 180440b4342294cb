// A diffusion model in the plane: noise is added to points until nothing is left of their shape,
// and a small network learns to say which noise it was. Run backwards from pure noise, it draws
// points that were never in the data: two half moons. Source: Ho, Jain and Abbeel, Denoising
// Diffusion Probabilistic Models (2020), algorithms 1 and 2; Nichol and Dhariwal (2021), the cosine
// schedule.
#include <strata/core.h>

#include "require.h"
#include "strata/nn/linear/linear.h"
#include "strata/optim/optim.h"

using namespace strata;

constexpr std::int64_t kSteps = 100, kBatch = 512;

// n points on two half circles that reach into each other, with a little noise.
Array moons(const Array& key, std::int64_t n) {
  Array keys = random::split(key, 3);
  Array angle = pi * random::uniform(keys[0], {n}),
        lower = random::bernoulli(keys[1], 0.5, Sizes{n});
  Array x = where(lower, 1 - cos(angle), cos(angle)) - 0.5,
        y = where(lower, 0.5 - sin(angle), sin(angle)) - 0.25;
  return stack({x, y}, 1) + 0.05 * random::normal(keys[2], {n, 2});
}

// How far points are from the moons, without noise.
Array distance(const Array& points) {
  Array angle = linspace(0, pi, 200);
  Array upper = stack({cos(angle) - 0.5, sin(angle) - 0.25}, 1),
        lower = stack({0.5 - cos(angle), 0.25 - sin(angle)}, 1);
  Array curve = concatenate({upper, lower});
  return sqrt(min(sum(square(points[{slice(), newaxis}] - curve), -1), 1));
}

// The part of the signal's variance that is left after t + 1 steps.
Array kept() {
  Array at =
      square(cos((arange(0, kSteps + 1) / static_cast<double>(kSteps) + 0.008) / 1.008 * (pi / 2)));
  return clip(at[slice(1, none)] / at[0], 1e-4, 0.9999);
}

struct Network {
  nn::Linear in;
  std::vector<nn::Linear> layers;
  nn::Linear out;
  STRATA_FIELDS(in, layers, out)
};

Network make_network(const Array& key, std::int64_t width) {
  Array keys = random::split(key, 4);
  return {nn::Linear::init(keys[0], 2 + 8, width),
          {nn::Linear::init(keys[1], width, width), nn::Linear::init(keys[2], width, width)},
          nn::Linear::init(keys[3], width, 2)};
}

// The noise in points x (n, 2) at times t (n).
Array noise_in(const Network& net, const Array& x, const Array& t) {
  Array phase =
      pi * (t / static_cast<double>(kSteps))[{slice(), newaxis}] * array({0.5, 1., 2., 4.});
  Array h = nn::silu(net.in(concatenate({x, sin(phase), cos(phase)}, 1)));
  for (const nn::Linear& layer : net.layers) h = h + nn::silu(layer(h));
  return net.out(h);
}

Array loss(const Network& net, const Array& key) {
  Array keys = random::split(key, 3), left = kept();
  Array clean = moons(keys[0], kBatch), t = random::randint(keys[1], {kBatch}, 0, kSteps),
        noise = random::normal(keys[2], {kBatch, 2});
  Array part = left[t][{slice(), newaxis}];
  return mean(square(noise_in(net, sqrt(part) * clean + sqrt(1 - part) * noise, t) - noise));
}

Array draw(const Network& net, const Array& key, std::int64_t n) {
  Array left = kept(), before = concatenate({ones({1}), left[slice(-1)]}), alpha = left / before;
  auto back = [&](Array x, std::pair<Array, Array> at) {
    auto [t, key] = at;
    Array noise = noise_in(net, x, full({n}, t));
    Array mean = (x - (1 - alpha[t]) / sqrt(1 - left[t]) * noise) / sqrt(alpha[t]);
    Array spread = sqrt((1 - before[t]) / (1 - left[t]) * (1 - alpha[t]));  // none in the last step
    return std::pair(mean + spread * random::normal(key, {n, 2}), nullptr);
  };
  auto [start, path] = random::split2(key);
  return scan(back, random::normal(start, {n, 2}),
              std::pair(arange(kSteps), random::split(path, kSteps)), {.reverse = true})
      .first;
}

int main() {
  Network net = make_network(random::key(0), 64);
  auto optimizer = optim::adam(optim::cosine_decay_schedule(3e-3, 4000));
  auto memory = optimizer.init(net);
  auto steps = jit([&](const Network& net, const decltype(memory)& memory, const Array& keys) {
    auto step = [&](const auto& at, const Array& key) {
      auto [value, slope] = value_and_grad(loss)(at.first, key);
      auto [updates, next] = optimizer.update(slope, at.second, at.first);
      return std::pair(std::pair(optim::apply_updates(at.first, updates), next), value);
    };
    return scan(step, std::pair(net, memory), keys);
  });
  for (int i = 0; i < 4; ++i) {
    auto [last, losses] =
        steps(net, memory, random::split(random::fold_in(random::key(1), i), 1000));
    std::tie(net, memory) = last;
    std::printf("%d steps  loss %.2f\n", 1000 * (i + 1), mean(losses).item<double>());
  }

  Array points = jit([](const Network& net, const Array& key) { return draw(net, key, 1000); })(
      net, random::key(2));
  const double away = mean(distance(points)).item<double>(),
               start = mean(distance(random::normal(random::key(3), {1000, 2}))).item<double>();
  std::printf("drawn points are %.2f from the moons, noise is %.2f\n", away, start);

  constexpr std::size_t kWidth = 60, kHeight = 18;
  std::vector<std::string> picture(kHeight, std::string(kWidth, ' '));
  const std::vector<double> at = points.to_vector<double>();
  for (std::size_t i = 0; i < at.size(); i += 2) {
    const double column = (at[i] + 1.8) / 3.6 * kWidth, row = (1 - at[i + 1]) / 2 * kHeight;
    if (column >= 0 && column < kWidth && row >= 0 && row < kHeight)
      picture[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = 'o';
  }
  for (const std::string& line : picture)
    std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());

  require(away < 0.1 && away < start / 4, "points were drawn where the data is");
  Array high = points[{slice(), 1}] > 0.25,
        low = points[{slice(), 1}] < -0.25;  // only one moon is there
  require(mean(high.astype(float32)).item<double>() > 0.2 &&
              mean(low.astype(float32)).item<double>() > 0.2,
          "both moons are drawn");
}
