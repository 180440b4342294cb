// `strata data convert` and `strata data show`.
#pragma once

#include <functional>

#include "strata/base/command_line.h"

namespace strata::cli {

void add_data_convert(CommandLine& data, std::function<int()>& action);
void add_data_show(CommandLine& data, std::function<int()>& action);

}  // namespace strata::cli
