// What is stated of a part of a grid is so at each of its points: random indices, computed one by
// one.
#include "strata/compile/plan/grid_slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "strata/loop/interpreter.h"

namespace strata::compile {
namespace {

using loop::Builder;
using loop::Index;
using loop::Kernel;
using loop::Ref;

TEST(Parts, TouchWhatIsSaid) {
  std::mt19937 random(20261127);
  auto below = [&](int n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  int said = 0, beyond = 0;
  for (int turn = 0; turn < 4000; ++turn) {
    SCOPED_TRACE(turn);
    const std::int64_t grid = 4 + 2 * below(5), slices = 1 + below(4), extent = 1 + below(6),
                       divisor = 2 + below(3);
    const std::int64_t by_point = below(7), by_quotient = below(4) * below(2),
                       by_rest = below(3) * below(2), by_step = 1 + below(2),
                       shift = below(3) * below(2);
    const bool but_last =
        below(2);  // the last point touches nothing, so that an index may go beyond the array there
    const int lanes = below(2) ? 4 : 1;
    auto at = [&](Builder& b, const Index& point, const Index& i) {
      return point * by_point + b.div(point, divisor) * by_quotient +
             b.mod(point, divisor) * by_rest + i * by_step + shift;
    };
    // Where each point goes.
    std::vector<std::int64_t> places(static_cast<std::size_t>(grid * extent));
    Kernel traced("trace");
    traced.grid = grid;
    Builder t(traced);
    Ref* trace = t.parameter(DType::i64, grid * extent, Ref::Mode::out);
    const Index row = t.grid();
    t.vector(0, extent, lanes,
             [&](Index i) { t.store(trace, row * extent + i, t.value(at(t, row, i))); });
    void* parameters[] = {places.data()};
    loop::interpret(traced, parameters);
    if (but_last) places.resize(static_cast<std::size_t>((grid - 1) * extent));
    const std::int64_t size =
        (*std::max_element(places.begin(), places.end()) / slices + 1) * slices;

    Kernel kernel("kernel");
    kernel.grid = grid;
    Builder b(kernel);
    Ref *in = b.parameter(DType::f32, size, Ref::Mode::in),
        *out = b.parameter(DType::f32, grid * extent, Ref::Mode::out);
    const Index point = b.grid();
    auto touch = [&] {
      b.vector(0, extent, lanes,
               [&](Index i) { b.store(out, point * extent + i, b.load(in, at(b, point, i))); });
    };
    but_last ? b.if_(b.less(point, grid - 1), touch) : touch();
    const std::vector<bool> known = accesses_own_slice(kernel, slices);
    ASSERT_EQ(known.size(), 2u);
    EXPECT_EQ(known[1], grid % slices == 0);
    bool is_so = grid % slices == 0;
    for (std::size_t i = 0; is_so && i < places.size(); ++i)
      is_so =
          places[i] / (size / slices) == static_cast<std::int64_t>(i) / extent / (grid / slices);
    EXPECT_TRUE(!known[0] || is_so)
        << grid << " points in " << slices << ", " << size << " elements";
    said += known[0] && slices > 1;
    beyond += !is_so && but_last && slices > 1;
  }
  EXPECT_GT(said, 150);
  EXPECT_GT(beyond, 200);
}

}  // namespace
}  // namespace strata::compile
