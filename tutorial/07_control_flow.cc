// Chapter 7: control flow. The page beside this file (07_control_flow.md) explains it.
#include <strata/core.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

using namespace strata;

// What the page claims; a claim that fails ends the program.
void require(bool claim, const char* text) {
  if (claim) return;
  std::cerr << "does not hold: " << text << "\n";
  std::exit(1);
}

bool close(const Array& x, const Array& y) {
  return x.shape() == y.shape() && max(abs(x - y)).item<double>() < 1e-5;
}

void whose_if() {
  // Known while the function is traced: C++ decides, and the program holds what it chose.
  auto norm = [](Array x, int order) { return order == 1 ? sum(abs(x)) : sqrt(sum(x * x)); };
  auto one = jit([&](Array x) { return norm(x, 1); });
  std::cout << one(array({3.0f, -4.0f})) << " "
            << jit([&](Array x) { return norm(x, 2); })(array({3.0f, -4.0f})) << "\n";

  // Known when it runs: where takes both, cond runs one.
  auto safe_log = [](Array x) { return where(x > 0, log(where(x > 0, x, 1)), 0); };
  std::cout << safe_log(array({-1.0f, 1.0f})) << " "
            << grad([&](Array x) { return sum(safe_log(x)); })(array({-1.0f, 2.0f})) << "\n";

  auto step = [](Array x) {
    return cond(x > 0, [](Array v) { return v / 2; }, [](Array v) { return -v; }, x);
  };
  std::cout << step(8.0f) << " " << step(-8.0f) << " " << vmap(step)(array({8.0f, -8.0f})) << "\n";

  try {
    (void)jit([](Array x) { return x > 0 ? x : -x; })(1.0f);
    require(false, "C++ cannot ask a traced value");
  } catch (const Error& e) {
    std::cout << e.what() << "\n";
  }
}

void which_of_several() {
  const std::vector<std::function<Array(Array)>> moves = {
      [](Array x) { return x + 1; }, [](Array x) { return x * 10; }, [](Array x) { return -x; }};
  auto move = [&](Array which, Array x) { return switch_(which, moves, x); };
  std::cout << move(1, 7) << " " << move(99, 7) << " "
            << vmap(move)(array({0, 1, 2}), array({5, 5, 5})) << "\n";
}

void until() {
  // Newton's method for x^2 = a, until it moves no further.
  auto root = [](Array a) {
    auto [x, turns] = while_loop(
        [&](const std::pair<Array, Array>& c) { return abs(c.first * c.first - a) > 1e-6f * a; },
        [&](const std::pair<Array, Array>& c) {
          return std::pair<Array, Array>(0.5f * (c.first + a / c.first), c.second + 1);
        },
        std::pair<Array, Array>(a, 0));
    return std::pair(x, turns);
  };
  auto [x, turns] = vmap(root)(array({2.0f, 100.0f, 1e6f}));
  std::cout << round(1000 * x) / 1000 << " in " << turns << " turns\n";

  auto [value, slope] =
      jvp([&](Array a) { return root(a).first; }, std::tuple(Array(2.0f)), std::tuple(Array(1.0f)));
  require(close(slope, 0.5f / sqrt(Array(2.0f))),
          "the derivative of a loop of unknown length, forward");
}

void carry_and_pieces() {
  // Running means, exact and by a scan that carries a tree.
  struct Mean {
    Array total, count;
    STRATA_FIELDS(total, count)
  };
  Array xs = array({4.0f, 8.0f, 6.0f, 2.0f});
  auto means = scan(
                   [](const Mean& m, Array x) {
                     Mean next{m.total + x, m.count + 1};
                     return std::pair(next, next.total / next.count);
                   },
                   Mean{0.0f, 0.0f}, xs)
                   .second;
  std::cout << means << "\n";
  require(close(means, cumsum(xs) / arange(1.0, 5.0)), "as cumsum says");

  // A count that is known needs no condition.
  auto power_of_two = fori_loop(0, 10, [](Array, Array x) { return 2 * x; }, Array(1));
  std::cout << power_of_two << "\n";

  try {
    (void)scan([](Array c, Array x) { return std::pair(concatenate({c, x}), nullptr); }, zeros({1}),
               zeros({3, 1}));
    require(false, "a carry keeps its shape");
  } catch (const Error& e) {
    std::cout << e.what() << "\n";
  }
}

void a_part_of_the_state() {
  // The steps of a walk, each from the one before: a turn writes one row of the state.
  auto walk = jit([](Array history) {
    return fori_loop(
        0, 9999, [](Array i, Array h) { return h.at(i + 1).set(0.5f * h[i] + 1.0f); }, history);
  });
  Array steps = walk(zeros({10000, 8}));
  std::cout << steps[3] << "\n";
  require(close(steps[3], full({8}, 1.75)), "each row from the row before");
}

int main() {
  whose_if();
  which_of_several();
  until();
  carry_and_pieces();
  a_part_of_the_state();
}
