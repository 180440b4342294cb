// The operations that treat the rows of a product one by one: what dot_chunking.h puts into one
// loop.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "strata/ir/uses.h"
#include "strata/op/def.h"

namespace strata::pass {

/// Whether chunks along dimension d follow each other in memory.
bool is_outermost(const Shape& shape, int d);

/// Grown from a product: closed under readers of large values and under paths from the set to
/// itself.
class ChunkRegion {
 public:
  /// `large`: elements from which a value must not be in memory whole.
  ChunkRegion(const ir::Block& block, const ir::Uses& uses, std::int64_t large)
      : block_(&block), uses_(&uses), large_(large) {}

  /// Whether there is such a set around `product`; `why()` says what is in the way. With `absorb`,
  /// large values from outside are made inside where all that reads them can be (another product's
  /// logits, of which a loss reads a softmax).
  bool grow(const ir::Op& product, bool absorb);
  const std::string& why() const { return why_; }

  bool has(const ir::Op* op) const { return ops_.count(op) > 0; }
  /// Made anew in each chunk from values outside, which may have readers of their own.
  bool is_copied(const ir::Op* op) const { return copied_.count(op) > 0; }
  /// Whether it is inside, and no copy of what is outside.
  bool is_own(const ir::Op* op) const { return has(op) && !is_copied(op); }
  /// The dimension along which a value's rows are; -1: it is the same for all rows, or their sum.
  int dim(const ir::Value* v) const {
    auto it = dims_.find(v);
    return it == dims_.end() ? -1 : it->second;
  }
  /// Whether the operation is a product or a reduction that sums over the rows.
  bool sums_rows(const ir::Op* op) const { return sums_.count(op) > 0; }
  /// A number of chunks must divide it.
  std::int64_t parts() const { return parts_; }

 private:
  bool close(bool* changed) { return follow_readers(changed) && close_paths(changed); }
  bool refuse(const ir::Op& op, const char* reason);
  bool enter(const ir::Op& op, int factor, const op::Factors& factors);
  bool enter_reader(const ir::Op& op);
  bool enter_sum(const ir::Op& op, int factor, const op::Factors& factors);
  bool place(const ir::Value* v, const std::vector<std::vector<int>>& dims, int factor);
  bool follow_readers(bool* changed);
  bool close_paths(bool* changed);
  bool absorb_one();
  bool absorb(const ir::Op& maker, int dim);
  void take_makers(bool* changed);
  const ir::Op& at(int position) const {
    return *block_->ops()[static_cast<std::size_t>(position)];
  }
  bool take_maker(const ir::Op& op, int dim);
  bool is_large(const ir::Value* v) const;

  const ir::Block* block_;
  const ir::Uses* uses_;
  std::int64_t large_;
  std::unordered_set<const ir::Op*> ops_, copied_, sums_;
  std::unordered_set<const ir::Op*> kept_,
      tried_;          // makers that stay outside, and that are not absorbed
  std::set<int> own_;  // positions of what is inside and no copy
  std::unordered_map<const ir::Value*, int> dims_;
  std::unordered_set<const ir::Value*> whole_;  // from outside, the same for all rows
  std::int64_t parts_ = 0;
  std::string why_;
};

}  // namespace strata::pass
