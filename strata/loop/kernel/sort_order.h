// The orders of elements that sorts know, as orders of unsigned integers of the elements' width.
#pragma once

#include <cstdint>
#include <limits>

namespace strata::loop::sort {

enum class Order : std::int64_t {
  bits,     // integers
  total,    // floats in IEEE's total order
  numbers,  // floats with the zeros equal, and all NaN equal and above the rest
  ieee,     // floats by IEEE's `<`: the zeros are equal, no NaN is before or behind anything
};

/// Elements of U's width: signed integers say the sign bit in `turned`, descending ones turn all
/// bits.
template <class U, Order kOrder>
struct Keys {
  U turned;
  U infinity;  // of floats
  static constexpr int kTop = std::numeric_limits<U>::digits - 1;
  static constexpr U kSign = static_cast<U>(U{1} << kTop);

  U nan() const {
    return static_cast<U>(infinity | infinity >> 1);
  }  // the quiet one without sign or payload
  static constexpr bool kAlike =
      kOrder == Order::numbers || kOrder == Order::ieee;  // elements of other bits may have one key

  U operator()(U x) const {
    if constexpr (kAlike) {
      U magnitude = static_cast<U>(x & ~kSign);
      x = magnitude == 0 ? U{0} : magnitude > infinity ? nan() : x;
    }
    return from_canonical(x);
  }
  /// The element of a key, that of +0 and nan() where several have it.
  U element(U key) const {
    key ^= turned;
    if constexpr (kOrder == Order::bits) return key;
    return static_cast<U>(key ^ (static_cast<U>((key >> kTop) - 1) | kSign));
  }
  U of_zero() const { return from_canonical(0); }
  U of_nan() const { return from_canonical(nan()); }

 private:
  U from_canonical(U x) const {
    if constexpr (kOrder != Order::bits)
      x = static_cast<U>(x ^ (static_cast<U>(-(x >> kTop)) | kSign));  // all bits of negative ones
    return static_cast<U>(x ^ turned);
  }
};

}  // namespace strata::loop::sort
