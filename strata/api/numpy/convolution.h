// Convolution and correlation of vectors, and interpolation between given points.
#pragma once

#include <optional>
#include <string>

#include "strata/api/array.h"
#include "strata/api/lax/precision.h"

namespace strata::numpy {

struct Convolve {
  internal::Named named = internal::Named();
  /// As of lax::conv_general_dilated. With a preferred type integers stay what they are.
  lax::Precision precision = lax::Precision::DEFAULT;
  std::optional<DType> preferred_element_type = std::nullopt;
};
/// Sums of products of one vector with the other, reversed, at each shift: all shifts ("full"), as
/// many as the longer has elements
/// ("same"), those where one covers the other ("valid"). Floats and complex numbers; integers
/// become floats.
Array convolve(const Operand& x, const Operand& y, const std::string& mode = "full",
               const Convolve& options = {});
/// Sums of products of x with y, conjugated and not reversed, at each shift; `mode` as of
/// `convolve`.
Array correlate(const Operand& x, const Operand& y, const std::string& mode = "valid",
                const Convolve& options = {});

/// What `interp` has beyond an end: a number, or "extrapolate".
class Beyond {
 public:
  template <Scalar T>
  Beyond(T value) : value_(Array(value)) {}          // NOLINT: implicit by intent
  Beyond(Array value) : value_(std::move(value)) {}  // NOLINT
  Beyond(const char* way) : way_(way) {}             // NOLINT
  /// The number that stands beyond the points, where one was given.
  const std::optional<Array>& value() const { return value_; }
  /// How what is beyond the points is found, where that was given by name.
  const std::string& way() const { return way_; }

 private:
  std::optional<Array> value_;
  std::string way_;
};
struct Interp {
  internal::Named named = internal::Named();
  /// fp's first and last element unless given. With a period there is no beyond.
  std::optional<Beyond> left = std::nullopt, right = std::nullopt;
  std::optional<Array> period = std::nullopt;
};
/// Linear interpolation at x between points (xp, fp), xp rising.
Array interp(const Operand& x, const Operand& xp, const Operand& fp, const Interp& options = {});

struct Unwrap {
  internal::Named named = internal::Named();
  /// The least jump that is taken away; half a period unless given.
  std::optional<Array> discont = std::nullopt;
  std::int64_t axis = -1;
  /// 2 pi unless given.
  std::optional<Array> period = std::nullopt;
};
/// Angles whose jumps between neighbours are less than half a period, by adding whole periods.
Array unwrap(const Operand& x, const Unwrap& options = {});

}  // namespace strata::numpy

namespace strata {

using numpy::convolve;
using numpy::correlate;
using numpy::interp;
using numpy::unwrap;

}  // namespace strata
