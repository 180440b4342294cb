// A program on many inputs at once.
#pragma once

#include "strata/ir/graph.h"

namespace strata::transform {

/// Arguments with `batched` and all results get a leading dimension of `size`: result[i] =
/// f(argument[i]...).
std::unique_ptr<ir::Block> vmap(const ir::Block& f, const std::vector<bool>& batched,
                                std::int64_t size);
/// Only the results with `out` are batched. Throws strata::Error where another one differs between
/// the inputs.
std::unique_ptr<ir::Block> vmap(const ir::Block& f, const std::vector<bool>& batched,
                                std::int64_t size, const std::vector<bool>& out);

}  // namespace strata::transform
