// Handlers of XLA's FFI as handlers of custom calls (op/foreign/foreign.h): LAPACK as jaxlib has
// it, users' `jax.ffi`, callbacks.
//
//   Status s = register_ffi("lapack_sgetrf_ffi", {.execute = handler});
//   FfiRun run;
//   run.add(type_id, data);                    // PJRT's FFI extension, user_data_add
//   op::foreign::WithContext with(&run);       // around Executable::run, on its thread
//
// A handler is asked for its version when it is registered. `instantiate` runs once for each
// different call before the first one, `prepare` and `initialize` before each `execute`, all on the
// thread that runs the program.
//
// Buffers: elements below 8 bits (S2, U2, S4, U4, F4E2M1FN) are packed, the first one in the lowest
// bits of its byte, as XLA's CPU has them; a token is a buffer of type TOKEN without memory. Tasks
// that a handler schedules run at once, on the caller.
#pragma once

#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/pjrt/ffi/ffi_api.h"

namespace strata::pjrt {

/// The first handlers of a name stay. Fails for handlers of another major version.
Status register_ffi(const std::string& name, const XLA_FFI_Handler_Bundle& handlers);

/// The number of the type of that name: `type_id` where that is not 0, else a new one, or the one
/// that it has. Fails where the name has another number or the number another name. `deleter` may
/// be null.
Result<std::int64_t> register_ffi_type(const std::string& name, std::int64_t type_id,
                                       void (*deleter)(void*));

/// What one run carries for its handlers.
class FfiRun {
 public:
  /// Kept by the caller; of one type the first stays.
  void add(std::int64_t type_id, void* data);
  /// Null where there is none.
  void* find(std::int64_t type_id) const;

  std::int64_t run_id = 0;
  std::int32_t device = 0;
  /// absl's code of the error that a handler of this run gave; 0: none did.
  std::uint32_t error_code = 0;

 private:
  std::vector<std::pair<std::int64_t, void*>> data_;
};

/// The table that handlers get with each call.
const XLA_FFI_Api& ffi_api();

}  // namespace strata::pjrt
