// Shapes of `Dim`s and the types of graph values.
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/check.h"
#include "strata/type/dtype.h"

namespace strata {

/// One dimension: static (`4`), bounded (`?` of at most `bound`), or symbolic (`?` under a name such as "B").
/// Never a bare integer in a shape, so that code that needs a number has to ask for one (`size()`).
class Dim {
 public:
  Dim(std::int64_t size) : size_(size) { STRATA_CHECK(size >= 0, "dimension {} is negative", size); }  // NOLINT
  static Dim bounded(std::int64_t bound) { Dim d; d.bound_ = bound; return d; }
  static Dim symbolic(std::string name) { Dim d; d.symbol_ = std::move(name); return d; }
  static Dim unknown() { return Dim(); }

  bool is_static() const { return size_ >= 0; }
  bool is_bounded() const { return bound_ >= 0; }
  bool is_symbolic() const { return !symbol_.empty(); }
  /// The number; a check fails unless the dimension is static.
  std::int64_t size() const { STRATA_CHECK(is_static(), "dimension has no static size"); return size_; }
  std::int64_t bound() const { return is_static() ? size_ : bound_; }
  const std::string& symbol() const { return symbol_; }
  bool operator==(const Dim&) const = default;

 private:
  Dim() = default;
  std::int64_t size_ = -1, bound_ = -1;
  std::string symbol_;
};

/// The dimensions of an array, outermost first. Rank 0 is a scalar; zero-sized dimensions are allowed.
class Shape {
 public:
  Shape() = default;
  Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}  // NOLINT
  Shape(std::initializer_list<std::int64_t> sizes) : dims_(sizes.begin(), sizes.end()) {}
  static Shape of(const std::vector<std::int64_t>& sizes) { return Shape(std::vector<Dim>(sizes.begin(), sizes.end())); }

  int rank() const { return static_cast<int>(dims_.size()); }
  const Dim& dim(int i) const { STRATA_CHECK(i >= 0 && i < rank(), "dimension {} of rank {}", i, rank()); return dims_[i]; }
  /// Static size of dimension i.
  std::int64_t operator[](int i) const { return dim(i).size(); }
  const std::vector<Dim>& dims() const { return dims_; }
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

/// How the integers of a quantised tensor stand for numbers: (q - zero_point) * scale, per tensor or per slice of one
/// dimension (StableHLO, quantized types).
///
///   Type t = Type(DType::i8, {4, 2}).with(Quantization{.expressed = DType::f32, .scales = {0.5}, .zero_points = {1}});
struct Quantization {
  DType expressed = DType::f32;
  std::int64_t storage_min = 0, storage_max = 0;  // within the storage dtype, storage_min < storage_max
  int axis = -1;                                  // the dimension whose slices have parameters of their own; -1: per tensor
  std::vector<double> scales;                     // one, or one per slice
  std::vector<std::int64_t> zero_points;
  bool operator==(const Quantization&) const = default;
};

/// Smallest and largest integer of a storage dtype (of ui64: as far as i64 goes).
std::pair<std::int64_t, std::int64_t> storage_bounds(DType storage);

/// Where an array lives. Kernels allocate scratch in `local`.
enum class MemorySpace : std::uint8_t { device, host, local };

/// The type of a graph value: a tensor, an effect token, a mutable reference to a tensor, a tuple, or a future (what an
/// operation under way will give).
class Type {
 public:
  enum class Kind : std::uint8_t { tensor, token, ref, tuple, future };

  Type() = default;
  Type(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {}
  static Type scalar(DType dtype) { return Type(dtype, Shape{}); }
  static Type token() { Type t; t.kind_ = Kind::token; return t; }
  /// A mutable cell holding a tensor; `ref_get`, `ref_set` read and write it in program order.
  static Type ref(DType dtype, Shape shape) { Type t(dtype, std::move(shape)); t.kind_ = Kind::ref; return t; }
  static Type tuple(std::vector<Type> elements) { Type t; t.kind_ = Kind::tuple; t.elements_ = std::move(elements); return t; }
  static Type future(std::vector<Type> elements) { Type t; t.kind_ = Kind::future; t.elements_ = std::move(elements); return t; }

  Kind kind() const { return kind_; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  bool is_token() const { return kind_ == Kind::token; }
  bool is_ref() const { return kind_ == Kind::ref; }
  bool is_tuple() const { return kind_ == Kind::tuple; }
  bool is_future() const { return kind_ == Kind::future; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  const std::vector<Type>& elements() const { return elements_; }
  MemorySpace space() const { return space_; }
  Type in(MemorySpace space) const { Type t = *this; t.space_ = space; return t; }
  /// The same shape with another dtype, the same dtype with another shape.
  Type with(DType dtype) const { Type t = *this; t.dtype_ = dtype; return t; }
  Type with(Shape shape) const { Type t = *this; t.shape_ = std::move(shape); return t; }
  /// Null unless quantised; `dtype` is then the type of the stored integers.
  const Quantization* quantization() const { return quantization_.get(); }
  bool is_quantized() const { return quantization_ != nullptr; }
  Type with(Quantization q) const { Type t = *this; t.quantization_ = std::make_shared<const Quantization>(std::move(q)); return t; }
  /// The same tensor of plain stored integers, and of the numbers that they stand for.
  Type storage() const { Type t = *this; t.quantization_.reset(); return t; }
  Type expressed() const { return quantization_ ? storage().with(quantization_->expressed) : *this; }
  /// Bytes of a static tensor.
  std::size_t bytes() const { return static_cast<std::size_t>(shape_.count()) * byte_width(dtype_); }
  /// "tensor<4x8xf32>", "tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>", "!stablehlo.token", "!strata.ref<4xf32>",
  /// "tuple<...>", "!stablehlo.future<...>".
  std::string to_string() const;
  bool operator==(const Type& other) const {
    return kind_ == other.kind_ && dtype_ == other.dtype_ && space_ == other.space_ && shape_ == other.shape_ && elements_ == other.elements_ &&
           (quantization_ == other.quantization_ || (quantization_ && other.quantization_ && *quantization_ == *other.quantization_));
  }

 private:
  Kind kind_ = Kind::tensor;
  DType dtype_ = DType::f32;
  MemorySpace space_ = MemorySpace::device;
  Shape shape_;
  std::vector<Type> elements_;
  std::shared_ptr<const Quantization> quantization_;
};

}  // namespace strata
