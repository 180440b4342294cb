#include "strata/base/memory/cgroup.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace strata {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// Names of the files of one version.
struct Version {
  const char* limit;
  const char* used;
  const char* idle_files;
};
constexpr Version kFirst = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                            "total_inactive_file"};
constexpr Version kSecond = {"memory.max", "memory.current", "inactive_file"};

/// The number in a file; nothing for "max" and where there is no file.
std::optional<std::size_t> number_in(const fs::path& path) {
  std::ifstream in(path);
  std::size_t out = 0;
  if (in >> out) return out;
  return {};
}

std::size_t idle_files(const fs::path& path, const std::string& field) {
  std::ifstream in(path);
  std::size_t bytes = 0;
  for (std::string name; in >> name >> bytes;)
    if (name == field) return bytes;
  return 0;
}

std::size_t left_of(const fs::path& group, const Version& v) {
  const auto limit = number_in(group / v.limit), used = number_in(group / v.used);
  if (!limit || !used) return kNoLimit;
  const std::size_t held = *used - std::min(*used, idle_files(group / "memory.stat", v.idle_files));
  return *limit > held ? *limit - held : 0;
}

/// The least over a group and those above it. In a container the path may be the machine's, of
/// which the container sees its own part as the root.
std::size_t least(const fs::path& root, const std::string& group, const Version& v) {
  std::size_t out = left_of(root, v);
  fs::path at = root;
  for (const fs::path& part : fs::path(group).relative_path()) {
    at /= part;
    out = std::min(out, left_of(at, v));
  }
  return out;
}

}  // namespace

std::size_t left_of_cgroups(const std::string& groups, const std::string& root) {
  std::size_t out = kNoLimit;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    // "4:memory:/group" of version 1, "0::/group" of version 2.
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controller = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controller.empty()) out = std::min(out, least(root, group, kSecond));
    if (controller == "memory")
      out = std::min(out, least(fs::path(root) / "memory", group, kFirst));
  }
  return out;
}

std::size_t left_of_cgroups() {
  std::ifstream in("/proc/self/cgroup");
  const std::string groups{std::istreambuf_iterator<char>(in), {}};
  return left_of_cgroups(groups, "/sys/fs/cgroup");
}

}  // namespace strata
