#include "strata/api/lax/fft.h"

#include "strata/api/compose.h"

namespace strata::lax {
namespace {

using internal::cast;
using internal::describe;
using internal::fail;

/// The complex dtype of a number's precision.
DType complex_dtype(DType d) { return is_complex(d) ? d : internal::inexact({d}).dtype == DType::f64 ? DType::c128 : DType::c64; }

Array converted(const Array& x, FftType type) {
  if (type != FftType::RFFT) return cast(x, {complex_dtype(x.dtype()), false});
  if (is_complex(x.dtype())) fail("fft", "RFFT takes real numbers, got {}", describe(x.type()));
  return internal::as_inexact(x);
}

}  // namespace

Array fft(const Operand& operand, FftType fft_type, const Sizes& fft_lengths) {
  internal::Site site(operand);
  static constexpr const char* names[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  const Array x = converted(operand, fft_type);
  if (fft_lengths.size() == 0) return x;
  // The operation takes the sizes as they are; here they are also a check.
  for (std::size_t i = 0; i < fft_lengths.size() && fft_lengths.size() <= static_cast<std::size_t>(x.ndim()); ++i) {
    const std::int64_t n = fft_lengths[i], size = x.shape()[x.ndim() - static_cast<int>(fft_lengths.size() - i)];
    const bool halved = fft_type == FftType::IRFFT && i + 1 == fft_lengths.size();
    if (size != (halved ? n / 2 + 1 : n)) fail("fft", "a transform of length {} does not fit the size {} of {}", n, size, describe(x.type()));
  }
  return internal::emit_one({x}, false, [&](internal::Builder& b, const internal::Values& v) {
    return b.create("stablehlo.fft", v, {{"fft_type", std::string(names[static_cast<int>(fft_type)])}, {"fft_length", fft_lengths.get()}}).result();
  });
}

}  // namespace strata::lax
