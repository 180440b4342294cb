// The FFI extension: handlers of custom calls that a framework brings along.
#pragma once

#include "strata/runtime/plugin/abi.h"

namespace strata::pjrt {

/// Gives a type of user data its number, or takes the one that the caller has.
void FFI_Type_Register(PJRT_FFI_Type_Register_Args& args);
/// Puts something into a context, which each handler of a run with it may ask for by its type.
void FFI_UserData_Add(PJRT_FFI_UserData_Add_Args& args);
/// `handler` runs the custom calls of that target (strata/op/foreign/foreign.h).
void FFI_Register_Handler(PJRT_FFI_Register_Handler_Args& args);

}  // namespace strata::pjrt
