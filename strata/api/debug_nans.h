// What debug_nans looks at. Private to this room.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "strata/api/trace.h"

namespace strata::internal {

/// Throws Error when a result has NaN: in the name of the first operation of the graph that made
/// one when it is run again on the arguments; without a graph, of `program`.
void check_nans(const ir::Block* block, std::span<const runtime::Buffer> arguments,
                std::span<const runtime::Buffer> results, const std::string& program);

/// The graphs of programs that were compiled while debug_nans was on; null for others.
void keep_graph(std::shared_ptr<const runtime::Executable> executable, const ir::Block& block);
const ir::Block* kept_graph(const runtime::Executable* executable);

}  // namespace strata::internal
