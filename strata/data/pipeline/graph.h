// The graph of a pipeline as a list: for pictures and for programs that read it.
//
//   for (const GraphNode& n : graph_nodes(ds, 100))      // 100 elements are read first
//     std::cout << std::string(2 * n.depth, ' ') << n.name << " " << n.share << "\n";
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strata/data/pipeline/pipeline.h"

namespace strata::data {

struct GraphNode {
  /// As Grain prints it: "BatchMapDataset(batch_size=8, drop_remainder=False)".
  std::string name;
  int depth = 0;
  /// Numbers in the list of what it reads from; they stand behind it.
  std::vector<std::size_t> inputs;
  /// Elements that it gave, and the time that it took itself.
  std::int64_t elements = 0, nanoseconds = 0;
  /// Its part of the time of all; 0 where nothing was measured.
  double share = 0;
  bool bottleneck = false;
};

/// Depth first from the end of the graph on; what several operations read from stands once for
/// each.
std::vector<GraphNode> graph_nodes(const MapDataset& ds);
/// With a sample, so many elements are read first and each operation's time is taken.
std::vector<GraphNode> graph_nodes(const IterDataset& ds, std::int64_t sample = 0);

}  // namespace strata::data
