// What the law tests share: programs of one operation, and comparison of arrays.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "strata/op/collective/world.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"

namespace strata::op::laws {

/// A function whose body is the sample's operation on its arguments.
inline std::unique_ptr<ir::Function> program_of(const OpDef& def, const Sample& sample) {
  auto f = std::make_unique<ir::Function>("main");
  Values arguments;
  for (const Literal& x : sample.operands) arguments.push_back(f->body.add_argument(x.type()));
  Builder b(f->body);
  f->body.results = build_sample(b, def, sample, arguments).results();
  return f;
}

/// Evaluates a block in the sample's world.
inline Literals evaluate_in(const Sample& sample, const Block& block,
                            std::span<const Literal> operands) {
  World world;
  if (sample.world) sample.world(world);
  return evaluate(block, operands, world);
}

/// Relative precision of one operation in this dtype.
inline double epsilon(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::c128: return 0x1p-52;
    case DType::f32:
    case DType::c64: return 0x1p-23;
    case DType::f16: return 0x1p-10;
    case DType::bf16: return 0x1p-7;
    default: return 0;
  }
}

/// Element i in words.
inline std::string element_text(const Literal& x, std::int64_t i) {
  return is_float(x.dtype()) ? fmt::format("{:.17g}", x.number(i))
                             : fmt::format("{}", x.integer(i));
}

/// Empty when equal: the same type and bits, any NaN equal to any other; with a tolerance, floats
/// within it times the largest finite magnitude (at least 1). Otherwise the first difference in
/// words.
inline std::string difference(const Literal& got, const Literal& want, double tolerance = 0) {
  if (!(got.type() == want.type()))
    return fmt::format("type {} instead of {}", got.type().to_string(), want.type().to_string());
  if (got.same_bits(want)) return "";
  if (is_complex(want.dtype())) return difference(real_view(got), real_view(want), tolerance);
  bool inexact = is_float(want.dtype());
  double scale = 1;
  for (std::int64_t i = 0; inexact && i < want.count(); ++i)
    if (std::isfinite(want.number(i))) scale = std::max(scale, std::fabs(want.number(i)));
  std::size_t width = byte_width(want.dtype());
  for (std::int64_t i = 0; i < want.count(); ++i) {
    std::size_t at = static_cast<std::size_t>(i) * width;
    if (std::memcmp(got.data() + at, want.data() + at, width) == 0) continue;
    if (inexact) {
      double a = got.number(i), b = want.number(i);
      if (std::isnan(a) && std::isnan(b)) continue;
      if (tolerance > 0 && (a == b || std::fabs(a - b) <= tolerance * scale)) continue;
    }
    return fmt::format("element {} is {} instead of {}", i, element_text(got, i),
                       element_text(want, i));
  }
  return "";
}

/// Sum of products and of their magnitudes; of complex numbers the real part, Re(a b), without
/// conjugation.
inline std::pair<double, double> inner(const Literal& a, const Literal& b) {
  Literal x = real_view(a), y = real_view(b);
  double sum = 0, magnitude = 0;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    double product = x.number(i) * y.number(i);
    sum += is_complex(a.dtype()) && i % 2 == 1 ? -product : product;
    magnitude += std::fabs(product);
  }
  return {sum, magnitude};
}

/// Whether evaluation can be repeated on arrays alone: no references or tokens among operands and
/// results.
inline bool only_arrays(const Block& block) {
  for (const auto& a : block.arguments())
    if (!a->type().is_tensor()) return false;
  for (Value* r : block.results)
    if (!r->type().is_tensor()) return false;
  return true;
}

/// One test per operation of the catalog.
class Law : public ::testing::TestWithParam<const OpDef*> {
 protected:
  const OpDef& def() const { return *GetParam(); }
  std::vector<Sample> samples() const { return samples_of(def().info.name); }
};

inline std::string test_name(const ::testing::TestParamInfo<const OpDef*>& info) {
  std::string out = info.param->info.name;
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return out;
}

}  // namespace strata::op::laws
