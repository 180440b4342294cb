// Draws a graph, with what each operation took.
#include <algorithm>
#include <cmath>

#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

struct Line {
  std::string name;
  std::int64_t elements = 0, own = 0;
};

/// Depth first, an operation above what it reads from.
void draw(const Node& node, const std::string& indent, std::vector<Line>& lines) {
  Line line{indent + node.name(), node.stage().elements, node.stage().nanoseconds};
  for (const auto& p : node.drawn()) line.own -= p->stage().nanoseconds.load();
  line.own = std::max<std::int64_t>(line.own, 0);
  lines.push_back(line);
  for (const auto& p : node.drawn()) draw(*p, indent + "  ", lines);
}

std::string table(const Node& root) {
  std::vector<Line> lines;
  draw(root, "", lines);
  std::size_t width = 0, slowest = 0;
  std::int64_t all = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    width = std::max(width, lines[i].name.size());
    all += lines[i].own;
    if (lines[i].own > lines[slowest].own) slowest = i;
  }
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& l = lines[i];
    if (all == 0) {
      out += l.name + "\n";
      continue;
    }
    const double seconds = 1e-9 * static_cast<double>(l.own);
    out += fmt::format(
        "{:<{}}  {:>10} elements  {:>12} /s  {:>5.1f} %{}\n", l.name, width, l.elements,
        l.own == 0 ? "-" : fmt::format("{:.0f}", static_cast<double>(l.elements) / seconds),
        100 * static_cast<double>(l.own) / static_cast<double>(all),
        i == slowest ? "  <- bottleneck" : "");
  }
  return out;
}

void clear(const Node& node) {
  node.stage().elements = 0;
  node.stage().nanoseconds = 0;
  for (const auto& p : node.drawn()) clear(*p);
}

}  // namespace

std::string MapDataset::describe() const {
  clear(*node_);
  return table(*node_);
}

std::string IterDataset::describe(std::int64_t sample) const {
  clear(*node_);
  if (sample > 0) {
    Tracking tracking;
    DatasetIterator iterator = iterate();
    iterator.take(sample);
  }
  return table(*node_);
}

}  // namespace strata::data
