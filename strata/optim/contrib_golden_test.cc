// Contributed rules beside Optax's; some end in a decomposition or a root.
#include "strata/optim/optax_golden.h"

namespace strata::optim {
namespace {

TEST(OptaxContrib, Rules) {
  OptaxGolden golden("contrib");
  for (const char* root : {"muon", "scale_by_muon", "galore", "scale_by_galore", "sophia",
                           "hutchinson", "madgrad", "scale_by_madgrad"})
    golden.tolerance(root, 1e-5);
  golden.run();
}

}  // namespace
}  // namespace strata::optim
