// Pieces cover a length once, in order, and the narrowest strip holds what it is asked to.
#include "strata/loop/pieces.h"

#include <gtest/gtest.h>

#include "strata/loop/interpreter.h"
#include "strata/loop/verify.h"

namespace strata::loop {
namespace {

/// What is written where: out[i] = 10 * place of the write + length of its piece.
template <class F>
std::vector<std::int64_t> written(std::int64_t total, std::int64_t grid, F pieces) {
  Kernel kernel("pieces");
  Builder b(kernel);
  kernel.grid = grid;
  Ref* out = b.parameter(DType::i64, total, Ref::Mode::out);
  pieces(b, [&](const Index& begin, std::int64_t length) {
    b.for_(0, length, 1, [&](Index i) {
      b.store(out, begin + i,
              b.binary(Opcode::add, b.value((begin + i) * 10), b.constant_int(DType::i64, length)));
    });
  });
  EXPECT_TRUE(verify(kernel).ok()) << verify(kernel).message();
  std::vector<std::int64_t> got(static_cast<std::size_t>(total), -1);
  void* memory[] = {got.data()};
  interpret(kernel, memory);
  return got;
}

TEST(Pieces, CoverALengthAndTheLastIsShorter) {
  for (std::int64_t total : {1, 5, 6, 12, 13, 17})
    for (std::int64_t size : {1, 3, 6, 20}) {
      std::vector<std::int64_t> want;
      for (std::int64_t i = 0; i < total; ++i)
        want.push_back(10 * i + std::min(size, total - i / size * size));
      EXPECT_EQ(
          written(total, 1, [&](Builder& b, auto body) { for_pieces(b, 0, total, size, body); }),
          want)
          << total << " by " << size;
      EXPECT_EQ(written(total, (total + size - 1) / size,
                        [&](Builder& b, auto body) { for_piece(b, b.grid(), total, size, body); }),
                want)
          << total << " by " << size;
    }
}

TEST(Pieces, LanesHoldWhatTheyAreFor) {
  for (int most : {1, 4, 16})
    for (std::int64_t n = 1; n <= 40; ++n) {
      const int lanes = lanes_for(n, most);
      EXPECT_EQ(lanes & (lanes - 1), 0);
      EXPECT_LE(lanes, most);
      EXPECT_TRUE(lanes >= n || lanes == most) << n;
      EXPECT_LT(lanes / 2, n) << "half of it would do";
    }
}

}  // namespace
}  // namespace strata::loop
