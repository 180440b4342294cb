// Angles without their quarter turns, for sin, cos and tan.
#pragma once

#include <vector>

#include "strata/loop/math/number.h"

namespace strata::loop::math::internal {

/// x = quarter pi/2 + high + low with |high| <= pi/4 (nearly); quarter mod 4 in its two low bits.
template <template <class> class N, class T>
struct Turned {
  N<BitsOf<T>> quarter;
  N<T> high, low;
};

template <class T>
struct TurnConstants;
template <>
struct TurnConstants<float> {
  static constexpr float kInverse = 0x1.45f306p-1f, kFar = 0x1p20f;  // 2/pi
  static constexpr float kHalfPi[] = {0x1.921fb6p+0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f};
};
template <>
struct TurnConstants<double> {
  static constexpr double kInverse = 0x1.45f306dc9c883p-1, kFar = 0x1p48;
  static constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                       -0x1.f1976b7ed8fbcp-110};
};

/// Whether x needs turned_large; infinities count, and become NaN there.
template <template <class> class N, class T>
N<bool> turns_far(N<T> x) {
  return abs(x) >= TurnConstants<T>::kFar;
}

template <template <class> class N, class T>
Turned<N, T> turned(N<T> x) {
  using C = TurnConstants<T>;
  N<T> shifted = fma(x, C::kInverse, kWholeShift<T>);
  N<T> n = shifted - kWholeShift<T>;
  N<T> first = fma(n, -C::kHalfPi[0], x);
  N<T> second = n * C::kHalfPi[1];
  N<T> high = first - second;
  N<T> low = ((first - high) - second) - fma(n, C::kHalfPi[2], fma(n, C::kHalfPi[1], -second));
  return {bits(shifted), high, low};
}

/// A sum of many numbers as quarter turns and the rest: whole turns are dropped from each before it
/// is added, so nothing of the rest is lost however large the numbers are.
template <template <class> class N>
struct QuarterSum {
  N<double> quarters, high, low;

  /// The first number, in turns.
  explicit QuarterSum(N<double> turns) : quarters(0.0), high(0.0), low(0.0) {
    N<double> fraction = (turns - rint(turns)) * 4.0;
    quarters = rint(fraction);
    high = fraction - quarters;
  }
  void add(N<double> turns) {
    N<double> fraction = (turns - rint(turns)) * 4.0;
    N<double> whole = rint(fraction), part = fraction - whole;
    quarters = quarters + whole;
    N<double> sum = high + part, back = sum - high;
    N<double> lost = (high - (sum - back)) + (part - back);
    high = sum;
    low = low + lost;
  }
  Turned<N, double> turned() const {
    static constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;
    N<double> whole = rint(high);
    N<double> most = high - whole;
    N<double> rest = most + low, rest_low = low - (rest - most);
    N<double> angle = rest * kHalfPi;
    N<double> angle_low = fma(rest, kHalfPi, -angle) + fma(rest, kHalfPiLow, rest_low * kHalfPi);
    return {bits(quarters + whole + kWholeShift<double>), angle, angle_low};
  }
};

/// For f32 of any size: products with 29 bits of 1/(2 pi) are exact in f64.
template <template <class> class N>
Turned<N, float> turned_large(N<float> single) {
  static constexpr double kBits[] = {0x1.45f306ep-3,  -0x1.b1bbeadp-34,  -0x1.80f62a1p-64,
                                     0x1.1f534dep-94, -0x1.f924eb5p-125, -0x1.9b0ef1bef806cp-156};
  N<double> x = N<double>::convert(single);
  QuarterSum<N> sum(x * kBits[0]);
  for (int i = 1; i < 6; ++i) sum.add(x * kBits[i]);
  auto [quarter, angle, angle_low] = sum.turned();
  N<float> high = N<float>::convert(angle);
  return {N<std::int32_t>::convert(quarter & std::int64_t{3}), high,
          N<float>::convert((angle - N<double>::convert(high)) + angle_low)};
}

/// For f64 of at least 2^48: of the 53-bit pieces of 1/(2 pi) those before piece i = (exponent -
/// 56) / 53 give whole turns and those after piece i + 4 give nothing. The pieces are chosen by the
/// binary digits of i; x is divided by 2^(53 i).
template <template <class> class N>
Turned<N, double> turned_large(N<double> x) {
  static constexpr double kPieces[] = {
      0x1.45f306dc9c88p-3,  0x1.529fc2757d1f5p-1, 0x1.a6ee06db14accp-3, 0x1.3c439041fe514p-3,
      0x1.1d5ef5de2b0dbp-1, 0x1.246e3a424dd2ep-1, 0x1.924bba82746p-10,  0x1.21cfe1deb1cbp-3,
      0x1.29a73ee88235ep-2, 0x1.52ebb4484e99cp-1, 0x1.c09ad17df904ep-2, 0x1.91d639835339cp-3,
      0x1.a4e422fc5defcp-1, 0x1.283b1ff897ffdp-1, 0x1.c0b301fde5e23p-1, 0x1.6b414da3eda68p-4,
      0x1.3f6793e584dbap-1, 0x1.e8c7ecd3cbfd4p-2, 0x1.6ba93dd63f5fp-3,  0x1.7c5ecf41ce7dep-1,
      0x1.4a525d4d7f6bcp-3, 0x1.b11f8d5d0856p-1,  0x1.98237e3db5d5cp-3, 0x1.c33ef0826bd0dp-1};
  static constexpr int kCount = 24, kUsed = 5;
  using D = N<double>;
  N<std::int64_t> pattern = bits(x);
  D exponent =
      whole_of<N, double>(((pattern >> 52) & std::int64_t{0x7ff}) - std::int64_t{1023 + 56});
  D i = floor(exponent * (1.0 / 53));
  i = select(i < 0.0, D(0.0), i);
  N<std::int64_t> drop = bits(i * 53.0 + kWholeShift<double>) << 52;
  D reduced = D::from_bits(pattern - drop) + (x - x);  // NaN for infinity

  std::vector<D> piece;
  for (int j = 0; j < kUsed + 31; ++j) piece.push_back(D(j < kCount ? kPieces[j] : 0.0));
  for (int step = 16; step > 0; step /= 2) {
    auto digit = i >= double(step);
    i = select(digit, i - double(step), i);
    for (int j = 0; j < kUsed + step - 1; ++j) piece[j] = select(digit, piece[j + step], piece[j]);
  }
  D first = reduced * piece[0];
  QuarterSum<N> sum(first);
  sum.add(fma(reduced, piece[0], -first));
  for (int j = 1; j < kUsed; ++j) {
    reduced = reduced * 0x1p-53;
    D product = reduced * piece[j];
    sum.add(product);
    sum.add(fma(reduced, piece[j], -product));
  }
  return sum.turned();
}

}  // namespace strata::loop::math::internal
