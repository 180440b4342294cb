// Shapes of `Dim`s and the types of graph values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/check.h"
#include "strata/base/shared.h"
#include "strata/type/dtype.h"

namespace strata {

/// One dimension: static (`4`), bounded (`?` of at most `bound`), or symbolic (`?` under a name
/// such as "B"). Never a bare integer in a shape, so that code that needs a number has to ask for
/// one (`size()`).
class Dim {
 public:
  Dim(std::int64_t size) : value_(size) {
    STRATA_CHECK(size >= 0, "dimension {} is negative", size);
  }  // NOLINT
  /// At most `bound`; nothing is known with a negative one. The largest i64 is no bound: a check
  /// fails.
  static Dim bounded(std::int64_t bound) {
    STRATA_CHECK(bound < std::numeric_limits<std::int64_t>::max(), "{} is no bound of a dimension",
                 bound);
    Dim d;
    d.value_ = bound < 0 ? kUnknown : kUnknown - 1 - bound;
    return d;
  }
  /// A size that programs call by a name, such as the batch of an export.
  static Dim symbolic(std::string name) {
    Dim d;
    if (!name.empty()) d.symbol_ = Shared<std::string>::of(std::move(name));
    return d;
  }
  /// A size of which nothing is known before the program runs.
  static Dim unknown() { return Dim(); }

  /// Whether the size is a number.
  bool is_static() const { return value_ >= 0; }
  /// Whether the size is open but at most a number.
  bool is_bounded() const { return value_ < kUnknown; }
  /// Whether the size has a name.
  bool is_symbolic() const { return static_cast<bool>(symbol_); }
  /// The number; a check fails unless the dimension is static.
  std::int64_t size() const {
    STRATA_CHECK(is_static(), "dimension has no static size");
    return value_;
  }
  /// The size or what it is at most; -1 when neither is known.
  std::int64_t bound() const { return is_bounded() ? kUnknown - 1 - value_ : value_; }
  /// The name of the size; empty without one.
  const std::string& symbol() const {
    static const std::string none;
    return symbol_ ? *symbol_ : none;
  }
  bool operator==(const Dim& other) const {
    return value_ == other.value_ &&
           (symbol_.get() == other.symbol_.get() || symbol() == other.symbol());
  }

 private:
  static constexpr std::int64_t kUnknown = -1;
  Dim() = default;
  std::int64_t value_ = kUnknown;  // a size; below kUnknown: a bound, counted down
  Shared<std::string> symbol_;
};

/// The dimensions of an array, outermost first. Rank 0 is a scalar; zero-sized dimensions are
/// allowed.
class Shape {
 public:
  Shape() = default;
  Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}  // NOLINT
  Shape(std::initializer_list<std::int64_t> sizes) : dims_(sizes.begin(), sizes.end()) {}
  /// From sizes alone, all of them static.
  static Shape of(const std::vector<std::int64_t>& sizes) {
    return Shape(std::vector<Dim>(sizes.begin(), sizes.end()));
  }

  /// The number of dimensions.
  int rank() const { return static_cast<int>(dims_.size()); }
  /// One dimension, 0 the first.
  const Dim& dim(int i) const {
    STRATA_CHECK(i >= 0 && i < rank(), "dimension {} of rank {}", i, rank());
    return dims_[i];
  }
  /// Static size of dimension i.
  std::int64_t operator[](int i) const { return dim(i).size(); }
  /// All dimensions in order.
  const std::vector<Dim>& dims() const { return dims_; }
  /// Whether all sizes are numbers.
  bool is_static() const;
  /// All sizes; a check fails unless static.
  std::vector<std::int64_t> sizes() const;
  /// Product of all sizes (1 for rank 0); static shapes only.
  std::int64_t count() const;
  /// Row-major strides in elements; static shapes only.
  std::vector<std::int64_t> strides() const;
  /// "4x8x?" as between the angle brackets of a tensor type, without the dtype.
  std::string to_string() const;
  bool operator==(const Shape&) const = default;

 private:
  std::vector<Dim> dims_;
};

/// How the integers of a quantised tensor stand for numbers: (q - zero_point) * scale, per tensor
/// or per slice of one dimension (StableHLO, quantized types).
///
///   Type t = Type(DType::i8, {4, 2}).with(Quantization{.expressed = DType::f32, .scales = {0.5},
///   .zero_points = {1}});
struct Quantization {
  DType expressed = DType::f32;
  std::int64_t storage_min = 0,
               storage_max = 0;  // within the storage dtype, storage_min < storage_max
  int axis = -1;  // the dimension whose slices have parameters of their own; -1: per tensor
  std::vector<double> scales;  // one, or one per slice
  std::vector<std::int64_t> zero_points;
  bool operator==(const Quantization&) const = default;
};

/// Smallest and largest integer of a storage dtype (of ui64: as far as i64 goes).
std::pair<std::int64_t, std::int64_t> storage_bounds(DType storage);

/// Where an array lives. Kernels allocate scratch in `local`.
enum class MemorySpace : std::uint8_t { device, host, local };

/// The type of a graph value: a tensor, an effect token, a mutable reference to a tensor, a tuple,
/// or a future (what an operation under way will give). One word; copies share what it says.
class Type {
 public:
  /// What a value can be: a tensor, an order between effects, a memory cell, several values, or
  /// one to come.
  enum class Kind : std::uint8_t { tensor, token, ref, tuple, future };

  /// tensor<f32>
  Type() = default;
  Type(DType dtype, Shape shape);
  /// A tensor of rank 0.
  static Type scalar(DType dtype) { return Type(dtype, Shape{}); }
  /// What orders effects.
  static Type token();
  /// A mutable cell holding a tensor; `ref_get`, `ref_set` read and write it in program order.
  static Type ref(DType dtype, Shape shape);
  /// Several values as one.
  static Type tuple(std::vector<Type> elements);
  /// What an asynchronous operation will give.
  static Type future(std::vector<Type> elements);

  /// Which of the kinds it is.
  Kind kind() const { return parts().kind; }
  /// Whether it is a tensor.
  bool is_tensor() const { return kind() == Kind::tensor; }
  /// Whether it orders effects.
  bool is_token() const { return kind() == Kind::token; }
  /// Whether it is a memory cell.
  bool is_ref() const { return kind() == Kind::ref; }
  /// Whether it is several values as one.
  bool is_tuple() const { return kind() == Kind::tuple; }
  /// Whether it is a value to come.
  bool is_future() const { return kind() == Kind::future; }
  /// The dtype of a tensor's elements.
  DType dtype() const { return parts().dtype; }
  /// The shape of a tensor.
  const Shape& shape() const { return parts().shape; }
  /// The number of dimensions of a tensor.
  int rank() const { return shape().rank(); }
  /// The types in a tuple or future.
  const std::vector<Type>& elements() const { return parts().elements; }
  /// The memory space that holds the array.
  MemorySpace space() const { return parts().space; }
  /// The same type in another memory.
  Type in(MemorySpace space) const;
  /// The same shape with another dtype, the same dtype with another shape.
  Type with(DType dtype) const;
  Type with(Shape shape) const;
  /// Null unless quantised; `dtype` is then the type of the stored integers.
  const Quantization* quantization() const { return parts().quantization.get(); }
  /// Whether integers stand for real numbers by scale and zero point.
  bool is_quantized() const { return quantization() != nullptr; }
  Type with(Quantization q) const;
  /// The same tensor of plain stored integers, and of the numbers that they stand for.
  Type storage() const;
  /// The type of real numbers that a quantized one stands for.
  Type expressed() const;
  /// Bytes of a static tensor.
  std::size_t bytes() const {
    return static_cast<std::size_t>(shape().count()) * byte_width(dtype());
  }
  /// "tensor<4x8xf32>", "tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>", "!stablehlo.token",
  /// "!strata.ref<4xf32>", "tuple<...>", "!stablehlo.future<...>".
  std::string to_string() const;
  /// The same for all copies of one type while one of them lives: a key for what is made once for
  /// all of them.
  const void* identity() const { return &parts(); }
  bool operator==(const Type& other) const;

  /// What the word points to; not for others.
  struct Parts {
    Kind kind = Kind::tensor;
    DType dtype = DType::f32;
    MemorySpace space = MemorySpace::device;
    Shape shape;
    std::vector<Type> elements;
    Shared<Quantization> quantization;
  };

 private:
  static const Parts kScalar;
  const Parts& parts() const { return parts_ ? *parts_ : kScalar; }
  template <class F>
  Type changed(F&& f) const;
  Shared<Parts> parts_;  // nothing: kScalar
};

template <>
void Shared<Type::Parts>::discard(Node* node);

}  // namespace strata
