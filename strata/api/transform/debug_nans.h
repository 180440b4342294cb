// Looks for NaN in the results of operations and programs (jax_debug_nans).
//
//   debug_nans check;  // while it lives, what makes NaN is an Error that says which operation did
#pragma once

#include <memory>
#include <span>
#include <string>

#include "strata/api/trace/trace.h"

namespace strata {

/// While one lives, results that come out of operations and of programs on this thread are looked
/// at: NaN is an Error that names the operation, the user's line and what it was given. A program
/// is run again for it, operation by operation; one that was compiled before, or whose arguments
/// were donated, is named as a whole. Costs a look at every result.
class debug_nans {
 public:
  explicit debug_nans(bool on = true);
  ~debug_nans();
  debug_nans(const debug_nans&) = delete;
  debug_nans& operator=(const debug_nans&) = delete;
  /// Whether this thread looks.
  static bool enabled();

 private:
  bool before_;
};

namespace internal {

/// Throws Error when a result has NaN: in the name of the first operation of the graph that made
/// one when it is run again on the arguments; without a graph, of `program`.
void check_nans(const ir::Block* block, std::span<const runtime::Buffer> arguments,
                std::span<const runtime::Buffer> results, const std::string& program);

/// The graphs of programs that were compiled while debug_nans was on; null for others.
void keep_graph(std::shared_ptr<const runtime::Executable> executable, const ir::Block& block);
const ir::Block* kept_graph(const runtime::Executable* executable);

}  // namespace internal

}  // namespace strata
