#include "strata/loop/lanes.h"

#include <gtest/gtest.h>

#include <numeric>

#include "strata/loop/interpreter.h"
#include "strata/loop/verify.h"

namespace strata::loop {
namespace {

/// What a kernel without operands writes to its only buffer.
std::vector<std::int32_t> run(const Kernel& kernel, std::size_t size) {
  EXPECT_TRUE(verify(kernel).ok()) << verify(kernel).message();
  std::vector<std::int32_t> out(size, -1);
  void* memory[] = {out.data()};
  interpret(kernel, memory);
  auto parsed = parse(print(kernel));
  EXPECT_TRUE(parsed.ok() && print(**parsed) == print(kernel));
  return out;
}
Inst* number(Builder& b, const Index& i) { return b.convert(DType::i32, b.value(i)); }

TEST(Lanes, BehindMovesUpAndLetsTheFirstEnter) {
  Kernel kernel("behind");
  Builder b(kernel);
  Ref* out = b.parameter(DType::i32, 16, Ref::Mode::out);
  b.vector(0, 8, 8, [&](Index i) {
    Inst *x = number(b, i), *y = number(b, i + 10);
    b.store(out, i, behind(b, x, y, 3));
    b.store(out, i + 8, behind(b, b.constant(DType::i32, 7), y, 2));
  });
  EXPECT_EQ(run(kernel, 16),
            (std::vector<std::int32_t>{5, 6, 7, 10, 11, 12, 13, 14, 7, 7, 10, 11, 12, 13, 14, 15}));
}

TEST(Lanes, HalvesAreWovenInUnitsOfGroups) {
  Kernel kernel("woven");
  Builder b(kernel);
  Ref* out = b.parameter(DType::i32, 32, Ref::Mode::out);
  b.vector(0, 8, 8, [&](Index i) {
    Inst *x = number(b, i), *y = number(b, i + 10);
    int to = 0;
    for (const char* name : {"lanes.low.1.8", "lanes.high.1.4", "lanes.high.2.8", "lanes.low.4.8"})
      b.store(out, i + 8 * to++, b.call(name, {DType::i32, 8}, {x, y}));
  });
  EXPECT_EQ(run(kernel, 32),
            (std::vector<std::int32_t>{0, 10, 1,  11, 2, 12, 3,  13, 2, 12, 3, 13, 6,  16, 7, 17, 4,
                                       5, 14, 15, 6,  7, 16, 17, 0,  1, 2,  3, 10, 11, 12, 13}));
}

TEST(Lanes, TransposedExchangesValuesAndLanes) {
  for (auto [t, lanes] : {std::pair{DType::i32, 2},
                          {DType::i32, 4},
                          {DType::i32, 8},
                          {DType::i32, 16},
                          {DType::i64, 2},
                          {DType::i64, 8},
                          {DType::ui16, 8},
                          {DType::ui16, 32},
                          {DType::ui8, 4},
                          {DType::ui8, 32}}) {
    Kernel kernel("transposed");
    Builder b(kernel);
    Ref* out = b.parameter(DType::i32, lanes * lanes, Ref::Mode::out);
    b.vector(0, lanes, lanes, [&](Index l) {
      std::vector<Inst*> rows;
      for (int i = 0; i < lanes; ++i) rows.push_back(b.convert(t, number(b, (l + i * lanes))));
      rows = transposed(b, std::move(rows));
      for (int j = 0; j < lanes; ++j)
        b.store(out, l + j * lanes, b.convert(DType::i32, rows[static_cast<std::size_t>(j)]));
    });
    std::vector<std::int32_t> got = run(kernel, static_cast<std::size_t>(lanes * lanes));
    for (int i = 0; i < lanes; ++i)
      for (int j = 0; j < lanes; ++j)
        EXPECT_EQ(got[static_cast<std::size_t>(j * lanes + i)],
                  (i * lanes + j) % (t == DType::ui8 ? 256 : 65536));
  }
}

TEST(Lanes, UnderAMaskOnlyBehindAUniformValueStands) {
  auto status = [](const std::function<void(Builder&, Inst*)>& use) {
    Kernel kernel("masked");
    Builder b(kernel);
    Ref* out = b.parameter(DType::i32, 16, Ref::Mode::out);
    b.vector(0, 13, 8, [&](Index i) {
      use(b, number(b, i));
      b.store(out, i, number(b, i));
    });
    return verify(kernel);
  };
  EXPECT_TRUE(status([](Builder& b, Inst* x) { behind(b, b.constant(DType::i32, 0), x, 1); }).ok());
  EXPECT_FALSE(status([](Builder& b, Inst* x) { behind(b, x, x, 1); }).ok());
}

TEST(Lanes, OtherNamesAreNoMoves) {
  for (const char* name : {"lanes.behind.0", "lanes.behind.8", "lanes.behind.", "lanes.behind.1x",
                           "lanes.middle", "strata_fmod", "lanes.low", "lanes.low.1",
                           "lanes.low.0.8", "lanes.low.3.8", "lanes.low.4.4", "lanes.high.1.16",
                           "lanes.high.1.6", "lanes.high.1.8x", "lanes.high.1.8.8"})
    EXPECT_FALSE(lane_move(name, 8).has_value()) << name;
  EXPECT_FALSE(lane_move("lanes.low.1.2", 1).has_value());
}

}  // namespace
}  // namespace strata::loop
