// Chapter 11: state and randomness. The page beside this file (11_state_and_randomness.md) explains
// it.
#include <strata/core.h>

#include <iostream>

#include "strata/nn/dropout.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/norm/batch_norm.h"
#include "strata/nn/state.h"
#include "strata/nn/transform/jit.h"
#include "strata/nn/transform/vmap.h"

using namespace strata;

struct Block {
  nn::Linear linear;
  nn::BatchNorm norm;
  nn::Dropout drop;
  STRATA_FIELDS(linear, norm, drop)

  Block() = default;
  explicit Block(nn::Rngs& rngs) : linear(2, 3, rngs), norm(3, rngs), drop(0.5, rngs) {}
  Array operator()(const Array& x) { return drop(norm(linear(x))); }
};

int main() {
  nn::Rngs rngs(0, {{"dropout", 7}});
  Block block(rngs);
  auto run = nn::jit([](Block& b, const Array& x) { return b(x); });
  const Array x = random::normal(random::key(1), {4, 2});
  const Array first = run(block, x), second = run(block, x);
  std::cout << nn::state(block, nn::of<nn::RngCount>()).to_string();
  std::cout << "calls " << block.drop.rngs->count << ", masks differ "
            << any((first == 0) != (second == 0)) << "\n";
  std::cout << "averages moved " << any(block.norm.mean != 0) << "\n";

  // Twice the same key gives twice the same mask.
  nn::Rngs once(0), again(0);
  std::cout << all(random::normal(once("dropout"), {3}) == random::normal(again("dropout"), {3}))
            << "\n";

  // Four blocks at once: a stack of streams makes a stack of layers.
  nn::Rngs streams = rngs.split(4);
  Block stack = nn::vmap([](nn::Rngs& r) { return Block(r); })(streams);
  std::cout << stack.linear.kernel.type() << "\n";
}
