// Limits that control groups put on a process's memory (containers, batch systems).
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace strata {

/// Bytes that the process's control groups would still give it, the least over the group and those
/// above it, of version 1 and 2; the largest number where there is no limit. Pages of files that
/// have not been used lately count as free, since the system drops them first.
///
/// `groups` is what /proc/self/cgroup lists, `root` the folder where groups are mounted.
/// Source: Linux' admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
std::size_t left_of_cgroups(const std::string& groups, const std::string& root);
/// Reads the calling process's own control groups and returns the bytes that they would still give
/// it; the largest number where there is no limit.
std::size_t left_of_cgroups();

}  // namespace strata
