// How exact a result is to be, under the names of jax.lax: precisions and algorithms of products,
// accuracies of functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "strata/api/options.h"

namespace strata::lax {

/// How exact a product is at least. Every product here is of full precision, accumulated in f32 or
/// wider, so that all three give the same.
enum class Precision : std::uint8_t { DEFAULT, HIGH, HIGHEST };

/// An algorithm for products in its parts: the types to which the operands are rounded, the type of
/// the sum, into how many parts operands are cut, and how many products of parts there are. CPUs
/// have none but presets, upstream too, so that a product which is told one is an error.
struct DotAlgorithm {
  DType lhs_precision_type, rhs_precision_type, accumulation_type;
  std::int64_t lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1;
  bool allow_imprecise_accumulation = false;
};

/// Algorithms with names: types of the operands, then of the sum. CPUs have DEFAULT, F16_F16_F16,
/// BF16_BF16_F32, its _X3 and _X6 (more parts, for f32 operands), F32_F32_F32 and F64_F64_F64.
enum class DotAlgorithmPreset : std::uint8_t {
  DEFAULT,
  ANY_F8_ANY_F8_F32,
  ANY_F8_ANY_F8_F32_FAST_ACCUM,
  ANY_F8_ANY_F8_ANY,
  ANY_F8_ANY_F8_ANY_FAST_ACCUM,
  F16_F16_F16,
  F16_F16_F32,
  BF16_BF16_BF16,
  BF16_BF16_F32,
  BF16_BF16_F32_X3,
  BF16_BF16_F32_X6,
  BF16_BF16_F32_X9,
  TF32_TF32_F32,
  TF32_TF32_F32_X3,
  F32_F32_F32,
  F64_F64_F64,
};
/// "BF16_BF16_F32"
std::string name(DotAlgorithmPreset preset);

/// What a product is told of its precision: one of the three above.
class DotPrecision {
 public:
  DotPrecision(Precision precision = Precision::DEFAULT)
      : said_(precision) {}                                   // NOLINT: implicit by intent
  DotPrecision(DotAlgorithm algorithm) : said_(algorithm) {}  // NOLINT
  DotPrecision(DotAlgorithmPreset preset) : said_(preset) {}  // NOLINT
  /// The algorithm, where one was given by its parts.
  const DotAlgorithm* algorithm() const { return std::get_if<DotAlgorithm>(&said_); }
  /// The algorithm, where one was given by name.
  const DotAlgorithmPreset* preset() const { return std::get_if<DotAlgorithmPreset>(&said_); }
  /// The precision, where one was given and no algorithm.
  const Precision* precision() const { return std::get_if<Precision>(&said_); }

 private:
  std::variant<Precision, DotAlgorithm, DotAlgorithmPreset> said_;
};

/// In which types a preset multiplies operands of a common result type, and how a program writes
/// it.
struct DotTypes {
  DType lhs, rhs, accumulation;
  /// "#stablehlo.dot_algorithm<...>", or empty for DEFAULT.
  std::string text;
};
/// The types for operands and a result of these. Throws Error in the name of dot_general for what
/// CPUs do not have.
DotTypes dot_types(const DotPrecision& precision, DType lhs, DType rhs, DType result);

/// Of a function's implementations: the most exact one, or the usual one.
enum class AccuracyMode : std::uint8_t { HIGHEST = 1, DEFAULT = 2 };
/// How far a function's result may be from the true value: by an absolute difference, a relative
/// one, or units in the last place. Throws Error for negative numbers, and when nothing is allowed.
class Tolerance {
 public:
  explicit Tolerance(double atol = 0, double rtol = 0, std::int64_t ulps = 0);
  double atol, rtol;
  std::int64_t ulps;
};
/// What a function is told of its accuracy: nothing, a mode or a tolerance. Here each function has
/// one implementation, within an ulp in f32, and every accuracy gets it, as upstream on CPUs; the
/// graph keeps what was said.
class Accuracy {
 public:
  Accuracy() = default;
  Accuracy(AccuracyMode mode);           // NOLINT: implicit by intent
  Accuracy(const Tolerance& tolerance);  // NOLINT
  /// As programs write it, or empty.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace strata::lax
