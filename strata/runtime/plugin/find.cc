#include "strata/runtime/plugin/find.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace strata::runtime::plugin {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);)
    if (!part.empty()) out.push_back(part);
  return out;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// site-packages and dist-packages of the Pythons below `folder`, in the order of their names.
void add_packages(const fs::path& folder, std::vector<std::string>& out) {
  std::error_code none;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder / "lib", none)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    for (const char* name : {"site-packages", "dist-packages"})
      if (fs::is_directory(entry.path() / name, none)) found.push_back(entry.path() / name);
  }
  std::sort(found.begin(), found.end());
  out.insert(out.end(), found.begin(), found.end());
}

std::vector<std::string> package_folders() {
  std::vector<std::string> out = split(variable("STRATA_PLUGIN_FOLDERS"), ':');
  if (const std::string v = variable("VIRTUAL_ENV"); !v.empty()) add_packages(v, out);
  if (const std::string home = variable("HOME"); !home.empty())
    add_packages(fs::path(home) / ".local", out);
  add_packages("/usr/local", out);
  add_packages("/usr", out);
  return out;
}

struct Wheel {
  const char *name, *library;
};
constexpr Wheel kWheels[] = {
    {"cuda", "jax_plugins/xla_cuda13/xla_cuda_plugin.so"},
    {"cuda", "jax_plugins/xla_cuda12/xla_cuda_plugin.so"},
    {"tpu", "libtpu/libtpu.so"},
};

constexpr const char* kNames = "PJRT_NAMES_AND_LIBRARY_PATHS";

/// An entry of that variable.
Place named(const std::string& pair) {
  const std::size_t colon = pair.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == pair.size())
    return {pair, "", kNames,
            fmt::format("{}: '{}' is no entry NAME:/path/x.so; several have commas between them",
                        kNames, pair)};
  Place out{pair.substr(0, colon), pair.substr(colon + 1), kNames, ""};
  if (out.name == "cpu" || out.name == "plugin")
    out.trouble = fmt::format("{}: the name of '{}' is taken; choose another", kNames, pair);
  return out;
}

}  // namespace

std::vector<Place> places() {
  std::vector<Place> out;
  std::error_code none;
  for (const std::string& pair : split(variable(kNames), ',')) out.push_back(named(pair));
  if (const std::string tpu = variable("TPU_LIBRARY_PATH"); !tpu.empty())
    out.push_back({"tpu", tpu, "TPU_LIBRARY_PATH", ""});
  for (const std::string& folder : package_folders())
    for (const Wheel& wheel : kWheels)
      if (const fs::path path = fs::path(folder) / wheel.library; fs::exists(path, none))
        out.push_back({wheel.name, path, folder, ""});
  return out;
}

Result<std::vector<std::pair<std::string, std::string>>> create_options() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& part : split(variable("STRATA_PLUGIN_OPTIONS"), ',')) {
    const std::size_t at = part.find('=');
    if (at == std::string::npos || at == 0)
      return Status(Code::invalid,
                    "STRATA_PLUGIN_OPTIONS: '{}' is no option; an example: "
                    "memory_fraction=0.5,preallocate=false",
                    part);
    out.emplace_back(part.substr(0, at), part.substr(at + 1));
  }
  return out;
}

bool has_tpu_chips() {
  std::error_code none;
  return fs::exists("/dev/accel0", none) || fs::exists("/dev/vfio/0", none);
}

Result<DeviceName> find_device(const std::string& device) {
  DeviceName out;
  out.platform = device;
  if (const std::size_t colon = device.rfind(':');
      colon != std::string::npos && colon + 1 < device.size() && device.size() - colon < 8 &&
      device.find_first_not_of("0123456789", colon + 1) == std::string::npos) {
    out.platform = device.substr(0, colon);
    out.index = std::stoi(device.substr(colon + 1));
  }
  if (out.platform == "cpu") return out;
  if (out.platform.starts_with("plugin:")) {
    out.library = out.platform.substr(7);
    if (out.library.empty())
      return Status(Code::invalid, "--device={}: a path is missing, as plugin:/path/x.so", device);
    std::error_code none;
    if (!fs::exists(out.library, none))
      return Status(Code::not_found, "--device={}: there is no file {}", device, out.library);
    return out;
  }
  const std::vector<Place> known = places();
  for (const Place& p : known)
    if (!p.trouble.empty()) return Status(Code::invalid, "--device={}: {}", device, p.trouble);
  for (const Place& p : known)
    if (p.name == out.platform) {
      out.library = p.library;
      return out;
    }
  if (out.platform == "cuda")
    return Status(Code::not_found,
                  "--device={}: no plugin for CUDA was found; install the Python package "
                  "jax-cuda13-pjrt, or name the library: --device=plugin:/path/xla_cuda_plugin.so",
                  device);
  if (out.platform == "tpu")
    return Status(Code::not_found,
                  "--device={}: no plugin for TPUs was found; install the Python package libtpu, "
                  "or set TPU_LIBRARY_PATH",
                  device);
  std::string names = "cpu, cuda, tpu, plugin:/path/x.so";
  for (const Place& p : known) names += ", " + p.name;
  return Status(Code::invalid, "--device={}: no such device; allowed: {}", device, names);
}

}  // namespace strata::runtime::plugin
