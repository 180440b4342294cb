// Chapter 3: vmap, scan and remat. The page beside this file (03_vmap_scan_and_remat.md) explains
// it.
#include <strata/core.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>

using namespace strata;

// What the page claims; a claim that fails ends the program.
void require(bool claim, const char* text) {
  if (claim) return;
  std::cerr << "does not hold: " << text << "\n";
  std::exit(1);
}

bool same(const Array& x, const Array& y) {
  return x.shape() == y.shape() && all(x == y).item<bool>();
}
bool close(const Array& x, const Array& y) {
  return x.shape() == y.shape() && max(abs(x - y)).item<double>() < 1e-5;
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++n;
  return n;
}

// A pendulum's angle and speed after a step of `dt` seconds (symplectic Euler).
struct Pendulum {
  Array angle, speed;
  STRATA_FIELDS(angle, speed)
};

Pendulum swing(const Pendulum& p, const Array& length) {
  constexpr float dt = 0.01f, gravity = 9.81f;
  Array speed = p.speed - dt * gravity / length * sin(p.angle);
  return {p.angle + dt * speed, speed};
}

void many_at_once() {
  auto distance = [](Array a, Array b) { return sqrt(sum(square(a - b))); };
  Array points = array({{0.f, 0.f}, {3.f, 4.f}, {6.f, 8.f}});

  auto to_all = vmap(distance, {.in_axes = {none, 0}});     // one a, each row as b
  auto between_all = vmap(to_all, {.in_axes = {0, none}});  // each row as a
  std::cout << between_all(points, points) << "\n";

  // The gradient for each example: vmap of grad. What a batch's gradient is the mean of.
  auto loss = [](Array w, Array x, Array y) { return square(dot(x, w) - y); };
  Array w = array({1.0f, -1.0f}), x = array({{1.f, 2.f}, {3.f, 1.f}, {0.f, 1.f}}),
        y = array({0.0f, 1.0f, 2.0f});
  Array each = vmap(grad(loss), {.in_axes = {none, 0, 0}})(w, x, y);
  Array whole =
      grad([&](Array v) { return mean(vmap(loss, {.in_axes = {none, 0, 0}})(v, x, y)); })(w);
  std::cout << each << "\n";
  require(close(mean(each, {.axis = 0}), whole),
          "the mean of the gradients is the gradient of the mean");

  Array a = random::normal(random::key(1), {4, 5, 6}), b = random::normal(random::key(2), {6, 7});
  auto product = jit(vmap([](Array row, Array m) { return dot(row, m); }, {.in_axes = {0, none}}));
  require(close(product(a, b), matmul(a, b)), "a mapped product is a product");
  require(count(product.lower(a, b).as_text(), "dot_general") == 1, "one product, not four");
}

void loops() {
  Array length = 1.0f;
  auto fly = [&](Array angle) {
    return scan(
        [&](const Pendulum& p, std::nullptr_t) {
          Pendulum next = swing(p, length);
          return std::pair(next, next.angle);
        },
        Pendulum{angle, 0.0f}, nullptr, {.length = 200});
  };
  auto [last, angles] = fly(0.5f);
  std::cout << angles.shape(0) << " angles, the last " << round(last.angle * 1000) / 1000 << "\n";

  auto small = jit(fly).lower(Array(0.5f)).as_text().size();
  auto thousand = jit([&](Array angle) {
    return scan([&](const Pendulum& p,
                    std::nullptr_t) { return std::pair(swing(p, length), nullptr); },
                Pendulum{angle, 0.0f}, nullptr, {.length = 1000})
        .first;
  });
  require(thousand.lower(Array(0.5f)).as_text().size() < 2 * small,
          "a longer loop is no longer program");

  // Sums from the right: a scan in reverse, beside the plain definition.
  Array x = array({1, 2, 3, 4});
  auto sums =
      scan([](Array c, Array v) { return std::pair(c + v, c + v); }, Array(0), x, {.reverse = true})
          .second;
  require(same(sums, array({10, 9, 7, 4})), "ys stand where their xs stood");

  // How far the end moves with the start, for five starts at once: vmap of grad of scan.
  auto end = [&](Array angle) { return fly(angle).first.angle; };
  Array starts = linspace(0.1, 0.5, 5), slopes = vmap(grad(end))(starts);
  Array h = 1e-2f, differences = (vmap(end)(starts + h) - vmap(end)(starts - h)) / (2 * h);
  require(max(abs(slopes - differences)).item<double>() < 1e-3,
          "the derivative through two hundred steps");
  std::cout << round(slopes * 100) / 100 << "\n";

  // Of unknown length: forward derivatives only.
  auto collatz = [](Array n) {
    return while_loop([](const std::pair<Array, Array>& c) { return c.first > 1; },
                      [](const std::pair<Array, Array>& c) {
                        Array even = (c.first % 2) == 0;
                        return std::pair<Array, Array>(
                            where(even, floor_divide(c.first, 2), 3 * c.first + 1), c.second + 1);
                      },
                      std::pair<Array, Array>(n, 0))
        .second;
  };
  std::cout << vmap(collatz)(array({1, 6, 27})) << "\n";

  auto root = [](Array v) {
    return cond(v > 0, [](Array u) { return sqrt(u); }, [](Array u) { return 0 * u; }, v);
  };
  require(grad(root)(-1.0f).item<float>() == 0.0f,
          "only the branch that was taken has a derivative");
}

void memory_for_time() {
  // Eight layers, run by one loop over their stacked weights.
  Array weights = random::normal(random::key(0), {8, 16, 16}) * 0.25f, x = ones({16});
  auto deep = [&](auto layer) {
    return [=](Array w) {
      return sum(
          scan([&](Array h, Array m) { return std::pair(layer(h, m), nullptr); }, x, w).first);
    };
  };
  auto layer = [](Array h, Array m) { return tanh(dot(h, m)); };

  auto keep_all = jit(grad(deep(layer)));
  auto keep_products = jit(grad(deep(remat(layer, {.policy = "dots"}))));
  auto keep_nothing = jit(grad(deep(remat(layer))));
  require(same(keep_all(weights), keep_products(weights)) &&
              same(keep_all(weights), keep_nothing(weights)),
          "remat changes memory, never a bit");

  auto tanhs = [&](auto& f) { return count(f.lower(weights).as_text(), "stablehlo.tanh"); };
  std::cout << tanhs(keep_all) << " " << tanhs(keep_nothing) << "\n";

  auto named = [](Array h, Array m) { return tanh(checkpoint_name(dot(h, m), "sum")); };
  require(same(keep_all(weights), jit(grad(deep(remat(named, {.policy = "names:sum"}))))(weights)),
          "what is kept, by name");
}

int main() {
  many_at_once();
  loops();
  memory_for_time();
}
