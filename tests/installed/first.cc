// The program of the README: it finds the line y = x . {1, -2, 3} + 0.5 from samples.
#include <strata/strata.h>

#include <iostream>

using namespace strata;

struct Params {
  Array w, b;
  STRATA_FIELDS(w, b)
};

int main() {
  auto loss = [](const Params& p, Array x, Array y) { return mean(square(dot(x, p.w) + p.b - y)); };
  auto step = jit([&](Params p, Array x, Array y) {
    auto [l, g] = value_and_grad(loss)(p, x, y);
    return std::pair{l, tree::map([](Array p, Array g) { return p - 0.1f * g; }, p, g)};
  });
  Params p{zeros({3}), zeros({})};
  Array x = random::normal(random::key(0), {64, 3}), y = dot(x, array({1.0f, -2.0f, 3.0f})) + 0.5f;
  for (int i = 0; i < 200; ++i) p = step(p, x, y).second;
  std::cout << round(p.w * 1000) / 1000 << " " << round(p.b * 1000) / 1000 << "\n";
}
