// The message of a program for whose results there is no memory. Private to this room.
#pragma once

#include <new>
#include <string>

#include "strata/ir/graph.h"
#include "strata/runtime/client.h"

namespace strata::internal {

/// The operation that makes the largest result of a program: its name without the dialect, and the
/// user's line where it was recorded.
struct Maker {
  std::string operation, where;
};
Maker maker_of(const ir::Block& program);

/// Throws Error in the name of an operation for whose result there is no memory: type, bytes, and
/// what to do.
[[noreturn]] void fail_memory(const std::string& operation, const Type& result,
                              const std::string& where);
/// The same of a program: of its largest result, or of what it keeps between its operations where
/// that is more.
[[noreturn]] void fail_memory(const Maker& maker, const runtime::Executable& program);

/// run(), where there is memory; else the message, for which maker() is asked.
template <class MakerOf, class Run>
auto with_memory(MakerOf maker, const runtime::Executable& program, Run run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    fail_memory(maker(), program);
  }
}

}  // namespace strata::internal
