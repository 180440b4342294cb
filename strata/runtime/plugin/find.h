// Where plugins are found: paths that were named, and the wheels in which XLA's backends are
// published.
//
//   for (const plugin::Place& p : plugin::places()) fmt::print("{}: {}\n", p.name, p.library);
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "strata/base/result.h"

namespace strata::runtime::plugin {

struct Place {
  std::string name;     // "cuda", "tpu", or as PJRT_NAMES_AND_LIBRARY_PATHS calls it
  std::string library;  // a path
  std::string from;     // who named it: an environment variable, or a folder of Python packages
  std::string trouble;  // what is wrong with how it is named; empty where nothing is
};

/// Plugins that are there, the first of a name being the one that is meant:
/// PJRT_NAMES_AND_LIBRARY_PATHS ("name:path,name:path"), TPU_LIBRARY_PATH, and the packages
/// jax-cuda13-pjrt, jax-cuda12-pjrt and libtpu in the virtual environment (VIRTUAL_ENV), in the
/// user's and in the system's folders of Python packages, and in those of STRATA_PLUGIN_FOLDERS
/// (folders with colons between). An entry of the variable that is not `name:path`, or whose name
/// is cpu or plugin, is there with its trouble.
std::vector<Place> places();

/// Whether this machine has TPUs, by the device files of their driver. Asking libtpu takes minutes
/// where there are none.
bool has_tpu_chips();

/// What a device's name means: "cpu" (no library), "cuda", "tpu", a name of `places`, or
/// "plugin:/path/x.so"; each with ":N" behind it for the Nth device.
struct DeviceName {
  std::string platform;  // "cpu", or what was asked for
  std::string library;   // empty for the embedded CPU
  int index = 0;
};
/// Code::invalid for a name that is none, and for any name of a plugin while an entry of
/// PJRT_NAMES_AND_LIBRARY_PATHS is not `name:path`, which may be the one meant; Code::not_found
/// where no such plugin is installed, with what to install.
Result<DeviceName> find_device(const std::string& device);

/// What plugins' clients are created with: STRATA_PLUGIN_OPTIONS="memory_fraction=0.5,
/// preallocate=false". Code::invalid for a part without a name or `=`.
Result<std::vector<std::pair<std::string, std::string>>> create_options();

}  // namespace strata::runtime::plugin
