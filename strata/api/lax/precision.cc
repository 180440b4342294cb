#include "strata/api/lax/precision.h"

#include <array>

#include "strata/api/trace/trace.h"

namespace strata::lax {
namespace {

using internal::fail;
using Preset = DotAlgorithmPreset;

constexpr std::array kNames = {"DEFAULT",
                               "ANY_F8_ANY_F8_F32",
                               "ANY_F8_ANY_F8_F32_FAST_ACCUM",
                               "ANY_F8_ANY_F8_ANY",
                               "ANY_F8_ANY_F8_ANY_FAST_ACCUM",
                               "F16_F16_F16",
                               "F16_F16_F32",
                               "BF16_BF16_BF16",
                               "BF16_BF16_F32",
                               "BF16_BF16_F32_X3",
                               "BF16_BF16_F32_X6",
                               "BF16_BF16_F32_X9",
                               "TF32_TF32_F32",
                               "TF32_TF32_F32_X3",
                               "F32_F32_F32",
                               "F64_F64_F64"};

std::string text_of(DType operands, DType accumulation, int operations) {
  return fmt::format(
      "#stablehlo.dot_algorithm<lhs_precision_type = {0}, rhs_precision_type = {0}, "
      "accumulation_type = {1}, lhs_component_count = 1, "
      "rhs_component_count = 1, num_primitive_operations = {2}, allow_imprecise_accumulation = "
      "false>",
      strata::name(operands), strata::name(accumulation), operations);
}

[[noreturn]] void refuse(const std::string& what) {
  fail("dot_general", "CPUs do not have the algorithm {}", what);
}

std::string described(const DotAlgorithm& a) {
  return fmt::format(
      "DotAlgorithm{{{}, {}, {}, {}, {}, {}, {}}}", strata::name(a.lhs_precision_type),
      strata::name(a.rhs_precision_type), strata::name(a.accumulation_type), a.lhs_component_count,
      a.rhs_component_count, a.num_primitive_operations, a.allow_imprecise_accumulation);
}

}  // namespace

std::string name(DotAlgorithmPreset preset) { return kNames.at(static_cast<std::size_t>(preset)); }

DotTypes dot_types(const DotPrecision& precision, DType lhs, DType rhs, DType result) {
  if (const DotAlgorithm* a = precision.algorithm()) refuse(described(*a));
  const DotTypes as_given{lhs, rhs, result, ""};
  if (!precision.preset()) return as_given;
  auto in = [](DType type, int operations = 1) {
    return DotTypes{type, type, type, text_of(type, type, operations)};
  };
  // These take f32 as it is stored, and bf16 where there is one operation: the device does the
  // rounding, which CPUs leave out.
  auto from_bf16 = [&](int operations) {
    const std::string text = text_of(DType::bf16, DType::f32, operations);
    if (operations > 1) return DotTypes{DType::f32, DType::f32, DType::f32, text};
    auto stored = [](DType d) { return d == DType::f32 ? d : DType::bf16; };
    const bool narrow =
        stored(lhs) == DType::bf16 && stored(rhs) == DType::bf16 && result == DType::bf16;
    return DotTypes{stored(lhs), stored(rhs), narrow ? DType::bf16 : DType::f32, text};
  };
  switch (*precision.preset()) {
    case Preset::DEFAULT: return as_given;
    case Preset::F16_F16_F16: return in(DType::f16);
    case Preset::BF16_BF16_F32: return from_bf16(1);
    case Preset::BF16_BF16_F32_X3: return from_bf16(3);
    case Preset::BF16_BF16_F32_X6: return from_bf16(6);
    case Preset::F32_F32_F32: return in(DType::f32);
    case Preset::F64_F64_F64: return in(DType::f64);
    case Preset::ANY_F8_ANY_F8_F32:
    case Preset::ANY_F8_ANY_F8_F32_FAST_ACCUM:
    case Preset::ANY_F8_ANY_F8_ANY:
    case Preset::ANY_F8_ANY_F8_ANY_FAST_ACCUM:
    case Preset::F16_F16_F32:
    case Preset::BF16_BF16_BF16:
    case Preset::BF16_BF16_F32_X9:
    case Preset::TF32_TF32_F32:
    case Preset::TF32_TF32_F32_X3: refuse(name(*precision.preset()));
  }
  STRATA_UNREACHABLE("a preset");
}

Tolerance::Tolerance(double atol, double rtol, std::int64_t ulps)
    : atol(atol), rtol(rtol), ulps(ulps) {
  if (atol < 0 || rtol < 0 || ulps < 0)
    fail("Tolerance", "tolerances are at least 0, got atol = {}, rtol = {}, ulps = {}", atol, rtol,
         ulps);
  if (atol == 0 && rtol == 0 && ulps == 0)
    fail("Tolerance", "one of atol, rtol and ulps is above 0");
}

namespace {
std::string accuracy_text(const std::string& numbers, const char* mode) {
  return fmt::format("#stablehlo.result_accuracy<{}mode = #stablehlo.result_accuracy_mode<{}>>",
                     numbers, mode);
}
}  // namespace

Accuracy::Accuracy(AccuracyMode mode)
    : text_(accuracy_text("", mode == AccuracyMode::HIGHEST ? "HIGHEST" : "DEFAULT")) {}
Accuracy::Accuracy(const Tolerance& t) {
  std::string numbers;
  if (t.atol != 0) numbers += fmt::format("atol = {:.17e}, ", t.atol);
  if (t.rtol != 0) numbers += fmt::format("rtol = {:.17e}, ", t.rtol);
  if (t.ulps != 0) numbers += fmt::format("ulps = {}, ", t.ulps);
  text_ = accuracy_text(numbers, "TOLERANCE");
}

}  // namespace strata::lax
