// Region operations as rules see them: with nothing captured.
//
// Regions of StableHLO's operations may use values of the blocks around them, which a rule cannot
// look up. So every transformation hands rules the closed form: captured values are further
// operands, and each region has further arguments, in the same order, behind its own. `case(index){
// x + 1 }` becomes `case(index, x){ (x'): x' + 1 }`. Rules of operations without regions, and of
// isolated ones, see the operation itself.
#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// The closed form of an operation. Lives no longer than the operation.
class Closed {
 public:
  explicit Closed(const Op& op);
  /// Its operands are values of the graph that `op` stands in: the own ones, then the captured
  /// ones.
  const Op& op() const { return owned_ ? *owned_ : *original_; }

 private:
  const Op* original_;
  std::unique_ptr<Op> owned_;
};

/// The regions of an operation in closed form, open again: their arguments from `own` on are
/// replaced by `given`.
std::vector<std::unique_ptr<Block>> reopened(const Op& op, int own, std::span<Value* const> given);

/// A region that is put into other blocks: what it uses from outside, be it captured or (in closed
/// form) given by its arguments from `own` on, is stated once and replaced by values of those
/// blocks.
class OpenRegion {
 public:
  /// `given`: values for the arguments from `own` on.
  OpenRegion(const Block& region, int own, std::span<Value* const> given);
  /// What is used from outside; given ones first.
  const Values& captured() const { return captured_; }
  /// The region's operations on `own` and on values that stand for `captured`.
  Values inlined(Builder& b, const Values& own, const Values& captured) const;

 private:
  const Block& region_;
  std::size_t given_;
  Values captured_;
};

}  // namespace strata::op
