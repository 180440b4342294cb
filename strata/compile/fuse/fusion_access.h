// Where the tree of a root reads the values that are in memory, seen from the root's own index
// (fusion.h). Private to this room.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "strata/compile/fuse/value_uses.h"

namespace strata::compile {

/// Values in memory that an operation reads, through inlined ones; each once, in order.
std::vector<const ir::Value*> reads(const ir::Op& op, const Fusion& fusion);

/// How a root reads a value in memory or another root.
struct Access {
  enum class Kind {
    same,
    leading,
    scalar,
    fixed,
    other
  } kind;  // scalar: the only element; fixed: always the same one
  const ir::Value* value;
  bool contiguous =
      false;  // for neighbours in the reader's last dimension it is neighbours, or one element
};
/// What the trees of the operation's results read, as a dry run of their lowering finds it.
std::vector<Access> accesses(const ir::Op& op, const Fusion& fusion);
/// By how many elements neighbours of `v` along each dimension are read apart in memory, of the
/// largest array of which some are read beside each other; 0 along others, and where no number
/// says.
std::vector<std::int64_t> strides_of_largest(const ir::Value* v, const Fusion& fusion);
/// The dimension along which neighbours of `v` are read from neighbours in memory, where it is
/// computed as it is read (from the largest array that tells); -1 where none is. Its own order says
/// nothing of that: a transposed array is read across.
int minor_dimension(const ir::Value* v, const Fusion& fusion);
/// Where the elements of a value are: in `array`, those at index i at begin + the sum of i[d] *
/// strides[d]. Dimensions of one element have strides of 0.
struct Placement {
  const ir::Value* array;
  std::int64_t begin;
  std::vector<std::int64_t> strides;
};
/// That of `v`, if its elements are those of one stored array, moved at most.
std::optional<Placement> placement(const ir::Value* v, const Fusion& fusion);
/// By how many elements neighbours of `v` along each dimension are apart in memory (0 where there
/// are none), if its elements are those of one stored array, moved at most; empty otherwise.
std::vector<std::int64_t> strides_in_memory(const ir::Value* v, const Fusion& fusion);
/// The values of the block that are slices of its arguments, which kernels of this block alone
/// read, and do not change.
std::unordered_map<const ir::Value*, ArgumentSlice> slices_of_arguments(const ir::Block& block,
                                                                        const Uses& uses,
                                                                        const Fusion& fusion);
/// The values that an operation and what is inlined into it read, regions included, each once.
std::vector<const ir::Value*> read_through(const ir::Op& op,
                                           const std::unordered_set<const ir::Value*>& inlined);

}  // namespace strata::compile
