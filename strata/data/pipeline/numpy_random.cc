#include "strata/data/pipeline/numpy_random.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "strata/base/error.h"

namespace strata::data {
namespace {

__extension__ using u128 = unsigned __int128;

constexpr std::uint32_t kInitA = 0x43b0d7e5, kMultA = 0x931e8875, kInitB = 0x8b51f9dd,
                        kMultB = 0x58f38ded, kMixLeft = 0xca01f9dd, kMixRight = 0x4973f715;

class HashMix {
 public:
  std::uint32_t operator()(std::uint32_t v) {
    v ^= hash_;
    hash_ *= kMultA;
    v *= hash_;
    return v ^ (v >> 16);
  }

 private:
  std::uint32_t hash_ = kInitA;
};

std::uint32_t mix(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t r = kMixLeft * x - kMixRight * y;
  return r ^ (r >> 16);
}

std::vector<std::uint64_t> seed_words(std::uint64_t seed, std::size_t count) {
  const std::vector<std::uint32_t> words = seed_sequence(std::array{seed}, 2 * count);
  std::vector<std::uint64_t> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = words[2 * i] | static_cast<std::uint64_t>(words[2 * i + 1]) << 32;
  return out;
}

u128 join(std::uint64_t high, std::uint64_t low) { return static_cast<u128>(high) << 64 | low; }

void pcg_step(u128& state, u128 increment) {
  state = state * join(2549297995355413924u, 4865540595714422341u) + increment;
}

}  // namespace

std::vector<std::uint32_t> seed_sequence(std::span<const std::uint64_t> entropy,
                                         std::size_t count) {
  std::vector<std::uint32_t> words;
  for (std::uint64_t e : entropy) {
    words.push_back(static_cast<std::uint32_t>(e));
    if (e >> 32) words.push_back(static_cast<std::uint32_t>(e >> 32));
  }
  HashMix hash;
  std::array<std::uint32_t, 4> pool{};
  for (std::size_t i = 0; i < pool.size(); ++i) pool[i] = hash(i < words.size() ? words[i] : 0);
  for (std::size_t from = 0; from < pool.size(); ++from)
    for (std::size_t to = 0; to < pool.size(); ++to)
      if (from != to) pool[to] = mix(pool[to], hash(pool[from]));
  for (std::size_t i = pool.size(); i < words.size(); ++i)
    for (std::uint32_t& p : pool) p = mix(p, hash(words[i]));
  std::vector<std::uint32_t> out(count);
  std::uint32_t g = kInitB;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t v = pool[i % pool.size()] ^ g;
    g *= kMultB;
    v *= g;
    out[i] = v ^ (v >> 16);
  }
  return out;
}

NumpyGenerator NumpyGenerator::default_rng(std::uint64_t seed) {
  const std::vector<std::uint64_t> w = seed_words(seed, 4);
  NumpyGenerator out;
  out.is_philox_ = false;
  out.increment_ = join(w[2], w[3]) << 1 | 1;
  pcg_step(out.state_, out.increment_);
  out.state_ += join(w[0], w[1]);
  pcg_step(out.state_, out.increment_);
  return out;
}

NumpyGenerator NumpyGenerator::philox(std::uint64_t seed) {
  const std::vector<std::uint64_t> w = seed_words(seed, 2);
  return philox_key(w[0], w[1]);
}

NumpyGenerator NumpyGenerator::philox_key(std::uint64_t low, std::uint64_t high) {
  NumpyGenerator out;
  out.key_ = {low, high};
  return out;
}

void NumpyGenerator::set_counter(const std::array<std::uint64_t, 4>& counter) {
  counter_ = counter;
  used_ = 4;
  has_half_ = false;
}

void NumpyGenerator::philox_block() {
  for (std::uint64_t& c : counter_)
    if (++c != 0) break;
  std::array<std::uint64_t, 4> c = counter_;
  std::uint64_t k0 = key_[0], k1 = key_[1];
  for (int round = 0; round < 10; ++round) {
    const u128 p0 = static_cast<u128>(0xD2E7470EE14C6C93u) * c[0],
               p1 = static_cast<u128>(0xCA5A826395121157u) * c[2];
    c = {static_cast<std::uint64_t>(p1 >> 64) ^ c[1] ^ k0, static_cast<std::uint64_t>(p1),
         static_cast<std::uint64_t>(p0 >> 64) ^ c[3] ^ k1, static_cast<std::uint64_t>(p0)};
    k0 += 0x9E3779B97F4A7C15u;
    k1 += 0xBB67AE8584CAA73Bu;
  }
  block_ = c;
  used_ = 0;
}

std::uint64_t NumpyGenerator::next_u64() {
  if (is_philox_) {
    if (used_ == 4) philox_block();
    return block_[static_cast<std::size_t>(used_++)];
  }
  pcg_step(state_, increment_);
  return std::rotr(static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_),
                   static_cast<int>(state_ >> 122));
}

std::uint32_t NumpyGenerator::next_u32() {
  if (has_half_) {
    has_half_ = false;
    return half_;
  }
  const std::uint64_t next = next_u64();
  has_half_ = true;
  half_ = static_cast<std::uint32_t>(next >> 32);
  return static_cast<std::uint32_t>(next);
}

double NumpyGenerator::random() {
  return static_cast<double>(next_u64() >> 11) * (1.0 / 9007199254740992.0);
}

std::int64_t NumpyGenerator::integers(std::int64_t low, std::int64_t high) {
  if (low >= high)
    throw Error("NumpyGenerator::integers", "low is {}, high is {}; needed is low < high", low,
                high);
  const std::uint64_t range =
      static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) - 1;
  const auto from = [&](std::uint64_t offset) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
  };
  if (range == 0) return low;
  if (range == 0xffffffffu) return from(next_u32());
  if (range < 0xffffffffu) {
    const auto n = static_cast<std::uint32_t>(range + 1);
    std::uint64_t m = static_cast<std::uint64_t>(next_u32()) * n;
    if (static_cast<std::uint32_t>(m) < n) {
      const std::uint32_t threshold = (0xffffffffu - static_cast<std::uint32_t>(range)) % n;
      while (static_cast<std::uint32_t>(m) < threshold)
        m = static_cast<std::uint64_t>(next_u32()) * n;
    }
    return from(m >> 32);
  }
  if (range == ~std::uint64_t{0}) return from(next_u64());
  const std::uint64_t n = range + 1;
  u128 m = static_cast<u128>(next_u64()) * n;
  if (static_cast<std::uint64_t>(m) < n) {
    const std::uint64_t threshold = (~std::uint64_t{0} - range) % n;
    while (static_cast<std::uint64_t>(m) < threshold) m = static_cast<u128>(next_u64()) * n;
  }
  return from(static_cast<std::uint64_t>(m >> 64));
}

std::uint64_t NumpyGenerator::bounded(std::uint64_t most) {
  if (most == 0) return 0;
  const int bits = std::bit_width(most);
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  for (;;) {
    const std::uint64_t v = (most > 0xffffffffu ? next_u64() : next_u32()) & mask;
    if (v <= most) return v;
  }
}

std::vector<std::int64_t> NumpyGenerator::permuted(std::int64_t n) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  for (std::size_t i = out.size(); i-- > 1;) std::swap(out[i], out[bounded(i)]);
  return out;
}

}  // namespace strata::data
