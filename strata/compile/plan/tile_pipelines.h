// Launches that pass large arrays on become pipelines: run for one part of the arrays after
// another, so that what they pass on stays in caches, and what nobody else reads is never in
// memory. Attention is such a row of launches, forward and backward, in any spelling: the scores of
// one batch and head, their softmax and its product with the values are one part.
//
// Nothing is recognised by name: the kernels' indices say which part of a buffer a part of a grid
// works on (grid_slices.h). Bits stay, since the kernels and their grid points do.
#pragma once

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// What a pipeline is worth making for. Tests make them of everything.
struct TilePipelineLimits {
  std::int64_t min_slices = 16;                  // so that many threads have work
  std::int64_t min_forwarded_bytes = 256 << 10;  // bytes of all arrays passed on
  std::int64_t max_slice_bytes = 2 << 20;        // bytes of one part of them: it stays in caches
};

/// Before memory is assigned: a launch may move past others that it has nothing to do with.
void form_tile_pipelines(Plan& plan, const TilePipelineLimits& limits = {});

}  // namespace strata::compile
