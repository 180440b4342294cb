// What a jitted step costs once it is compiled: no memory from the heap.
#include <gtest/gtest.h>

#include "strata/base/testing/allocations.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/dropout.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/norm/batch_norm.h"
#include "strata/nn/transform/jit.h"
#include "strata/nn/transform/jit_partial.h"

namespace strata::nn {
namespace {

/// A layer with weights, averages, a stream, and metadata.
struct Layer {
  Linear linear;
  BatchNorm norm;
  Dropout drop;
  STRATA_FIELDS(linear, norm, drop)

  explicit Layer(Rngs& rngs)
      : linear(4, 4, rngs, {.kernel_metadata = {.out_sharding = {"embed", "mlp"}}}),
        norm(4, rngs),
        drop(0.5, rngs, {.deterministic = false}) {}
};
struct Tower {
  std::vector<Layer> layers;
  STRATA_FIELDS(layers)
};

TEST(SteadyState, AStepOfAHundredLayersDoesNotAllocate) {
  compile::register_cpu();
  Rngs rngs(0);
  Tower tower;
  for (int i = 0; i < 100; ++i) tower.layers.emplace_back(rngs);
  const auto move = [](Tower& t, const Array& x) {
    for (Layer& layer : t.layers) {
      layer.norm.mean = 0.9f * layer.norm.mean + 0.1f * x;
      layer.drop.rngs->count = layer.drop.rngs->count + 1;
    }
    return x * 2.0f;
  };
  const auto step = nn::jit(move);
  const auto bound = nn::jit_partial(move, tower);
  const Array x = numpy::ones({4});
  for (int i = 0; i < 5; ++i) (void)step(tower, x), (void)bound(x);
  std::size_t before = allocations();
  for (int i = 0; i < 10; ++i) (void)step(tower, x);
  EXPECT_EQ(allocations() - before, 0u);
  before = allocations();
  for (int i = 0; i < 10; ++i) (void)bound(x);
  EXPECT_EQ(allocations() - before, 0u);
  EXPECT_EQ(tower.layers[99].drop.rngs->count.item<int>(), 30);
  EXPECT_EQ(step.cache_size(), 1u);
}

}  // namespace
}  // namespace strata::nn
