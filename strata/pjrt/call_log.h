// STRATA_PJRT_LOG=FILE: each call of a framework is a line of that file.
#pragma once

namespace strata::pjrt {

/// A call, and what it failed with, or null.
void log_call(const char* name, const char* failure);

}  // namespace strata::pjrt
