// What functions that need an order do with complex numbers: those that order them by their parts,
// as upstream, and those that say they have none.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::message_of;
using testing::type_of;
using Complex = std::complex<float>;

Array numbers() {
  return array(std::vector<Complex>{{1, 2}, {3, -1}, {3, 0.5f}, {-1, 0}, {-1, -1}});
}

/// Real parts, then imaginary parts.
std::vector<double> parts(const Array& x) {
  std::vector<double> out = numpy::real(x).to_vector<double>();
  for (double v : numpy::imag(x).to_vector<double>()) out.push_back(v);
  return out;
}
using Parts = std::vector<double>;

TEST(ComplexOrder, ExtremesGoByRealPartsThenImaginaryParts) {
  testing::shows_names("lax.reduce_max lax.reduce_min");
  const Array z = numbers();
  EXPECT_EQ(parts(lax::reduce_max(z, {0})), (Parts{3, 0.5}));
  EXPECT_EQ(parts(lax::reduce_min(z, {0})), (Parts{-1, -1}));
  EXPECT_EQ(type_of(lax::reduce_max(z, {0})), "c64[]");
  EXPECT_EQ(parts(jit([](Array z) { return lax::reduce_max(z, {0}); })(z)), (Parts{3, 0.5}));
  EXPECT_EQ(parts(vmap([](Array z) { return lax::reduce_max(z, {0}); })(stack({z, -z}))),
            (Parts{3, 1, 0.5, 1}));
  EXPECT_EQ(parts(lax::reduce_max(z[slice(0)], {0})), (Parts{-numpy::inf, 0}));
  EXPECT_EQ(parts(lax::cummin(z)), (Parts{1, 1, 1, -1, -1, 2, 2, 2, 0, -1}));
  EXPECT_EQ(parts(lax::cummax(z, 0, true)), (Parts{3, 3, 3, -1, -1, 0.5, 0.5, 0.5, 0, -1}));
  EXPECT_EQ(parts(lax::max(z, lax::rev(z, {0}))), (Parts{1, 3, 3, 3, 1, 2, -1, 0.5, -1, 2}));
  EXPECT_TRUE(
      numpy::isnan(lax::reduce_max(array(std::vector<Complex>{{1, 2}, {NAN, 0}, {3, 0}}), {0}))
          .item<bool>());
  EXPECT_EQ(parts(grad([](Array z) {
              return numpy::real(lax::reduce_max(z * Array(Complex(1, 0)), {0}));
            })(array(std::vector<Complex>{{1, 2}, {3, -1}}))),
            (Parts{0, 1, 0, 0}));
}

/// The result, or an Error of the user's: nothing else may come out of these.
TEST(ComplexOrder, OthersAnswerOrRefuse) {
  const Array z = numbers();
  const Array ids = array({0, 0, 1, 1, 1});
  EXPECT_THAT(message_of([&] { (void)lax::argmax(z, 0, int32); }),
              ::testing::HasSubstr("complex numbers have no order, got c64[5]"));
  EXPECT_THAT(message_of([&] { (void)numpy::argmin(z); }),
              ::testing::HasSubstr("complex numbers have no order"));
  EXPECT_THAT(message_of([&] { (void)numpy::nanargmax(z); }),
              ::testing::HasSubstr("complex numbers have no order"));
  EXPECT_THAT(message_of([&] { (void)lax::top_k(z, 2); }),
              ::testing::HasSubstr("complex numbers have no order"));
  EXPECT_THAT(message_of([&] { (void)lax::cumlogsumexp(z); }),
              ::testing::HasSubstr("real floats are needed"));
  EXPECT_THAT(message_of([&] { (void)ops::segment_max(z, ids); }),
              ::testing::HasSubstr("complex numbers have no order"));
  EXPECT_THAT(message_of([&] { (void)numpy::median(z); }),
              ::testing::HasSubstr("complex numbers have no order"));
  EXPECT_THAT(message_of([&] { (void)numpy::clip(z, 0, 1); }), ::testing::HasSubstr("complex"));
  EXPECT_THAT(message_of([&] { (void)scipy::special::owens_t(z, z); }),
              ::testing::HasSubstr("owens_t: complex numbers have no order, got c64[5]"));
  auto at_most = [](Array a, Array b) { return lax::max(a, b); };
  EXPECT_THAT(message_of([&] { (void)lax::reduce(z, Array(Complex(-INFINITY, 0)), at_most, {0}); }),
              ::testing::HasSubstr("combiner max does not exist for complex<f32>"));
  EXPECT_EQ(parts(lax::associative_scan(at_most, z)), (Parts{1, 3, 3, 3, 3, 2, -1, 0.5, 0.5, 0.5}));
  EXPECT_EQ(parts(lax::clamp(z, z, z)), parts(z));
}

}  // namespace
}  // namespace strata
