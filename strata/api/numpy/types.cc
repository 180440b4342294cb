#include "strata/api/numpy/types.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "strata/api/numpy/shape/creation.h"
#include "strata/api/trace/compose.h"
#include "strata/type/minifloat.h"

namespace strata::numpy {

using internal::fail;
using internal::Site;

namespace {

const std::map<std::string, DType>& dtypes() {
  static const std::map<std::string, DType> all = {{"bool", bool_},
                                                   {"int2", int2},
                                                   {"int4", int4},
                                                   {"int8", int8},
                                                   {"int16", int16},
                                                   {"int32", int32},
                                                   {"int64", int64},
                                                   {"uint2", uint2},
                                                   {"uint4", uint4},
                                                   {"uint8", uint8},
                                                   {"uint16", uint16},
                                                   {"uint32", uint32},
                                                   {"uint64", uint64},
                                                   {"float4_e2m1fn", float4_e2m1fn},
                                                   {"float6_e2m3fn", float6_e2m3fn},
                                                   {"float6_e3m2fn", float6_e3m2fn},
                                                   {"float8_e3m4", float8_e3m4},
                                                   {"float8_e4m3", float8_e4m3},
                                                   {"float8_e4m3b11fnuz", float8_e4m3b11fnuz},
                                                   {"float8_e4m3fn", float8_e4m3fn},
                                                   {"float8_e4m3fnuz", float8_e4m3fnuz},
                                                   {"float8_e5m2", float8_e5m2},
                                                   {"float8_e5m2fnuz", float8_e5m2fnuz},
                                                   {"float8_e8m0fnu", float8_e8m0fnu},
                                                   {"bfloat16", bfloat16},
                                                   {"float16", float16},
                                                   {"float32", float32},
                                                   {"float64", float64},
                                                   {"complex64", complex64},
                                                   {"complex128", complex128}};
  return all;
}

/// Exponent bits, mantissa bits, the exponents of the least normal number and of the first power of
/// two beyond the greatest, and that number.
struct Layout {
  int exponent, mantissa, least, beyond;
  double greatest;
};

Layout layout_of(DType d) {
  switch (d) {
    case DType::f64: return {11, 52, -1022, 1024, std::numeric_limits<double>::max()};
    case DType::f32: return {8, 23, -126, 128, std::numeric_limits<float>::max()};
    case DType::bf16: return {8, 7, -126, 128, 0x1.FEp127};
    case DType::f16: return {5, 10, -14, 16, 65504};
    default: {
      const MiniFloat f = minifloat(d);
      const double greatest = minifloat_value(d, static_cast<std::uint8_t>(f.greatest()));
      const int least = f.has_sign ? 1 - f.bias : -f.bias;
      return {f.exponent_bits, f.mantissa_bits, least, std::ilogb(greatest) + 1, greatest};
    }
  }
}

}  // namespace

DType dtype(const std::string& name, Where where) {
  Site site(where);
  const auto it = dtypes().find(name);
  if (it == dtypes().end()) fail("dtype", "\"{}\" is no dtype", name);
  return it->second;
}

FloatInfo finfo(DType given, Where where) {
  Site site(where);
  const DType d = real_part(given);
  if (!is_float(d))
    fail("finfo", "a float type is needed, got {}; iinfo knows integers", name(given));
  const Layout l = layout_of(d);
  const double eps = std::ldexp(1.0, -l.mantissa), tiny = std::ldexp(1.0, l.least);
  const int precision = static_cast<int>(-std::log10(eps));
  return {.dtype = d,
          .bits = bit_width(d),
          .nmant = l.mantissa,
          .nexp = l.exponent,
          .minexp = l.least,
          .maxexp = l.beyond,
          .precision = precision,
          .eps = eps,
          .epsneg = eps / 2,
          .max = l.greatest,
          .min = d == DType::f8E8M0FNU ? tiny : -l.greatest,
          .tiny = tiny,
          .smallest_normal = tiny,
          .smallest_subnormal = std::ldexp(tiny, -l.mantissa),
          .resolution = std::pow(10.0, -precision)};
}

IntegerInfo iinfo(DType d, Where where) {
  Site site(where);
  if (!is_integer(d))
    fail("iinfo", "an integer type is needed, got {}; finfo knows floats", name(d));
  const int bits = bit_width(d);
  if (is_unsigned(d)) return {d, bits, 0, ~std::uint64_t{0} >> (64 - bits)};
  return {d, bits, -(std::int64_t{1} << (bits - 2)) * 2, ~std::uint64_t{0} >> (65 - bits)};
}

namespace {

/// bool, integers, floats, complex numbers.
int kind(DType d) { return is_bool(d) ? 0 : is_integer(d) ? 1 : is_float(d) ? 2 : 3; }

bool float_holds(DType to, DType from) {
  const Layout a = layout_of(real_part(from)), b = layout_of(real_part(to));
  return a.mantissa <= b.mantissa && a.least - a.mantissa >= b.least - b.mantissa &&
         a.beyond <= b.beyond;
}

/// Integers go to floats of twice their bits (and to f64 from any), as NumPy has it.
bool holds(DType to, DType from) {
  if (from == to || is_bool(from)) return true;
  if (kind(from) > kind(to)) return false;
  if (is_inexact(from)) return float_holds(to, from);
  const int bits = bit_width(from);
  if (!is_integer(to))
    return bit_width(real_part(to)) >= std::min(64, std::max(16, 2 * bits)) &&
           real_part(to) != DType::bf16;
  if (is_unsigned(from)) return bit_width(to) > bits || (bit_width(to) == bits && is_unsigned(to));
  return is_signed(to) && bit_width(to) >= bits;
}

}  // namespace

bool can_cast(DType from, DType to, const std::string& casting, Where where) {
  Site site(where);
  if (casting == "unsafe") return true;
  if (casting == "no" || casting == "equiv") return from == to;
  if (casting == "safe") return holds(to, from);
  if (casting != "same_kind")
    fail("can_cast",
         "casting is \"no\", \"equiv\", \"safe\", \"same_kind\" or \"unsafe\", got \"{}\"",
         casting);
  const bool to_unsigned = is_signed(from) && is_unsigned(to);
  return holds(to, from) || (kind(from) <= kind(to) && !to_unsigned);
}

DType promote_types(DType x, DType y) { return promote({x}, {y}, x64_enabled()).dtype; }
DType result_type(const std::vector<Array>& arrays) {
  return internal::promoted("result_type", arrays).dtype;
}

std::vector<std::int64_t> broadcast_shapes(const std::vector<Sizes>& shapes, Where where) {
  internal::Site site(where);
  std::vector<Array> arrays;
  for (const Sizes& s : shapes) arrays.push_back(zeros(s, bool_));
  return internal::broadcast_shapes("broadcast_shapes", arrays).sizes();
}

}  // namespace strata::numpy
