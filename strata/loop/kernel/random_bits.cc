// random_bits: the counter-based generators of stablehlo.rng_bit_generator, Threefry-2x32 (20
// rounds) and Philox-4x32 (10 rounds): Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3", SC 2011. State layout and the order in which words become elements are XLA's.
//
// Buffers: state (ui64: key, counter low, [counter high]; Philox with two words keeps key and
// counter low, and the key is the counter's high word), new state, bits. Parameters: philox, words
// of state, bits of an element, elements, then how Threefry pairs elements below 64 bits: outer,
// size and inner of the dimension that is cut in pairs.
//
// A grid point is kBlocks calls of the generator. Elements below 32 bits are the low bits of a word
// of their own.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

extern "C" void strata_random_bits(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace {

constexpr std::int64_t kBlocks = 1024;

struct Params {
  std::int64_t philox, words, bits, count, outer, size, inner;
};

std::array<std::uint32_t, 2> threefry(std::uint64_t counter, std::uint64_t key) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  std::uint32_t k[3] = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32), 0};
  k[2] = 0x1BD11BDAu ^ k[0] ^ k[1];
  std::uint32_t x = static_cast<std::uint32_t>(counter) + k[0],
                y = static_cast<std::uint32_t>(counter >> 32) + k[1];
  for (std::uint32_t group = 0; group < 5; ++group) {
    for (int rotation : kRotations[group % 2]) {
      x += y;
      y = std::rotl(y, rotation) ^ x;
    }
    x += k[(group + 1) % 3];
    y += k[(group + 2) % 3] + group + 1;
  }
  return {x, y};
}

std::array<std::uint32_t, 4> philox(std::uint64_t low, std::uint64_t high, std::uint64_t key) {
  std::uint32_t x[4] = {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                        static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    std::uint64_t p = std::uint64_t{0xD2511F53} * x[0], q = std::uint64_t{0xCD9E8D57} * x[2];
    std::uint32_t a = static_cast<std::uint32_t>(q >> 32) ^ x[1] ^ k0,
                  b = static_cast<std::uint32_t>(p >> 32) ^ x[3] ^ k1;
    x[0] = a;
    x[1] = static_cast<std::uint32_t>(q);
    x[2] = b;
    x[3] = static_cast<std::uint32_t>(p);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {x[0], x[1], x[2], x[3]};
}

/// Elements that one call of the generator makes.
std::int64_t per_block(const Params& p) {
  return p.philox ? (p.bits == 64 ? 2 : 4) : (p.bits == 64 ? 1 : 2);
}
std::int64_t blocks(const Params& p) {
  if (!p.philox && p.bits != 64) return p.outer * ((p.size + 1) / 2) * p.inner;
  return (p.count + per_block(p) - 1) / per_block(p);
}

template <class T>
T joined(std::uint32_t low, std::uint32_t high) {
  return static_cast<T>(std::uint64_t{low} | std::uint64_t{high} << 32);
}

template <class T>
void philox_elements(const Params& p, const std::uint64_t* state, std::int64_t from,
                     std::int64_t to, T* out) {
  std::uint64_t key = state[0], low = state[1], high = p.words >= 3 ? state[2] : state[0];
  for (std::int64_t block = from; block < to; ++block) {
    std::uint64_t sum = low + static_cast<std::uint64_t>(block);
    std::array<std::uint32_t, 4> x = philox(sum, high + (sum < low), key);
    if constexpr (sizeof(T) == 8) {
      for (std::int64_t i = 0; i < 2 && 2 * block + i < p.count; ++i)
        out[2 * block + i] =
            joined<T>(x[static_cast<std::size_t>(2 * i)], x[static_cast<std::size_t>(2 * i + 1)]);
    } else {
      for (std::int64_t i = 0; i < 4 && 4 * block + i < p.count; ++i)
        out[4 * block + i] = static_cast<T>(x[static_cast<std::size_t>(i)]);
    }
  }
}

template <class T>
void threefry_elements(const Params& p, const std::uint64_t* state, std::int64_t from,
                       std::int64_t to, T* out) {
  std::int64_t half = (p.size + 1) / 2;
  for (std::int64_t block = from; block < to; ++block) {
    std::array<std::uint32_t, 2> x =
        threefry(state[1] + static_cast<std::uint64_t>(block), state[0]);
    if constexpr (sizeof(T) == 8) {
      out[block] = joined<T>(x[0], x[1]);
    } else {
      std::int64_t j = block % p.inner, i = block / p.inner % half, o = block / p.inner / half;
      for (std::int64_t lane = 0; lane < 2 && 2 * i + lane < p.size; ++lane)
        out[(o * p.size + 2 * i + lane) * p.inner + j] =
            static_cast<T>(x[static_cast<std::size_t>(lane)]);
    }
  }
}

template <class T>
void elements(const Params& p, const std::uint64_t* state, std::int64_t begin, std::int64_t end,
              void* out) {
  std::int64_t from = begin * kBlocks, to = std::min(end * kBlocks, blocks(p));
  if (p.philox)
    philox_elements(p, state, from, to, static_cast<T*>(out));
  else
    threefry_elements(p, state, from, to, static_cast<T*>(out));
}

/// The counter moves by the calls made.
void advance(const Params& p, const std::uint64_t* state, std::uint64_t* next) {
  std::copy(state, state + p.words, next);
  next[1] = state[1] + static_cast<std::uint64_t>(blocks(p));
  if (p.philox && p.words >= 3) next[2] = state[2] + (next[1] < state[1]);
}

}  // namespace

extern "C" void strata_random_bits(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[3]);
  const auto* state = static_cast<const std::uint64_t*>(buffers[0]);
  if (begin == 0) advance(p, state, static_cast<std::uint64_t*>(buffers[1]));
  switch (p.bits) {
    case 8: return elements<std::uint8_t>(p, state, begin, end, buffers[2]);
    case 16: return elements<std::uint16_t>(p, state, begin, end, buffers[2]);
    case 32: return elements<std::uint32_t>(p, state, begin, end, buffers[2]);
    default: return elements<std::uint64_t>(p, state, begin, end, buffers[2]);
  }
}
