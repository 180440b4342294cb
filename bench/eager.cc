// What a chain of thirty small operations costs outside of jit, in nanoseconds: the fastest of many
// rounds.
//
//   eager    {"eager": ..., "check": the first element of the last result}
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "strata/strata.h"

int main() {
  using namespace strata;
  const Array start = arange(16.0) * 0.1f;
  double best = 1e12;
  double last = 0;
  for (int round = 0; round < 2000; ++round) {
    auto began = std::chrono::steady_clock::now();
    Array x = start;
    for (int i = 0; i < 10; ++i) x = tanh(x * 1.01f + 0.5f);
    best = std::min(
        best,
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began).count());
    last = x[0].item<float>();
  }
  std::printf("{\"eager\": %.1f, \"check\": %.6f}\n", best, last);
}
