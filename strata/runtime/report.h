// STRATA_PROFILE=NAME: the program of that name tells at its end, on stderr, what each of its
// launches took.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "strata/runtime/client.h"

namespace strata::runtime {

/// Whether the environment asks for this program's report.
bool is_reported(std::string_view name);

/// The executable, which was compiled as `timed`; when it goes, it tells what it took in all its
/// runs.
std::shared_ptr<Executable> reported(std::shared_ptr<Executable> executable, std::string name);

/// The report: a line for each launch that ran, the slowest first.
std::string report(std::string_view name, const std::vector<Launch>& launches,
                   const std::vector<LaunchTimes::Total>& totals);

}  // namespace strata::runtime
