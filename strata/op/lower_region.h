// Regions of scalars as instructions of a kernel: the combiner of a reduction or a scatter, the
// comparator of a sort, the body of a loop over scalars.
//
// A region may hold elementwise operations, branches and loops over scalars, calls, and arrays of
// its own or from outside as long as they are read element by element (index moves, elementwise
// operations, reductions).
#pragma once

#include <cstdint>

#include "strata/op/def.h"

namespace strata::op {

/// How a region can be emitted: not at all; outside vector loops only (it has branches or loops);
/// anywhere.
enum class Emission : std::uint8_t { none, branches, lanes };
/// `most`: elements of the largest reduction inside that may be said as a loop over scalars.
Emission emission(const Block& region, std::int64_t most = 4096);
/// Whether a kernel can hold the regions of `op`: all can be emitted, or the driver runs them. If
/// not, the operation is decomposed.
bool regions_fit_kernels(const Op& op);

/// Emits the operations of a region that can be emitted; `arguments` hold elements in their storage
/// dtypes. Values from outside are asked of `context`.
std::vector<loop::Inst*> lower_region(LowerContext& context, const Block& region,
                                      std::span<loop::Inst* const> arguments);

}  // namespace strata::op
