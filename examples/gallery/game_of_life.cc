// Conway's Game of Life: a cell lives on with two or three neighbours and is born with three. On
// arrays the rule is nine shifted copies of the board and a comparison; a loop of generations is
// one compiled program. Source: Gardner, Mathematical Games (Scientific American, October 1970),
// whose five cells, the R-pentomino, take 1103 generations to settle.
#include <strata/core.h>

#include "require.h"

using namespace strata;

// The board's edges meet: it is a torus.
Array generation(const Array& cells) {
  Array rows = roll(cells, 1, 0) + cells + roll(cells, -1, 0);
  Array block = roll(rows, 1, 1) + rows + roll(rows, -1, 1);  // a cell and its eight neighbours
  return ((block == 3) | ((block == 4) & (cells == 1))).astype(uint8);
}

Array after(std::int64_t generations, const Array& cells) {
  return fori_loop(0, generations, [](Array, Array board) { return generation(board); }, cells);
}

void print(const Array& cells) {
  const std::vector<int> alive = cells.to_vector<int>();
  for (std::int64_t i = 0; i < cells.shape(0); ++i) {
    for (std::int64_t j = 0; j < cells.shape(1); ++j)
      std::printf("%s", alive[static_cast<std::size_t>(i * cells.shape(1) + j)] ? "██" : " ·");
    std::printf("\n");
  }
}

int main() {
  Array glider = zeros({8, 8}, uint8)
                     .at({slice(3), slice(3)})
                     .set(array({{0, 1, 0}, {0, 0, 1}, {1, 1, 1}}, uint8));
  print(glider);
  Array moved = jit([](Array board) { return after(16, board); })(glider);
  std::printf("16 generations later\n");
  print(moved);
  require(array_equal(moved, roll(glider, {4, 4}, {0, 1})).item<bool>(),
          "a glider moves by a cell both ways in four generations");

  // Large enough that the gliders which leave do not come back.
  Array pentomino = zeros({768, 768}, uint8)
                        .at({slice(383, 386), slice(383, 386)})
                        .set(array({{0, 1, 1}, {1, 1, 0}, {0, 1, 0}}, uint8));
  Array settled = jit([](Array board) { return after(1103, board); })(pentomino);
  const int population = sum(settled).item<int>();
  std::printf("the R-pentomino: %d cells after 1103 generations\n", population);
  require(population == 116,
          "eight blocks, six gliders, four beehives, four blinkers, a boat, a loaf and a ship");
  const Array later = after(2, settled);
  const Slice middle = slice(320, 450);
  require(array_equal(later[{middle, middle}], settled[{middle, middle}]).item<bool>(),
          "what stays where it was repeats every second generation");
}
