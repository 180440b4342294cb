// Rows of which a mask shows a band (pass/dot/mask_sparsity.h): in a strip outside of it what is
// chosen, and what follows from it alone, is the same for all elements. Softmax's exponentials of
// masked scores are one number a row.
#pragma once

#include <optional>
#include <unordered_map>

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

class MaskedRowBand {
 public:
  /// That of the choices of a group whose rows are `length` elements long, if all that have one
  /// have the same; nothing where strips outside would be no less work.
  static std::optional<MaskedRowBand> of(const Group& group, const Fusion& fusion,
                                         std::int64_t length);

  /// Whether all elements of v in one row outside of the band are one number, known from constants
  /// and values of the row.
  bool settles(const ir::Value* v) const;
  /// What elements of v outside of the band are elements of, if v is such a choice; else null.
  const ir::Value* chosen(const ir::Value* v) const;
  /// Whether elements [column, column + lanes) of row number r are outside.
  Inst* leaves_out(loop::Builder& b, const Index& r, const Index& column, int lanes) const;

 private:
  MaskedRowBand(const Group& group, const Fusion& fusion) : group_(&group), fusion_(&fusion) {}
  bool is_root(const ir::Op& op) const;
  bool found_to_settle(const ir::Value* v) const;

  const Group* group_;
  const Fusion* fusion_;
  std::int64_t length_ = 0;
  const ir::Value* first_ = nullptr;  // of the choices
  std::int64_t low_ = 0, high_ = 0;   // of column - index[row_]
  int row_ = 0;
  mutable std::unordered_map<const ir::Value*, bool> settled_;  // lookup only
};

}  // namespace strata::compile
