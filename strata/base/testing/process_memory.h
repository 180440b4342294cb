// Linux' counts of a process's memory.
//
//   const std::uint64_t before = process_memory("RssAnon:");
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace strata {

/// Bytes that /proc/self/status gives for a field, "VmHWM:" say; 0 where the system does not tell.
inline std::uint64_t process_memory(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == field) {
      std::uint64_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes << 10;
    }
  return 0;
}

}  // namespace strata
