// The discrete Fourier transform under jax.lax's name.
#pragma once

#include "strata/api/array.h"
#include "strata/api/lax/types.h"

namespace strata::lax {

/// Over the last dimensions, one to three, whose sizes are `fft_lengths` (on the real side, where there is one); those before them are a batch. x becomes
/// complex, of RFFT a float. IFFT and IRFFT divide by the number of elements. Without lengths x itself.
Array fft(const Operand& x, FftType fft_type, const Sizes& fft_lengths);

}  // namespace strata::lax
