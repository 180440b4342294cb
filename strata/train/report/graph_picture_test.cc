#include "strata/train/report/graph_picture.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "strata/base/file.h"

namespace strata::train {
namespace {

data::IterDataset blend() {
  const auto part = [](std::int64_t n) { return data::MapDataset::range(n).seed(3).shuffle(); };
  return data::MapDataset::mix({part(50), part(70)}, std::vector<double>{1, 2})
      .batch(4)
      .to_iter_dataset();
}

TEST(GraphPicture, NodesAreInOrderAndKnowTheirInputs) {
  const auto nodes = data::graph_nodes(blend(), 5);
  ASSERT_EQ(nodes.size(), 9u);
  EXPECT_EQ(nodes[2].inputs, (std::vector<std::size_t>{3, 6}));  // the mix
  double share = 0;
  int bottlenecks = 0;
  for (const auto& n : nodes) {
    share += n.share;
    bottlenecks += n.bottleneck;
    for (std::size_t input : n.inputs) EXPECT_EQ(nodes[input].depth, n.depth + 1);
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_EQ(bottlenecks, 1);
  EXPECT_EQ(nodes[0].elements, 5);
  for (const auto& n : data::graph_nodes(blend())) EXPECT_EQ(n.share, 0);
}

TEST(GraphPicture, IsAFileOfItsKindAndTheSameEachTime) {
  const auto nodes = data::graph_nodes(blend());
  EXPECT_TRUE(graph_png(nodes).starts_with("\x89PNG\r\n"));
  const std::string svg = graph_svg(nodes);
  EXPECT_NE(svg.find("<svg"), svg.npos);
  EXPECT_NE(svg.find("</svg>"), svg.npos);
  EXPECT_EQ(graph_png(nodes), graph_png(nodes));  // cairo numbers what an SVG names anew each time
  const std::string path = testing::TempDir() + "graph.svg";
  ASSERT_TRUE(write_graph_picture(nodes, path).ok());
  EXPECT_NE(read_file(path)->find("<svg"), std::string::npos);
  EXPECT_FALSE(write_graph_picture(nodes, testing::TempDir() + "none/graph.png").ok());
}

}  // namespace
}  // namespace strata::train
