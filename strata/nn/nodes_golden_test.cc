// Nodes of models beside Flax's, and what changes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/testing.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/golden_models.h"
#include "strata/nn/modules.h"
#include "strata/nn/nnx_golden.h"
#include "strata/nn/nodes.h"

namespace strata::nn {
namespace {

std::string type_of(const NodeAt& at) {
  if (at.leaf) return std::string(at.kind->name());
  std::string type = ModuleAt{at.path, at.object, at.type}.type_name();
  if (type.starts_with("Golden")) type = type.substr(6);
  return type == "Extra" ? "Dict" : type;
}

TEST(NnxNodes, AreFlaxs) {
  testing::shows_names("nnx.iter_graph");
  compile::register_cpu();
  const NnxGolden golden("state");
  int seen = 0;
  for (const json& c : golden.cases()) {
    const std::string name = c["name"];
    if (!name.starts_with("iter_")) continue;
    SCOPED_TRACE(name);
    ++seen;
    // Upstream's lists are modules; here they are no nodes.
    std::vector<std::vector<std::string>> want, got;
    for (const json& row : c["graph"])
      if (row[1] != "List") want.push_back(row.get<std::vector<std::string>>());
    with_golden_model(c["model"], [&](auto& model) {
      for (const NodeAt& at : iter_graph(model)) got.push_back({at.name(), type_of(at)});
    });
    // The place of a base module that is not there, and a struct of settings.
    std::erase_if(got, [](const auto& row) {
      return row[1] == "NoModule" || row[0] == "spectral/iteration";
    });
    std::sort(want.begin(), want.end());
    std::sort(got.begin(), got.end());
    EXPECT_THAT(got, ::testing::ElementsAreArray(want));
  }
  EXPECT_EQ(seen, 2);
}

TEST(NnxNodes, InnerOnesComeBeforeOuterOnes) {
  compile::register_cpu();
  GoldenNet net = golden_net();
  std::map<std::string, std::size_t> place;
  const std::vector<NodeAt> nodes = iter_graph(net);
  for (std::size_t i = 0; i < nodes.size(); ++i) place[nodes[i].name()] = i;
  EXPECT_EQ(place.at(""), nodes.size() - 1);
  EXPECT_LT(place.at("blocks/1/linear/kernel"), place.at("blocks/1/linear"));
  EXPECT_LT(place.at("blocks/1/linear"), place.at("blocks/1"));
  EXPECT_LT(place.at("blocks/0"), place.at("blocks/1/drop/rngs/count"));
}

TEST(NnxNodes, AreChangedInACopy) {
  testing::shows_names("nnx.recursive_map nnx.map");
  compile::register_cpu();
  const GoldenNet net = golden_net();
  const GoldenNet changed = recursive_map(
      [](const NodeAt& at) {
        if (auto* drop = at.as<Dropout>()) drop->rate = 0;
        if (at.leaf && at.name() == "head/kernel") *at.leaf = numpy::zeros_like(*at.leaf);
      },
      net);
  EXPECT_EQ(changed.blocks[1].drop.rate, 0);
  EXPECT_EQ(net.blocks[1].drop.rate, 0.5);
  EXPECT_EQ(numpy::sum(numpy::abs(changed.head.kernel)).item<float>(), 0);
  EXPECT_NE(numpy::sum(numpy::abs(net.head.kernel)).item<float>(), 0);
  EXPECT_EQ(changed.blocks[0].linear.kernel.state(), net.blocks[0].linear.kernel.state());
  const Linear zeros =
      nn::map([](const tree::Entry& entry,
                 const Array& x) { return entry.name == "bias" ? x + 1.0f : numpy::zeros_like(x); },
              golden_linear());
  EXPECT_EQ(zeros.kernel.to_vector<float>(), std::vector<float>(6, 0));
  EXPECT_EQ(zeros.bias->to_vector<float>(), std::vector<float>(3, 1));
}

}  // namespace
}  // namespace strata::nn
