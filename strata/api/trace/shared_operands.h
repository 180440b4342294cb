// Several traced functions as regions of one operation. Private to this room.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "strata/api/trace/trace.h"
#include "strata/op/control.h"

namespace strata::internal {

/// The operands that the regions of an operation share: (arguments..., captured of all
/// programs...).
struct SharedOperands {
  std::vector<Array> operands;
  std::size_t arguments = 0;
  std::vector<std::size_t> first;  // where the captured arrays of each program start

  SharedOperands(std::span<const Array> args, std::initializer_list<const Program*> programs);
  /// The values of program k's captured arrays among values for the operands.
  std::span<ir::Value* const> captured(std::span<ir::Value* const> values, std::size_t k,
                                       const Program& p) const {
    return values.subspan(first[k], p.captured.size());
  }
  /// Program k, which takes the arguments, as a block of its own.
  op::BlockPtr block(std::size_t k, const Program& program) const;
};

ir::Values join_values(std::span<ir::Value* const> a, std::span<ir::Value* const> b);
void add_arguments(ir::Block& block, std::span<const Array> arrays);
/// "(f32[2], i32[])", as errors write lists of types.
std::string list_types(const std::vector<Type>& types);

}  // namespace strata::internal
