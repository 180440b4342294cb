// Keys of random numbers: a type of their own, as in jax.random.
//
//   random::Key key = random::key(0);
//   auto [a, b] = random::split(key);
//   auto [c, d, e] = random::split<3>(b);
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
#include <tuple>
#include <utility>

#include "strata/api/numpy.h"

namespace strata::random {

/// How bits are made of a key. `rbg` splits by Threefry and makes bits by XLA's Philox;
/// `unsafe_rbg` splits by that as well.
enum class Implementation { threefry2x32, threefry4x32, philox2x32, philox4x32, rbg, unsafe_rbg };
/// The name of an implementation, "threefry2x32" among them.
const char* name(Implementation implementation);
/// The implementation of a name, "threefry2x32" among them. Throws Error for another name.
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

/// The generator of a key. It stands in a base so that `auto [a, b]` does not take a Key apart into
/// words and generator: keys come apart where their number is known (Keys).
struct KeyKind {
  Implementation implementation = Implementation::threefry2x32;
};

/// An array of keys; rank 0 for a single one.
struct [[nodiscard]] Key : KeyKind {
  Array words;
  STRATA_FIELDS(words, implementation)

  Key() = default;
  /// Words of the default implementation.
  Key(const Array& bits) : words(bits) {}  // NOLINT: implicit by intent
  Key(Array bits, Implementation generator) : KeyKind{generator}, words(std::move(bits)) {}
  operator const Array&() const { return words; }  // NOLINT

  /// The shape of the array of keys; rank 0 for a single one.
  Shape shape() const;
  /// The number of dimensions of the array of keys.
  int ndim() const { return words.ndim() - 1; }
  /// The number of keys.
  std::int64_t size() const { return shape().count(); }
  /// The type of the keys.
  KeyType dtype() const { return {implementation}; }
  /// Basic indexing and integer arrays, of the keys.
  Key operator[](const Indices& indices) const;
  /// The same keys in another shape.
  Key reshape(const Sizes& sizes) const;
  /// "Key[2](key<fry>) [[1 2] [3 4]]"
  std::string to_string() const;
};
/// Prints the keys and their type.
std::ostream& operator<<(std::ostream& out, const Key& key);

/// n keys: an array of them, whose elements `auto [a, b] = ...` takes.
template <std::size_t n>
class [[nodiscard]] Keys : public Key {
 public:
  /// An array of n keys.
  explicit Keys(Key keys) : Key(std::move(keys)) {}
  /// Key I by itself, as structured bindings take it.
  template <std::size_t I>
  Key get() const;
};

/// A key as an argument, and where the user wrote it.
class KeyOperand {
 public:
  KeyOperand(const Key& k, Where at = Where::current()) : key(k), where(at) {}            // NOLINT
  KeyOperand(const Array& words, Where at = Where::current()) : key(words), where(at) {}  // NOLINT
  Key key;
  Where where;
};

/// From a seed, an integer scalar (may be traced): 32 bits of it, 64 under x64. Throws Error for
/// anything else.
Key key(const Operand& seed, Implementation implementation = Implementation::threefry2x32);
/// The words of key(seed) as an array.
Array PRNGKey(const Operand& seed, Implementation implementation = Implementation::threefry2x32);
/// New keys from a single one: an array of `num` of them, or of a shape.
Key split(const KeyOperand& key, const Sizes& num);
/// The same of a number that the compiler knows, two unless given: the array, which comes apart:
/// `auto [a, b] = random::split(key)`, `auto [a, b, c] = random::split<3>(key)`.
template <std::size_t n = 2>
Keys<n> split(const KeyOperand& key) {
  return Keys<n>(split(key, n));
}
/// The two keys of split(key), as a pair.
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
/// The type of keys of an implementation.
KeyType key_dtype(Implementation implementation = Implementation::threefry2x32);
/// The same key as another one, which the check below lets use again.
Key clone(const KeyOperand& key);

namespace detail {
/// Element i of a vector of keys.
Key element(const Key& keys, std::int64_t i);
}  // namespace detail
template <std::size_t n>
template <std::size_t I>
Key Keys<n>::get() const {
  return detail::element(*this, static_cast<std::int64_t>(I));
}

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

template <std::size_t n>
struct std::tuple_size<strata::random::Keys<n>> : std::integral_constant<std::size_t, n> {};
template <std::size_t I, std::size_t n>
struct std::tuple_element<I, strata::random::Keys<n>> {
  using type = strata::random::Key;
};
