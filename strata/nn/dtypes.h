// In which dtype a layer computes.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>

#include "strata/api/numpy.h"

namespace strata::nn {

/// The dtype in which values meet: `dtype` where it is given, else their common one by promotion,
/// in which integers become f32. Throws Error where `inexact` and `dtype` is no float or complex
/// type. Source: Flax's canonicalize_dtype.
DType canonicalize_dtype(std::span<const Array> values, std::optional<DType> dtype,
                         bool inexact = true);
inline DType canonicalize_dtype(std::initializer_list<Array> values, std::optional<DType> dtype,
                                bool inexact = true) {
  return canonicalize_dtype(std::span(values.begin(), values.size()), dtype, inexact);
}
/// Casts each of the values that is there to the dtype in which they meet: x, kernel, bias.
/// Source: Flax's promote_dtype.
void promote_dtype(std::initializer_list<Array*> values, std::optional<DType> dtype,
                   bool inexact = true);

}  // namespace strata::nn
