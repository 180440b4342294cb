// The plugin: the one symbol that libstrata_pjrt.so exports.
#pragma once

#include "strata/runtime/plugin/abi.h"

/// The table, which lives as long as the process. With STRATA_PJRT_LOG=FILE in the environment each
/// call is a line of that file: the function's name, and what it failed with.
extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi();
