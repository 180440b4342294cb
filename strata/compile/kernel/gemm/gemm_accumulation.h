// Emits the reduction loops of a dot with several partial accumulators (SumChains of
// op/linalg/dot_general.h): within a chain, over a group of chains, and over all groups, with the
// accumulators in registers or in the tile's stack slots.
#pragma once

#include <functional>
#include <vector>

#include "strata/compile/kernel/gemm/gemm_terms.h"
#include "strata/op/linalg/dot_general.h"

namespace strata::compile {

/// Adds up `terms` terms in `sums`, locals of `lanes` lanes that nothing was added to yet.
/// `chain(s, n)` adds n terms from step s on to what the locals hold then.
void accumulate_chains(loop::Builder& b, const op::SumChains& chains,
                       const std::vector<Inst*>& sums, int lanes, TermKind kind, std::int64_t terms,
                       const std::function<void(const Index& s, std::int64_t n)>& chain);

/// `body`, which leaves in `sums` what one part of a sum comes to, for each of the parts that
/// `each` goes over; `sums` hold then what all come to, added up in `type`.
void add_parts(loop::Builder& b, const std::vector<Inst*>& sums, int lanes, DType type,
               const std::function<void(const std::function<void()>& add)>& each);

}  // namespace strata::compile
