// The binary interface of the Profiler extension: a table of functions beside the table.
//
// Our own transcription of openxla/xla, xla/backends/profiler/plugin/profiler_c_api.h (Apache-2.0),
// names and meanings as there, at the version of abi.h. Unlike those of the table, its structs have
// no list of extensions, and its errors are its own.
#pragma once

#include "strata/runtime/plugin/abi.h"

struct PLUGIN_Profiler;
struct PLUGIN_Profiler_Error;

#define STRATA_PROFILER_ARGS(name, size, ...) \
  struct PLUGIN_Profiler_##name##_Args {      \
    std::size_t struct_size;                  \
    __VA_ARGS__                               \
  };                                          \
  static_assert(sizeof(PLUGIN_Profiler_##name##_Args) == size);

// clang-format off
STRATA_PROFILER_ARGS(Error_Destroy, 24, void* priv; PLUGIN_Profiler_Error* error;)
STRATA_PROFILER_ARGS(Error_Message, 40, void* priv; PLUGIN_Profiler_Error* error; const char* message; std::size_t message_size;)
STRATA_PROFILER_ARGS(Error_GetCode, 32, void* priv; const PLUGIN_Profiler_Error* error; int code;)
/// `options`: a serialised tensorflow.ProfileOptions.
STRATA_PROFILER_ARGS(Create, 32, const char* options; std::size_t options_size; PLUGIN_Profiler* profiler;)
STRATA_PROFILER_ARGS(Destroy, 16, PLUGIN_Profiler* profiler;)
STRATA_PROFILER_ARGS(Start, 16, PLUGIN_Profiler* profiler;)
STRATA_PROFILER_ARGS(Stop, 16, PLUGIN_Profiler* profiler;)
/// The bytes of a tensorflow.profiler.XSpace. Without a buffer it is set to the plugin's own, which lives until the next such call; with
/// one they are copied there.
STRATA_PROFILER_ARGS(CollectData, 32, PLUGIN_Profiler* profiler; std::uint8_t* buffer; std::size_t buffer_size_in_bytes;)
// clang-format on

struct PLUGIN_Profiler_Api {
  std::size_t struct_size;
  void* priv;
  void (*error_destroy)(PLUGIN_Profiler_Error_Destroy_Args*);
  void (*error_message)(PLUGIN_Profiler_Error_Message_Args*);
  PLUGIN_Profiler_Error* (*error_get_code)(PLUGIN_Profiler_Error_GetCode_Args*);
  PLUGIN_Profiler_Error* (*create)(PLUGIN_Profiler_Create_Args*);
  PLUGIN_Profiler_Error* (*destroy)(PLUGIN_Profiler_Destroy_Args*);
  PLUGIN_Profiler_Error* (*start)(PLUGIN_Profiler_Start_Args*);
  PLUGIN_Profiler_Error* (*stop)(PLUGIN_Profiler_Stop_Args*);
  PLUGIN_Profiler_Error* (*collect_data)(PLUGIN_Profiler_CollectData_Args*);
};
static_assert(sizeof(PLUGIN_Profiler_Api) == 80);

struct PJRT_Profiler_Extension {
  PJRT_Extension_Base base;
  const PLUGIN_Profiler_Api* profiler_api;
  std::int64_t
      traceme_context_id;  // written by frameworks into what they hand over; of no use here
};
static_assert(sizeof(PJRT_Profiler_Extension) == 40);
