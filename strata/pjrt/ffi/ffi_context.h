// What stands behind FFI's opaque names: errors, promises, states, and what a call knows of its
// run.
#pragma once

#include <array>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "strata/pjrt/ffi/ffi_api.h"

struct XLA_FFI_Error {
  XLA_FFI_Error_Code code;
  std::string message;
};

/// Done once, on any thread.
struct XLA_FFI_Future {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  XLA_FFI_Error* error = nullptr;
};

namespace strata::pjrt {

class FfiRun;

/// Deletes the object as the type of that number says.
void delete_ffi_object(std::int64_t type_id, void* object);

/// A handler's object, deleted with it.
class FfiState {
 public:
  FfiState() = default;
  FfiState(const FfiState&) = delete;
  FfiState& operator=(const FfiState&) = delete;
  ~FfiState() {
    if (object != nullptr) delete_ffi_object(type_id, object);
  }
  std::int64_t type_id = 0;
  void* object = nullptr;
};

}  // namespace strata::pjrt

/// Of one call; that of stage `instantiate` outlives it.
struct XLA_FFI_ExecutionContext {
  strata::pjrt::FfiRun* run = nullptr;              // null: nobody said anything of the run
  std::array<strata::pjrt::FfiState*, 3> states{};  // by stage, without `execute`
  std::vector<void*> memory;                        // allocated and not yet given back
  ~XLA_FFI_ExecutionContext();
};
