// Products of groups with a batch of as many as a mesh has parts, said as ragged ones on each
// device (transform/grouped_products.h): devices compute what the product computes on one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/ir/declaration.h"
#include "strata/ir/text/printer.h"
#include "strata/op/build.h"
#include "strata/op/catalog.h"
#include "strata/op/collective/world.h"
#include "strata/op/evaluate.h"
#include "strata/op/linalg/gmm.h"
#include "strata/op/samples.h"
#include "strata/partition/partition_testing.h"
#include "strata/partition/program.h"
#include "strata/transform/export.h"

namespace strata::spmd {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kParts = 6, kRows = 7, kIn = 3, kOut = 5, kGroups = 3;

/// Rows of some groups, none of others, and rows of no group; a size below zero.
Literal sizes() {
  return Literal::of<std::int32_t>({kParts, kGroups},
                                   {2, 3, 2, 0, 0, 0, 7, 0, 0, 1, -2, 4, 0, 5, 1, 3, 1, 1});
}

struct Program {
  ir::Module module;
  op::Literals at;
  ir::Function& f = module.add("main");

  explicit Program(const std::string& which) {
    const mesh::Mesh mesh(std::vector<mesh::MeshAxis>{{"a", 2}, {"b", 3}});
    ir::add_mesh(module, ir::Mesh{"mesh", mesh.to_shardy(), ""});
    const Shape left{kParts, kRows, kIn};
    const Shape right = which == "tgmm"     ? Shape{kParts, kRows, kOut}
                        : which == "turned" ? Shape{kParts, kGroups, kOut, kIn}
                                            : Shape{kParts, kGroups, kIn, kOut};
    for (const Shape& shape : {left, right})
      at.push_back(op::random_literal(Type(DType::f32, shape), at.size() + 1));
    at.push_back(sizes());
    for (const Literal& l : at) f.body.add_argument(l.type());
    op::Builder b(f.body);
    op::Values v = f.body.argument_values();
    v[0] = b.create("sdy.sharding_constraint", op::Values{v[0]},
                    {{"sharding", ir::Opaque{R"(#sdy.sharding<@mesh, [{"b", "a"}, {}, {}]>)"}}})
               .result();
    v[0] = op::add(b, v[0], v[0]);
    f.body.results = {which == "tgmm" ? op::tgmm(b, v[0], v[1], v[2])
                                      : op::gmm(b, v[0], v[1], v[2], which == "turned")};
    grid = mesh;
  }
  mesh::Mesh grid;
};

TEST(RaggedRun, DevicesComputeWhatOneComputes) {
  op::catalog();
  for (const char* which : {"gmm", "turned", "tgmm"}) {
    Program p(which);
    op::World alone, together;
    const op::Literals want = op::evaluate(p.f.body, p.at);
    transform::export_stablehlo(p.f.body, transform::GroupedProducts::ragged, &p.grid.abstract());
    const std::string text = ir::print(p.module);
    EXPECT_THAT(text, HasSubstr("chlo.ragged_dot")) << which;
    EXPECT_THAT(text, HasSubstr(R"(manual_axes={"a", "b"})")) << which;
    EXPECT_THAT(text, HasSubstr(R"(in_shardings=[<@mesh, [{"b", "a"}, {}, {}]>)")) << which;
    const PartitionedProgram cut = partition_program(p.f, p.module);
    const op::Literals got = run_on_devices(cut.function->body, cut.grid, cut.arguments,
                                            cut.results, p.f.body.result_types(), p.at, together);
    EXPECT_TRUE(got[0].same_bits(want[0])) << which;
  }
}

TEST(RaggedRun, WithoutACutTheyAreDense) {
  op::catalog();
  Program p("gmm");
  const op::Literals want = op::evaluate(p.f.body, p.at);
  const mesh::AbstractMesh other(std::vector<mesh::MeshAxis>{{"a", 2}, {"b", 2}});
  transform::export_stablehlo(p.f.body, transform::GroupedProducts::ragged, &other);
  EXPECT_THAT(ir::print(p.module), ::testing::Not(HasSubstr("ragged_dot")));
  EXPECT_TRUE(op::evaluate(p.f.body, p.at)[0].same_bits(want[0]));
}

}  // namespace
}  // namespace strata::spmd
