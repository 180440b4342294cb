// Long rows of launches as a table and a loop over it.
//
// As code of its own each launch takes a dozen instructions, and LLVM's time for one block of many
// grows faster than their number; as data a launch costs nothing to compile and a few loads to run.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <span>
#include <vector>

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// Rows of at least so many launches become tables.
inline constexpr std::size_t kTableLaunches = 32;

/// What a table needs of the driver that it stands in.
struct LaunchTableNeeds {
  llvm::BasicBlock* entry;  // for memory of the driver's frame, and where its bases are known
  std::function<llvm::Value*(PlanBuffer::Kind)>
      list;  // where the addresses of buffers of a kind are; of temporaries, that of the arena
  std::function<llvm::Constant*(int)> callee;  // a kernel's function
  std::function<void(const char*, llvm::Value*)>
      tell;               // calls the launch clock with a launch's number, in timed drivers
  std::int64_t launches;  // that stand before
};

/// Whether a step may stand in a table: a launch whose places do not move with a loop.
const Launch* table_launch(const Step& step);
/// Prints the loop at the builder's place, which ends in the block after it.
void emit_launches(const Plan& plan, std::span<const Step> launches, const LaunchTableNeeds& needs,
                   llvm::IRBuilder<>& b);

}  // namespace strata::compile
