// Indices that only say which row it is.
//
//   x[arange(n), y]      a gather by pairs (0, y0), (1, y1), ...      becomes      one that looks
//   in each row for y
//
// Scatters are treated alike. Each row by itself is what scatter_to_select.h and dot_chunking.h ask
// for, and rows go to threads without asking whether two of them meet.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and all regions in it. Returns whether anything changed.
bool convert_iota_indices_to_batch_dims(ir::Block& block);

}  // namespace strata::pass
