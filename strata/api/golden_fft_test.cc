// How the functions of numpy/fft.h and lax/fft.h are called.
#include "strata/api/golden.h"
#include "strata/api/lax/fft.h"
#include "strata/api/numpy/fft.h"

namespace strata {
namespace {

namespace fft = numpy::fft;
using testing::Call;

fft::Line line(const Call& c) {
  return {.n = c.maybe("n"), .axis = c.integer("axis", -1), .norm = c.text("norm", "backward")};
}
fft::Plane plane(const Call& c) {
  fft::Plane out{.axes = c.integers("axes", {-2, -1}), .norm = c.text("norm", "backward")};
  if (c.has("s")) out.s = Sizes(c.integers("s"));
  return out;
}
fft::Space space(const Call& c) {
  fft::Space out{.norm = c.text("norm", "backward")};
  if (c.has("s")) out.s = Sizes(c.integers("s"));
  if (c.has("axes")) out.axes = Sizes(c.integers("axes"));
  return out;
}

#define STRATA_FFT(name, options) STRATA_GOLDEN("numpy.fft." #name, fft::name(c.x(0), options(c)))
STRATA_FFT(fft, line);
STRATA_FFT(ifft, line);
STRATA_FFT(rfft, line);
STRATA_FFT(irfft, line);
STRATA_FFT(hfft, line);
STRATA_FFT(ihfft, line);
STRATA_FFT(fft2, plane);
STRATA_FFT(ifft2, plane);
STRATA_FFT(rfft2, plane);
STRATA_FFT(irfft2, plane);
STRATA_FFT(fftn, space);
STRATA_FFT(ifftn, space);
STRATA_FFT(rfftn, space);
STRATA_FFT(irfftn, space);
STRATA_GOLDEN("numpy.fft.fftfreq", fft::fftfreq(c.integer("n"), c.number("d", 1), c.dtype()));
STRATA_GOLDEN("numpy.fft.rfftfreq", fft::rfftfreq(c.integer("n"), c.number("d", 1), c.dtype()));
STRATA_GOLDEN("numpy.fft.fftshift", fft::fftshift(c.x(0), c.axes("axes")));
STRATA_GOLDEN("numpy.fft.ifftshift", fft::ifftshift(c.x(0), c.axes("axes")));

lax::FftType type_named(const std::string& name) {
  return name == "FFT"    ? lax::FftType::FFT
         : name == "IFFT" ? lax::FftType::IFFT
         : name == "RFFT" ? lax::FftType::RFFT
                          : lax::FftType::IRFFT;
}
STRATA_GOLDEN("lax.fft",
              lax::fft(c.x(0), type_named(c.text("fft_type")), c.integers("fft_lengths")));

TEST(Fft, TypesAreFour) {
  testing::shows_names("lax.FftType");
  const Array x = numpy::array({1.0f, 2.0f, 4.0f, 8.0f});
  EXPECT_EQ(testing::type_of(lax::fft(x, lax::FftType::FFT, 4)), "c64[4]");
  EXPECT_EQ(testing::type_of(lax::fft(x, lax::FftType::IFFT, 4)), "c64[4]");
  EXPECT_EQ(testing::type_of(lax::fft(x, lax::FftType::RFFT, 4)), "c64[3]");
  EXPECT_EQ(testing::type_of(lax::fft(x, lax::FftType::IRFFT, 6)), "f32[6]");
}

}  // namespace
}  // namespace strata
