// As jax/_src/cudnn/scaled_matmul_stablehlo.py, which quantises; its product runs on GPUs.
#include "strata/api/nn/scaled_dot.h"

#include <algorithm>
#include <cmath>

#include "strata/api/lax/operations.h"
#include "strata/api/lax/products.h"
#include "strata/api/matrices.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/floating.h"
#include "strata/api/numpy/integers.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/transform/custom.h"

namespace strata::nn {
namespace {

using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::strong_number;

constexpr double kGreatestE4M3FN = 448, kGreatestE2M1FN = 6;
double greatest_of(DType narrow) {
  return narrow == DType::f4E2M1FN ? kGreatestE2M1FN : kGreatestE4M3FN;
}

Array repeated(const Array& scales, std::int64_t count) {
  return numpy::repeat(scales.astype(float32), count, -1);
}

struct Quantized {
  Array numbers, scales;
};

/// x in blocks along the last dimension: [..., K / u, u].
Array in_blocks(const Array& x, std::int64_t size) {
  if (x.shape(-1) < size || x.shape(-1) % size != 0)
    fail("scaled_dot_general", "{} elements are summed, which is no multiple of the block size {}",
         x.shape(-1), size);
  Ints shape = internal::sizes(x);
  shape.back() /= size;
  shape.push_back(size);
  return x.reshape(shape);
}

/// The power of two at or above a positive number, by its bits: exponents as f8E8M0FNU has them.
Array exponents_above(const Array& x) {
  const Array bits = lax::bitcast_convert_type(x.astype(float32), uint32),
              exponent = numpy::right_shift(bits, 23), mantissa = bits & 0x7fffff;
  const Array is_inexact =
      (mantissa > 0) & (exponent != 0xfe) & ~((exponent == 0) & (mantissa <= 0x400000));
  return where(is_inexact, exponent + 1, exponent).astype(uint32);
}
/// 2^(e - 127); `least` for e = 0.
Array power_of(const Array& exponents, double least) {
  const Array power = lax::bitcast_convert_type(numpy::left_shift(exponents, 23), float32);
  return where(exponents == 0, strong_number(power, least), power);
}

Quantized quantized(const Array& given, const BlockScaleConfig& config) {
  const double greatest = greatest_of(config.data_type);
  const Array x =
      in_blocks(config.global_scale ? given / *config.global_scale : given, config.block_size);
  const Array most =
      max(numpy::abs(x), {.axis = -1, .keepdims = true}) / strong_number(x, greatest);
  Array scales, divisors;
  if (config.mode == "mxfp8") {
    const Array exponents = exponents_above(most);
    scales = power_of(exponents, std::ldexp(1, -127));
    divisors =
        power_of(exponents, std::ldexp(1, x.dtype() == DType::f16 ? -15 : -127)).astype(x.dtype());
    scales = where(isinf(scales), numpy::nan, scales);
  } else {
    scales = lax::optimization_barrier(
                 {numpy::clip(most, 0, kGreatestE4M3FN).astype(config.scale_type)})[0]
                 .astype(float32);
    divisors = where(scales == 0, 1, scales);
  }
  const Array numbers = numpy::clip(x / divisors, -greatest, greatest).astype(config.data_type);
  return {numbers.reshape(given.shape()), squeeze(scales, -1)};
}

Array product(const Quantized& a, const Quantized& b, DType dtype) {
  return scaled_matmul(a.numbers, b.numbers, a.scales, b.scales, dtype);
}
Array turned(const Array& x) { return numpy::matrix_transpose(x); }

/// [B, M, K] x [B, N, K] -> [B, M, N], narrow.
Array narrow_product(const Array& lhs, const Array& rhs, const ScaledDotGeneral& o) {
  const bool has_global = o.configs[0].mode == "nvfp4";
  const Array out = product(quantized(lhs, o.configs[0]), quantized(rhs, o.configs[1]),
                            has_global ? DType::f32 : o.preferred_element_type);
  return has_global ? (out * (*o.configs[0].global_scale * *o.configs[1].global_scale))
                          .astype(o.preferred_element_type)
                    : out;
}

/// With zeros behind the last dimension, to whole blocks.
Array filled_up(const Array& x, std::int64_t block) {
  std::vector<numpy::PadWidth> widths(static_cast<std::size_t>(x.ndim()));
  widths.back().after = (block - x.shape(-1) % block) % block;
  return numpy::pad(x, widths);
}

/// The cotangent of x [B, M, K] in a product with y [B, N, K]: g y, g [B, M, N].
Array cotangent(const Array& g, const Array& x, const Array& y, const BlockScaleConfig& of_x,
                const BlockScaleConfig& of_y, const ScaledDotGeneral& o) {
  const BlockScaleConfig& of_g = o.configs[2];
  if (of_g.mode != "nvfp4")
    return product(quantized(filled_up(g, of_g.block_size), of_g),
                   quantized(filled_up(turned(y), of_y.block_size), of_y), o.preferred_element_type)
        .astype(x.dtype());
  const Array whole = lax::dot_general(
      g, y, {.lhs_contracting = {2}, .rhs_contracting = {1}, .lhs_batch = {0}, .rhs_batch = {0}},
      {.preferred_element_type = o.preferred_element_type});
  return where(numpy::abs(x) <= *of_x.global_scale * (kGreatestE2M1FN * kGreatestE4M3FN), whole, 0)
      .astype(x.dtype());
}

Array with_own_derivative(const Array& lhs, const Array& rhs, const ScaledDotGeneral& o) {
  using Two = std::pair<Array, Array>;
  auto value = [o](const Array& a, const Array& b) { return narrow_product(a, b, o); };
  auto ahead = [value](const Array& a, const Array& b) {
    return std::pair(value(a, b), Two(a, b));
  };
  auto back = [o](const Two& kept, const Array& g) {
    const auto& [a, b] = kept;
    return std::tuple(cotangent(g, a, b, o.configs[0], o.configs[1], o),
                      cotangent(turned(g), b, a, o.configs[1], o.configs[0], o));
  };
  return custom_vjp(value, ahead, back)(lhs, rhs);
}

/// An operand as [batch, free, contracted].
struct Normal {
  Array x;
  Ints batch, free;
};
Normal normal_form(const Array& x, const Ints& batch, const Ints& contracting) {
  Normal out;
  Ints order = batch, free;
  std::int64_t sizes[3] = {1, 1, 1};
  for (std::int64_t d : batch)
    out.batch.push_back(x.shape(static_cast<int>(d))), sizes[0] *= out.batch.back();
  for (std::int64_t d = 0; d < x.ndim(); ++d)
    if (std::count(batch.begin(), batch.end(), d) +
            std::count(contracting.begin(), contracting.end(), d) ==
        0)
      order.push_back(d), out.free.push_back(x.shape(static_cast<int>(d))),
          sizes[1] *= out.free.back();
  for (std::int64_t d : contracting) order.push_back(d), sizes[2] *= x.shape(static_cast<int>(d));
  out.x = transpose(x, order).reshape({sizes[0], sizes[1], sizes[2]});
  return out;
}

void require_configs(const ScaledDotGeneral& o) {
  const DType d = o.preferred_element_type;
  if (d != DType::f32 && d != DType::bf16 && d != DType::f16)
    fail("scaled_dot_general", "results are f32, bf16 or f16, not {}", name(d));
  if (o.configs.size() != 3)
    fail("scaled_dot_general", "configurations are for lhs, rhs and gradients, got {}",
         o.configs.size());
  for (const BlockScaleConfig& c : o.configs) {
    if (c.mode != "nvfp4" && c.mode != "mxfp8")
      fail("scaled_dot_general", "there is no mode \"{}\"", c.mode);
    if (c.mode != o.configs[0].mode || c.global_scale.has_value() != (c.mode == "nvfp4"))
      fail("scaled_dot_general",
           "configurations are of one mode, with a global scale in \"nvfp4\" alone");
  }
}

}  // namespace

Array scaled_matmul(const Operand& lhs, const Operand& rhs, const Operand& lhs_scales,
                    const Operand& rhs_scales, DType preferred_element_type) {
  Site site(lhs);
  const Array &a = lhs, &b = rhs, &s = lhs_scales, &t = rhs_scales;
  const bool ranks = a.ndim() == 3 && b.ndim() == 3 && s.ndim() == 3 && t.ndim() == 3;
  const bool fits = ranks && a.shape(0) == b.shape(0) && a.shape(2) == b.shape(2) &&
                    s.shape(0) == a.shape(0) && t.shape(0) == a.shape(0) &&
                    s.shape(1) == a.shape(1) && t.shape(1) == b.shape(1) &&
                    s.shape(2) == t.shape(2) && s.shape(2) > 0 && a.shape(2) % s.shape(2) == 0;
  if (!fits)
    fail(
        "scaled_matmul",
        "operands are [B, M, K], [B, N, K], [B, M, K / u] and [B, N, K / u], got {}, {}, {} and {}",
        describe(a.type()), describe(b.type()), describe(s.type()), describe(t.type()));
  const std::int64_t count = a.shape(2) / s.shape(2);
  const Array out = lax::dot_general(
      a.astype(float32) * repeated(s, count), b.astype(float32) * repeated(t, count),
      {.lhs_contracting = {2}, .rhs_contracting = {2}, .lhs_batch = {0}, .rhs_batch = {0}});
  return out.astype(preferred_element_type);
}

BlockScaleConfig get_scaled_dot_general_config(const std::string& mode,
                                               const std::optional<Array>& global_scale) {
  if (mode == "nvfp4")
    return {.mode = mode,
            .block_size = 16,
            .data_type = DType::f4E2M1FN,
            .scale_type = DType::f8E4M3FN,
            .global_scale = global_scale ? *global_scale : ones({1}, float32)};
  if (mode == "mxfp8")
    return {.mode = mode,
            .block_size = 32,
            .data_type = DType::f8E4M3FN,
            .scale_type = DType::f8E8M0FNU};
  fail("get_scaled_dot_general_config", "modes are \"nvfp4\" and \"mxfp8\", got \"{}\"", mode);
}

Array scaled_dot_general(const Operand& lhs, const Operand& rhs, const lax::DotDimensionNumbers& d,
                         const ScaledDotGeneral& o) {
  Site site(lhs);
  if (o.configs.empty())
    return lax::dot_general(lhs, rhs, d, {.preferred_element_type = o.preferred_element_type});
  require_configs(o);
  const Normal a = normal_form(lhs, d.lhs_batch, d.lhs_contracting),
               b = normal_form(rhs, d.rhs_batch, d.rhs_contracting);
  if (a.batch != b.batch || a.x.shape(2) != b.x.shape(2))
    fail("scaled_dot_general", "{} and {} do not go together", describe(lhs->type()),
         describe(rhs->type()));
  Ints shape = a.batch;
  shape.insert(shape.end(), a.free.begin(), a.free.end());
  shape.insert(shape.end(), b.free.begin(), b.free.end());
  return with_own_derivative(a.x, b.x, o).reshape(shape);
}

}  // namespace strata::nn
