// numpy's random numbers, bit for bit: what Grain derives seeds and augmentations from.
//
//   auto rng = NumpyGenerator::philox(42);         // np.random.Generator(np.random.Philox(42))
//   rng.integers(0, 10); rng.random(); rng.permuted(8)
//
// Source: numpy/random, bit_generator.pyx, src/philox, src/pcg64, src/distributions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace strata::data {

/// np.random.SeedSequence(entropy).generate_state(count, np.uint32). Each integer of the entropy
/// counts as its words of 32 bits, low one first.
std::vector<std::uint32_t> seed_sequence(std::span<const std::uint64_t> entropy, std::size_t count);

/// np.random.Generator over the bit generator Philox4x64-10 or PCG64. Not for two threads at once.
class NumpyGenerator {
 public:
  /// np.random.default_rng(seed), which is PCG64.
  static NumpyGenerator default_rng(std::uint64_t seed);
  /// np.random.Generator(np.random.Philox(seed)).
  static NumpyGenerator philox(std::uint64_t seed);
  /// np.random.Generator(np.random.Philox(key=low + 2^64 * high)).
  static NumpyGenerator philox_key(std::uint64_t low, std::uint64_t high = 0);

  /// Philox: continues as a generator of this counter that gave nothing yet.
  void set_counter(const std::array<std::uint64_t, 4>& counter);

  std::uint64_t next_u64();
  std::uint32_t next_u32();
  /// Uniform in [0, 1): 53 bits.
  double random();
  double uniform(double low, double high) { return low + (high - low) * random(); }
  /// Uniform in low .. high - 1; throws Error unless low < high.
  std::int64_t integers(std::int64_t low, std::int64_t high);
  /// permuted(range(n)) and permutation(n): a Fisher-Yates shuffle from the end.
  std::vector<std::int64_t> permuted(std::int64_t n);

 private:
  std::uint64_t bounded(std::uint64_t most);
  void philox_block();
  bool is_philox_ = true;
  std::array<std::uint64_t, 2> key_{};
  std::array<std::uint64_t, 4> counter_{}, block_{};
  int used_ = 4;  // of the block
  __extension__ unsigned __int128 state_ = 0, increment_ = 0;
  bool has_half_ = false;
  std::uint32_t half_ = 0;
};

}  // namespace strata::data
