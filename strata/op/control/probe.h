// What `interpreter.probe` recorded: values of a program under reference evaluation, by the probe's
// name, in order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "strata/type/literal.h"

namespace strata::op {

/// The records of this thread. Whoever runs a program clears them before.
std::map<std::string, std::vector<Literal>>& probes();

}  // namespace strata::op
