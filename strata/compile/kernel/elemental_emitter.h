// Composes elementwise lowerings: the element of a value at an index, computed through the
// operations that the fusion inlined down to values in memory. Shared by the dry runs that classify
// accesses and by the kernels.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/op/def.h"

namespace strata::compile {

using loop::Index;
using loop::Inst;

/// Row-major offset of `index` in an array of this shape; quotient and remainder of one number
/// become it again, so that equal places compare equal whatever shapes they came through.
Index linearize(loop::Builder& b, const Shape& shape, std::span<const Index> index);
/// A value's elements as they are in memory: how many there are, and their dtype. Complex ones are
/// two elements each.
Shape stored_shape(const Type& type);
DType stored_dtype(const Type& type);
/// The index whose row-major offset is `offset`.
std::vector<Index> delinearize(loop::Builder& b, const Shape& shape, const Index& offset);
/// The same from the front: what is left behind a dimension is a remainder of `offset` itself, so
/// that dimensions along which lanes cross rejoin where they are one behind the other.
std::vector<Index> delinearize_from_front(loop::Builder& b, const Shape& shape,
                                          const Index& offset);
/// As `linearize`, for any mixed-radix sum: joins c*d*(x div d) + c*(x mod d) into c*x.
Index recombine(const Index& index);
/// The element of a constant array at a place that is known, as a constant; null for any other.
Inst* constant_element(loop::Builder& b, const ir::Value* v, const Index& offset);

/// Evaluates trees of elementwise lowerings with sharing.
class ElementalEmitter : public op::LowerContext {
 public:
  explicit ElementalEmitter(loop::Builder& b) : LowerContext(b) {}

  Inst* operand(const ir::Op& op, int i, std::span<const Index> index) override {
    return at(op.operand(i), index);
  }
  /// The element of v at an index of its shape, of a complex number the part at an index that ends
  /// in which.
  Inst* at(const ir::Value* v, std::span<const Index> index) override;
  /// The element of v at a row-major offset.
  Inst* at_offset(const ir::Value* v, const Index& offset);
  /// What is in memory for it: the element, or both parts of a complex number.
  std::vector<Inst*> stored_at_offset(const ir::Value* v, const Index& offset);
  /// Makes `inst` the element of v at this offset from now on, in this scope.
  void remember(const ir::Value* v, const Index& offset, Inst* inst);

 protected:
  /// Whether v is computed here rather than asked of `leaf`.
  virtual bool inlined(const ir::Value* v) = 0;
  /// Whether the value of a constant may become part of the code.
  virtual bool known(const ir::Value*) { return true; }
  /// Computes the element of an inlined value.
  virtual Inst* computed(const ir::Value* v, std::span<const Index> index);
  /// The element of a value that is not computed here.
  virtual Inst* leaf(const ir::Value* v, std::span<const Index> index, const Index& offset) = 0;

 private:
  struct Known {
    Index offset;
    Inst* inst;
    const loop::Body* body;
    std::vector<Inst*> guards;
  };
  std::unordered_map<const ir::Value*, std::vector<Known>> known_;
};

}  // namespace strata::compile
