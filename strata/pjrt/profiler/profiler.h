// The Profiler extension: what a framework's profiler asks of this plugin (JAX:
// jax.profiler.trace).
#pragma once

#include "strata/pjrt/profiler/profiler_abi.h"

namespace strata::pjrt {

const PLUGIN_Profiler_Api& profiler_api();

}  // namespace strata::pjrt
