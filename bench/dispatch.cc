// What a call costs beside its arithmetic, in nanoseconds: x + 1 of one number, the fastest of many
// rounds.
//
//   dispatch    {"jit": ..., "handle": ...}: through jit, and through a handle compiled for these
//   types
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "strata/strata.h"

namespace {

template <class Call>
double nanoseconds(Call call) {
  constexpr int kCalls = 2000;
  double best = 1e9;
  for (int round = 0; round < 200; ++round) {
    auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    best = std::min(
        best,
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began).count() /
            kCalls);
  }
  return best;
}

}  // namespace

int main() {
  using namespace strata;
  auto f = jit([](Array x) { return x + 1.0f; });
  Array x = zeros({});
  x = f(x);
  double by_jit = nanoseconds([&] { x = f(x); });
  auto handle = f.compile(x);
  double by_handle = nanoseconds([&] { x = handle(x); });
  std::printf("{\"jit\": %.1f, \"handle\": %.1f}\n", by_jit, by_handle);
}
