// What a product lays out next is fetched while tiles are computed.
//
// Before its tiles a block lays out a side that no cache holds, and its arithmetic waits for memory
// meanwhile; while tiles are computed memory has nothing to do. So each iteration of a tile's sum
// asks for a few lines of what is laid out next: the next part of the sum, or the first one of the
// next block.
#pragma once

#include <optional>

#include "strata/compile/fuse/fusion.h"
#include "strata/compile/kernel/gemm/gemm_operand.h"

namespace strata::compile {

/// One side, of which each block lays out a part for itself.
class OperandPrefetch {
 public:
  /// A part of `steps` elements of the sum by `free` rows or columns, for blocks of `tiles` tiles,
  /// `turn` elements an iteration. Nothing where the array is small, its elements are computed, or
  /// an iteration would have to ask for many lines.
  static std::optional<OperandPrefetch> of(const GemmOperand& side, const Fusion& fusion,
                                           std::int64_t free, std::int64_t tiles,
                                           std::int64_t turn);

  /// The array that it is in.
  const ir::Value* array() const { return array_; }
  /// Where a part begins.
  Index begin(loop::Builder& b, const Index& batch, const Index& free, const Index& k) const;
  /// Asks in turn `turn` of tile number `tile` for its share of the part that begins there.
  void fetch(loop::Builder& b, loop::Ref* memory, const Index& begin, const Index& tile,
             const Index& turn) const;

 private:
  explicit OperandPrefetch(const GemmOperand& side) : side_(side) {}

  const GemmOperand& side_;
  const ir::Value* array_ = nullptr;
  std::int64_t begin_ = 0;
  std::vector<std::int64_t> strides_;
  std::int64_t along_ = 0, across_ = 0;  // an iteration goes on by so many elements; what it asks
                                         // for is so far apart: rows, or steps of the sum and ...
  std::int64_t line_ = 0, lines_ = 1;    // ... lines of each
  std::int64_t units_ = 1, tiles_ = 1, each_ = 1;
};

}  // namespace strata::compile
