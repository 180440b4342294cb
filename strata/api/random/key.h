// Keys of random numbers: a type of their own, as in jax.random.
//
//   random::Key key = random::key(0);
//   auto [a, b] = random::split2(key);
//   Array x = vmap([](const random::Key& k) { return random::normal(k, {3}); })(random::split(a,
//   8));
//
// A key array has words (ui32[..., n], n by the implementation) and says which generator they are
// for. It is a tree of one leaf, so that vmap, scan, jit and while_loop take it along its leading
// axes. Where an Array is expected it gives its words, and words are a key of the default
// implementation, as raw keys are upstream; results are always typed (upstream answers raw keys
// with raw keys).
//
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011);
// jax/_src/random/{prng,threefry2x32,threefry4x32,philox2x32, philox4x32,rbg}.py (0.10.2).
#pragma once

#include <string>
#include <utility>

#include "strata/api/numpy.h"

namespace strata::random {

/// How bits are made of a key. `rbg` splits by Threefry and makes bits by XLA's Philox;
/// `unsafe_rbg` splits by that as well.
enum class Implementation { threefry2x32, threefry4x32, philox2x32, philox4x32, rbg, unsafe_rbg };
/// "threefry2x32", and back. Throws Error for another name.
const char* name(Implementation implementation);
Implementation implementation(const std::string& name);
/// How many words one key has.
std::int64_t key_words(Implementation implementation);

/// The type of keys: key<fry>, key<rbg>, ...
struct KeyType {
  Implementation implementation = Implementation::threefry2x32;
  /// As JAX prints it: "key<fry>".
  std::string to_string() const;
  friend bool operator==(const KeyType&, const KeyType&) = default;
};

/// An array of keys; rank 0 for a single one.
struct [[nodiscard]] Key {
  Array words;
  Implementation implementation = Implementation::threefry2x32;
  STRATA_FIELDS(words, implementation)

  Key() = default;
  /// Words of the default implementation.
  Key(const Array& words) : words(words) {}  // NOLINT: implicit by intent
  Key(Array words, Implementation implementation)
      : words(std::move(words)), implementation(implementation) {}
  operator const Array&() const { return words; }  // NOLINT

  Shape shape() const;
  int ndim() const { return words.ndim() - 1; }
  std::int64_t size() const { return shape().count(); }
  KeyType dtype() const { return {implementation}; }
  /// Basic indexing and integer arrays, of the keys.
  Key operator[](const Indices& indices) const;
  Key reshape(const Sizes& sizes) const;
  /// "Key[2](key<fry>) [[1 2] [3 4]]"
  std::string to_string() const;
};
std::ostream& operator<<(std::ostream& out, const Key& key);

/// A key as an argument, and where the user wrote it.
class KeyOperand {
 public:
  KeyOperand(const Key& key, Where where = Where::current()) : key(key), where(where) {}  // NOLINT
  KeyOperand(const Array& words, Where where = Where::current())
      : key(words), where(where) {}  // NOLINT
  Key key;
  Where where;
};

/// From a seed, an integer scalar (may be traced): 32 bits of it, 64 under x64. Throws Error for
/// anything else.
Key key(const Operand& seed, Implementation implementation = Implementation::threefry2x32);
/// Its words alone.
Array PRNGKey(const Operand& seed, Implementation implementation = Implementation::threefry2x32);
/// New keys from a single one: `num` of them, or a shape.
Key split(const KeyOperand& key, const Sizes& num = 2);
/// The two keys of split(key).
[[nodiscard]] std::pair<Key, Key> split2(const KeyOperand& key);
/// A new key from a key and a number (an integer scalar, traced or not): split(key, n)[i] without
/// the others (Threefry).
Key fold_in(const KeyOperand& key, const Operand& data);

/// The words: ui32[..., n].
Array key_data(const KeyOperand& keys);
/// Keys of words. Throws Error unless they are ui32[..., n] of that implementation.
Key wrap_key_data(const Operand& words,
                  Implementation implementation = Implementation::threefry2x32);
/// The implementation's name.
std::string key_impl(const KeyOperand& keys);
KeyType key_dtype(Implementation implementation = Implementation::threefry2x32);
/// The same key as another one, which the check below lets use again.
Key clone(const KeyOperand& key);

/// Uniform bits: ui8, ui16, ui32 or ui64; unless given ui32, under x64 ui64.
Array bits(const KeyOperand& key, const Sizes& shape = {}, std::optional<DType> dtype = {});

/// The layout of Threefry-2x32's counters for a scope: JAX's default since 0.5 counts each element
/// (partitionable); the original one (jax_threefry_partitionable = False) pairs the first half of
/// the elements with the second, and gives other numbers.
class ThreefryPartitionable {
 public:
  explicit ThreefryPartitionable(bool on = true);
  ~ThreefryPartitionable();
  ThreefryPartitionable(const ThreefryPartitionable&) = delete;
  ThreefryPartitionable& operator=(const ThreefryPartitionable&) = delete;

 private:
  bool before_;
};

/// In its scope a key that is used a second time is an error that names both uses
/// (jax_debug_key_reuse). Samplers, split and bits use a key; fold_in does not, and words taken by
/// key_data do not remember. A key is told by the handle and its copies, traced ones included;
/// elements taken twice from one key array count as two keys.
class DebugKeyReuse {
 public:
  explicit DebugKeyReuse(bool on = true);
  ~DebugKeyReuse();
  DebugKeyReuse(const DebugKeyReuse&) = delete;
  DebugKeyReuse& operator=(const DebugKeyReuse&) = delete;

 private:
  bool before_;
};

}  // namespace strata::random
