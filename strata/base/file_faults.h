// Disks that fail when a test wants it.
//
//   testing_hooks::set_io_fault([&](const char* what) { return ++n == 7 ? ENOSPC : 0; });
//   ... save(...) ...                       // its seventh operation fails
//   testing_hooks::set_io_fault({});
#pragma once

#include <functional>

namespace strata::testing_hooks {

/// Called before every write, sync, rename and remove of the functions of `base/file.h`, with a
/// word for it ("write", "sync", "rename", "remove"), by the thread that does it. An `errno` that
/// it returns is what the operation fails with; of a write, half is written first. 0: nothing
/// happens.
void set_io_fault(std::function<int(const char* what)> fault);

}  // namespace strata::testing_hooks
