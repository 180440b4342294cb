#include "strata/nn/sharding/logical_sharding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/numpy.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"

namespace strata::nn {
namespace {

using testing::HasSubstr;

LogicalMesh mesh_2x4() {
  return LogicalMesh(mesh::Mesh(std::vector<mesh::MeshAxis>{{"fsdp", 2}, {"tensor", 4}}),
                     {{"mlp", {"fsdp_transpose", "tensor"}},
                      {"embed", {"fsdp", "fsdp_transpose"}},
                      {"embed", {"fsdp"}},
                      {"norm", {"tensor"}}});
}

TEST(LogicalMesh, TheFirstRuleWhoseAxesAreFreeIsTaken) {
  const LogicalMesh m = mesh_2x4();
  // As flax.linen.logical_to_mesh_axes: mlp's rule stands first and takes fsdp_transpose.
  EXPECT_EQ(m.spec({"embed", "mlp"}).to_string(), "P('fsdp', 'tensor')");
  EXPECT_EQ(m.spec({"mlp", "norm"}).to_string(), "P('tensor',)");
  EXPECT_EQ(m.spec({"", "embed"}).to_string(), "P(None, 'fsdp')");
  EXPECT_EQ(m.spec({"layers", "other"}).to_string(), "P()");
}

TEST(LogicalMesh, ConstraintsHoldInsideOfAScope) {
  const LogicalMesh m = mesh_2x4();
  const auto text = [] {
    return jit([](const Array& x) { return with_logical_constraint(x, {"embed", "mlp"}); })
        .lower(numpy::zeros({4, 8}))
        .as_text();
  };
  EXPECT_THAT(text(), testing::Not(HasSubstr("sharding")));
  const LogicalMeshScope scope(m);
  EXPECT_THAT(text(), HasSubstr(R"([{"fsdp"}, {"tensor"}])"));
  const auto message = [](const Sizes& shape, std::initializer_list<const char*> names) {
    try {
      (void)eval_shape([&](const Array& x) { return with_logical_constraint(x, names); },
                       numpy::zeros(shape));
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_THAT(message({4, 6}, {"embed", "mlp"}),
              testing::AllOf(HasSubstr("dimension 1 (mlp)"), HasSubstr("has size 6"),
                             HasSubstr("4 pieces"), HasSubstr("P('fsdp', 'tensor')")));
  EXPECT_THAT(message({4}, {"embed", "mlp"}), HasSubstr("has 1 dimensions"));
}

}  // namespace
}  // namespace strata::nn
