// Programs on a device: what is known of them, and their runs.
#pragma once

#include <memory>
#include <vector>

#include "strata/pjrt/client.h"
#include "strata/pjrt/ffi/ffi.h"
#include "strata/pjrt/program.h"

struct PJRT_Executable : PJRT_Object {
  std::shared_ptr<strata::pjrt::Program> program;
  // What the functions of the table point to.
  std::vector<const char*> result_kinds, argument_kinds;
  std::vector<std::size_t> result_kind_sizes, argument_kind_sizes;
  std::vector<PJRT_Buffer_Type> result_types;
  std::vector<std::int64_t> result_dims;
  std::vector<std::size_t> result_ranks;
  std::vector<PJRT_NamedValue> cost;
  std::string shown;  // of OptimizedProgram's first call
};

struct PJRT_LoadedExecutable : PJRT_Object {
  PJRT_Client* client = nullptr;
  std::shared_ptr<strata::pjrt::Program> program;
  std::vector<PJRT_Device*> devices;  // by replica, then by partition
  std::vector<PJRT_LogicalDeviceIds> logical_ids;
  bool deleted = false;
};

/// What a framework gives to the handlers of one run.
struct PJRT_ExecuteContext : PJRT_Object {
  strata::pjrt::FfiRun user_data;
};
