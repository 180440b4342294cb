#include "strata/type/number.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "strata/base/check.h"
#include "strata/type/minifloat.h"

namespace strata {
namespace {

/// How the bits of a float type are laid out, and what its top exponent means.
struct Layout {
  int exponent_bits, mantissa_bits, bias;
  enum class Top {
    ieee,
    nan_only,
    nothing
  } top;  // inf and NaN; all ones is NaN; every pattern is finite
  bool negative_zero_is_nan = false;
  bool has_sign = true;
  int precision() const { return mantissa_bits + 1; }
  int bits() const { return exponent_bits + mantissa_bits + (has_sign ? 1 : 0); }
};

Layout layout(DType dtype) {
  using Top = Layout::Top;
  switch (dtype) {
    case DType::f4E2M1FN: return {2, 1, 1, Top::nothing};
    case DType::f6E2M3FN: return {2, 3, 1, Top::nothing};
    case DType::f6E3M2FN: return {3, 2, 3, Top::nothing};
    case DType::f8E3M4: return {3, 4, 3, Top::ieee};
    case DType::f8E4M3: return {4, 3, 7, Top::ieee};
    case DType::f8E4M3FN: return {4, 3, 7, Top::nan_only};
    case DType::f8E4M3FNUZ: return {4, 3, 8, Top::nothing, true};
    case DType::f8E4M3B11FNUZ: return {4, 3, 11, Top::nothing, true};
    case DType::f8E5M2: return {5, 2, 15, Top::ieee};
    case DType::f8E5M2FNUZ: return {5, 2, 16, Top::nothing, true};
    case DType::f8E8M0FNU: return {8, 0, 127, Top::nan_only, false, false};
    case DType::bf16: return {8, 7, 127, Top::ieee};
    case DType::f16: return {5, 10, 15, Top::ieee};
    case DType::f32: return {8, 23, 127, Top::ieee};
    case DType::f64: return {11, 52, 1023, Top::ieee};
    default: STRATA_UNREACHABLE("{} is not a float type", name(dtype));
  }
}

/// A value taken apart: finite values are (-1)^negative * significand * 2^exponent.
struct Parts {
  enum class Kind { zero, finite, infinite, nan } kind;
  bool negative = false;
  std::uint64_t significand = 0;
  int exponent = 0;
};

Parts take_apart(std::uint64_t bits, const Layout& l) {
  using Kind = Parts::Kind;
  std::uint64_t mantissa_mask = (std::uint64_t{1} << l.mantissa_bits) - 1,
                exponent_mask = (std::uint64_t{1} << l.exponent_bits) - 1;
  std::uint64_t mantissa = bits & mantissa_mask,
                exponent = (bits >> l.mantissa_bits) & exponent_mask;
  bool negative = l.has_sign && ((bits >> (l.bits() - 1)) & 1) != 0;
  if (l.negative_zero_is_nan && negative && mantissa == 0 && exponent == 0) return {Kind::nan};
  if (exponent == exponent_mask) {
    if (l.top == Layout::Top::ieee) return {mantissa == 0 ? Kind::infinite : Kind::nan, negative};
    if (l.top == Layout::Top::nan_only && mantissa == mantissa_mask) return {Kind::nan, negative};
  }
  if (!l.has_sign)
    return {Kind::finite, false, 1,
            static_cast<int>(exponent) - l.bias};  // e8m0: powers of two alone
  if (exponent == 0 && mantissa == 0) return {Kind::zero, negative};
  int e = (exponent == 0 ? 1 : static_cast<int>(exponent)) - l.bias - l.mantissa_bits;
  std::uint64_t significand = exponent == 0 ? mantissa : mantissa | (mantissa_mask + 1);
  return {Kind::finite, negative, significand, e};
}

/// A natural number of any size, least significant word first; just what exact decimal digits need.
class Natural {
 public:
  explicit Natural(std::uint64_t value)
      : words_{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)} {
    trim();
  }
  bool zero() const { return words_.empty(); }
  int bits() const {
    return zero() ? 0 : static_cast<int>(words_.size()) * 32 - std::countl_zero(words_.back());
  }
  void multiply(std::uint32_t factor) {
    std::uint64_t carry = 0;
    for (std::uint32_t& w : words_) {
      carry += std::uint64_t{w} * factor;
      w = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words_.push_back(static_cast<std::uint32_t>(carry));
  }
  /// Divides, returns the remainder.
  std::uint32_t divide(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (auto w = words_.rbegin(); w != words_.rend(); ++w) {
      rest = rest << 32 | *w;
      *w = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    trim();
    return static_cast<std::uint32_t>(rest);
  }

 private:
  void trim() {
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
  }
  std::vector<std::uint32_t> words_;
};

/// Decimal digits, least significant first, times 10^exponent; no trailing zeros.
struct Decimal {
  std::string digits;
  int exponent;
};

/// At most `precision` digits of significand * 2^exponent: APFloat's steps (see the header).
Decimal decimal(std::uint64_t significand, int exponent, int precision) {
  int zeros = std::countr_zero(significand);
  Natural n(significand >> zeros);
  exponent += zeros;
  for (; exponent > 0; --exponent) n.multiply(2);
  for (int i = exponent; i < 0; ++i) n.multiply(5);  // N 2^-e = N 5^e 10^-e
  int required = (precision * 196 + 58) / 59;        // 196/59 is slightly above log2(10)
  if (int bits = n.bits(); bits > required) {
    int removable = (bits - required) * 59 / 196;
    exponent += removable;
    for (int i = 0; i < removable; ++i) n.divide(10);
  }
  Decimal out{"", exponent};
  while (!n.zero()) {
    std::uint32_t digit = n.divide(10);
    if (out.digits.empty() && digit == 0)
      ++out.exponent;
    else
      out.digits += static_cast<char>('0' + digit);
  }
  std::size_t count = out.digits.size(), kept = static_cast<std::size_t>(precision);
  if (count <= kept) return out;
  std::size_t first = count - kept;
  if (out.digits[first - 1] < '5') {
    while (first < count && out.digits[first] == '0') ++first;
  } else {
    std::size_t i = first;
    for (; i < count && out.digits[i] == '9'; ++i) ++first;
    if (i == count) return {"1", out.exponent + static_cast<int>(count)};
    ++out.digits[i];
  }
  return {out.digits.substr(first), out.exponent + static_cast<int>(first)};
}

std::string reversed(const std::string& s) { return {s.rbegin(), s.rend()}; }

/// Six digits, scientific: "1.000000e-01".
std::string short_text(const Parts& p) {
  std::string sign = p.negative ? "-" : "";
  if (p.kind == Parts::Kind::zero) return sign + "0.000000e+00";
  Decimal d = decimal(p.significand, p.exponent, 6);
  std::string digits = reversed(d.digits);
  int e = d.exponent + static_cast<int>(digits.size()) - 1;
  return fmt::format("{}{}.{:0<6}e{}{:02}", sign, digits[0], digits.substr(1), e < 0 ? '-' : '+',
                     std::abs(e));
}

/// Enough digits for the type: "0.949999988", "9.99999993E-9", "1234567" (no point: the caller
/// prints bits instead).
std::string full_text(const Parts& p, int type_precision) {
  int precision = 2 + type_precision * 59 / 196;
  std::string sign = p.negative ? "-" : "";
  Decimal d = decimal(p.significand, p.exponent, precision);
  std::string digits = reversed(d.digits);
  int count = static_cast<int>(digits.size()), top = d.exponent + count - 1;
  bool scientific = d.exponent >= 0 ? d.exponent > 3 || count + d.exponent > precision : top < -3;
  if (scientific) {
    std::string rest = count == 1 ? "0" : digits.substr(1);
    return fmt::format("{}{}.{}E{}{}", sign, digits[0], rest, top < 0 ? '-' : '+', std::abs(top));
  }
  if (d.exponent >= 0)
    return sign + digits + std::string(static_cast<std::size_t>(d.exponent), '0');
  int whole = d.exponent + count;
  if (whole > 0)
    return sign + digits.substr(0, static_cast<std::size_t>(whole)) + "." +
           digits.substr(static_cast<std::size_t>(whole));
  return sign + "0." + std::string(static_cast<std::size_t>(-whole), '0') + digits;
}

/// What a value beyond the largest finite one becomes.
std::uint64_t overflow(const Layout& l, bool negative) {
  std::uint64_t sign = negative ? std::uint64_t{1} << (l.bits() - 1) : 0,
                ones = (std::uint64_t{1} << (l.bits() - (l.has_sign ? 1 : 0))) - 1;
  if (l.negative_zero_is_nan) return std::uint64_t{1} << (l.bits() - 1);
  if (l.top == Layout::Top::ieee)
    return sign | (ones ^ ((std::uint64_t{1} << l.mantissa_bits) - 1));
  return sign | ones;  // NaN, or the largest value where every pattern is finite
}

std::uint64_t not_a_number(const Layout& l, bool negative) {
  if (l.negative_zero_is_nan) return std::uint64_t{1} << (l.bits() - 1);
  std::uint64_t quiet = l.top == Layout::Top::ieee ? std::uint64_t{1} << (l.mantissa_bits - 1) : 0;
  return overflow(l, negative) | quiet;
}

}  // namespace

double float_value(std::uint64_t bits, DType dtype) {
  Parts p = take_apart(bits, layout(dtype));
  double sign = p.negative ? -1.0 : 1.0;
  switch (p.kind) {
    case Parts::Kind::zero: return sign * 0.0;
    case Parts::Kind::infinite: return sign * std::numeric_limits<double>::infinity();
    case Parts::Kind::nan: return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
    case Parts::Kind::finite: break;
  }
  return sign * std::ldexp(static_cast<double>(p.significand), p.exponent);
}

std::uint64_t float_bits(double value, DType dtype) {
  if (dtype == DType::f64) return std::bit_cast<std::uint64_t>(value);
  if (dtype == DType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  Layout l = layout(dtype);
  if (!l.has_sign)
    return value == 0 ? 0 : minifloat_bits(dtype, value);  // zero is the least power of two
  bool negative = std::signbit(value);
  std::uint64_t sign = negative ? std::uint64_t{1} << (l.bits() - 1) : 0;
  if (std::isnan(value)) return not_a_number(l, negative);
  if (std::isinf(value)) return overflow(l, negative);
  double magnitude = std::fabs(value);
  int exponent = magnitude == 0 ? -100000 : std::ilogb(magnitude);
  int least = 1 - l.bias;
  if (exponent < least) exponent = least;  // subnormals share the smallest exponent
  double steps = std::nearbyint(
      std::ldexp(magnitude, l.mantissa_bits - exponent));  // the default mode: ties to even
  auto count = static_cast<std::uint64_t>(steps);
  if (count == 0) return l.negative_zero_is_nan ? 0 : sign;
  // Adding the count to the exponent field carries into it both for normals (hidden bit) and at the
  // subnormals' edge.
  std::uint64_t bits = (static_cast<std::uint64_t>(exponent - least) << l.mantissa_bits) + count;
  std::uint64_t largest = overflow(l, false);
  if (l.negative_zero_is_nan || l.top == Layout::Top::nothing) {
    std::uint64_t ones = (std::uint64_t{1} << (l.bits() - 1)) - 1;
    return bits > ones ? overflow(l, negative) : sign | bits;
  }
  return bits >= largest ? overflow(l, negative) : sign | bits;
}

std::optional<std::uint64_t> parse_float_bits(std::string_view text, DType dtype) {
  if (text.empty() || text.size() > 4096) return std::nullopt;
  for (char c : text)
    if (!((c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'))
      return std::nullopt;
  std::string copy(text);
  char* end = nullptr;
  double value =
      dtype == DType::f32 ? std::strtof(copy.c_str(), &end) : std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size()) return std::nullopt;
  if (value < 0 && dtype == DType::f8E8M0FNU) return std::nullopt;  // it has no negative numbers
  return float_bits(value, dtype);
}

std::string float_text(std::uint64_t bits, DType dtype) {
  Layout l = layout(dtype);
  Parts p = take_apart(bits, l);
  if (p.kind == Parts::Kind::zero || p.kind == Parts::Kind::finite) {
    std::string text = short_text(p);
    if (parse_float_bits(text, dtype) == bits) return text;
    text = full_text(p, l.precision());
    if (text.find('.') != std::string::npos) return text;
  }
  return fmt::format("0x{:X}", bits);
}

}  // namespace strata
