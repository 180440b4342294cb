// block_int8.h for any CPU: kept small, since processors of today have vectors.
#include <algorithm>
#include <bit>
#include <cmath>

#define STRATA_SMALL_CODE
#include "strata/loop/kernel/block/block_levels.h"
#include "strata/type/float.h"

namespace strata::loop::block8 {
namespace {

struct Portable {
  struct B {
    std::int8_t at[32];
    template <class G>
    static B of(G&& value) {
      B out;
      for (int i = 0; i < 32; ++i) out.at[i] = static_cast<std::int8_t>(value(i));
      return out;
    }
    friend B operator+(const B& a, const B& b) {
      return of([&](int i) { return a.at[i] + b.at[i]; });
    }
    friend B operator-(const B& a, const B& b) {
      return of([&](int i) { return a.at[i] - b.at[i]; });
    }
    friend B operator&(const B& a, const B& b) {
      return of([&](int i) { return a.at[i] & b.at[i]; });
    }
    friend B operator|(const B& a, const B& b) {
      return of([&](int i) { return a.at[i] | b.at[i]; });
    }
  };
  struct F {
    float at[8];
    friend F operator*(const F& a, const F& b) {
      F out;
      for (int l = 0; l < 8; ++l) out.at[l] = a.at[l] * b.at[l];
      return out;
    }
  };
  static B all(int x) {
    return B::of([&](int) { return x; });
  }
  static B bytes(Bytes at) {
    return B::of([&](int i) { return at[i]; });
  }
  static B pair(Bytes at) {
    return B::of([&](int i) { return at[i % 16]; });
  }
  static B halves(const B& low, const B& high) {
    return B::of([&](int i) { return i < 16 ? low.at[i] : high.at[i]; });
  }
  static B right(const B& x, int bits) {
    return B::of([&](int i) { return static_cast<std::uint8_t>(x.at[i]) >> bits; });
  }
  static B left(const B& x, int bits) {
    return B::of([&](int i) { return x.at[i] << bits; });
  }
  static B lookup(const std::int8_t* table, const B& i) {
    return B::of([&](int k) { return table[i.at[k] & 15]; });
  }
  static B bits(std::uint32_t word) {
    return B::of([&](int i) { return word >> i & 1 ? -1 : 0; });
  }
  struct I {
    int at[8];
  };
  static I dot(const B& levels, const std::int8_t* n) {
    I out;
    for (int l = 0; l < 8; ++l) {
      out.at[l] = 0;
      for (int j = 4 * l; j < 4 * l + 4; ++j) out.at[l] += levels.at[j] * n[j];
    }
    return out;
  }
  static I dot_natural(const B& levels, const std::int8_t* n) { return dot(levels, n); }
  static void sum_halves(const I* x, F* out) {
    for (int o = 0; o < 8; ++o)
      for (int h = 0; h < 2; ++h) {
        int sum = 0;
        for (int l = 4 * h; l < 4 * h + 4; ++l) sum += x[o].at[l];
        out[h].at[o] = static_cast<float>(sum);
      }
  }
  static F sum_all(const I* x) {
    F out;
    for (int o = 0; o < 8; ++o) {
      int sum = 0;
      for (int l = 0; l < 8; ++l) sum += x[o].at[l];
      out.at[o] = static_cast<float>(sum);
    }
    return out;
  }
  static F number(float x) { return {{x, x, x, x, x, x, x, x}}; }
  static F load(const float* at) {
    F out;
    for (int l = 0; l < 8; ++l) out.at[l] = at[l];
    return out;
  }
  static void store(float* at, const F& x) {
    for (int l = 0; l < 8; ++l) at[l] = x.at[l];
  }
  static F fma(const F& a, const F& b, const F& c) {
    F out;
    for (int l = 0; l < 8; ++l) out.at[l] = std::fma(a.at[l], b.at[l], c.at[l]);
    return out;
  }
  static float half(Bytes at) { return f16_value(static_cast<std::uint16_t>(at[0] | at[1] << 8)); }
};

/// The nearest integer, ties to even, of a number up to 127; -127 of what is no number.
int nearest(float x) {
  if (!(std::abs(x) < 128)) return -127;
  return static_cast<int>(std::bit_cast<std::uint32_t>(x + 12582912.0f) & 0x007fffffu) - 0x00400000;
}

void round_groups(const float* x, std::int64_t count, Group* groups) {
  for (std::int64_t g = 0; g < count; ++g, x += 32) {
    // Magnitudes compare as the integers of their bits, and NaN is the largest.
    std::uint32_t most = 0;
    for (int i = 0; i < 32; ++i)
      most = std::max(most, std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffu);
    Group& group = groups[g];
    group.scale = std::bit_cast<float>(most) / 127.0f;
    const float inverse = group.scale != 0 ? 1.0f / group.scale : 0.0f;
    for (int i = 0; i < 32; ++i) group.n[i] = static_cast<std::int8_t>(nearest(x[i] * inverse));
    add_up(group);
  }
}

}  // namespace

const InstructionSet kPortable{"portable", [] { return true; }, round_groups,
                               Formats<Portable>::all.data()};

}  // namespace strata::loop::block8
