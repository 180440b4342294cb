// Every operation of upstream by its name and text alone, so that text is tested without the
// mathematics: what the catalog (op/catalog.h) will say of each. A registry of its own: nothing
// here meets Registry::global().
#pragma once

#include <deque>

#include "strata/ir/text/format.h"

namespace strata::ir::testing {

const Registry& upstream_ops();

}  // namespace strata::ir::testing
