#include "strata/base/memory/out_of_memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>

#include "strata/base/memory/cgroup.h"

namespace strata {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

std::size_t free_in_machine() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;) {
    std::size_t kibibytes = 0;
    if (word == "MemAvailable:" && in >> kibibytes) return kibibytes * 1024;
  }
  return kNoLimit;
}

std::size_t left_of_limit() {
  struct rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  std::ifstream in("/proc/self/statm");
  std::size_t pages = 0;
  in >> pages;
  const std::size_t used = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

}  // namespace

std::string bytes_text(std::size_t bytes) {
  static constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return fmt::format("{} bytes ({:.3g} {})", bytes, size, kUnits[unit]);
}

std::size_t available_memory() {
  return std::min({free_in_machine(), left_of_limit(), left_of_cgroups()});
}

OutOfMemory::OutOfMemory(std::size_t requested)
    : what_(fmt::format("out of memory: {} requested, {} available", bytes_text(requested),
                        bytes_text(available_memory()))) {}

std::string message_of(const std::bad_alloc& e) {
  const auto* known = dynamic_cast<const OutOfMemory*>(&e);
  return known == nullptr ? "out of memory" : known->what();
}

}  // namespace strata
