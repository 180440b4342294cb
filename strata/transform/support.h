// What the transforms share.
#pragma once

#include "strata/ir/graph.h"

namespace strata::transform {

/// Which values can have tangents: floats and complex numbers.
std::vector<bool> inexact(std::span<ir::Value* const> values);
/// Throws strata::Error when the program holds a derivative that only its transpose defines
/// (custom_vjp under jvp).
void check_forward(const ir::Block& block);
/// New arguments like those of `f`.
ir::Values add_arguments_of(ir::Block& to, const ir::Block& f);
/// Throws strata::Error unless there is one flag per value.
void check_flags(const char* transform, const char* what, std::size_t flags, std::size_t values);

}  // namespace strata::transform
