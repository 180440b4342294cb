// What kernels of rows have in common (loop_fusion.h): the passes of a row, and what is kept from
// one to the next.
//
// Pass l computes what depends on l reductions before it. Softmax has three: the maximum;
// exponentials and their sum; the quotient.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/compile/kernel/row/masked_row_band.h"

namespace strata::compile {

/// The context of a row kernel: roots are computed here too, at the row at hand.
class RowContext : public KernelContext {
 public:
  RowContext(loop::Builder& b, const Group& group, const Fusion& fusion, BuiltKernel& built);

  /// Where a value of an earlier pass is read again: `ref` at offset - base.
  void keep(const ir::Value* v, loop::Ref* ref, Index base) {
    kept_.insert_or_assign(v, std::pair{ref, base});
  }
  /// Whether an element of v is computed where it is asked for.
  bool computes(const ir::Value* v) { return inlined(v); }
  /// While `f` makes instructions, values that the band settles are computed as outside of it.
  template <class F>
  void outside(const MaskedRowBand& band, F f) {
    outside_ = &band;
    f();
    outside_ = nullptr;
  }
  /// Where a large array is read at a place that numbers say.
  struct Place {
    const ir::Value* value;
    Index offset;
  };
  /// All of those of which the elements of `values` at `offset` are computed, in the order of
  /// reading, but for those of which only a branch knows where they are. These reads give zeros,
  /// others are made.
  std::vector<Place> is_gather(std::span<const ir::Value* const> values, const Index& offset);
  /// The reduced value of the row at hand.
  void set_row(const ir::Value* v, Inst* inst) { rows_[v] = inst; }
  void next_row() {
    kept_.clear();
    rows_.clear();
  }

 protected:
  bool inlined(const ir::Value* v) override;
  Inst* computed(const ir::Value* v, std::span<const Index> index) override;
  Inst* leaf(const ir::Value* v, std::span<const Index> index, const Index& offset) override;

 private:
  std::unordered_set<const ir::Value*> roots_;
  std::unordered_map<const ir::Value*, std::pair<loop::Ref*, Index>> kept_;
  std::unordered_map<const ir::Value*, Inst*> rows_;
  const MaskedRowBand* outside_ = nullptr;
  std::vector<Place>* places_ = nullptr;  // to which reads are noted
};

class RowPasses {
 public:
  RowPasses(const Group& group, const Fusion& fusion, std::int64_t rows, BuiltKernel& built);

  const Group& group;
  const std::int64_t rows, length;  // of a row: elements
  const std::int64_t point;         // point_elements of the group
  loop::Builder b;
  RowContext context;

  static constexpr std::int64_t kMostRow = 128 << 10;  // bytes that stay in the second cache

  int last() const { return last_; }
  /// Reductions of a pass, and full values to store or keep in it.
  std::pair<std::vector<const ir::Op*>, std::vector<const ir::Value*>> of_pass(int pass) const;
  /// Roots of one element per row, no reductions, that are known before a pass begins and not
  /// before the one before it.
  std::vector<const ir::Value*> row_values(int pass) const;
  bool is_output(const ir::Value* v) const;

  /// Full values, and where they are kept for a later pass, if they are.
  using Targets = std::vector<std::pair<const ir::Value*, loop::Ref*>>;
  Targets targets_of(const std::vector<const ir::Value*>& wanted, std::int64_t elements);
  /// All values before all stores: a result may be in the memory of an argument that is read at
  /// the same place. `origin`: where what is kept begins.
  void store_targets(const Targets& targets, const Index& base, const Index& origin,
                     const Index& j);
  void keep_targets(const Targets& targets, const Index& origin);
  /// So many elements of `v` beside its result, the same in each pass.
  loop::Ref* scratch(const ir::Value* v, std::int64_t elements);

 private:
  bool kept_in_result(const ir::Value* v) const;

  std::unordered_map<const ir::Value*, int> level_;  // of every root's value: reductions before it
  std::unordered_set<const ir::Value*> kept_;        // full values that a later pass reads
  int last_ = 0;
  std::unordered_map<const ir::Value*, loop::Ref*> scratch_;
};

/// So many rows are worked on together where that pays: lines of the cache, and registers, hold as
/// many elements.
inline constexpr std::int64_t kRowsTogether = 16;
/// `block` for the first of each kRowsTogether rows, `one_row` for each of those that are left, in
/// as many grid points as give threads work.
void each_block_of_rows(RowPasses& rows, const std::function<void(Index first)>& block,
                        const std::function<void(Index row)>& one_row);

/// The elements of one grid point of a group, at most: eight points where that leaves enough for
/// each, which is less where they are much arithmetic (the gates of a cell of 16 x 64 in a loop: 12
/// us on one thread).
std::int64_t point_elements(const Group& group, const Fusion& fusion);

}  // namespace strata::compile
