// How far a graph is fused: as far as it goes, but where that makes more kernels than are worth
// their compiling.
//
// Fused kernels of an irregular graph are all unlike, and LLVM takes some tenths of a millisecond
// for each of their operations: a hundred thousand small ones would take most of a minute, to save
// some ten nanoseconds a call each. Apart, most of them are one of a few kernels.
#pragma once

#include "strata/compile/fuse/fusion.h"

namespace strata::compile {

struct SharingLimits {
  std::size_t many = 16384;  // operations that kernels are made of, those of equal kernels counted
                             // once: so many are worth their compiling
  double less = 0.5;         // apart, they are at most this part of that
  bool any_size = false;     // code is kept for other sizes: no kernel of a kind that sizes choose
                             // where another does the same
};

/// `fuse(block)`, or with FusionMode::separate_small where the limits say so.
Fusion choose_fusion(const ir::Block& block, const SharingLimits& limits = {});

}  // namespace strata::compile
