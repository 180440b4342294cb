// Methods of arrays are the functions of the same name; arrays as numbers, and row by row.
#include <ranges>

#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using ::testing::HasSubstr;
using testing::message_of;
namespace snp = numpy;

void expect_same(const Array& got, const Array& want, Where where = Where::current()) {
  ::testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expect_same");
  EXPECT_EQ(got.type(), want.type());
  EXPECT_TRUE(got.literal().same_bits(want.literal())) << got << "\nnot\n" << want;
}

Array sample() { return array({{3.5f, -1.25f, 2.0f}, {0.0f, 7.0f, -4.5f}}); }

TEST(Methods, Reductions) {
  const Array x = sample();
#define STRATA_CHECK_REDUCTION(name, function)                   \
  expect_same(x.name(), snp::function(x));                       \
  expect_same(x.name(1), snp::function(x, 1));                   \
  expect_same(x.name({0, 1}), snp::function(x, {0, 1}));         \
  expect_same(x.name({.axis = -1, .keepdims = true}),            \
              snp::function(x, {.axis = -1, .keepdims = true})); \
  EXPECT_THAT(message_of([&] { (void)x.name(7); }), HasSubstr("methods_test.cc"));
  STRATA_CHECK_REDUCTION(sum, sum)
  STRATA_CHECK_REDUCTION(prod, prod)
  STRATA_CHECK_REDUCTION(mean, mean)
  STRATA_CHECK_REDUCTION(max, max)
  STRATA_CHECK_REDUCTION(min, min)
  STRATA_CHECK_REDUCTION(any, any)
  STRATA_CHECK_REDUCTION(all, all)
  STRATA_CHECK_REDUCTION(var, var)
  STRATA_CHECK_REDUCTION(std, std_)
#undef STRATA_CHECK_REDUCTION
  expect_same(x.var({.axis = 0, .ddof = 1}), snp::var(x, {.axis = 0, .ddof = 1}));
}

TEST(Methods, PositionsAndOrder) {
  const Array x = sample();
  expect_same(x.argmax(), snp::argmax(x));
  expect_same(x.argmax(1), snp::argmax(x, 1));
  expect_same(x.argmin({.axis = 0, .keepdims = true}),
              snp::argmin(x, {.axis = 0, .keepdims = true}));
  expect_same(x.argmin(), snp::argmin(x));
  expect_same(x.argmin(-1), snp::argmin(x, -1));
  expect_same(x.cumsum(), snp::cumsum(x));
  expect_same(x.cumsum(1), snp::cumsum(x, 1));
  expect_same(x.cumprod({.axis = 0}), snp::cumprod(x, 0));
  expect_same(x.cumprod(), snp::cumprod(x));
  expect_same(x.sort(), snp::sort(x));
  expect_same(x.sort(0), snp::sort(x, 0));
  expect_same(x.argsort({.descending = true}), snp::argsort(x, {.descending = true}));
  expect_same(x.argsort(0), snp::argsort(x, 0));
  expect_same(x.argpartition(1), snp::argpartition(x, 1));
  const Array sorted = array({1.0f, 2.0f, 3.0f});
  expect_same(sorted.searchsorted(2.0f, "right"), snp::searchsorted(sorted, 2.0f, "right"));
}

TEST(Methods, Shapes) {
  const Array x = arange(24).reshape(2, 3, -1);
  expect_same(x, arange(24).reshape({2, 3, 4}));
  expect_same(x.reshape(-1), snp::ravel(x));
  expect_same(x.ravel(), snp::ravel(x));
  expect_same(x.flatten(), snp::ravel(x));
  expect_same(x.T(), snp::transpose(x));
  expect_same(x.transpose(2, 0, 1), snp::transpose(x, {2, 0, 1}));
  expect_same(x.transpose({2, 0, 1}), snp::transpose(x, {2, 0, 1}));
  expect_same(x.mT(), snp::matrix_transpose(x));
  expect_same(x.swapaxes(0, 2), snp::swapaxes(x, 0, 2));
  expect_same(x.reshape(24, 1, 1).squeeze(), arange(24));
  expect_same(x.reshape(24, 1, 1).squeeze(2), arange(24).reshape(24, 1));
  expect_same(x.repeat(2, 1), snp::repeat(x, 2, 1));
  expect_same(x.diagonal(1), snp::diagonal(x, {.offset = 1}));
  expect_same(x.trace(0, 1, 2), snp::trace(x, {.axis1 = 1, .axis2 = 2}));
  EXPECT_THAT(message_of([&] { (void)x.reshape(5, 5); }), HasSubstr("methods_test.cc"));
  EXPECT_THAT(message_of([&] { (void)x.transpose(0, 0, 1); }), HasSubstr("methods_test.cc"));
}

TEST(Methods, Elements) {
  const Array x = sample(), z = array({std::complex<float>(1, 2), std::complex<float>(3, -4)});
  expect_same(x.clip(-1.0f, 3.0f), snp::clip(x, -1.0f, 3.0f));
  expect_same(x.clip(none, 3.0f), snp::clip(x, none, 3.0f));
  expect_same(x.clip(0.0f), snp::clip(x, 0.0f, none));
  expect_same(x.round(1), snp::round(x, 1));
  expect_same(z.conj(), snp::conj(z));
  expect_same(z.conjugate(), snp::conj(z));
  expect_same(z.real(), snp::real(z));
  expect_same(z.imag(), snp::imag(z));
  expect_same(x.astype(int32), snp::astype(x, int32));
  expect_same(x.copy(), x);
  expect_same(x.dot(x.T()), snp::dot(x, x.T()));
  expect_same(x.take(array({1, 0}), 1), snp::take(x, array({1, 0}), 1));
  expect_same(array({1, 0}).choose({array({1, 2}), array({3, 4})}), array({3, 2}));
  expect_same(x.compress(array({false, true}), 0), snp::compress(array({false, true}), x, 0));
  ASSERT_EQ(x.nonzero().size(), 2u);
  expect_same(x.nonzero()[1], snp::nonzero(x)[1]);
  EXPECT_EQ(x.itemsize(), 4u);
  EXPECT_EQ(x.nbytes(), 24u);
}

TEST(Methods, ViewReadsTheSameBytes) {
  const Array x = array({1.0f, -2.0f});
  expect_array(x.view(int32), "i32[2]", {1065353216, -1073741824});
  expect_array(x.view(uint16), "ui16[4]", {0, 16256, 0, 49152});
  expect_same(x.view(uint16).view(float32), x);
  expect_same(x.view(uint8).reshape(2, 4).view(float32), x.reshape(2, 1));
  EXPECT_THAT(message_of([] { (void)arange(3).astype(uint16).view(float32); }),
              HasSubstr("view: the last axis of ui16[3] does not fill whole elements of f32"));
  EXPECT_THAT(message_of([] { (void)array(1.0f).view(uint8); }),
              HasSubstr("view: a scalar of f32 has no axis to become ui8 along"));
}

TEST(Methods, WorkInTransforms) {
  auto f = [](Array x) { return (x.reshape(3, 2).T().sum(1) * x.max()).sum(); };
  const Array x = sample();
  expect_same(jit(f)(x), f(x));
  EXPECT_EQ(grad(f)(x).shape(), x.shape());
}

TEST(Numbers, AreMadeOfArraysOfOneElement) {
  EXPECT_EQ(float(array(2.5f)), 2.5f);
  EXPECT_EQ(static_cast<double>(array({{1.25f}})), 1.25);
  EXPECT_EQ(int(array(7)), 7);
  EXPECT_EQ(static_cast<std::int64_t>(array(-3.75f)), -3);
  EXPECT_EQ(std::complex<double>(array(std::complex<float>(1, 2))), std::complex<double>(1, 2));
  const double d(sample().sum() / 1.0f);
  EXPECT_EQ(d, 6.75);
  EXPECT_THAT(message_of([] { (void)float(sample()); }), HasSubstr("6 elements"));
  static_assert(!std::is_convertible_v<Array, float>, "only where it is asked for");
}

TEST(Rows, AreWhatARangeForSees) {
  const Array x = sample();
  std::vector<Array> rows;
  for (Array row : x) rows.push_back(row);
  ASSERT_EQ(rows.size(), 2u);
  expect_same(rows[1], x[1]);
  float total = 0;
  for (const Array& v : arange(5)) total += float(v);
  EXPECT_EQ(total, 10);
  for (Array row : zeros({0, 3})) ADD_FAILURE() << row;
  static_assert(std::forward_iterator<Array::Rows>);
  EXPECT_EQ(std::ranges::distance(x.begin(), x.end()), 2);
  EXPECT_THAT(
      message_of([] {
        for (Array row : array(1.0f)) (void)row;
      }),
      ::testing::AllOf(HasSubstr("a scalar has no rows: f32[]"), HasSubstr("methods_test.cc")));
  auto f = [](Array y) {
    Array all = 0.0f;
    for (Array row : y) all = all * 2 + row.sum();
    return all;
  };
  expect_same(jit(f)(x), f(x));
}

}  // namespace
}  // namespace strata
