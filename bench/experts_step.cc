// A step of one layer of experts, for bench/experts_step.py: loss, gradients of all weights, and
// w - 0.01 g.
//
//   experts-step [--tokens 256] [--width 128] [--hidden 256] [--experts 64] [--active 8] [--steps
//   5]
//
// Prints the loss of the first step and the median of the steps after it in milliseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "strata/model/decoder/feed_forward.h"
#include "strata/strata.h"

int main(int argc, char** argv) {
  using namespace strata;
  namespace decoder = model::decoder;
  std::map<std::string, std::int64_t> options = {{"--tokens", 256}, {"--width", 128},
                                                 {"--hidden", 256}, {"--experts", 64},
                                                 {"--active", 8},   {"--steps", 5}};
  for (int i = 1; i + 1 < argc; i += 2) options.at(argv[i]) = std::atoll(argv[i + 1]);
  const std::int64_t width = options["--width"], hidden = options["--hidden"],
                     experts = options["--experts"];
  const auto draw = [](int seed, std::vector<std::int64_t> shape) {
    return random::normal(random::key(seed), shape) * 0.1f;
  };
  std::vector<Array> w = {draw(1, {width, experts}), draw(2, {experts, width, hidden}),
                          draw(3, {experts, width, hidden}), draw(4, {experts, hidden, width})};
  const Array x = draw(5, {options["--tokens"], width}), y = draw(6, {options["--tokens"], width});
  const decoder::ExpertOptions how{
      .count = experts, .active = options["--active"], .width = hidden};
  const auto loss = [&](const std::vector<Array>& v) {
    decoder::Experts e;
    e.router.kernel = v[0];
    e.gate.kernel = v[1];
    e.up.kernel = v[2];
    e.down.kernel = v[3];
    return mean(square(e(x, how, decoder::Activation::silu) - y));
  };
  auto step = jit([&](const std::vector<Array>& v) {
    auto [value, g] = value_and_grad(loss)(v);
    std::vector<Array> next;
    for (std::size_t i = 0; i < v.size(); ++i) next.push_back(v[i] - 0.01f * g[i]);
    return std::pair(value, next);
  });
  std::vector<double> times;
  double first = 0;
  for (std::int64_t i = 0; i <= options["--steps"]; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    auto [value, next] = step(w);
    for (const Array& a : next) a.block_until_ready();
    w = std::move(next);
    if (i == 0) first = value.item<double>();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (i > 0) times.push_back(took.count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  std::printf("%.9g %.3f\n", first, 1e3 * times[times.size() / 2]);
}
