// Chapter 1: arrays and jit. The page beside this file (01_arrays_and_jit.md) explains it.
#include <strata/strata.h>

#include <cstdlib>
#include <iostream>

using namespace strata;

// What the page claims; a claim that fails ends the program.
void require(bool claim, const char* text) {
  if (claim) return;
  std::cerr << "does not hold: " << text << "\n";
  std::exit(1);
}

void arrays() {
  Array x = array({{1, 2, 3}, {4, 5, 6}});
  std::cout << x * 0.5f + ones({3}) << "\n";
  std::cout << mean(x, {.axis = 0}) << " " << x.T()[{1, slice()}] << " " << sum(x).item<int>()
            << "\n";

  Array narrow = array({1.0f, 2.0f}, bfloat16);
  require((narrow * 3).dtype() == bfloat16, "a C++ number takes on the array's dtype");
  require((narrow + array({1.0f, 2.0f})).dtype() == float32, "two arrays meet in the wider one");

  Array y = x.at({0, slice(1)}).set(100);
  std::cout << y[0] << " " << x[0] << "\n";
}

void mistakes() {
  try {
    (void)dot(zeros({2, 3}), zeros({4, 5}));
  } catch (const Error& e) {
    std::cout << e.message() << "\n";
  }
}

void compiled() {
  int calls = 0;
  auto norm = jit([&](Array v) {
    ++calls;
    return sqrt(sum(square(v)));
  });
  std::cout << norm(array({3.0f, 4.0f})) << " " << norm(array({6.0f, 8.0f})) << "\n";
  require(calls == 1, "the function itself runs once, to be traced");
  (void)norm(array({1.0f, 2.0f, 2.0f}));
  require(calls == 2, "another shape is another program");

  std::cout << norm.lower(array({3.0f, 4.0f})).as_text();
}

void control_flow() {
  auto collatz = jit([](Array n) {
    auto step = [](std::pair<Array, Array> state) {
      auto [n, steps] = state;
      return std::pair(where(n % 2 == 0, floor_divide(n, 2), 3 * n + 1), steps + 1);
    };
    return while_loop([](std::pair<Array, Array> state) { return state.first != 1; }, step,
                      std::pair<Array, Array>(n, 0))
        .second;
  });
  std::cout << collatz(27) << " steps from 27 to 1\n";
  require(collatz(8).item<int>() == 3, "8, 4, 2, 1");
}

void randomness() {
  Array key = random::key(0);
  auto [first, second] = random::split(key);
  std::cout << random::uniform(first, {3}) << "\n";
  require(static_cast<bool>(array_equal(random::bits(first, {8}), random::bits(first, {8}))),
          "the same key gives the same bits");
  require(!static_cast<bool>(array_equal(random::bits(first, {8}), random::bits(second, {8}))),
          "another key gives others");
}

int main() {
  arrays();
  mistakes();
  compiled();
  control_flow();
  randomness();
}
