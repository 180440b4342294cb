// Draws a graph, with what each operation took.
#include <algorithm>
#include <cmath>

#include "strata/data/pipeline/graph.h"
#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

/// Depth first, an operation above what it reads from; the node's own place in the list.
std::size_t add(const Node& node, int depth, std::vector<GraphNode>& out) {
  const std::size_t at = out.size();
  out.push_back({.name = node.name(),
                 .depth = depth,
                 .elements = node.stage().elements,
                 .nanoseconds = node.stage().nanoseconds});
  for (const auto& p : node.drawn()) {
    out[at].nanoseconds -= p->stage().nanoseconds.load();
    const std::size_t input = add(*p, depth + 1, out);
    out[at].inputs.push_back(input);
  }
  out[at].nanoseconds = std::max<std::int64_t>(out[at].nanoseconds, 0);
  return at;
}

std::vector<GraphNode> nodes_of(const Node& root) {
  std::vector<GraphNode> out;
  add(root, 0, out);
  std::int64_t all = 0;
  for (const GraphNode& n : out) all += n.nanoseconds;
  if (all == 0) return out;
  for (GraphNode& n : out) n.share = static_cast<double>(n.nanoseconds) / static_cast<double>(all);
  std::ranges::max_element(out, {}, &GraphNode::nanoseconds)->bottleneck = true;
  return out;
}

std::string table(const std::vector<GraphNode>& nodes) {
  std::size_t width = 0;
  bool measured = false;
  for (const GraphNode& n : nodes) {
    width = std::max(width, n.name.size() + 2 * static_cast<std::size_t>(n.depth));
    measured = measured || n.bottleneck;
  }
  std::string out;
  for (const GraphNode& n : nodes) {
    const std::string name = std::string(2 * static_cast<std::size_t>(n.depth), ' ') + n.name;
    if (!measured) {
      out += name + "\n";
      continue;
    }
    const double seconds = 1e-9 * static_cast<double>(n.nanoseconds);
    out += fmt::format(
        "{:<{}}  {:>10} elements  {:>12} /s  {:>5.1f} %{}\n", name, width, n.elements,
        n.nanoseconds == 0 ? "-" : fmt::format("{:.0f}", static_cast<double>(n.elements) / seconds),
        100 * n.share, n.bottleneck ? "  <- bottleneck" : "");
  }
  return out;
}

void clear(const Node& node) {
  node.stage().elements = 0;
  node.stage().nanoseconds = 0;
  for (const auto& p : node.drawn()) clear(*p);
}

}  // namespace

std::vector<GraphNode> graph_nodes(const MapDataset& ds) {
  clear(*ds.node());
  return nodes_of(*ds.node());
}

std::vector<GraphNode> graph_nodes(const IterDataset& ds, std::int64_t sample) {
  clear(*ds.node());
  if (sample > 0) {
    Tracking tracking;
    ds.iterate().take(sample);
  }
  return nodes_of(*ds.node());
}

std::string MapDataset::describe() const { return table(graph_nodes(*this)); }

std::string IterDataset::describe(std::int64_t sample) const {
  return table(graph_nodes(*this, sample));
}

}  // namespace strata::data
