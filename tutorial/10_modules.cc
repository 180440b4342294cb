// Chapter 10: models made of modules. The page beside this file (10_modules.md) explains it.
#include <strata/core.h>

#include <iostream>

#include "strata/nn/linear/linear.h"
#include "strata/nn/state.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"

using namespace strata;

// Two layers with a bend between them.
struct Mlp {
  nn::Linear hidden, out;
  STRATA_FIELDS(hidden, out)

  Mlp(std::int64_t in, std::int64_t width, std::int64_t classes, nn::Rngs& rngs)
      : hidden(in, width, rngs), out(width, classes, rngs) {}
  Array operator()(const Array& x) const {
    const nn::ModuleScope scope(*this, "Mlp");
    return out(nn::relu(hidden(x)));
  }
};

int main() {
  nn::Rngs rngs(0);
  Mlp model(2, 16, 2, rngs);
  std::cout << tree::of(model).to_string();

  auto [kernels, rest] = nn::split(model, tree::path("**/kernel"), nn::everything());
  std::cout << kernels.size() << " kernels, " << rest.size() << " other leaves\n";

  // Points of the plane, in class 1 where both coordinates have the same sign.
  const Array x = random::uniform(random::key(1), {256, 2}, float32, -1.0f, 1.0f);
  const Array y = (x[{slice(), 0}] * x[{slice(), 1}] > 0).astype(int32);
  auto loss_of = [](Mlp& m, const Array& x, const Array& y) {
    const Array logits = m(x);
    const Array picked = take_along_axis(logits, expand_dims(y, 1), 1);
    return mean(nn::logsumexp(logits, 1) - squeeze(picked, 1));
  };
  auto step = nn::jit([&](Mlp& m, const Array& x, const Array& y) {
    auto [loss, grads] = nn::value_and_grad(loss_of)(m, x, y);
    nn::update(
        m, nn::state(m).map(grads, [](const Array& p, const Array& g) { return p - 0.5f * g; }));
    return loss;
  });
  for (int i = 0; i <= 300; ++i) {
    const float loss = step(model, x, y).item<float>();
    if (i % 100 == 0)
      std::cout << "step " << i << " loss " << round(Array(loss) * 100) / 100 << "\n";
  }

  try {
    (void)model(zeros({4, 3}));
  } catch (const Error& e) {
    std::cout << e.operation() << ": " << e.message() << "\n";
  }
}
