// fft against the definition, its samples, its constraints.
#include <cmath>
#include <complex>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/legalize.h"
#include "strata/op/samples.h"
#include "strata/op/testing/refused.h"

namespace strata::op {
namespace {

Literal complex_numbers(DType dtype, Shape shape, std::uint64_t seed) {
  std::vector<Dim> dims = shape.dims();
  dims.emplace_back(2);
  Literal parts = random_literal(
      Type(dtype == DType::c64 ? DType::f32 : DType::f64, Shape(std::move(dims))), seed);
  return Literal(Type(dtype, std::move(shape)), parts.storage());
}

Attrs transform(const char* type, Ints lengths) {
  return {{"fft_type", std::string(type)}, {"fft_length", std::move(lengths)}};
}

const bool registered = add_samples("stablehlo.fft", [](std::vector<Sample>& out) {
  out.push_back({.what = "mixed radix",
                 .operands = {complex_numbers(DType::c64, {2, 60}, 1)},
                 .attrs = transform("FFT", {60})});
  out.push_back({.what = "a prime, in c128",
                 .operands = {complex_numbers(DType::c128, {37}, 2)},
                 .attrs = transform("IFFT", {37})});
  out.push_back({.what = "three dimensions",
                 .operands = {complex_numbers(DType::c128, {2, 3, 4, 5}, 3)},
                 .attrs = transform("FFT", {3, 4, 5})});
  out.push_back({.what = "of real numbers",
                 .operands = {random_literal(Type(DType::f64, {3, 6}), 4)},
                 .attrs = transform("RFFT", {6}),
                 .smooth = false});
  out.push_back({.what = "to real numbers",
                 .operands = {complex_numbers(DType::c64, {4, 3}, 5)},
                 .attrs = transform("IRFFT", {4, 5})});
  out.push_back({.what = "to real numbers, with a frequency in the middle",
                 .operands = {complex_numbers(DType::c128, {2, 4}, 8)},
                 .attrs = transform("IRFFT", {6})});
  out.push_back({.what = "no transform",
                 .operands = {complex_numbers(DType::c64, {0, 4}, 6)},
                 .attrs = transform("FFT", {4})});
  out.push_back({.what = "no elements",
                 .operands = {random_literal(Type(DType::f32, {2, 0}), 7)},
                 .attrs = transform("RFFT", {0}),
                 .smooth = false});
});

Literals run(const Literal& x, const Attrs& attrs) {
  Block block;
  Builder b(block);
  block.results = b.create("stablehlo.fft", {block.add_argument(x.type())}, attrs).results();
  return evaluate(block, std::vector<Literal>{x});
}

/// The definition, in extended precision: the largest error over the largest element, in units of
/// f64's precision.
double error_of_length(std::int64_t n, bool inverse) {
  Literal x = complex_numbers(DType::c128, {n}, static_cast<std::uint64_t>(n));
  Literal y = run(x, transform(inverse ? "IFFT" : "FFT", {n}))[0];
  auto in = x.span<std::complex<double>>(), out = y.span<std::complex<double>>();
  long double worst = 0, scale = 0, pi = std::acos(-1.0L);
  for (std::int64_t k = 0; k < n; ++k) {
    std::complex<long double> sum = 0;
    for (std::int64_t j = 0; j < n; ++j)
      sum += std::complex<long double>(in[static_cast<std::size_t>(j)]) *
             std::polar(1.0L, (inverse ? 2 : -2) * pi * static_cast<long double>(j * k % n) /
                                  static_cast<long double>(n));
    if (inverse) sum /= static_cast<long double>(n);
    worst = std::max(worst,
                     std::abs(sum - std::complex<long double>(out[static_cast<std::size_t>(k)])));
    scale = std::max(scale, std::abs(sum));
  }
  return static_cast<double>(worst / scale) * 0x1p53;
}

TEST(fft, of_any_length_is_the_definition) {
  for (std::int64_t n :
       {1,  2,  3,  4,  5,  6,  7,  8,  9,   11,  12,  13,  16,  17,  30,  31,  32,   36,  37,
        41, 49, 59, 60, 61, 64, 67, 97, 100, 101, 128, 210, 243, 256, 257, 625, 1000, 1009})
    for (bool inverse : {false, true}) EXPECT_LT(error_of_length(n, inverse), 6) << "length " << n;
}

TEST(fft, of_real_numbers_is_half_of_the_complex_one) {
  Literal x = random_literal(Type(DType::f64, {2, 6, 7}), 1);
  Literal half = run(x, transform("RFFT", {6, 7}))[0];
  EXPECT_EQ(half.type().to_string(), "tensor<2x6x4xcomplex<f64>>");
  Literal back = run(half, transform("IRFFT", {6, 7}))[0];
  for (std::int64_t i = 0; i < x.count(); ++i) EXPECT_NEAR(back.number(i), x.number(i), 1e-14);
}

TEST(fft, reads_and_writes_complex_memory_as_it_lies) {
  Block block;
  Builder b(block);
  block.results =
      b.create("stablehlo.fft", {block.add_argument(Type(DType::c64, {8}))}, transform("FFT", {8}))
          .results();
  std::unique_ptr<Block> legal = legalize(block);
  Op* op = legal->results[0]->op();
  ASSERT_TRUE(op != nullptr && op->name() == "stablehlo.fft");
  EXPECT_EQ(op->operand(0), legal->argument(0));
}

using fft_ = testing::Constraint;
TEST_F(fft_, c1) {
  EXPECT_REFUSED(create("stablehlo.fft", {array(DType::c64, {4})}, transform("FFT", {2, 4})),
                 "fft: (C1) fft_length has 2 entries");
}
TEST_F(fft_, c2) {
  EXPECT_REFUSED(create("stablehlo.fft", {f32({4})}, transform("FFT", {4})),
                 "(C2) FFT takes complex numbers, got tensor<4xf32>");
  EXPECT_REFUSED(create("stablehlo.fft", {array(DType::c64, {4})}, transform("RFFT", {4})),
                 "(C2) RFFT takes f32 or f64");
}
TEST_F(fft_, c3) {
  EXPECT_REFUSED(create("stablehlo.fft", {array(DType::c64, {4})}, transform("FFT", {})),
                 "(C3) fft_length must have 1 to 3 entries, got 0");
}
TEST_F(fft_, c4) {
  EXPECT_REFUSED(create("stablehlo.fft", {f32({4})}, transform("RFFT", {5})),
                 "(C4) dimension 0 of tensor<4xf32>");
}
TEST_F(fft_, c5) {
  EXPECT_REFUSED(create("stablehlo.fft", {array(DType::c64, {4})}, transform("IRFFT", {4})),
                 "(C5) IRFFT of length 4 takes 3");
}

}  // namespace
}  // namespace strata::op
