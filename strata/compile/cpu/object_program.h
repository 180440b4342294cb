// What an object file made by `strata compile` tells the runtime that it is linked with
// (strata/embed): one such constant, read by one function. The two may come from different
// releases, so the layout has a number.
#pragma once

#include <atomic>
#include <cstdint>

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// Changes with every change of what object files and runtime say to each other.
inline constexpr std::int64_t kObjectVersion = 1;

struct ObjectProgram {
  std::int64_t version;
  std::uint64_t features;  // of the processor that its code is for: bits of processor_features.h
  void (*driver)(const RunContext* context);
  void* const* constants;
  std::int64_t arena_bytes;
  std::atomic<void*>* arena;  // kept from one run to the next; null while a run has it
};

/// The symbol of `const char* (const ObjectProgram*, void* const* arguments, void* const*
/// results)`: runs the driver, gives nothing or the text of an error that lives as long as the
/// program.
inline constexpr const char* kRunObject = "strata_run_object";

}  // namespace strata::compile
