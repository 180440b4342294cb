// The steps that the library's vmap and that of modules (nn/transform/vmap.h) share: a program
// becomes one of all inputs at once.
#pragma once

#include "strata/api/trace/compose.h"
#include "strata/api/transform/vmap.h"
#include "strata/op/calculus/batch.h"

namespace strata::internal {

/// Builds the program's block for all places of the mapped axis. Its first argument is the place
/// along the axis, left out unless `has_place`; `operands` are the arguments behind it, of which
/// `mapped` says the axes, then what the program captured.
op::Batched batch_program(Builder& b, const Program& program, const Values& operands,
                          const Mapped& mapped, bool has_place);

/// A result with the mapped axis at `axis`, counted from the end where negative; one that does not
/// depend on the place is repeated.
Value* at_out_axis(Builder& b, Value* value, bool batched, std::int64_t axis, std::int64_t size);

/// Where the new axis of result i stands.
std::int64_t out_axis(const VmapOptions& options, std::size_t i);

/// Throws Error unless out_axes fits a number of results.
void check_out_axes(const VmapOptions& options, std::size_t results);

}  // namespace strata::internal
