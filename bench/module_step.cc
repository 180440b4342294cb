// What a call of nn::jit costs above the compiled program: a step of a model of 100 layers, whose
// 1000 leaves go in and of which 200 come out, beside the same program called on a list of arrays.
// And how often a step allocates.
//
//   build/bin/module-step [--json]
#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>

#include "strata/api/numpy.h"
#include "strata/api/operators.h"
#include "strata/api/transform/jit.h"
#include "strata/base/testing/allocations.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/transform/jit.h"

namespace {
using namespace strata;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A layer of ten small leaves, two of which a step changes.
struct Layer {
  nn::Param a, b, c, d, e, f, g, h;
  nn::BatchStat mean, count;
  STRATA_FIELDS(a, b, c, d, e, f, g, h, mean, count)
};
struct Model {
  std::vector<Layer> layers;
  STRATA_FIELDS(layers)
};

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2];
}
}  // namespace

int main(int argc, char** argv) {
  compile::register_cpu();
  const bool json = argc > 1 && !std::strcmp(argv[1], "--json");
  Model model;
  const auto small = [](float v) { return array(std::vector<float>{v, 1, 2, 3}); };
  for (int i = 0; i < 100; ++i)
    model.layers.push_back({small(1), small(2), small(3), small(4), small(5), small(6), small(7),
                            small(8), small(0), small(0)});
  const auto move = [](Layer& l, const Array& x) {
    l.mean = 0.9f * l.mean + 0.1f * x * l.a;
    l.count = l.count + 1;
  };
  auto step = nn::jit([&](Model& m, const Array& x) {
    for (Layer& l : m.layers) move(l, x);
    return x * 2;
  });
  // The bare program: of the same leaves as a list, without looking for its form.
  const auto flat = [&](const std::vector<Array>& leaves, const Array& x) {
    std::vector<Array> out = {x * 2};
    for (std::size_t i = 0; i < leaves.size(); i += 10) {
      Layer l;
      l.a = leaves[i];
      l.mean = leaves[i + 8];
      l.count = leaves[i + 9];
      move(l, x);
      out.push_back(l.mean);
      out.push_back(l.count);
    }
    return out;
  };
  const std::vector<Array> leaves = tree::leaves<Array>(model);
  const Array x = small(1);
  const auto bare = jit(flat).compile(leaves, x);
  (void)step(model, x);
  (void)bare(leaves, x);
  std::vector<double> with, without;
  constexpr int kCalls = 5;  // short, so that few rounds are interrupted
  for (int round = 0; round < 401; ++round) {
    double t = now();
    for (int i = 0; i < kCalls; ++i) (void)step(model, x);
    with.push_back((now() - t) / kCalls);
    t = now();
    for (int i = 0; i < kCalls; ++i) (void)bare(leaves, x);
    without.push_back((now() - t) / kCalls);
  }
  const std::size_t before = allocations();
  for (int i = 0; i < kCalls; ++i) (void)step(model, x);
  const double allocated = static_cast<double>(allocations() - before) / kCalls;
  const double a = median(with) * 1e6, b = median(without) * 1e6;
  if (json)
    std::cout << "{\"step_us\":" << a << ",\"bare_us\":" << b
              << ",\"allocations_per_step\":" << allocated << "}\n";
  else
    std::cout << "step " << a << " us, bare program " << b << " us, above it " << a - b << " us, "
              << allocated << " allocations a step\n";
}
