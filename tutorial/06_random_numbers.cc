// Chapter 6: random numbers. The page beside this file (06_random_numbers.md) explains it.
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

bool same(const Array& x, const Array& y) {
  return x.shape() == y.shape() && all(x == y).item<bool>();
}
Array rounded(const Array& x) { return round(100 * x) / 100; }

void keys() {
  random::Key key = random::key(42);
  std::cout << random::normal(key, {3}) << "\n";
  require(same(random::normal(key, {3}), random::normal(key, {3})),
          "the same key, the same numbers");

  auto [first, second] = random::split(key);
  std::cout << rounded(random::normal(first, {3})) << " " << rounded(random::normal(second, {3}))
            << "\n";

  // A key for each of many: by splitting, or by a number that one has anyway.
  random::Key four = random::split(key, 4);
  std::cout << four.shape() << " " << random::uniform(four[2]) << "\n";
  random::Key step_17 = random::fold_in(key, 17);
  require(!same(random::bits(step_17), random::bits(key)), "another step, another key");
}

void what_is_drawn() {
  random::Key key = random::key(0);
  std::cout << random::randint(key, {6}, 1, 7) << " " << random::bernoulli(key, 0.3f, Sizes{5})
            << "\n";
  std::cout << random::permutation(key, 8) << " "
            << random::choice(key, array({10, 20, 30, 40}), {.shape = {2}, .replace = false})
            << "\n";

  Array x = random::gamma(key, 2.5f, Sizes{100000});
  std::cout << rounded(mean(x)) << " " << rounded(var(x)) << "\n";
  require(
      std::abs(mean(x).item<float>() - 2.5) < 0.03 && std::abs(var(x).item<float>() - 2.5) < 0.08,
      "mean and variance of gamma(2.5) are 2.5");
}

void in_programs() {
  // Four walks at once: vmap over keys, scan over time.
  auto walk = [](const random::Key& key) {
    return scan(
               [](Array at, const random::Key& k) {
                 return std::pair(at + 2 * random::bernoulli(k).astype(int32) - 1, at);
               },
               Array(0), random::split(key, 8))
        .second;
  };
  Array walks = vmap(walk)(random::split(random::key(7), 4));
  std::cout << walks << "\n";
  require(same(walks[2], walk(random::split(random::key(7), 4)[2])),
          "each walk is that of its key");

  // The slope of an expectation with respect to a parameter of what is drawn.
  auto expected = [](Array sigma) {
    return mean(square(sigma * random::normal(random::key(1), {100000})));
  };
  std::cout << rounded(grad(expected)(3.0f)) << "\n";
}

void twice() {
  random::DebugKeyReuse watched;
  random::Key key = random::key(3);
  Array x = random::normal(key, {2});
  try {
    Array y = random::uniform(key, {2});
    require(false, "a key is used once");
  } catch (const Error& e) {
    std::cout << e.what() << "\n";
  }
}

int main() {
  keys();
  what_is_drawn();
  in_programs();
  twice();
}
