// The same, the model compiled into the program: embedded < digits.txt
#include <cstdio>
#include <iostream>

#include "digits.h"  // strata compile digits.jax --dim b=1 --name digits

int main() {
  std::array<float, digits::size::pictures> dots;  // of one picture
  std::array<std::int32_t, digits::size::digit> digit;
  std::array<float, digits::size::probability> probability;
  std::size_t filled = 0;
  for (char c; std::cin >> c;) {
    dots[filled++] = c == '#';
    if (filled < dots.size()) continue;
    digits::run({.pictures = dots}, {.digit = digit, .probability = probability});
    std::printf("%d %.2f %%\n", digit[0], 100 * probability[static_cast<std::size_t>(digit[0])]);
    filled = 0;
  }
}
