// Pieces that many operations' rules share.
#pragma once

#include <array>
#include <cstring>
#include <string_view>

#include "strata/base/error.h"
#include "strata/op/def.h"

namespace strata::op {

using ir::Ints;

// ---- inference ---------------------------------------------------------------------------------
/// "add" of "stablehlo.add": the name that error messages begin with.
std::string_view short_name(std::string_view name);
/// Throws unless there are exactly `count` operands.
void expect_operands(std::string_view op, std::span<Value* const> operands, int count);
/// Throws unless `dtype` is stored as elements that the evaluator and the compiler know.
void expect_storage(std::string_view op, DType dtype);
/// Throws unless the attribute is present with kind T; returns it.
template <class T>
const T& expect_attr(std::string_view op, const Attrs& attrs, const std::string& attr) {
  const ir::Attr* found = attrs.find(attr);
  if (found == nullptr) throw Error(std::string(op), "attribute {} is missing", attr);
  const T* value = std::get_if<T>(found);
  if (value == nullptr) throw Error(std::string(op), "attribute {} has the wrong kind", attr);
  return *value;
}
/// Throws unless `list` has one entry per dimension.
void expect_length(std::string_view op, const char* what, const Ints& list, int rank);
/// Whether two dimensions can be the same at run time: equal, or one of them not static.
bool may_equal(const Dim& a, const Dim& b);
bool may_equal(const Shape& a, const Shape& b);
/// Of two dimensions that may be equal the better known one.
Dim merged(const Dim& a, const Dim& b);
Shape merged(const Shape& a, const Shape& b);

// ---- evaluation --------------------------------------------------------------------------------
/// Calls f(index, linear) for each index of a static shape in row-major order; `index` has one
/// entry per dimension.
template <class F>
void for_each_index(const Shape& shape, F&& f) {
  std::vector<std::int64_t> sizes = shape.sizes(), index(sizes.size(), 0);
  std::int64_t count = shape.count();
  for (std::int64_t linear = 0; linear < count; ++linear) {
    f(std::span<const std::int64_t>(index), linear);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
  }
}
/// Row-major position of an index.
inline std::int64_t linear_index(std::span<const std::int64_t> index,
                                 std::span<const std::int64_t> strides) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
  return at;
}
/// Copies element `from` of one literal to element `to` of another of the same dtype.
inline void copy_element(const Literal& source, std::int64_t from, Literal& target,
                         std::int64_t to) {
  std::size_t width = byte_width(source.dtype());
  std::memcpy(target.mutable_data() + static_cast<std::size_t>(to) * width,
              source.data() + static_cast<std::size_t>(from) * width, width);
}
/// A literal of `type` whose element at an index is element source(index) (row-major position) of
/// `x`.
template <class F>
Literal moved(const Literal& x, const Type& type, F&& source) {
  Literal out(type);
  for_each_index(type.shape(), [&](std::span<const std::int64_t> index, std::int64_t to) {
    copy_element(x, source(index), out, to);
  });
  return out;
}

// ---- derivative --------------------------------------------------------------------------------
/// The operation again; its results have no tangents (they are constant between jumps, or no
/// numbers).
JvpResult zero_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                   std::span<Value* const> tangents);
/// For an operation that is linear in all operands together: the same operation on the tangents.
JvpResult linear_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                     std::span<Value* const> tangents);
/// A zero of the operand's type in place of null.
Value* or_zeros(Builder& b, Value* tangent, Value* primal);
bool all_null(std::span<Value* const> values);

// ---- batching ----------------------------------------------------------------------------------
/// The type with a leading dimension.
Type with_leading(const Type& type, std::int64_t size);
/// The operand with its batch dimension: itself, or repeated when it has none.
Value* batched_operand(Builder& b, Value* v, bool batched, std::int64_t size);
/// For operations whose shapes are all equal: unbatched operands are repeated.
Batched elementwise_batch(Builder& b, const Op& op, std::span<Value* const> operands,
                          const std::vector<bool>& batched, std::int64_t size);
/// For operations without operands: nothing to batch.
Batched constant_batch(Builder& b, const Op& op, std::span<Value* const> operands,
                       const std::vector<bool>& batched, std::int64_t size);
/// Every entry plus one, with `first` before them: attributes that name or list dimensions, after a
/// leading one.
Ints shifted(const Ints& dims);
Ints prepended(std::int64_t first, const Ints& list);

// ---- sharding ----------------------------------------------------------------------------------
/// Collects factors. Each dimension gets its factors in order, major first.
class FactorTable {
 public:
  explicit FactorTable(const Op& op);
  /// A new factor of a kind ('p' 'r' 'n' 'm') and size.
  int factor(char kind, std::int64_t size);
  void operand(int i, int dim, int factor) {
    table_.operands[static_cast<std::size_t>(i)][static_cast<std::size_t>(dim)].push_back(factor);
  }
  void result(int i, int dim, int factor) {
    table_.results[static_cast<std::size_t>(i)][static_cast<std::size_t>(dim)].push_back(factor);
  }
  Factors take() { return std::move(table_); }

 private:
  Factors table_;
};
/// One pass-through factor per dimension, shared by all operands and results of that rank (scalars
/// have none).
Factors pointwise_factors(const Op& op);
/// As pointwise, but a dimension whose size differs between operand and result is a permutation.
Factors resized_factors(const Op& op);

// ---- cost --------------------------------------------------------------------------------------
/// Bytes of operands and results (a dimension that is not static counts as its bound, or 1).
double bytes_moved(const Op& op);
/// Elements of result 0.
double elements(const Op& op);
/// Bytes only.
Work move_cost(const Op& op);

// ---- lowering ----------------------------------------------------------------------------------
/// Row-major position of an index in a shape.
loop::Index linearized(std::span<const loop::Index> index, std::span<const std::int64_t> sizes);
/// The same inside an instruction: true when all hold.
loop::Inst* all_of(loop::Builder& b, std::span<loop::Inst* const> conditions);

}  // namespace strata::op
