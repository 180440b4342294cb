// Chapter 8: custom derivatives. The page beside this file (08_custom_derivatives.md) explains it.
#include <strata/core.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

using namespace strata;

// What the page claims; a claim that fails ends the program.
void require(bool claim, const char* text) {
  if (claim) return;
  std::cerr << "does not hold: " << text << "\n";
  std::exit(1);
}

bool close(const Array& x, const Array& y) {
  return x.shape() == y.shape() && max(abs(x - y)).item<double>() < 1e-4;
}

void where_the_formula_fails() {
  auto plain = [](Array x) { return log(1 + exp(x)); };
  std::cout << grad(plain)(100.0f) << "\n";

  auto log1pexp = custom_jvp([](Array x) { return log(1 + exp(x)); },
                             [](std::tuple<Array> at, std::tuple<Array> along) {
                               auto [x] = at;
                               auto [dx] = along;
                               return std::pair(log(1 + exp(x)), (1 - 1 / (1 + exp(x))) * dx);
                             });
  std::cout << grad(log1pexp)(100.0f) << " " << grad(grad(log1pexp))(0.0f) << "\n";
}

void the_backward_pass_alone() {
  // The identity, whose gradient is cut to [-1, 1] on its way back.
  auto clipped =
      custom_vjp([](Array x) { return x; }, [](Array x) { return std::pair(x, std::tuple<>()); },
                 [](std::tuple<>, Array ct) { return std::tuple(clip(ct, -1.0f, 1.0f)); });
  auto loss = [&](Array x) { return sum(3 * clipped(x) + 0.5f * x); };
  std::cout << grad(loss)(array({1.0f, 2.0f})) << "\n";

  // Rounding has no useful derivative; the straight-through estimator takes that of the identity.
  auto rounded = [](Array x) { return x + lax::stop_gradient(round(x) - x); };
  std::cout << rounded(array({0.4f, 1.6f})) << " "
            << grad([&](Array x) { return sum(rounded(x) * rounded(x)); })(array({0.4f, 1.6f}))
            << "\n";
}

/// x = cos(a x), found by iteration. Its derivative needs no iteration: it follows from the
/// equation.
Array iterate(Array a) {
  return while_loop([&](Array x) { return abs(cos(a * x) - x) > 1e-6f; },
                    [&](Array x) { return 0.5f * (x + cos(a * x)); }, ones_like(a));
}

void implicit() {
  auto fixed_point = custom_vjp(
      iterate,
      [](Array a) {
        Array x = iterate(a);
        return std::pair(x, std::pair(a, x));
      },
      [](std::pair<Array, Array> kept, Array ct) {
        auto [a, x] = kept;
        Array s = sin(a * x);
        return std::tuple(ct * (-x * s) / (1 + a * s));
      });
  Array a = 0.8f, h = 1e-2f;
  Array slope = grad(fixed_point)(a), difference = (iterate(a + h) - iterate(a - h)) / (2 * h);
  require(close(slope, difference), "the implicit derivative is that of finite differences");
  std::cout << round(1000 * fixed_point(a)) / 1000 << " " << round(1000 * slope) / 1000 << "\n";

  std::cout << round(1000 * vmap(grad(fixed_point))(array({0.2f, 0.5f, 0.8f}))) / 1000 << "\n";
}

void as_a_root() {
  auto fixed_point = [](Array a) {
    auto f = [&](Array x) { return cos(a * x) - x; };
    auto search = [](auto f, Array x) {
      return while_loop([=](Array x) { return abs(f(x)) > 1e-6f; },
                        [=](Array x) { return x + 0.5f * f(x); }, x);
    };
    return custom_root(f, ones_like(a), search,
                       [](auto slope, Array y) { return y / slope(1.0f); });
  };
  require(close(grad(fixed_point)(0.8f), (iterate(0.81f) - iterate(0.79f)) / 0.02f),
          "the same derivative, of the equation alone");
  std::cout << round(1000 * grad(fixed_point)(0.8f)) / 1000 << " "
            << round(1000 * grad(grad(fixed_point))(0.8f)) / 1000 << "\n";
}

void what_is_refused() {
  try {
    auto wrong = custom_jvp([](Array x) { return sin(x); },
                            [](std::tuple<Array> x, std::tuple<Array>) {
                              return std::pair(sin(std::get<0>(x)), zeros({3}));
                            });
    (void)grad(wrong)(1.0f);
    require(false, "a tangent has the type of its value");
  } catch (const Error& e) {
    std::cout << e.what() << "\n";
  }
}

int main() {
  where_the_formula_fails();
  the_backward_pass_alone();
  implicit();
  as_a_root();
  what_is_refused();
}
