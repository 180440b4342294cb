#include "strata/data/shuffle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>

#include "strata/base/check.h"

namespace strata::data {
namespace {

class Cipher {
 public:
  /// Over blocks of at least `bits`.
  Cipher(int bits, std::uint32_t seed) {
    half_ = std::max(bits + bits % 2, 16) / 2;
    mask_ = (std::uint64_t{1} << half_) - 1;
    keys_ = keys_of(seed);
    for (std::uint32_t& key : keys_) key &= static_cast<std::uint32_t>(mask_);
  }
  std::uint64_t encrypt(std::uint64_t v) const {
    std::uint64_t left = (v >> half_) & mask_, right = v & mask_;
    for (std::size_t i = 0; i < keys_.size(); i += 2) {
      left ^= mix(right) ^ keys_[i];
      right ^= mix(left) ^ keys_[i + 1];
    }
    return left << half_ | right;
  }

 private:
  using Keys = std::array<std::uint32_t, 4>;
  /// Kept for the next call of this thread: an epoch asks for one seed again and again.
  static Keys keys_of(std::uint32_t seed) {
    thread_local struct {
      std::uint32_t seed;
      bool known = false;
      Keys keys;
    } last;
    if (!last.known || last.seed != seed) {
      std::seed_seq{seed}.generate(last.keys.begin(), last.keys.end());
      last.seed = seed;
      last.known = true;
    }
    return last.keys;
  }
  std::uint64_t rotate(std::uint64_t x, int n) const { return (x << n | x >> (half_ - n)) & mask_; }
  std::uint64_t mix(std::uint64_t x) const {
    return (rotate(x, 1) & rotate(x, 8 % half_)) ^ rotate(x, 2);
  }
  int half_;
  std::uint64_t mask_;
  Keys keys_;
};

/// Grain's number of bits; too few for 2^k, which is then one bit longer than the block.
int bits_of(std::uint64_t max_index) {
  return static_cast<int>(std::ceil(std::log2(static_cast<double>(max_index))));
}

std::uint64_t walk(const Cipher& cipher, std::uint64_t index, std::uint64_t max_index) {
  do index = cipher.encrypt(index);
  while (index > max_index);
  return index;
}

}  // namespace

std::uint64_t index_shuffle(std::uint64_t index, std::uint64_t max_index, std::uint32_t seed) {
  STRATA_CHECK(index <= max_index, "index {} of {}", index, max_index);
  if (max_index == 0) return 0;
  return walk(Cipher(bits_of(max_index), seed), index, max_index);
}

std::uint64_t permute(std::uint64_t index, std::uint64_t n, std::uint32_t seed) {
  STRATA_CHECK(index < n, "index {} of {}", index, n);
  if (n == 1) return 0;
  return walk(Cipher(std::max(bits_of(n - 1), static_cast<int>(std::bit_width(n - 1))), seed),
              index, n - 1);
}

}  // namespace strata::data
