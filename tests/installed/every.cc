// A user's program that uses each kind of function once: it builds without a warning, whatever the
// compiler is told to warn of.
#include <strata/strata.h>

#include <iostream>

#include "strata/checkpoint/checkpoint.h"
#include "strata/nn/linear/linear.h"
#include "strata/optim/optim.h"

using namespace strata;

struct Params {
  Array w, b;
  STRATA_FIELDS(w, b)
};

Array loss(const Params& p, const Array& x, const Array& y) {
  return mean(square(dot(x, p.w) + p.b - y));
}

void arrays(const Array& x) {
  std::cout << x[0] << x[{slice(1, none), newaxis}] << x.at({0, slice()}).set(1.0f) << (x > 0.5f);
  std::cout << sum(x, 1) << sum(x, {.axis = 0, .keepdims = true}) << max(x) << argmax(x, 0) << "\n";
  std::cout << sum(x, {.keepdims = true}) << var(x, {.ddof = 1}) << std_(x, {.keepdims = true});
  std::cout << numpy::average(x, {.weights = ones({64, 3})}) << numpy::linalg::norm(x, {.ord = 1});
  std::cout << numpy::quantile(x, 0.5, {.keepdims = true}) << argmax(x, {.keepdims = true});
  std::cout << cumsum(x, {.dtype = float32}) << numpy::sort(x, {.descending = true});
  std::cout << numpy::linalg::vector_norm(x, {.keepdims = true}) << nn::softmax(x, {0, 1});
  std::cout << einsum("ij,kj->ik", {x, x}) << where(x > 0, x, 0.0f) << numpy::linalg::norm(x);
  std::cout << concatenate({x, x}) << x.T() << x.astype(float16) << x.to_vector<float>()[0];
}

void transforms(const Params& p, const Array& x, const Array& y) {
  auto [value, slopes] = jit(value_and_grad(loss))(p, x, y);
  auto [result, pullback] = vjp(loss, p, x, y);
  auto [primal, tangent] = jvp([](Array a) { return sin(a); }, std::tuple{x}, std::tuple{x});
  auto [here, push] = linearize([](Array a) { return sin(a); }, x);
  auto both = grad<0, 1>([](Array a, Array b) { return sum(a * b); })(x, x);
  Array curvature = hessian([](Array a) { return sum(a * a); })(y);
  Array rows = vmap([](Array a, Array b) { return dot(a, b); }, {.in_axes = {0, none}})(x, p.w);
  Array again = remat([](Array a) { return exp(a); })(x);
  std::cout << value << slopes.w << std::get<0>(pullback(result)).b << primal << tangent << push(x)
            << here << std::get<0>(both) << curvature << rows << again;
}

void control(const Array& x) {
  auto [last, all] = scan([](Array c, Array row) { return std::pair{c + sum(row), c}; }, 0.0f, x);
  Array n = while_loop([](Array i) { return i < 3; }, [](Array i) { return i + 1; }, Array(0));
  Array chosen = cond(n > 2, [](Array a) { return a; }, [](Array a) { return -a; }, x);
  Array counted = fori_loop(0, 3, [](Array, Array a) { return a * 2; }, x);
  std::cout << last << all << chosen << counted << map([](Array a) { return a + 1; }, x);
}

int main() {
  const Params p{zeros({3}), zeros({})};
  const Array x = random::normal(random::key(0), {64, 3}), y = dot(x, array({1.0f, -2.0f, 3.0f}));
  arrays(x);
  transforms(p, x, y);
  control(x);
  const nn::Linear layer = nn::Linear::init(random::key(1), 3, 2, {.use_bias = false});
  auto optimizer = optim::adamw(optim::constant_schedule(0.1), {.weight_decay = 0.0});
  auto state = optimizer.init(p);
  auto step = jit(
      [&](Params now, const decltype(state)& memory) {
        auto [updates, next] = optimizer.update(grad(loss)(now, x, y), memory, now);
        return std::pair{optim::apply_updates(now, updates), next};
      },
      {.donate_argnums = {0}});
  std::cout << layer(x).shape() << step(p, state).first.w << tree::structure(p).text() << "\n";
}
