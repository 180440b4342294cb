// The door from arrays to what computes. Private to this room.
#pragma once

#include "strata/runtime/client.h"

namespace strata::internal {

/// The client of a device, the process's own for null. Registers the embedded CPU before it asks,
/// so that programs compute without registering anything: whoever compiles or names devices comes
/// through here.
runtime::Client& client_for(runtime::Device* device);

/// Registers the embedded CPU as what computes unless the process chooses otherwise. Cheap.
void register_cpu();

}  // namespace strata::internal
