// Launches that have nothing to do with each other run as one parallel call.
//
// An optimizer's step does the same for each leaf. Launch by launch the threads would wait for each
// other hundreds of times, small leaves would go to one thread, and what a leaf's launches pass on
// would leave the caches while those of other leaves run. So rows of steps that fall apart into
// streams, each a leaf's launches in their order, become one step: a stream runs on one thread, and
// what only it uses is in that thread's scratch; a stream of a single launch is cut by work.
//
// Nothing is recognised by name: launches belong together where one writes what the other uses.
// Bits stay, since the kernels and their grid points do.
#pragma once

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// Which rows of steps become streams. Tests make them of fewer.
struct ConcurrencyLimits {
  std::int64_t least_streams = 8;
  double least_work = 1e5;              // lanes (launch_cost.h) of all of them
  double most_share = 1.0 / 16;         // of all work in a stream that cannot be cut
  double most_work = 3e7;               // lanes of a stream that cannot be cut
  std::int64_t most_scratch = 4 << 20;  // bytes that a stream passes on
  std::int64_t most_users = 16;         // launches that a value within a stream has
};

/// Before memory is assigned, and before launches become pipelines.
void form_concurrent_launches(Plan& plan, const ConcurrencyLimits& limits = {});

}  // namespace strata::compile
