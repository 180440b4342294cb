// block_dot.h for any CPU: kept small, since processors of today have vectors.
#include <cmath>

#ifndef __clang__
#pragma GCC optimize("Os")
#endif

#define STRATA_SMALL_CODE
#include "strata/loop/kernel/block/block_tile.h"
#include "strata/type/float.h"

namespace strata::loop::block {
namespace {

struct Portable {
  static constexpr int kWidth = 8, kTileX = 1, kTileW = 1;
  template <class T>
  struct Lanes {
    T at[kWidth];
    template <class G>
    static Lanes of(G&& value) {
      Lanes out;
      for (int l = 0; l < kWidth; ++l) out.at[l] = value(l);
      return out;
    }
    friend Lanes operator+(const Lanes& a, const Lanes& b) {
      return of([&](int l) { return a.at[l] + b.at[l]; });
    }
    friend Lanes operator-(const Lanes& a, const Lanes& b) {
      return of([&](int l) { return a.at[l] - b.at[l]; });
    }
    friend Lanes operator*(const Lanes& a, const Lanes& b) {
      return of([&](int l) { return a.at[l] * b.at[l]; });
    }
    friend Lanes operator|(const Lanes& a, const Lanes& b) {
      return of([&](int l) { return a.at[l] | b.at[l]; });
    }
    friend Lanes operator&(const Lanes& a, int b) {
      return of([&](int l) { return a.at[l] & b; });
    }
    friend Lanes operator>>(const Lanes& a, int b) {
      return of([&](int l) { return a.at[l] >> b; });
    }
    friend Lanes operator<<(const Lanes& a, int b) {
      return of([&](int l) { return a.at[l] << b; });
    }
  };
  using F = Lanes<float>;
  using I = Lanes<int>;
  struct Table {
    float at[16];
  };
  static F all(float x) {
    return F::of([&](int) { return x; });
  }
  static I all_integers(int x) {
    return I::of([&](int) { return x; });
  }
  static F load(const float* at) {
    return F::of([&](int l) { return at[l]; });
  }
  static void store(float* at, const F& x) {
    for (int l = 0; l < kWidth; ++l) at[l] = x.at[l];
  }
  static F fma(const F& a, const F& b, const F& c) {
    return F::of([&](int l) { return std::fma(a.at[l], b.at[l], c.at[l]); });
  }
  static I bytes(Bytes at) {
    return I::of([&](int l) { return at[l]; });
  }
  static I signed_bytes(Bytes at) {
    return I::of([&](int l) { return static_cast<std::int8_t>(at[l]); });
  }
  static F number(const I& x) {
    return F::of([&](int l) { return static_cast<float>(x.at[l]); });
  }
  static I bits(std::uint32_t word, int shift) {
    return I::of([&](int l) { return static_cast<int>(word >> (shift + l) & 1); });
  }
  static Table table(const float* base, float scale, float minimum) {
    Table out;
    for (int i = 0; i < 16; ++i) out.at[i] = base[i] * scale - minimum;
    return out;
  }
  static F lookup(const Table& table, const I& i) {
    return F::of([&](int l) { return table.at[i.at[l] & 15]; });
  }
  static float total(const F* sums) {
    float s[32];
    for (int v = 0; v < 4; ++v) store(s + v * kWidth, sums[v]);
    for (int half = 16; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) s[l] += s[l + half];
    return s[0];
  }
  static float half(Bytes at) { return f16_value(static_cast<std::uint16_t>(at[0] | at[1] << 8)); }
};

}  // namespace

const InstructionSet kPortable = instructions<Portable>("portable", [] { return true; });

}  // namespace strata::loop::block
