// Random numbers of jax.random, from explicit keys; bits equal JAX's (Threefry-2x32, partitionable).
//
//   Array key = random::key(0);
//   auto [k1, k2] = random::split2(key);
//   Array w = random::normal(k1, {256, 128}) * 0.02f;
//
// A key is u32[2]. The same key always gives the same numbers: split before each use.
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"; jax/_src/prng.py, random.py (0.10.2).
#pragma once

#include <utility>

#include "strata/api/numpy.h"

namespace strata::random {

/// From a seed: 32 bits of it, 64 under x64. An integer scalar array may be traced.
Array key(const Operand& seed);
/// `num` new keys, u32[num, 2].
Array split(const Operand& key, std::int64_t num = 2);
/// The two keys of split(key).
std::pair<Array, Array> split2(const Operand& key);
/// A new key from a key and a number (an integer scalar, traced or not): split(key, n)[i] without the others.
Array fold_in(const Operand& key, const Operand& data);

/// Uniform bits: u8, u16, u32 or u64.
Array bits(const Operand& key, const Sizes& shape = {}, DType dtype = DType::ui32);
/// Uniform in [minval, maxval).
Array uniform(const Operand& key, const Sizes& shape = {}, DType dtype = DType::f32, const Array& minval = 0.0f, const Array& maxval = 1.0f);
/// Normal with mean 0 and variance 1.
Array normal(const Operand& key, const Sizes& shape = {}, DType dtype = DType::f32);
/// Normal, given that lower < x < upper.
Array truncated_normal(const Operand& key, double lower, double upper, const Sizes& shape = {}, DType dtype = DType::f32);
/// Integers in [minval, maxval), uniform.
Array randint(const Operand& key, const Sizes& shape, const Array& minval, const Array& maxval, DType dtype = DType::i32);
/// True with probability p.
Array bernoulli(const Operand& key, const Operand& p = 0.5f, std::optional<Sizes> shape = {});
/// -log(-log(uniform))
Array gumbel(const Operand& key, const Sizes& shape = {}, DType dtype = DType::f32);
/// Numbers drawn with probabilities softmax(logits) along an axis, which is dropped.
Array categorical(const Operand& key, const Operand& logits, std::int64_t axis = -1);

}  // namespace strata::random
