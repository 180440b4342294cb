// What a length of fft needs, made once and kept: factors, roots of unity, scratch sizes. Plain
// numbers behind pointers, so that code for any instruction set may read them.
//
// Everything is computed in `N`, the type of what comes and goes: float or double. Columns of
// kLanes<N> numbers, a cache line, go through a transform side by side: a row is kLanes<N> real
// parts, then as many imaginary ones.
#pragma once

#include <cstdint>

namespace strata::loop::fft {

template <class N>
constexpr std::int64_t kLanes = 64 / sizeof(N);
template <class N>
constexpr std::int64_t kRow = 2 * kLanes<N>;  // numbers of a row
constexpr int kLargestRadix = 61;

template <class N>
constexpr std::int64_t whole_lanes(std::int64_t n) {
  return (n + kLanes<N> - 1) / kLanes<N> * kLanes<N>;
}

/// One pass of Stockham's algorithm, which permutes nothing: y[r + s (R q + k)] = w^(qk) sum over j
/// of x[r + s (q + m j)] exp(-2 pi i jk / R) for r < s, q < m, w = exp(-2 pi i / (R m)).
template <class N>
struct Pass {
  int radix;
  std::int64_t s, m;
  const N* turns;  // w^(qk), pairs, [q][k - 1]
  const N* roots;  // of an odd radix R: exp(-2 pi i t / R), pairs
};

/// Neighbours that two passes take together, of s: what is between the passes is 8 KiB or the
/// least there can be.
constexpr std::int64_t rows_between(std::int64_t radices, std::int64_t s) {
  const std::int64_t some = 64 / radices;
  return some < 1 ? 1 : some < s ? some : s;
}

/// The passes of a length whose prime factors are at most kLargestRadix.
template <class N>
struct Passes {
  static constexpr int kMost = 40;
  std::int64_t n = 0;
  int count = 0;
  Pass<N> pass[kMost];
};

template <class N>
struct Plan {
  enum Kind {
    kSmall,  // `whole`, several lines side by side: short ones, and others of which a split would
             // leave many lanes empty
    kSplit,  // n = n1 n2: n2 columns by `first`, a twist, n1 columns by `second`
    kChirp,  // Bluestein: a convolution of length inner->n
    kReal,   // of n real numbers, n even, by n / 2 complex ones: inner
  };
  std::int64_t n;
  Kind kind;
  Passes<N> whole;          // if not too long: for columns of arrays
  Passes<N> first, second;  // kSplit
  const N* twist;           // kSplit: exp(-2 pi i k1 j2 / n) in rows, [j2 / kLanes<N>][k1]
  const Plan* inner;        // kChirp, kReal
  const N* chirp;  // kChirp: exp(-pi i k^2 / n), then the transform of its conjugate over inner->n;
                   // both planes of whole lanes
  const N* filter;
  const N* halves;       // kReal: exp(-2 pi i k / n) for k <= n / 2, planes of whole lanes
  std::int64_t scratch;  // numbers, for a line and for a block of columns

  bool has_whole() const { return whole.n == n; }
};

/// Of a plan for real numbers (kReal, or any where their number is odd): lines that are worth doing
/// together, short ones share lanes,
template <class N>
std::int64_t lines_together(const Plan<N>& plan) {
  return (plan.kind == Plan<N>::kReal ? *plan.inner : plan).kind == Plan<N>::kSmall ? kLanes<N> : 1;
}
/// and the numbers of a part of one of them, with room on both sides for whole lanes.
template <class N>
std::int64_t real_room(const Plan<N>& plan) {
  return whole_lanes<N>((plan.kind == Plan<N>::kReal ? plan.inner->n : plan.n) + 1) + 2 * kLanes<N>;
}

}  // namespace strata::loop::fft
