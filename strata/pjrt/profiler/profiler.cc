#include "strata/pjrt/profiler/profiler.h"

#include <cstring>
#include <memory>
#include <string>

#include "strata/base/format/protobuf.h"
#include "strata/pjrt/call_log.h"
#include "strata/pjrt/error.h"
#include "strata/pjrt/profiler/profile.h"

struct PLUGIN_Profiler_Error {
  PJRT_Error error;
};

struct PLUGIN_Profiler {
  bool wanted = true;  // whether devices are to be traced at all
  std::shared_ptr<strata::pjrt::Profile> profile = {};
  std::string data = {};  // what the last CollectData without a buffer gave
};

namespace strata::pjrt {
namespace {

/// device_tracer_level of tensorflow.ProfileOptions; without options, and in those of before there
/// was one, devices are traced. (jaxlib 0.10.2 says 1, whatever its user chose.)
bool wants_devices(std::string_view options) {
  std::uint64_t level = 0, version = 0;
  protobuf::Reader fields(options);
  while (auto field = fields.next()) {
    if (field->number == 3) level = field->value;
    if (field->number == 5) version = field->value;
  }
  if (fields.broken())
    fail(PJRT_Error_Code_INVALID_ARGUMENT,
         "the profiler's options are no tensorflow.ProfileOptions");
  return version == 0 || level > 0;
}

void create(PLUGIN_Profiler_Create_Args& args) {
  const std::string_view options = args.options == nullptr
                                       ? std::string_view()
                                       : std::string_view(args.options, args.options_size);
  args.profiler = new PLUGIN_Profiler{.wanted = wants_devices(options)};
}

void start(PLUGIN_Profiler_Start_Args& args) {
  PLUGIN_Profiler& profiler = *args.profiler;
  if (profiler.profile) stop_profile(*profiler.profile);
  profiler.profile = std::make_shared<Profile>();
  profiler.data.clear();
  if (profiler.wanted) start_profile(profiler.profile);
}

void stop(PLUGIN_Profiler_Stop_Args& args) {
  if (!args.profiler->profile)
    fail(PJRT_Error_Code_FAILED_PRECONDITION, "the profiler was not started");
  stop_profile(*args.profiler->profile);
}

void destroy(PLUGIN_Profiler_Destroy_Args& args) {
  std::unique_ptr<PLUGIN_Profiler> profiler(args.profiler);
  if (profiler && profiler->profile) stop_profile(*profiler->profile);
}

void collect_data(PLUGIN_Profiler_CollectData_Args& args) {
  PLUGIN_Profiler& profiler = *args.profiler;
  if (!profiler.profile) fail(PJRT_Error_Code_FAILED_PRECONDITION, "the profiler was not started");
  if (args.buffer == nullptr) {
    profiler.data = profiler.profile->data();
    args.buffer = reinterpret_cast<std::uint8_t*>(
        profiler.data.data());  // jaxlib reads them there; others ask again
  } else if (args.buffer_size_in_bytes < profiler.data.size()) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} bytes do not hold the profile's {}",
         args.buffer_size_in_bytes, profiler.data.size());
  } else {
    std::memmove(args.buffer, profiler.data.data(), profiler.data.size());
  }
  args.buffer_size_in_bytes = profiler.data.size();
}

void get_code(PLUGIN_Profiler_Error_GetCode_Args& args) {
  args.code = static_cast<int>(args.error->error.code);
}

/// In C's way: what it throws comes back as an error. The size of `args` is not looked at: jaxlib
/// 0.10.2 leaves it unset (found by running it), and no struct has grown.
template <auto f, class Args>
PLUGIN_Profiler_Error* guarded(const char* name, Args* args) {
  PLUGIN_Profiler_Error* error = nullptr;
  try {
    f(*args);
  } catch (...) {
    error = new PLUGIN_Profiler_Error{caught()};
  }
  log_call(name, error ? error->error.message.c_str() : nullptr);
  return error;
}

void error_destroy(PLUGIN_Profiler_Error_Destroy_Args* args) { delete args->error; }
void error_message(PLUGIN_Profiler_Error_Message_Args* args) {
  args->message = args->error->error.message.data();
  args->message_size = args->error->error.message.size();
}

}  // namespace

const PLUGIN_Profiler_Api& profiler_api() {
  static const PLUGIN_Profiler_Api api{
      sizeof(PLUGIN_Profiler_Api),
      nullptr,
      error_destroy,
      error_message,
      [](PLUGIN_Profiler_Error_GetCode_Args* args) {
        return guarded<get_code>("PLUGIN_Profiler_Error_GetCode", args);
      },
      [](PLUGIN_Profiler_Create_Args* args) {
        return guarded<create>("PLUGIN_Profiler_Create", args);
      },
      [](PLUGIN_Profiler_Destroy_Args* args) {
        return guarded<destroy>("PLUGIN_Profiler_Destroy", args);
      },
      [](PLUGIN_Profiler_Start_Args* args) {
        return guarded<start>("PLUGIN_Profiler_Start", args);
      },
      [](PLUGIN_Profiler_Stop_Args* args) { return guarded<stop>("PLUGIN_Profiler_Stop", args); },
      [](PLUGIN_Profiler_CollectData_Args* args) {
        return guarded<collect_data>("PLUGIN_Profiler_CollectData", args);
      }};
  return api;
}

}  // namespace strata::pjrt
