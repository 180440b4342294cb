// What flows through a pipeline: a tree of numbers, arrays, texts and bytes, known at run time.
//
//   Element e = Element::dict({{"tokens", Literal::of<std::int32_t>({3}, {1, 2, 3})},
//                              {"name", "kjv"}, {"raw", Element::bytes("\x00\x01")}});
//   e.at("tokens").array().shape()       // (3)
//   e.set("length", 3);                  // copies what other elements share, then writes
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "strata/type/literal.h"

namespace strata::data {

/// An array of texts or of byte strings, as numpy's dtypes U and S: each padded with zero bytes to
/// the longest one's width, so zero bytes at an item's end are lost.
struct StringArray {
  Shape shape;
  /// Bytes of an item; texts are UTF-8.
  std::int64_t width = 0;
  /// Whether items are texts rather than bytes.
  bool is_text = false;
  /// shape.count() * width bytes, row-major.
  std::shared_ptr<const std::string> storage;

  /// Item i, row-major, without the padding.
  std::string_view at(std::int64_t i) const;
};

/// A value: nothing, a number, text, bytes, an array, or a list, tuple or dict of such values.
/// Copies share; the setters copy what is shared before they write. Safe to read from several
/// threads.
class Element {
 public:
  enum class Kind : std::uint8_t {
    none,     // nothing: a hole that a filter left
    boolean,  // one bool
    integer,  // one i64
    real,     // one f64
    text,     // UTF-8
    bytes,
    array,    // a Literal
    strings,  // a StringArray
    list,
    tuple,
    dict,  // keys are texts, in the order in which they came
  };
  using Items = std::vector<Element>;
  using Fields = std::vector<std::pair<std::string, Element>>;

  Element() = default;
  Element(bool value) : value_(value) {}                     // NOLINT: implicit
  Element(int value) : value_(std::int64_t{value}) {}        // NOLINT
  Element(std::int64_t value) : value_(value) {}             // NOLINT
  Element(double value) : value_(value) {}                   // NOLINT
  Element(const char* text) : Element(std::string(text)) {}  // NOLINT
  Element(std::string text);                                 // NOLINT
  Element(Literal array);                                    // NOLINT
  Element(StringArray strings);                              // NOLINT
  /// Bytes of their own.
  static Element bytes(std::string bytes);
  /// Bytes of somebody else (a mapped file, a block of many records), kept alive by `owner`.
  static Element bytes(std::shared_ptr<const void> owner, std::string_view bytes);
  /// Text of somebody else; whoever calls says that it is UTF-8.
  static Element text(std::shared_ptr<const void> owner, std::string_view text);
  static Element list(Items items);
  static Element tuple(Items items);
  static Element dict(Fields fields);

  Kind kind() const;
  bool is_none() const { return kind() == Kind::none; }
  /// Whether it is no list, tuple or dict; nothing is no leaf either.
  bool is_leaf() const { return kind() != Kind::none && kind() < Kind::list; }
  /// The number; throws Error where it is none. Arrays of rank 0 count as numbers.
  bool boolean() const;
  std::int64_t integer() const;
  double real() const;
  /// The bytes of a text or of bytes; throws Error for other kinds.
  std::string_view view() const;
  /// The tensor; throws Error where it is none.
  const Literal& array() const;
  const StringArray& strings() const;
  /// The parts of a list or tuple.
  const Items& items() const;
  /// The parts of a dict.
  const Fields& fields() const;
  /// Whether it is a dict with this key.
  bool contains(std::string_view key) const;
  /// A dict's part. Throws Error that names the keys there are.
  const Element& at(std::string_view key) const;
  /// A list's or tuple's part.
  const Element& at(std::size_t index) const;
  /// Adds or replaces a part of a dict.
  void set(std::string_view key, Element value);
  /// Removes a part of a dict, if it is there.
  void erase(std::string_view key);

  /// Of a leaf: the shape as numpy has it; scalars, texts and bytes have rank 0.
  Shape shape() const;
  /// Memory of the values, in bytes.
  std::int64_t byte_count() const;
  /// As a person reads it: {"tokens": i32[3] [1, 2, 3], "name": "kjv"}.
  std::string to_string() const;
  /// The same kinds, keys and bits. NaN equals the same NaN.
  bool operator==(const Element& other) const;

  /// Calls f with each leaf and its path ("tokens", "parts/0"), lists in order, dicts in order of
  /// their keys' bytes, as jax.tree does. None is no leaf.
  void for_each_leaf(const std::function<void(const std::string&, const Element&)>& f) const;
  /// The same tree with each leaf replaced.
  Element map_leaves(const std::function<Element(const Element&)>& f) const;

 private:
  struct Text {
    std::shared_ptr<const void> owner;
    std::string_view view;
  };
  struct Bytes : Text {};
  struct List {
    std::shared_ptr<const Items> items;
  };
  struct Tuple : List {};
  struct Dict {
    std::shared_ptr<const Fields> fields;
  };
  // In the order of Kind.
  std::variant<std::monostate, bool, std::int64_t, double, Text, Bytes,
               std::shared_ptr<const Literal>, std::shared_ptr<const StringArray>, List, Tuple,
               Dict>
      value_;
};

/// "integer", "dict".
std::string_view name(Element::Kind kind);

}  // namespace strata::data
