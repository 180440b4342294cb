#pragma once

#include "strata/runtime/plugin/abi.h"

namespace strata::pjrt {

void Shardings_PJRT_Executable_ParameterShardings(
    PJRT_Shardings_PJRT_Executable_ParameterShardings_Args& args);
void Shardings_PJRT_Executable_OutputShardings(
    PJRT_Shardings_PJRT_Executable_OutputShardings_Args& args);

}  // namespace strata::pjrt
