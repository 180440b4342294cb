#include "strata/api/random/generators.h"

#include "strata/api/trace/compose.h"

namespace strata::random {
namespace {

using internal::Builder;
using internal::Value;
using internal::Values;

constexpr std::uint32_t kParity = 0x1BD11BDA;  // Skein's
constexpr std::uint32_t kGolden = 0x9E3779B9,
                        kRootOfThree = 0xBB67AE85;  // Weyl sequences of Philox's keys
constexpr std::uint32_t kFactor2 = 0xD256D193,
                        kFactor4[] = {0xD2511F53, 0xCD9E8D57};  // Philox's multipliers

Value* word_like(Builder& b, Value* x, std::uint32_t word) { return op::full_like(b, x, word); }

Value* rotated_left(Builder& b, Value* x, int by) {
  return op::or_(b, op::shift_left(b, x, op::full_like(b, x, by)),
                 op::shift_right_logical(b, x, op::full_like(b, x, 32 - by)));
}

/// x += y; y = rotated y ^ x
void mix(Builder& b, Value*& x, Value*& y, int by) {
  x = op::add(b, x, y);
  y = op::xor_(b, rotated_left(b, y, by), x);
}

Value* parity(Builder& b, const Values& key) {
  Value* out = word_like(b, key[0], kParity);
  for (Value* k : key) out = op::xor_(b, out, k);
  return out;
}

/// Adds the key, shifted by the number of groups that went before, which is added as well.
void inject(Builder& b, Values& x, const Values& key, std::size_t group) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = op::add(b, x[i], key[(group + i) % key.size()]);
  if (group > 0)
    x.back() = op::add(b, x.back(), word_like(b, x.back(), static_cast<std::uint32_t>(group)));
}

Values threefry2(Builder& b, Values key, Values x) {
  static constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  key.push_back(parity(b, key));
  inject(b, x, key, 0);
  for (std::size_t group = 0; group < 5; ++group) {
    for (int by : rotations[group % 2]) mix(b, x[0], x[1], by);
    inject(b, x, key, group + 1);
  }
  return x;
}

Values threefry4(Builder& b, Values key, Values x) {
  static constexpr int rotations[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5},
                                          {6, 20},  {17, 11}, {25, 10}, {18, 20}};
  key.push_back(parity(b, key));
  inject(b, x, key, 0);
  for (std::size_t round = 0; round < 20; ++round) {
    const auto [first, second] = rotations[round % 8];
    mix(b, x[0], x[round % 2 == 0 ? 1 : 3], first);
    mix(b, x[2], x[round % 2 == 0 ? 3 : 1], second);
    if (round % 4 == 3) inject(b, x, key, round / 4 + 1);
  }
  return x;
}

/// Both halves of the product of x and a constant.
struct Product {
  Value *high, *low;
};
Product product(Builder& b, Value* x, std::uint32_t factor) {
  return {b.create("chlo.mulhi", {x, word_like(b, x, factor)}).result(),
          op::mul(b, x, word_like(b, x, factor))};
}

Value* bumped(Builder& b, Value* key, std::uint32_t by) {
  return op::add(b, key, word_like(b, key, by));
}

Values philox2(Builder& b, Values key, Values x) {
  for (int round = 0; round < 10; ++round) {
    if (round > 0) key[0] = bumped(b, key[0], kGolden);
    const Product p = product(b, x[0], kFactor2);
    x = {op::xor_(b, op::xor_(b, p.high, x[1]), key[0]), p.low};
  }
  return x;
}

Values philox4(Builder& b, Values key, Values x) {
  for (int round = 0; round < 10; ++round) {
    if (round > 0) key = {bumped(b, key[0], kGolden), bumped(b, key[1], kRootOfThree)};
    const Product p = product(b, x[0], kFactor4[0]), q = product(b, x[2], kFactor4[1]);
    x = {op::xor_(b, op::xor_(b, q.high, x[1]), key[0]), q.low,
         op::xor_(b, op::xor_(b, p.high, x[3]), key[1]), p.low};
  }
  return x;
}

}  // namespace

std::size_t block_words(Implementation generator) {
  return generator == Implementation::threefry4x32 || generator == Implementation::philox4x32 ? 4
                                                                                              : 2;
}

Values block(Builder& b, Implementation generator, const Values& key, const Values& counter) {
  switch (generator) {
    case Implementation::threefry2x32: return threefry2(b, key, counter);
    case Implementation::threefry4x32: return threefry4(b, key, counter);
    case Implementation::philox2x32: return philox2(b, key, counter);
    case Implementation::philox4x32: return philox4(b, key, counter);
    case Implementation::rbg:
    case Implementation::unsafe_rbg: break;
  }
  internal::fail("block", "{} makes its bits by rng_bit_generator", name(generator));
}

std::vector<Array> block(Implementation generator, const std::vector<Array>& key,
                         const std::vector<Array>& counter) {
  if (key.size() != static_cast<std::size_t>(key_words(generator)) ||
      counter.size() != block_words(generator))
    internal::fail("block", "{} takes {} words of key and {} of counter, got {} and {}",
                   name(generator), key_words(generator), block_words(generator), key.size(),
                   counter.size());
  std::vector<Array> all = key;
  all.insert(all.end(), counter.begin(), counter.end());
  const auto split = static_cast<std::ptrdiff_t>(key.size());
  return internal::emit(all, [&](Builder& b, const Values& v) {
    return block(b, generator, Values(v.begin(), v.begin() + split),
                 Values(v.begin() + split, v.end()));
  });
}

}  // namespace strata::random
