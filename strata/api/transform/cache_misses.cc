#include "strata/api/transform/cache_misses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace strata {
namespace {

bool asked_by_environment() {
  const char* value = std::getenv("STRATA_EXPLAIN_CACHE_MISSES");
  return value && *value && std::string(value) != "0";
}
thread_local bool saying = asked_by_environment();

using internal::Signature;

/// What differs, a sentence each.
std::vector<std::string> differences(const Signature& now, const Signature& before) {
  std::vector<std::string> out;
  if (now.wide != before.wide)
    out.push_back(fmt::format("64-bit types are {}, were {}", now.wide ? "on" : "off",
                              before.wide ? "on" : "off"));
  if (now.structure != before.structure)
    out.push_back(fmt::format("the arguments are {}, were {}", now.structure, before.structure));
  if (now.paths == before.paths)
    for (std::size_t i = 0; i < now.types.size(); ++i)
      if (now.types[i] != before.types[i])
        out.push_back(fmt::format("{} is {}, was {}", now.paths[i], now.types[i], before.types[i]));
  if (out.empty()) out.push_back("the arguments have other C++ types");
  return out;
}

}  // namespace

explain_cache_misses::explain_cache_misses(bool on) : before_(saying) { saying = on; }
explain_cache_misses::~explain_cache_misses() { saying = before_; }
bool explain_cache_misses::enabled() { return saying; }

namespace internal {

std::string type_text(const Array& leaf) {
  return fmt::format("{}{}", leaf.weak() ? "weak " : "", describe(leaf.type()));
}

std::string explain_miss(const Signature& now, std::span<const Signature> before) {
  if (before.empty()) {
    std::vector<std::string> leaves;
    for (std::size_t i = 0; i < now.types.size(); ++i)
      leaves.push_back(fmt::format("{} is {}", now.paths[i], now.types[i]));
    return fmt::format("compiles for the first time: {}",
                       leaves.empty() ? "no arrays" : fmt::format("{}", fmt::join(leaves, ", ")));
  }
  std::vector<std::string> fewest;
  for (const Signature& other : before)
    if (std::vector<std::string> found = differences(now, other);
        fewest.empty() || found.size() < fewest.size())
      fewest = std::move(found);
  constexpr std::size_t kMost = 5;
  const std::size_t more = fewest.size() > kMost ? fewest.size() - kMost : 0;
  fewest.resize(fewest.size() - more);
  return fmt::format("compiles again: {}{}", fmt::join(fewest, "; "),
                     more ? fmt::format("; and {} more differ", more) : "");
}

void say_miss(const std::string& function, const Signature& now,
              std::span<const Signature> before) {
  std::cerr << fmt::format("jit {} {}\n", function, explain_miss(now, before)) << std::flush;
}

}  // namespace internal
}  // namespace strata
