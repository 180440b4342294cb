// The small types that functions of jax.lax are told things by. Names of values are upstream's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strata/api/lax/precision.h"
#include "strata/api/options.h"

namespace strata::lax {

/// Which dimensions of a product are summed over, and which go along.
struct DotDimensionNumbers {
  std::vector<std::int64_t> lhs_contracting = {}, rhs_contracting = {}, lhs_batch = {},
                            rhs_batch = {};
};
/// Of ragged_dot_general: the one dimension of lhs that is cut into groups, and that of rhs which
/// counts groups, where there is one.
struct RaggedDotDimensionNumbers {
  DotDimensionNumbers dot_dimension_numbers = {};
  std::vector<std::int64_t> lhs_ragged_dimensions = {}, rhs_group_dimensions = {};
};
/// Which dimensions of a gather's operand, indices and result are which, as StableHLO says it.
struct GatherDimensionNumbers {
  std::vector<std::int64_t> offset_dims = {}, collapsed_slice_dims = {}, start_index_map = {},
                            operand_batching_dims = {}, start_indices_batching_dims = {};
};
/// Which dimensions of a scatter's operand, indices and updates are which, as StableHLO says it.
struct ScatterDimensionNumbers {
  std::vector<std::int64_t> update_window_dims = {}, inserted_window_dims = {},
                            scatter_dims_to_operand_dims = {}, operand_batching_dims = {},
                            scatter_indices_batching_dims = {};
};
/// What becomes of slices that are not inside. CLIP: moved until they are. FILL_OR_DROP: gather
/// gives a fill value, scatter leaves them out. PROMISE_IN_BOUNDS: there are none (where there are,
/// gather moves them and scatter leaves them out). ONE_HOT: as FILL_OR_DROP; upstream's other way
/// to compute the same.
enum class GatherScatterMode : std::uint8_t { CLIP, FILL_OR_DROP, PROMISE_IN_BOUNDS, ONE_HOT };

/// Dimensions by role: (batch, feature, spatial...) of the input and the output, (output feature,
/// input feature, spatial...) of the kernel.
struct ConvDimensionNumbers {
  std::vector<std::int64_t> lhs_spec, rhs_spec, out_spec;
  bool operator==(const ConvDimensionNumbers&) const = default;
};
/// The same as numbers, as letters (`{"NHWC", "HWIO", "NHWC"}`), or left out: batch, feature, then
/// the spatial dimensions.
class ConvGeneralDilatedDimensionNumbers {
 public:
  ConvGeneralDilatedDimensionNumbers() = default;
  ConvGeneralDilatedDimensionNumbers(ConvDimensionNumbers numbers)
      : numbers_(std::move(numbers)) {}  // NOLINT: implicit by intent
  ConvGeneralDilatedDimensionNumbers(std::string lhs, std::string rhs, std::string out)
      : letters_{{std::move(lhs), std::move(rhs), std::move(out)}} {}
  /// The dimensions, where they were given as numbers.
  const std::optional<ConvDimensionNumbers>& numbers() const { return numbers_; }
  /// The dimensions, where they were given as letters.
  const std::optional<std::array<std::string, 3>>& letters() const { return letters_; }

 private:
  std::optional<ConvDimensionNumbers> numbers_;
  std::optional<std::array<std::string, 3>> letters_;
};
/// What is added around the spatial dimensions of a window: "SAME", "SAME_LOWER", "VALID" (in any
/// case), or numbers before and after each.
class WindowPadding {
 public:
  WindowPadding(const char* name) : name_(name) {}             // NOLINT: implicit by intent
  WindowPadding(std::string name) : name_(std::move(name)) {}  // NOLINT
  WindowPadding(std::initializer_list<std::pair<std::int64_t, std::int64_t>> pairs)
      : pairs_(pairs) {}
  WindowPadding(std::vector<std::pair<std::int64_t, std::int64_t>> pairs)
      : pairs_(std::move(pairs)) {}  // NOLINT
  /// Empty where numbers are given.
  const std::string& name() const { return name_; }
  /// What stands before and behind along each dimension, where it was given in numbers.
  const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs() const { return pairs_; }

 private:
  std::string name_;
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs_;
};

/// Halves away from zero, or to the even neighbour.
enum class RoundingMethod : std::uint8_t { AWAY_FROM_ZERO, TO_NEAREST_EVEN };
/// Complex to complex and back, real to half of the complex numbers and back.
enum class FftType : std::uint8_t { FFT, IFFT, RFFT, IRFFT };
/// RNG_DEFAULT is RNG_PHILOX.
enum class RandomAlgorithm : std::uint8_t { RNG_DEFAULT, RNG_THREE_FRY, RNG_PHILOX };

}  // namespace strata::lax
