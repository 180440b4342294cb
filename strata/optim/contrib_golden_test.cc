// Contributed rules beside Optax's; some end in a decomposition or a root.
#include "strata/api/testing.h"
#include "strata/optim/optax_golden.h"

namespace strata::optim {
namespace {

TEST(OptaxContrib, Rules) {
  OptaxGolden golden("contrib");
  for (const char* root :
       {"muon", "scale_by_muon", "sophia", "hutchinson", "madgrad", "scale_by_madgrad", "momo"})
    golden.tolerance(root, 1e-5);
  golden.leave("galore");
  golden.leave("scale_by_galore");
  golden.also_shows("optax.contrib.GaLoreDimensionNumbers optax.contrib.MuonDimensionNumbers");
  golden.run();
}

// Singular vectors have no sign, and moments stand in their basis: steps that keep the projector
// are compared, and the first updates, which have no moments yet.
TEST(OptaxContrib, GaLore) {
  OptaxGolden golden("contrib");
  testing::shows_names("optax.contrib.galore optax.contrib.scale_by_galore");
  int compared = 0;
  for (const json& c : golden.cases()) {
    const std::string name = c["name"];
    if (!name.starts_with("galore") && !name.starts_with("scale_by_galore")) continue;
    SCOPED_TRACE(name);
    GradientTransformation tx;
    read(golden_option(c["call"]), "call", tx);
    const std::int64_t gap = c["call"]["args"].value("update_proj_gap", std::int64_t{200});
    Tree params = golden_tree(c["params"]), state = golden_tree(c["steps"][0]["state_before"]);
    expect_near(tx.init(params), c["steps"][0]["state_before"], 1e-5, "init");
    std::int64_t number = 0;
    for (const json& step : c["steps"]) {
      auto [updates, next] = tx.update(golden_tree(step["gradients"]), state, params);
      if (number == 0 || number % gap != 0) {
        expect_near(updates, step["updates"], 1e-5, "updates");
        ++compared;
      }
      if (number % gap != 0) expect_near(next, step["state_after"], 1e-5, "state");
      state = golden_tree(step["state_after"]);
      params = apply_updates(params, golden_tree(step["updates"]));
      ++number;
    }
  }
  EXPECT_GT(compared, 4);
}

}  // namespace
}  // namespace strata::optim
