#include "strata/runtime/plugin/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "strata/runtime/plugin/client.h"
#include "strata/runtime/plugin/find.h"
#include "strata/runtime/plugin/library.h"

namespace strata::runtime::plugin {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

Status look(const std::string& path, const ProbeOptions& options, Json& out) {
  auto library = Library::open(path);
  if (!library) return library.status();
  out["minor"] = (*library)->minor_version();
  if (!options.client) return {};
  const auto given = create_options();
  if (!given) return given.status();
  const NamedValues values(*given);
  auto create = args<PJRT_Client_Create_Args>();
  create.create_options = values.data();
  create.num_options = values.size();
  if (Status s = (*library)->call(kClient_Create, create); !s.ok()) return s;
  auto name = args<PJRT_Client_PlatformName_Args>();
  name.client = create.client;
  if (Status s = (*library)->call(kClient_PlatformName, name); !s.ok()) return s;
  out["platform"] = std::string(name.platform_name, name.platform_name_size);
  auto version = args<PJRT_Client_PlatformVersion_Args>();
  version.client = create.client;
  if ((*library)->call(kClient_PlatformVersion, version).ok())
    out["version"] = std::string(version.platform_version, version.platform_version_size);
  auto devices = args<PJRT_Client_AddressableDevices_Args>();
  devices.client = create.client;
  if (Status s = (*library)->call(kClient_AddressableDevices, devices); !s.ok()) return s;
  for (std::size_t i = 0; i < devices.num_addressable_devices; ++i) {
    auto of = args<PJRT_Device_GetDescription_Args>();
    of.device = devices.addressable_devices[i];
    auto kind = args<PJRT_DeviceDescription_Kind_Args>();
    std::string text = "device";
    if ((*library)->call(kDevice_GetDescription, of).ok()) {
      kind.device_description = of.device_description;
      if ((*library)->call(kDeviceDescription_Kind, kind).ok())
        text.assign(kind.device_kind, kind.device_kind_size);
    }
    out["devices"].push_back(text);
  }
  return {};
}

/// What the child does: its whole answer goes into the pipe; what the plugin prints, nowhere.
[[noreturn]] void child(const std::string& path, const ProbeOptions& options, int to) {
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (int fd : {0, 1, 2}) ::dup2(nowhere, fd);
  for (int signal : {SIGINT, SIGTERM, SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE})
    ::signal(signal, SIG_DFL);
  Json out;
  try {
    if (const Status s = look(path, options, out); !s.ok()) out["trouble"] = s.message();
  } catch (const std::exception& e) {
    out["trouble"] = e.what();
  }
  const std::string text = out.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(to, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) break;
    if (n > 0) at += static_cast<std::size_t>(n);
  }
  ::_exit(0);  // without the plugin's own ending, which may hang
}

/// All that comes until the other end closes or time is over; false when it is over.
bool read_all(int from, double seconds, std::string& out) {
  constexpr std::size_t kMost = 1 << 20;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  char piece[4096];
  while (out.size() < kMost) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd p{from, POLLIN, 0};
    const int ready = ::poll(&p, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 1000)));
    if (ready <= 0) continue;
    const ssize_t n = ::read(from, piece, sizeof piece);
    if (n == 0) return true;
    if (n > 0) out.append(piece, static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

Probe probe(const std::string& library, const ProbeOptions& options) {
  Probe out;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    out.trouble = "no pipe to a child process could be made";
    return out;
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    child(library, options, ends[1]);
  }
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    out.trouble = "no child process could be made to try it in";
    return out;
  }
  std::string text;
  const bool in_time = read_all(ends[0], options.seconds, text);
  ::close(ends[0]);
  if (!in_time) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) {
    out.trouble = fmt::format("it did not answer within {} s", options.seconds);
    return out;
  }
  const Json said = Json::parse(text, nullptr, false);
  if (WIFSIGNALED(status) || !said.is_object()) {
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    out.trouble = signal ? fmt::format("it died by signal {} ({})", signal, ::strsignal(signal))
                         : fmt::format("it ended the process with status {}", WEXITSTATUS(status));
    return out;
  }
  out.minor_version = said.value("minor", 0);
  out.platform = said.value("platform", "");
  out.version = said.value("version", "");
  out.devices = said.value("devices", std::vector<std::string>());
  out.trouble = said.value("trouble", "");
  if (out.trouble.empty() && options.client && out.devices.empty())
    out.trouble = "it has no device that this process may use";
  out.usable = out.trouble.empty();
  return out;
}

}  // namespace strata::runtime::plugin
