// Chapter 12: a layer of one's own. The page beside this file (12_a_layer_of_ones_own.md) explains
// it.
#include <strata/core.h>

#include <iostream>

#include "strata/nn/inspect/capture.h"
#include "strata/nn/inspect/tabulate.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/state.h"
#include "strata/nn/transform/jit.h"

using namespace strata;

// A kind of variable of one's own: filters tell it from parameters.
struct UsageKind {
  static constexpr tree::Kind kind{"Usage", &tree::kinds::variable};
};
using Usage = nn::Variable<UsageKind>;

// y = x W * sigmoid(x G), which counts how often it was called.
struct Gated {
  nn::Param kernel, gate;
  Usage calls = zeros({}, int32);
  STRATA_FIELDS(kernel, gate, calls)

  Gated() = default;
  Gated(std::int64_t in, std::int64_t out, nn::Rngs& rngs)
      : kernel(nn::initializers::lecun_normal()(rngs("params"), {in, out}, float32)),
        gate(nn::initializers::lecun_normal()(rngs("params"), {in, out}, float32)) {}

  Array operator()(const Array& x) {
    const nn::ModuleScope scope(*this, "Gated");
    if (x.shape(-1) != kernel.shape(0))
      throw Error("Gated", "the input has {} features, the kernel takes {}", x.shape(-1),
                  kernel.shape(0));
    calls = calls + 1;
    const lax::DotDimensionNumbers last{.lhs_contracting = {x.ndim() - 1}, .rhs_contracting = {0}};
    const Array open = nn::sigmoid(nn::dot_general(x, gate, last));
    nn::sow("open", mean(open));
    return scope.returns(nn::dot_general(x, kernel, last) * open, x);
  }
};

struct Net {
  std::vector<Gated> layers;
  nn::Linear out;
  STRATA_FIELDS(layers, out)

  explicit Net(nn::Rngs& rngs) : layers{Gated(4, 8, rngs), Gated(8, 8, rngs)}, out(8, 2, rngs) {}
  Array operator()(const Array& x) {
    const nn::ModuleScope scope(*this, "Net");
    Array h = x;
    for (Gated& layer : layers) h = layer(h);
    return out(h);
  }
};

int main() {
  nn::Rngs rngs(0);
  Net net(rngs);
  const Array x = random::normal(random::key(1), {3, 4});
  auto run = nn::jit([](Net& n, const Array& x) { return n(x); });
  (void)run(net, x);
  (void)run(net, x);
  const tree::Tree usage = nn::state(net, nn::of<Usage>());
  for (const Array& calls : usage.values()) std::cout << calls << " ";
  std::cout << "calls\n";

  auto [y, seen] = nn::capture<nn::Intermediate>(net)(x);
  for (const std::string& name : seen.names()) std::cout << name << "\n";

  try {
    (void)net(zeros({3, 5}));
  } catch (const Error& e) {
    std::cout << e.what() << "\n";
  }
}
