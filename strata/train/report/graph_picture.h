// A pipeline's graph as a picture: a box for each operation, arrows from what it reads from.
//
//   Status s = write_graph_picture(data::graph_nodes(ds, 100), "graph.svg");
#pragma once

#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/pipeline/graph.h"

namespace strata::train {

/// Draws sources at the top and the end of the graph at the bottom. Boxes say the operation, its
/// options, and where times were taken its elements, rate and share; the more of the time is an
/// operation's the deeper its colour, and the bottleneck has a border of its own. PNG, or SVG where
/// `path` ends in ".svg". Drawn by cairo.
Status write_graph_picture(const std::vector<data::GraphNode>& nodes, const std::string& path);

/// The same as a file's bytes.
std::string graph_svg(const std::vector<data::GraphNode>& nodes);
std::string graph_png(const std::vector<data::GraphNode>& nodes);

}  // namespace strata::train
