#include "strata/data/format/riegeli/highway_hash.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace strata::data {
namespace {

using u64 = std::uint64_t;
constexpr u64 kKey[4] = {0x2f696c6567656952, 0x0a7364726f636572, 0x2f696c6567656952,
                         0x0a7364726f636572};
constexpr std::size_t kPacket = 32;

struct alignas(32) State {
  u64 v0[4], v1[4];
  u64 m0[4] = {0xdbe6d5d5fe4cce2f, 0xa4093822299f31d0, 0x13198a2e03707344, 0x243f6a8885a308d3};
  u64 m1[4] = {0x3bd39e10cb0ef593, 0xc0acf169b5f18a8c, 0xbe5466cf34e90c6c, 0x452821e638d01377};
  State() {
    for (int i = 0; i < 4; ++i) v0[i] = m0[i] ^ kKey[i], v1[i] = m1[i] ^ std::rotl(kKey[i], 32);
  }
};

/// Byte `at` of the pair (even, odd), moved to byte `to`.
constexpr int kEven[8] = {3, 12, 2, 5, 14, 1, 15, 0}, kOdd[8] = {11, 4, 10, 13, 9, 6, 8, 7};

void add_zipped(u64* to, const u64* from) {
  for (int pair = 0; pair < 4; pair += 2) {
    auto byte = [&](int at) { return from[pair + at / 8] >> (at % 8 * 8) & 0xff; };
    u64 even = 0, odd = 0;
    for (int i = 0; i < 8; ++i) even |= byte(kEven[i]) << 8 * i, odd |= byte(kOdd[i]) << 8 * i;
    to[pair] += even, to[pair + 1] += odd;
  }
}

u64 low(u64 x) { return x & 0xffffffff; }

void update(State& s, const u64* packet) {
  for (int i = 0; i < 4; ++i) {
    s.v1[i] += s.m0[i] + packet[i];
    s.m0[i] ^= low(s.v1[i]) * (s.v0[i] >> 32);
    s.v0[i] += s.m1[i];
    s.m1[i] ^= low(s.v0[i]) * (s.v1[i] >> 32);
  }
  add_zipped(s.v0, s.v1);
  add_zipped(s.v1, s.v0);
}

void update_bytes(State& s, const char* bytes) {
  u64 packet[4];
  std::memcpy(packet, bytes, kPacket);
  update(s, packet);
}

/// The packet that the last 1 to 31 bytes make.
void last_packet(std::string_view rest, char* packet) {
  const std::size_t n = rest.size(), whole = n & ~std::size_t{3}, odd = n & 3;
  std::memset(packet, 0, kPacket);
  std::memcpy(packet, rest.data(), whole);
  if (n & 16) {
    std::memcpy(packet + 28, rest.data() + n - 4, 4);
  } else if (odd) {
    const std::string_view tail = rest.substr(whole);
    packet[16] = tail[0], packet[17] = tail[odd >> 1], packet[18] = tail[odd - 1];
  }
}

void update_rest(State& s, std::string_view rest) {
  const std::size_t n = rest.size();
  for (int i = 0; i < 4; ++i) {
    s.v0[i] += (u64{n} << 32) + n;
    const auto half = [&](u64 x) { return std::rotl(static_cast<std::uint32_t>(x), int(n)); };
    s.v1[i] = half(s.v1[i]) | u64{half(s.v1[i] >> 32)} << 32;
  }
  char packet[kPacket];
  last_packet(rest, packet);
  update_bytes(s, packet);
}

u64 finish(State& s, std::string_view rest) {
  if (!rest.empty()) update_rest(s, rest);
  for (int round = 0; round < 4; ++round) {
    const u64 packet[4] = {std::rotl(s.v0[2], 32), std::rotl(s.v0[3], 32), std::rotl(s.v0[0], 32),
                           std::rotl(s.v0[1], 32)};
    update(s, packet);
  }
  return s.v0[0] + s.v1[0] + s.m0[0] + s.m1[0];
}

#if defined(__x86_64__)
#define STRATA_AVX2 __attribute__((target("avx2"), always_inline)) inline

/// The same state, four lanes at once.
struct Lanes {
  __m256i v0, v1, m0, m1;
};

STRATA_AVX2 void update_lanes(Lanes& s, __m256i packet) {
  const __m256i zip = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(3, 12, 2, 5, 14, 1, 15, 0, 11, 4, 10, 13, 9, 6, 8, 7));
  s.v1 = _mm256_add_epi64(s.v1, _mm256_add_epi64(s.m0, packet));
  s.m0 = _mm256_xor_si256(s.m0, _mm256_mul_epu32(s.v1, _mm256_srli_epi64(s.v0, 32)));
  s.v0 = _mm256_add_epi64(s.v0, s.m1);
  s.m1 = _mm256_xor_si256(s.m1, _mm256_mul_epu32(s.v0, _mm256_srli_epi64(s.v1, 32)));
  s.v0 = _mm256_add_epi64(s.v0, _mm256_shuffle_epi8(s.v1, zip));
  s.v1 = _mm256_add_epi64(s.v1, _mm256_shuffle_epi8(s.v0, zip));
}

STRATA_AVX2 __m256i load_lanes(const void* at) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}

/// `last_packet` without going through memory.
STRATA_AVX2 __m256i last_lanes(const char* at, std::size_t n) {
  const __m256i words = _mm256_set1_epi32(static_cast<int>(n / 4));
  const __m256i mask = _mm256_cmpgt_epi32(words, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  const __m256i packet = _mm256_maskload_epi32(reinterpret_cast<const int*>(at), mask);
  if (n & 16) {
    int tail = 0;
    std::memcpy(&tail, at + n - 4, 4);
    return _mm256_insert_epi32(packet, tail, 7);
  }
  const std::size_t odd = n & 3;
  if (odd == 0) return packet;
  const auto* tail = reinterpret_cast<const unsigned char*>(at + n - odd);
  return _mm256_insert_epi32(packet, tail[0] | tail[odd >> 1] << 8 | tail[odd - 1] << 16, 4);
}

STRATA_AVX2 std::uint64_t hash_of_lanes(std::string_view bytes) {
  const State begin;
  Lanes s{load_lanes(begin.v0), load_lanes(begin.v1), load_lanes(begin.m0), load_lanes(begin.m1)};
  const char* at = bytes.data();
  for (std::size_t packets = bytes.size() / kPacket; packets > 0; --packets, at += kPacket)
    update_lanes(s, load_lanes(at));
  if (const std::size_t n = bytes.size() % kPacket; n > 0) {
    s.v0 = _mm256_add_epi64(s.v0, _mm256_set1_epi32(static_cast<int>(n)));
    const __m128i left = _mm_cvtsi32_si128(static_cast<int>(n)),
                  right = _mm_cvtsi32_si128(static_cast<int>(32 - n));
    s.v1 = _mm256_or_si256(_mm256_sll_epi32(s.v1, left), _mm256_srl_epi32(s.v1, right));
    update_lanes(s, last_lanes(bytes.data() + bytes.size() - n, n));
  }
  for (int round = 0; round < 4; ++round)
    update_lanes(s, _mm256_shuffle_epi32(_mm256_permute4x64_epi64(s.v0, 0x4e), 0xb1));
  const auto lane = [](__m256i v) __attribute__((target("avx2"))) {
    return static_cast<u64>(_mm256_extract_epi64(v, 0));
  };
  return lane(s.v0) + lane(s.v1) + lane(s.m0) + lane(s.m1);
}
#undef STRATA_AVX2

__attribute__((target("avx2"))) std::uint64_t hash_by_lanes(std::string_view bytes) {
  return hash_of_lanes(bytes);
}
/// Neither waits for the other, so a processor works at both.
__attribute__((target("avx2"))) std::pair<u64, u64> both_by_lanes(std::string_view a,
                                                                  std::string_view b) {
  const u64 first = hash_of_lanes(a);
  return {first, hash_of_lanes(b)};
}

bool has_avx2() {
  static const bool out = __builtin_cpu_supports("avx2");
  return out;
}
#endif

}  // namespace

std::uint64_t riegeli_hash_by_words(std::string_view bytes) {
  State s;
  for (; bytes.size() >= kPacket; bytes.remove_prefix(kPacket)) update_bytes(s, bytes.data());
  return finish(s, bytes);
}

std::uint64_t riegeli_hash(std::string_view bytes) {
#if defined(__x86_64__)
  if (has_avx2()) return hash_by_lanes(bytes);
#endif
  return riegeli_hash_by_words(bytes);
}

std::pair<std::uint64_t, std::uint64_t> riegeli_hashes(std::string_view a, std::string_view b) {
#if defined(__x86_64__)
  if (has_avx2()) return both_by_lanes(a, b);
#endif
  return {riegeli_hash_by_words(a), riegeli_hash_by_words(b)};
}

}  // namespace strata::data
