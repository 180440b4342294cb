// Results whose length depends on values: inside of traces with `size`, and an error that says so
// without.
#include "strata/api/testing.h"

namespace strata {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using testing::expect_array;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::StartsWith;
namespace snp = strata::numpy;

/// The message of f in a program of one vector.
template <class F>
std::string refused(F f) {
  return message_of([&] { (void)jit(f)(array({3, 0, 3, 1})); });
}

TEST(Sized, WithoutASizeTracesAreRefused) {
  const auto says = [](const char* name,
                       const char* instead =
                           "give size, or call it outside of jit, vmap and grad") {
    return AllOf(StartsWith(std::string(name) +
                            ": the shape of the result depends on the elements of i32[4], an "
                            "argument of the function traced at nonzero_test.cc:19, "),
                 HasSubstr(std::string("which is traced; ") + instead + " [at nonzero_test.cc:"));
  };
  EXPECT_THAT(refused([](Array x) { return snp::nonzero(x); }), says("nonzero"));
  EXPECT_THAT(refused([](Array x) { return snp::flatnonzero(x); }), says("flatnonzero"));
  EXPECT_THAT(refused([](Array x) { return snp::argwhere(x); }), says("argwhere"));
  EXPECT_THAT(refused([](Array x) { return snp::extract(x, ones({4})); }), says("extract"));
  EXPECT_THAT(refused([](Array x) { return snp::unique(x); }), says("unique"));
  EXPECT_THAT(refused([](Array x) { return snp::unique_counts(x).counts; }), says("unique_counts"));
  EXPECT_THAT(refused([](Array x) { return snp::union1d(x, x); }), says("union1d"));
  EXPECT_THAT(refused([](Array x) { return snp::union1d(array({1}), x); }), says("union1d"));
  EXPECT_THAT(refused([](Array x) { return snp::intersect1d(x, x); }), says("intersect1d"));
  EXPECT_THAT(refused([](Array x) { return snp::setdiff1d(array({1}), x); }), says("setdiff1d"));
  EXPECT_THAT(refused([](Array x) { return snp::setxor1d(x, x); }), says("setxor1d"));
  EXPECT_THAT(refused([](Array x) { return snp::trim_zeros(x); }),
              says("trim_zeros", "call it outside of jit, vmap and grad"));
  EXPECT_THAT(refused([](Array x) { return snp::bincount(x); }),
              says("bincount", "give length, or call it outside of jit, vmap and grad"));
  EXPECT_THAT(refused([](Array x) { return ops::segment_sum(ones({4}), x); }),
              says("segment_sum", "give num_segments, or call it outside of jit, vmap and grad"));
  EXPECT_THAT(refused([](Array x) { return snp::choose(x, {x, x, x, x}); }),
              says("choose", "mode \"wrap\" and \"clip\" work in jit, vmap and grad"));
}

TEST(Sized, WithASizeTracesAreFine) {
  const Array x = array({3, 0, 3, 1});
  expect_array(jit([](Array v) { return snp::flatnonzero(v, {.size = 4, .fill_value = -1}); })(x),
               "i32[4]", {0, 2, 3, -1});
  expect_array(jit([](Array v) { return snp::unique(v, {.size = 4, .fill_value = 9}); })(x),
               "i32[4]", {0, 1, 3, 9});
  expect_array(jit([](Array v) { return snp::setxor1d(v, array({3, 7}), {.size = 3}); })(x),
               "i32[3]", {0, 1, 7});
  expect_array(jit([](Array v) { return snp::intersect1d(v, array({3, 7}), {.size = 2}); })(x),
               "i32[2]", {3, 3});
  expect_array(jit([](Array v) { return snp::bincount(v, {.length = 4}); })(x), "i32[4]",
               {1, 1, 0, 2});
  expect_array(jit([](Array v) {
                 return ops::segment_sum(array({1.0f, 2.0f, 4.0f, 8.0f}), v, {.num_segments = 4});
               })(x),
               "f32[4]", {2, 8, 0, 5});
  expect_array(
      vmap([](Array v) { return snp::flatnonzero(v, {.size = 2}); })(array({{0, 1, 1}, {1, 0, 0}})),
      "i32[2,2]", {1, 2, 0, 0});
  // Known arrays stay known while a program is recorded.
  expect_array(jit([&](Array v) { return v[snp::nonzero(x)[0]]; })(array({5, 6, 7, 8})), "i32[3]",
               {5, 7, 8});
  expect_array(grad([](Array v) {
                 return sum(ops::segment_sum(v, array({1, 0, 1}), {.num_segments = 2}) *
                            array({2.0f, 3.0f}));
               })(ones({3})),
               "f32[3]", {3, 2, 3});
}

TEST(Sized, ASizeIsNotNegative) {
  EXPECT_THAT(message_of([] { (void)snp::flatnonzero(ones({2}), {.size = -1}); }),
              AllOf(StartsWith("flatnonzero: size is at least 0, got -1 [at nonzero_test.cc:"),
                    EndsWith("]")));
}

}  // namespace
}  // namespace strata
