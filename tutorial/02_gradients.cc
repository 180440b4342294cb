// Chapter 2: gradients. The page beside this file (02_gradients.md) explains it.
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

bool near(const Array& x, double value) { return std::abs(x.item<double>() - value) < 1e-5; }

struct Layer {
  Array w, b;
  STRATA_FIELDS(w, b)
};

struct Network {
  std::vector<Layer> layers;
  STRATA_FIELDS(layers)
};

Array forward(const Network& net, Array x) {
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    const Layer& layer = net.layers[i];
    x = dot(x, layer.w) + layer.b;
    if (i + 1 < net.layers.size()) x = tanh(x);
  }
  return x;
}

Network make_network(Array key, const std::vector<std::int64_t>& sizes) {
  Network net;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    Array w = random::normal(random::fold_in(key, static_cast<int>(i)), {sizes[i], sizes[i + 1]});
    net.layers.push_back({w / std::sqrt(static_cast<double>(sizes[i])), zeros({sizes[i + 1]})});
  }
  return net;
}

void one_derivative_after_another() {
  auto f = [](Array x) { return sin(x) * x; };
  require(near(grad(f)(2.0f), std::cos(2.0) * 2 + std::sin(2.0)), "the product rule");
  require(near(grad(grad(f))(2.0f), 2 * std::cos(2.0) - 2 * std::sin(2.0)), "and again");

  Array slopes = vmap(grad(f))(linspace(0, 1, 3));
  std::cout << slopes << "\n";
}

void xor_network() {
  Array x = array({{0.f, 0.f}, {0.f, 1.f}, {1.f, 0.f}, {1.f, 1.f}}),
        y = array({{0.f}, {1.f}, {1.f}, {0.f}});
  auto loss = [&](const Network& net) { return mean(square(forward(net, x) - y)); };

  auto step = jit([&](const Network& net) {
    auto [value, slope] = value_and_grad(loss)(net);
    return std::pair(value, tree::map([](Array p, Array g) { return p - 0.2f * g; }, net, slope));
  });

  Network net = make_network(random::key(0), {2, 8, 1});
  for (const std::string& path : tree::paths(net)) std::cout << path << " ";
  std::cout << "\n";
  Array value;
  for (int i = 0; i < 500; ++i) std::tie(value, net) = step(net);
  require(value.item<float>() < 1e-6f, "the network has learnt exclusive or");
  std::cout << abs(round(forward(net, x))).reshape({4}) << "\n";
}

void directions() {
  auto f = [](Array x) { return stack({x[0] * x[1], exp(x[0])}); };
  Array x = array({0.0f, 3.0f});
  auto [y, dy] = jvp(f, std::tuple(x), std::tuple(array({1.0f, 0.0f})));
  std::cout << y << " " << dy << "\n";
  auto [same, pullback] = vjp(f, x);
  auto [gx] = pullback(array({1.0f, 1.0f}));
  std::cout << gx << "\n";
  std::cout << jacrev(f)(x) << "\n";
}

void own_rules() {
  auto log1pexp = custom_jvp([](Array x) { return log(1 + exp(x)); },
                             [](std::tuple<Array> x, std::tuple<Array> dx) {
                               auto [v] = x;
                               auto [d] = dx;
                               return std::pair(log(1 + exp(v)), d * (1 - 1 / (1 + exp(v))));
                             });
  require(near(grad(log1pexp)(100.0f), 1), "the plain derivative would be inf / inf");

  auto layer = remat([](Array x) { return sin(sin(sin(x))); });
  require(
      near(grad(layer)(1.0f), grad([](Array x) { return sin(sin(sin(x))); })(1.0f).item<double>()),
      "the same derivative from less memory");
}

void through_loops() {
  auto roots = [](Array a) {
    return scan([&](Array x, std::nullptr_t) { return std::pair(0.5f * (x + a / x), x); }, 1.0f,
                nullptr, {.length = 6})
        .first;
  };
  require(near(roots(2.0f), std::sqrt(2.0)), "Newton's iteration");
  require(near(grad(roots)(2.0f), 0.5 / std::sqrt(2.0)), "its derivative, through the loop");
}

int main() {
  one_derivative_after_another();
  xor_network();
  directions();
  own_rules();
  through_loops();
}
