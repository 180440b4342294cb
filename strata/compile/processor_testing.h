// A block run as on another processor: its plan for that one, walked with interpreted kernels.
#pragma once

#include "strata/compile/compile_testing.h"

namespace strata::compile::testing {

/// The one result; `processor` as CpuTarget::named takes it.
inline Literal run_as_on(const char* processor, const ir::Block& block,
                         const std::vector<Literal>& arguments) {
  Plan plan = make_plan(*prepare(block), {}, CpuTarget::named(processor));
  std::vector<void*> in, constants;
  for (const Literal& a : arguments) in.push_back(const_cast<std::byte*>(a.data()));
  for (Literal& constant : plan.constants) constants.push_back(constant.mutable_data());
  Literal result(plan.result_types.at(0));
  std::memset(result.mutable_data(), 0xa5, result.bytes());
  void* out = result.mutable_data();
  std::vector<std::byte> arena(static_cast<std::size_t>(plan.arena_bytes) + 64, std::byte{0x5a});
  interpret(plan, {in.data(), &out, constants.data(), arena.data()});
  return result;
}

}  // namespace strata::compile::testing
