// Random numbers under jax.lax's names; programs that draw use strata::random.
#pragma once

#include <utility>

#include "strata/api/array.h"
#include "strata/api/lax/types.h"

namespace strata::lax {

/// The next key, and bits of a shape: ui8, ui16, ui32 or ui64. A key is u32[4] (two words of 64
/// bits, the lower half first) or u64[2]. The bits are XLA's.
[[nodiscard]] std::pair<Array, Array> rng_bit_generator(
    const Operand& key, const Sizes& shape, DType dtype = DType::ui32,
    RandomAlgorithm algorithm = RandomAlgorithm::RNG_DEFAULT);
/// Numbers in [a, b), scalars of one dtype. Which ones is each library's own choice, and here the
/// same at every call.
Array rng_uniform(const Operand& a, const Operand& b, const Sizes& shape);

}  // namespace strata::lax
