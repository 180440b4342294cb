// What is computed where it is read, in place of being a root: the first step of fusion (fusion.h).
// Private to this room.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "strata/compile/fuse/fusion.h"
#include "strata/compile/fuse/value_uses.h"
#include "strata/op/lowering_kind.h"
#include "strata/pass/data_movement/read_before_update.h"

namespace strata::compile {

/// Floats whose values FusionMode::separate_small keeps out of kernels: those that small operations
/// compute with. Integers may be places, of which kernels should know.
std::unordered_set<const ir::Value*> find_runtime_constants(const ir::Block& block,
                                                            const Uses& uses);
/// Arithmetic for one element of each value with the elementwise operations that it is made of, as
/// far as these are in `through`.
std::unordered_map<const ir::Value*, double> inlined_flops(
    const ir::Block& block, const std::unordered_set<const ir::Value*>& through);

/// Products with the reshapes and transpositions that they do as they store.
using Moves =
    std::unordered_map<const ir::Op*, std::vector<const ir::Op*>>;  // looked up, never walked
Moves output_moves_of_gemms(const ir::Block& block, const Uses& uses);
/// The operations of all of `moves`.
std::unordered_set<const ir::Op*> ops_moved_by_gemms(const ir::Block& block, const Moves& moves);

/// The values that are computed where they are read.
std::unordered_set<const ir::Value*> choose_inlined(const ir::Block& block, const Uses& uses,
                                                    const std::unordered_set<const ir::Op*>& moved,
                                                    const pass::ConsumedArrays& taken,
                                                    FusionMode rule);

}  // namespace strata::compile
