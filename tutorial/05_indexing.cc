// Chapter 5: indexing and .at. The page beside this file (05_indexing.md) explains it.
#include <strata/core.h>

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

void parts() {
  Array x = arange(12).reshape({3, 4});
  std::cout << x[1] << " " << x[{1, -1}] << " " << x[{slice(1, none), slice(none, none, 2)}]
            << "\n";
  std::cout << x[{slice(), newaxis, 0}].shape() << " " << x[{ellipsis, slice(none, none, -1)}][0]
            << "\n";
}

void places() {
  Array x = arange(12).reshape({3, 4}), rows = array({2, 0});
  std::cout << x[rows] << "\n";
  std::cout << x[{rows, array({1, 3})}] << "\n";
  std::cout << x[x % 5 == 0] << "\n";
}

void updates() {
  Array x = zeros({2, 3});
  Array y = x.at({0, slice(1, none)}).set(7.0f).at({ellipsis, 0}).add(1.0f);
  std::cout << y << "\n";
  require(same(x, zeros({2, 3})), "arrays do not change");

  Array votes = array({2, 0, 2, 1, 2});
  std::cout << zeros({4}, int32).at(votes).add(1) << "\n";

  Array far = array({0, 5, -1}), v = array({10.0f, 20.0f, 30.0f});
  std::cout << v[far] << " " << v.at(far).get({.mode = "fill"}) << " " << v.at(far).set(0.0f)
            << "\n";
}

void in_programs() {
  // A lookup and its gradient: rows that were read twice have twice the slope.
  Array table = ones({3, 2}), words = array({1, 1, 2});
  Array slope = grad([&](Array t) { return sum(t[words]); })(table);
  std::cout << slope << "\n";

  // An index that is data: the program is the same for each.
  auto pick = jit([](Array t, Array i) { return t[{i, 0}]; });
  require(pick(table, 0).item<float>() == 1 && pick(table, 2).item<float>() == 1 &&
              pick.cache_size() == 1,
          "one program for each index");

  // A state whose parts are written, turn by turn: no copy of it is made.
  auto squares = jit([] {
    return fori_loop(0, 5, [](Array i, Array s) { return s.at(i).set(i * i); }, zeros({5}, int32));
  });
  std::cout << squares() << "\n";

  try {
    (void)jit([](Array v) { return v[v > 0]; })(table);
    require(false, "a mask in a program is refused");
  } catch (const Error& e) {
    std::cout << e.what() << "\n";
  }
}

int main() {
  parts();
  places();
  updates();
  in_programs();
}
