// States of few bits: moments held as codes of 8 bits with a scale for each block.
//
//   optim::quantized_state(optim::adamw(1e-3))                        // 8 bits, dynamic map
//   optim::quantized_state(optim::lion(1e-4), {.format = "fp8"})
//
// The rule computes in f32 on decoded moments; what it leaves is encoded again. A field
// `0/mu/PATH` of the inner state is `0/mu/PATH/codes` (in the leaf's shape) and `0/mu/PATH/scales`
// (f32, one for each block of elements in row-major order, the last one may be short). Source:
// Dettmers et al., 8-bit Optimizers via Block-wise Quantization (2022); torchao's optim.
#pragma once

#include <array>

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/options.h"

namespace strata::optim {

/// How elements of a block become codes, given their largest magnitude s:
///   dynamic  ui8, the nearest of 256 values of s times a map whose exponents reach 1e-7;
///   linear   ui8, round(127 x / s) + 128, of unsigned fields round(255 x / s);
///   fp8      f8E4M3FN, x / (s / 448).
enum class StateFormat { dynamic, linear, fp8 };

/// The 256 values of the dynamic map in their order, of signed fields or unsigned ones, whose least
/// is 0.
const std::array<float, 256>& dynamic_map(bool is_signed);

/// An array's codes and scales.
struct QuantizedBlocks {
  Array codes, scales;
};
/// Encodes x, of any float dtype, in blocks of `block_size` elements. Between two values of the
/// dynamic map the upper one takes the middle. Throws Error for a block_size below 1.
QuantizedBlocks quantize_blocks(const Array& x, StateFormat format, bool is_signed,
                                std::int64_t block_size = 256);
/// The f32 values that codes and scales stand for.
Array dequantize_blocks(const QuantizedBlocks& blocks, StateFormat format, bool is_signed,
                        std::int64_t block_size = 256);

struct QuantizedStateOptions {
  strata::internal::Named named = strata::internal::Named();
  /// "dynamic", "linear" or "fp8".
  std::string format = "dynamic";
  std::int64_t block_size = 256;
  /// Leaves of fewer elements stay as they are.
  std::int64_t min_size = 4096;
  /// Fields of the inner state that are encoded, by name: those of any sign, and those that are
  /// never negative.
  std::vector<std::string> signed_fields = {"mu", "trace", "ema"},
                           unsigned_fields = {"nu", "nu_max", "sum_of_squares"};
  STRATA_FIELDS(format, block_size, min_size, signed_fields, unsigned_fields)
};
/// `inner` with encoded moments. Throws Error for a format that is none, and, at init, where the
/// inner state has none of the fields.
GradientTransformation quantized_state(GradientTransformation inner,
                                       QuantizedStateOptions options = {});

}  // namespace strata::optim
