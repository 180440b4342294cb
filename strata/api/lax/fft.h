// jax.lax.fft.
#pragma once

#include "strata/api/array.h"
#include "strata/api/lax/types.h"

namespace strata::lax {

/// The discrete Fourier transform over the last dimensions, whose lengths these are (of IRFFT those
/// of the result), any number of them: more than three are done in turn. RFFT takes real arrays,
/// integers as floats; the others take all, as complex numbers. Inverse transforms divide by the
/// number of elements. Throws Error for complex operands of RFFT, for f16 and bf16 there, and for
/// lengths that are not the operand's.
Array fft(const Operand& x, FftType fft_type, const Sizes& fft_lengths);

}  // namespace strata::lax
