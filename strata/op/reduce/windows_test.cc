#include "strata/op/reduce/windows.h"

#include <gtest/gtest.h>

#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::run;
using testing::run_both;

Attrs window_attrs(const WindowDims& d) {
  Attrs attrs;
  set_window_attrs(attrs, d);
  return attrs;
}
const WindowDims kRows{.size = {3},
                       .stride = {2},
                       .base_dilation = {1},
                       .window_dilation = {1},
                       .low = {1},
                       .high = {1}};
const WindowDims kDilated{.size = {2, 2},
                          .stride = {1, 2},
                          .base_dilation = {2, 1},
                          .window_dilation = {2, 3},
                          .low = {3, -1},
                          .high = {0, 4}};

Sample sample(const char* what, const Type& type, const WindowDims& d, std::uint64_t seed) {
  return {.what = what,
          .operands = {random_literal(type, seed, 0, 9),
                       random_literal(Type::scalar(type.dtype()), seed + 1, 0, 9)},
          .attrs = window_attrs(d)};
}

const bool samples = add_samples("strata.windows", [](std::vector<Sample>& out) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i8, DType::ui64, DType::i1})
    out.push_back(sample("padded and strided", Type(t, {5}), kRows, 1));
  out.push_back(sample("dilated and cut", Type(DType::f32, {3, 6}), kDilated, 2));
  out.push_back(sample("empty", Type(DType::f32, {0, 6}), kDilated, 3));
  out.push_back(sample("no window fits", Type(DType::f32, {1}), {{4}, {1}, {1}, {1}, {0}, {0}}, 4));
  out.push_back(sample("rank 0", Type(DType::f32, Shape{}), WindowDims::trivial(0), 5));
});

TEST(Windows, ReadsPaddingOutsideAndBetween) {
  auto made = [](const WindowDims& d) {
    return [d](Builder& b, const Values& v) { return Values{windows(b, v[0], v[1], d)}; };
  };
  Literal y =
      run_both({Literal::of<std::int32_t>({5}, {1, 2, 3, 4, 5}), Literal::scalar(std::int32_t{0})},
               made(kRows))[0];
  EXPECT_TRUE(testing::same(y, Literal::of<std::int32_t>({3, 3}, {0, 2, 4, 1, 3, 5, 2, 4, 0})))
      << testing::to_text(y);
  WindowDims between{.size = {2},
                     .stride = {1},
                     .base_dilation = {2},
                     .window_dilation = {1},
                     .low = {0},
                     .high = {-1}};
  y = run_both({Literal::of<std::int32_t>({3}, {1, 2, 3}), Literal::scalar(std::int32_t{9})},
               made(between))[0];
  EXPECT_TRUE(testing::same(y, Literal::of<std::int32_t>({2, 3}, {1, 9, 2, 9, 2, 9})))
      << testing::to_text(y);
}

TEST(Windows, LoweringAndPlainOperationsAgree) {
  for (const Sample& s : samples_of("strata.windows")) {
    SCOPED_TRACE(s.what);
    Literal want = run_both(s.operands, [&](Builder& b, const Values& v) {
      return Values{b.create("strata.windows", v, s.attrs).result()};
    })[0];
    Literal plain = run(s.operands, [&](Builder& b, const Values& v) {
      const Op& op = b.create("strata.windows", v, s.attrs);
      return (*def(op).decompose)(b, op, v);
    })[0];
    EXPECT_TRUE(testing::same(plain, want)) << testing::to_text(plain);
  }
}

TEST(Windows, HugePaddingIsCounted) {
  WindowDims d{{1}, {1}, {INT64_MAX}, {1}, {INT64_MAX}, {INT64_MAX}};
  EXPECT_THROW(window_count(d, 0, Dim(INT64_MAX)), Error);
  d.low = {INT64_MIN};
  EXPECT_EQ(window_count(d, 0, Dim(1)).size(), 0);
}

}  // namespace
}  // namespace strata::op
