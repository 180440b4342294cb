// The result of fusion: groups of operations, each one kernel; inlined values; constants in memory.
// fuse.h computes it.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/op/def.h"

namespace strata::compile {

enum class GroupKind : std::uint8_t { loops, gemm, update, custom };

/// Operations that become one kernel (loops), or one operation lowered in its own way.
struct Group {
  GroupKind kind = GroupKind::loops;
  std::vector<const ir::Op*> roots;  // program order; product: the moves behind it follow
                                     // (gemm_output.h), then its epilogue
  std::int64_t total = 0;            // loops: elements of a full value
  std::int64_t rows = 0;  // loops: number of rows, 0 when nothing is reduced or of row size
  bool flat = true;       // loops: every access is at the element's own offset, or a scalar
  bool linear = true;     // loops: the same, or to an element that is the same for all
  std::vector<const ir::Value*> outputs;  // values that others read: stored
  /// Loops without rows: values that one root alone reads, for each of its elements the one in the
  /// same place; with that root.
  std::vector<std::pair<const ir::Value*, const ir::Op*>> own_reads;
  std::size_t epilogue =
      0;  // product: so many last roots are computed from its elements while these are in registers
  double epilogue_flops = 0;  // ... and how much arithmetic that is for one element
  std::vector<const ir::Value*>
      co_reads;  // product: large arrays that loops which read its result read in the same place

  std::span<const ir::Op* const> moves() const {
    return std::span(roots).first(roots.size() - epilogue).subspan(1);
  }
  std::span<const ir::Op* const> epilogue_roots() const { return std::span(roots).last(epilogue); }
  /// Of a product, as it is moved.
  const ir::Value* gemm_value() const { return roots[roots.size() - epilogue - 1]->result(); }
};

/// An array whose elements are one after another in an argument of the block (a layer's weights
/// among those of all layers): a place, not a kernel's work. Kernels that read such ones of equal
/// types are equal, wherever in the argument these begin.
struct ArgumentSlice {
  const ir::Value* of;
  std::int64_t begin;  // in elements
};

/// Bytes of arrays that are not in the second cache, that no cache of one thread keeps until they
/// are read again, and that no cache at all does.
inline constexpr std::size_t kBeyondL2 = std::size_t{1} << 20,
                             kBeyondThreadCache = std::size_t{4} << 20,
                             kBeyondCaches = std::size_t{32} << 20;

struct Fusion {
  std::vector<Group> groups;                     // an order in which they can run
  std::unordered_set<const ir::Value*> inlined;  // computed where read (lookup only)
  std::vector<const ir::Value*> constants;       // constants that (also) are in memory
  std::unordered_set<const ir::Value*>
      runtime_constants;  // of these, whose values no kernel knows: one
                          // kernel serves all of them (lookup only)
  std::unordered_map<const ir::Value*, ArgumentSlice> slices;  // made by no kernel (lookup only)
  std::unordered_set<const ir::Value*>
      streaming_results;  // large results that leave the caches before anything reads them (lookup
                          // only)
};

enum class FusionMode : std::uint8_t {
  full,
  separate_small  // each operation on small arrays is a kernel of its own that loads float
                  // constants from memory, so that many share one compiled kernel
};

/// The literal of a constant, or null for another operation.
const Literal* constant_literal(const ir::Op& op);

/// How a reduction's elements are: `trailing` when the reduced dimensions are the last ones.
bool reduces_trailing(const Shape& operand, const std::vector<int>& dims);

/// One line per group, for `--explain` and tests.
std::string explain(const Fusion& fusion);

}  // namespace strata::compile
