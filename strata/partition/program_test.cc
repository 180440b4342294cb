// Programs over eight devices as JAX lowers them (tools/goldens/sharded.py): propagated,
// partitioned, run on eight devices by the reference evaluator, beside what JAX computes and, where
// no part of the program is written for one device, beside the program itself on one, bit for bit
// in `exact`.
#include "strata/partition/program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "strata/base/error.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/read.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/catalog.h"
#include "strata/op/collective/world.h"
#include "strata/op/evaluate.h"
#include "strata/op/law_support.h"
#include "strata/partition/gspmd.h"
#include "strata/partition/mesh_groups.h"
#include "strata/partition/one_mesh.h"
#include "strata/partition/partition_testing.h"

namespace strata::spmd {
namespace {

namespace fs = std::filesystem;

fs::path folder() { return fs::path(__FILE__).parent_path() / "testdata" / "jax"; }
std::string read(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::unique_ptr<ir::Module> parsed(const std::string& text) {
  op::catalog();
  Result<std::unique_ptr<ir::Module>> module = ir::parse(text, "program.mlir");
  if (!module) throw Error("test", "{}", module.status().message());
  ir::inline_calls(**module);
  gspmd_to_shardy(**module);
  return std::move(*module);
}

/// As `filled` of tools/goldens/sharded.py.
Literal filled(const Type& type, std::int64_t number) {
  Literal out(type);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    std::int64_t n = (i * 7919 + number * 104729) % 1009;
    if (is_float(type.dtype()))
      out.set_number(i, static_cast<float>(n) / 1009.0f - 0.5f);
    else
      out.set_integer(i, n % 7);
  }
  return out;
}

op::Literals arguments_of(const ir::Function& f) {
  op::Literals out;
  for (int i = 0; i < f.body.num_arguments(); ++i)
    out.push_back(filled(f.body.argument(i)->type(), i));
  return out;
}

op::Literals run(const ir::Function& f, const PartitionedProgram& p, const op::Literals& at) {
  op::World world;
  return run_on_devices(p.function->body, p.grid, p.arguments, p.results, f.body.result_types(), at,
                        world);
}

class FromJax : public ::testing::TestWithParam<const char*> {};

TEST_P(FromJax, runs_on_eight_devices) {
  std::string name = GetParam();
  auto module = parsed(read(folder() / (name + ".mlir")));
  const ir::Function& f = *module->entry();
  op::Literals at = arguments_of(f);
  PartitionedProgram p = partition_program(f, *module);
  EXPECT_EQ(p.grid.devices(), 8);
  op::Literals got = run(f, p, at);
  std::istringstream lines(read(folder() / (name + ".txt")));
  for (std::size_t r = 0; r < got.size(); ++r) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    std::istringstream numbers(line);
    double worst = 0, scale = 1;
    for (std::int64_t i = 0; i < got[r].count(); ++i) {
      std::string word;
      ASSERT_TRUE(numbers >> word) << "result " << r << " of " << name;
      double want = std::stod(word), have = is_float(got[r].dtype())
                                                ? got[r].number(i)
                                                : static_cast<double>(got[r].integer(i));
      worst = std::max(worst, std::fabs(want - have));
      scale = std::max(scale, std::fabs(want));
    }
    EXPECT_LE(worst, 1e-5 * scale) << "result " << r << " of " << name;
  }
  bool manual = false;
  ir::walk(f.body,
           [&](const ir::Op& op) { manual = manual || op.name() == "sdy.manual_computation"; });
  if (manual) return;
  op::Literals whole = op::evaluate(f.body, at);
  PartitionedProgram exact = partition_program(f, *module, {.exact = true});
  op::Literals same = run(f, exact, at);
  for (std::size_t r = 0; r < whole.size(); ++r)
    EXPECT_EQ(op::laws::difference(same[r], whole[r]), "") << "result " << r << " of " << name;
}

/// The program of one device is well formed, and what is printed of it is read again.
TEST_P(FromJax, prints) {
  auto module = parsed(read(folder() / (std::string(GetParam()) + ".mlir")));
  PartitionedProgram p = partition_program(*module->entry(), *module);
  ir::Module out;
  out.functions.push_back(std::move(p.function));
  ASSERT_TRUE(ir::verify(out).ok()) << ir::verify(out).message();
  std::string text = ir::print(out);
  EXPECT_EQ(ir::print(*parsed(text)), text);
}

/// What was spread spreads no further, and equal programs are cut alike.
TEST_P(FromJax, propagation_is_idempotent) {
  auto module = parsed(read(folder() / (std::string(GetParam()) + ".mlir")));
  Meshes meshes(*module);
  Shardings s = read_shardings(*module->entry(), meshes);
  propagate(*module->entry(), meshes, s);
  Shardings again = s;
  propagate(*module->entry(), meshes, again);
  EXPECT_TRUE(s.values == again.values);
  EXPECT_TRUE(s.results == again.results);
  auto other = parsed(read(folder() / (std::string(GetParam()) + ".mlir")));
  PartitionedProgram a = partition_program(*module->entry(), *module),
                     b = partition_program(*other->entry(), *other);
  EXPECT_EQ(ir::print(*a.function), ir::print(*b.function));
  EXPECT_EQ(a.explanation, b.explanation);
}

INSTANTIATE_TEST_SUITE_P(Programs, FromJax,
                         ::testing::Values("tensor_parallel", "fsdp_step", "attention",
                                           "scanned_layers", "while_loop", "branches", "embedding",
                                           "reshards", "uneven", "shard_map_all",
                                           "shard_map_partial", "random_numbers",
                                           "convolution_step", "gspmd_attention", "gspmd_reshards",
                                           "gspmd_uneven"),
                         [](const auto& test) { return std::string(test.param); });

/// Programs and what each device runs, as text: `strata-opt --partition NAME.mlir > NAME.out.mlir`.
TEST(PartitionProgram, prints_the_program_of_a_device) {
  int programs = 0;
  for (const auto& entry : fs::directory_iterator(folder().parent_path() / "device")) {
    fs::path path = entry.path();
    if (path.stem().extension() == ".out") continue;
    auto module = parsed(read(path));
    PartitionedProgram p = partition_program(*module->entry(), *module);
    for (auto& f : module->functions)
      if (f.get() == module->entry()) {
        f = std::move(p.function);
        break;
      }
    EXPECT_EQ(ir::print(*module), read(path.replace_extension(".out.mlir"))) << path;
    ++programs;
  }
  EXPECT_EQ(programs, 5);
}

std::vector<std::string> kinds(const std::vector<Move>& moves) {
  std::vector<std::string> out;
  for (const Move& m : moves) out.push_back(m.kind);
  return out;
}

/// Rows of a table that is cut into parts (62 rows over 4 devices, the last part short): looked up
/// where they are and added up, -0 and rows out of range too; written where they are.
TEST(PartitionProgram, looks_up_rows_where_they_are) {
  auto module = parsed(R"(
sdy.mesh @m = <["x"=4]>
func.func @main(%t: tensor<62x3xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}, %i: tensor<5x1xi32>, %u: tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<62x3xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %0 = sdy.sharding_constraint %t <@m, [{"x"}, {}]> : tensor<62x3xf32>
  %1 = "stablehlo.gather"(%0, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<62x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  %2 = "stablehlo.scatter"(%0, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : (tensor<62x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<62x3xf32>
  %3 = sdy.sharding_constraint %1 <@m, [{}, {}]> : tensor<5x3xf32>
  return %3, %2 : tensor<5x3xf32>, tensor<62x3xf32>
})");
  const ir::Function& f = *module->entry();
  op::Literals at = arguments_of(f);
  at[0].set_number(3 * 17, -0.0);
  at[1] = Literal::of(Shape{5, 1}, std::vector<std::int32_t>{17, 61, -3, 100, 17});
  op::Literals whole = op::evaluate(f.body, at);
  PartitionedProgram p = partition_program(f, *module, {.exact = true});
  // Rows of the gather; then the scattered table, which is returned whole.
  EXPECT_EQ(kinds(p.moves), (std::vector<std::string>{"all_reduce", "all_gather"}));
  op::Literals got = run(f, p, at);
  for (std::size_t r = 0; r < whole.size(); ++r)
    EXPECT_EQ(op::laws::difference(got[r], whole[r]), "") << "result " << r;
}

/// The gradient of a table by tokens that are cut over devices: each adds its own, and tables are
/// added up where they are smaller than all updates. In `exact` the order of additions is kept.
TEST(PartitionProgram, adds_up_small_tables_of_scattered_rows) {
  const auto program = [](std::int64_t rows) {
    const std::string table = fmt::format("tensor<{}x3xf32>", rows);
    return parsed(fmt::format(R"(
sdy.mesh @m = <["x"=4]>
func.func @main(%i: tensor<40x1xi32> {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{}}]>}}, %u: tensor<40x3xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{}}]>}}) -> ({0} {{sdy.sharding = #sdy.sharding<@m, [{{}}, {{}}]>}}) {{
  %z = stablehlo.constant dense<0.0> : {0}
  %0 = "stablehlo.scatter"(%z, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : ({0}, tensor<40x1xi32>, tensor<40x3xf32>) -> {0}
  return %0 : {0}
}})",
                              table));
  };
  const auto moved = [&](std::int64_t rows, bool exact) {
    const auto module = program(rows);
    const ir::Function& f = *module->entry();
    const op::Literals at = arguments_of(f);
    const op::Literals whole = op::evaluate(f.body, at);
    PartitionedProgram p = partition_program(f, *module, {.exact = exact});
    const op::Literals got = run(f, p, at);
    for (std::int64_t i = 0; i < whole[0].count(); ++i)
      EXPECT_NEAR(got[0].number(i), whole[0].number(i), exact ? 0 : 1e-5) << i;
    return kinds(p.moves);
  };
  EXPECT_EQ(moved(10, false), std::vector<std::string>{"all_reduce"});
  EXPECT_EQ(moved(10, true), (std::vector<std::string>{"all_gather", "all_gather"}));
  EXPECT_EQ(moved(100, false), (std::vector<std::string>{"all_gather", "all_gather"}));
}

/// What passes a barrier keeps its sharding, though two values are cut over one axis along
/// dimensions of their own, as a batch and weights are under FSDP.
TEST(PartitionProgram, barriers_gather_nothing) {
  auto module = parsed(R"(
sdy.mesh @m = <["x"=4]>
func.func @main(%a: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}, %w: tensor<5x12xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}, tensor<5x12xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) {
  %0:2 = stablehlo.optimization_barrier %a, %w : tensor<8x3xf32>, tensor<5x12xf32>
  return %0#0, %0#1 : tensor<8x3xf32>, tensor<5x12xf32>
})");
  const ir::Function& f = *module->entry();
  PartitionedProgram p = partition_program(f, *module, {.exact = true});
  EXPECT_EQ(kinds(p.moves), std::vector<std::string>{});
  const op::Literals at = arguments_of(f);
  const op::Literals whole = op::evaluate(f.body, at), got = run(f, p, at);
  for (std::size_t r = 0; r < whole.size(); ++r)
    EXPECT_EQ(op::laws::difference(got[r], whole[r]), "") << "result " << r;
}

/// Rows that an operation reads near its own come from neighbours: a permute for each distance,
/// of the rows that are read, and no whole array anywhere.
TEST(PartitionProgram, asks_neighbours_for_rows) {
  auto with = [](const std::string& op, const std::string& type) {
    return "sdy.mesh @m = <[\"x\"=4]>\n"
           "func.func @main(%a: tensor<1x32x3xf32> {sdy.sharding = #sdy.sharding<@m, [{}, "
           "{\"x\"}, {}]>}, %k: tensor<3x3x3xf32>, %i: tensor<i32>, %u: tensor<1x1x3xf32>) -> (" +
           type + " {sdy.sharding = #sdy.sharding<@m, [{}, {\"x\"}, {}]>}) {\n" +
           "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n  %c = stablehlo.constant dense<0> "
           ": "
           "tensor<i32>\n" +
           op + "\n  return %0 : " + type + "\n}";
  };
  struct Case {
    std::string op, type;
    std::vector<std::string> kinds;
    std::int64_t bytes;  // that a device receives
  };
  const std::string same = "tensor<1x32x3xf32>";
  for (const Case& c : std::vector<Case>{
           {"%0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
            "window "
            "= {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
                same + ", tensor<3x3x3xf32>) -> " + same,
            same,
            {"permute", "permute"},
            24},
           {"%0 = stablehlo.pad %a, %z, low = [0, 2, 0], high = [0, -2, 0], interior = [0, 0, 0] : "
            "(" +
                same + ", tensor<f32>) -> " + same,
            same,
            {"permute"},
            24},
           {"%0 = stablehlo.slice %a [0:1, 0:32:2, 0:3] : (" + same + ") -> tensor<1x16x3xf32>",
            "tensor<1x16x3xf32>",
            {},
            0},
           {"%0 = stablehlo.dynamic_update_slice %a, %u, %c, %i, %c : (" + same +
                ", tensor<1x1x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> " + same,
            same,
            {},
            0}}) {
    SCOPED_TRACE(c.op);
    auto module = parsed(with(c.op, c.type));
    const ir::Function& f = *module->entry();
    PartitionedProgram p = partition_program(f, *module, {.exact = true});
    EXPECT_EQ(kinds(p.moves), c.kinds);
    std::int64_t bytes = 0;
    for (const Move& m : p.moves) bytes += m.bytes;
    EXPECT_EQ(bytes, c.bytes);
    for (int place : {-5, 0, 7, 8, 31, 40}) {
      op::Literals at = arguments_of(f);
      at[2] = Literal::scalar(place);
      EXPECT_EQ(op::laws::difference(run(f, p, at)[0], op::evaluate(f.body, at)[0]), "") << place;
    }
  }
}

std::string message_of(const std::string& text) {
  try {
    auto module = parsed(text);
    partition_program(*module->entry(), *module);
    return "nothing was thrown";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(PartitionProgram, says_what_is_wrong) {
  auto with = [](const std::string& sharding) {
    return "sdy.mesh @m = <[\"x\"=2]>\nsdy.mesh @n = <[\"x\"=4]>\n"
           "func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<" +
           sharding + ">}) -> tensor<8xf32> {\n  return %a : tensor<8xf32>\n}";
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(message_of(with("@m, [{\"z\"}]")), HasSubstr("z"));
  EXPECT_THAT(message_of(with("@m, [{\"x\"}, {}]")), HasSubstr("rank"));
  EXPECT_THAT(message_of(with("@m, [{\"x\"}], replicated={\"x\"}")), HasSubstr("x"));
  EXPECT_THAT(message_of(with("@q, [{\"x\"}]")), HasSubstr("no mesh"));
}

/// Meshes that are views of the same devices, one of them in another order, and a manual body over
/// one of them: one program, as on one device.
TEST(PartitionProgram, takes_several_meshes_of_the_same_devices) {
  const std::string text = R"(
sdy.mesh @a = <["x"=2, "y"=4, "u"=1]>
sdy.mesh @b = <["p"=4, "q"=2], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
sdy.mesh @c = <["z"=8], device_ids=[0, 1, 4, 5, 2, 3, 6, 7]>
func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y", "u"}]>}, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}, {"q"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@c, [{}, {"z"}]>}) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<8x16xf32>
  %1 = sdy.sharding_constraint %0 <@c, [{"z":(2)4}, {"z":(1)2}]> : tensor<8x16xf32>
  %2 = sdy.manual_computation(%1) in_shardings=[<@b, [{"p"}, {}]>] out_shardings=[<@b, [{"p"}, {}]>] manual_axes={"p"} (%arg2: tensor<2x16xf32>) {
    %4 = stablehlo.multiply %arg2, %arg2 : tensor<2x16xf32>
    sdy.return %4 : tensor<2x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = stablehlo.subtract %2, %arg1 : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
})";
  auto module = parsed(text);
  to_one_mesh(*module);
  const ir::Function& f = *module->entry();
  op::Literals at = arguments_of(f);
  PartitionedProgram p = partition_program(f, *module, {.exact = true});
  EXPECT_EQ(p.grid.devices(), 8);
  Literal got = run(f, p, at)[0];
  for (std::int64_t i = 0; i < got.count(); ++i) {
    float x = static_cast<float>(at[0].number(i)) + static_cast<float>(at[1].number(i));
    EXPECT_EQ(got.number(i), x * x - static_cast<float>(at[1].number(i))) << i;
  }
  auto backwards = parsed(std::string(text).replace(text.find("0, 4, 1, 5"), 10, "4, 0, 1, 5"));
  to_one_mesh(*backwards);
  EXPECT_THROW(partition_program(*backwards->entry(), *backwards), Error);
}

/// The axes of each dimension of the first argument and result.
std::string ends_of(const std::string& argument, const std::string& result,
                    const std::string& body) {
  auto module = parsed("sdy.mesh @m = <[\"d\"=8]>\nfunc.func @main(%a: tensor<16x24xf32>" +
                       argument + ") -> (" + result + ") {\n" + body + "\n}");
  const ir::Function& f = *module->entry();
  PartitionedProgram p = partition_program(f, *module);
  const op::Literals at = arguments_of(f);
  EXPECT_EQ(op::laws::difference(run(f, p, at)[0], op::evaluate(f.body, at)[0]), "");
  Meshes meshes(*module);
  return to_mesh(p.argument_shardings[0], meshes).to_attribute() + " -> " +
         to_mesh(p.result_shardings[0], meshes).to_attribute();
}

TEST(PartitionProgram, cuts_arguments_and_results_over_whole_axes_unless_parts_are_stated) {
  const std::string rows = R"( {sdy.sharding = #sdy.sharding<@m, [{"d"}, {}]>})",
                    attr = "#sdy.sharding<@m, ";
  const std::string slice =
      R"(  %0 = stablehlo.slice %a [0:12, 0:24] : (tensor<16x24xf32>) -> tensor<12x24xf32>
  return %0 : tensor<12x24xf32>)";
  EXPECT_EQ(ends_of(rows, "tensor<12x24xf32>", slice),
            attr + R"([{"d"}, {}]> -> )" + attr + "[{}, {}]>");
  EXPECT_EQ(
      ends_of(rows, R"(tensor<12x24xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {?}]>})", slice),
      attr + R"([{"d"}, {}]> -> )" + attr + "[{}, {}]>");
  EXPECT_EQ(
      ends_of(rows, R"(tensor<12x24xf32> {sdy.sharding = #sdy.sharding<@m, [{"d":(1)4}, {}]>})",
              slice),
      attr + R"([{"d"}, {}]> -> )" + attr + R"([{"d":(1)4}, {}]>)");
  EXPECT_EQ(ends_of(rows, "tensor<4x4x24xf32>",
                    R"(  %0 = stablehlo.reshape %a : (tensor<16x24xf32>) -> tensor<4x4x24xf32>
  return %0 : tensor<4x4x24xf32>)"),
            attr + R"([{"d"}, {}]> -> )" + attr + "[{}, {}, {}]>");
  // An argument that takes its sharding from a result.
  EXPECT_EQ(ends_of("", R"(tensor<4x4x24xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {"d"}]>})",
                    R"(  %0 = stablehlo.reshape %a : (tensor<16x24xf32>) -> tensor<4x4x24xf32>
  return %0 : tensor<4x4x24xf32>)"),
            attr + R"([{}, {"d"}]> -> )" + attr + R"([{}, {}, {"d"}]>)");
  EXPECT_EQ(ends_of("", R"(tensor<4x96xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"d"}]>})",
                    R"(  %0 = stablehlo.reshape %a : (tensor<16x24xf32>) -> tensor<4x96xf32>
  return %0 : tensor<4x96xf32>)"),
            attr + "[{}, {}]> -> " + attr + R"([{}, {"d"}]>)");
}

TEST(PartitionProgram, lists_groups_that_axes_say) {
  auto with = [](const std::string& axes) {
    return "sdy.mesh @m = <[\"x\"=2, \"y\"=4], device_ids=[0, 1, 2, 3, 7, 6, 5, 4]>\n"
           "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
           "  %0 = \"stablehlo.collective_broadcast\"(%a) <{channel_handle = "
           "#stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = "
           "#stablehlo.replica_group_mesh_axes<mesh = @m, axes = [" +
           axes + "]>}> : (tensor<8xf32>) -> tensor<8xf32>\n  return %0 : tensor<8xf32>\n}";
  };
  auto groups = [&](const std::string& axes) {
    auto module = parsed(with(axes));
    list_groups(*module);
    const Literal& out = module->entry()->body.ops().front()->attr<Literal>("replica_groups");
    std::string text;
    for (std::int64_t i = 0; i < out.count(); ++i)
      text += (i % out.type().shape()[1] == 0 && i > 0 ? "|" : "") + std::to_string(out.integer(i));
    return text;
  };
  EXPECT_EQ(groups("#stablehlo.axis_ref<name = \"y\">"), "0123|7654");
  EXPECT_EQ(groups("#stablehlo.axis_ref<name = \"x\">"), "07|16|25|34");
  EXPECT_EQ(groups("#stablehlo.axis_ref<name = \"y\">, #stablehlo.axis_ref<name = \"x\">"),
            "07162534");
  EXPECT_EQ(groups("#stablehlo.axis_ref<name = \"y\", sub_axis_info = (1)2>"), "02|13|75|64");
  EXPECT_EQ(groups("#stablehlo.axis_ref<name = \"y\", sub_axis_info = (2)2>"), "01|23|76|54");
  EXPECT_EQ(groups(""), "0|1|2|3|7|6|5|4");
  for (const char* wrong : {"#stablehlo.axis_ref<name = \"z\">",
                            "#stablehlo.axis_ref<name = \"y\", sub_axis_info = (3)2>",
                            "#stablehlo.axis_ref<name = \"y\">, #stablehlo.axis_ref<name = \"y\">",
                            "#stablehlo.axis_ref<name = \"x\">, #stablehlo.axis_ref<name = \"x\">",
                            "#stablehlo.axis_ref<name = \"y\", sub_axis_info = (1)0>"})
    EXPECT_THROW(groups(wrong), Error) << wrong;
}

/// What jax.export serialises for eight devices is the same program.
TEST(PartitionProgram, reads_exports_of_several_devices) {
  op::catalog();
  std::string bytes = read(folder() / "tensor_parallel.jax");
  ASSERT_TRUE(ir::is_binary(bytes));
  Result<std::unique_ptr<ir::Module>> exported = ir::read(bytes, "tensor_parallel.jax");
  ASSERT_TRUE(exported) << exported.status().message();
  ir::inline_calls(**exported);
  auto module = parsed(read(folder() / "tensor_parallel.mlir"));
  PartitionedProgram a = partition_program(*(*exported)->entry(), **exported),
                     b = partition_program(*module->entry(), *module);
  op::Literals at = arguments_of(*module->entry());
  op::Literals x = run(*(*exported)->entry(), a, at), y = run(*module->entry(), b, at);
  EXPECT_EQ(op::laws::difference(x[0], y[0]), "");
  EXPECT_EQ(a.grid.devices(), 8);
}

TEST(Gspmd, reads_strings) {
  HloSharding s = parse_hlo_sharding("{devices=[4,2]<=[2,4]T(1,0)}");
  EXPECT_EQ(s.tiles, (std::vector<std::int64_t>{4, 2}));
  EXPECT_EQ(s.order, (std::vector<std::int64_t>{1, 0}));
  EXPECT_FALSE(parse_hlo_sharding("{replicated}").is_tiled);
  EXPECT_FALSE(parse_hlo_sharding("{maximal device=3}").is_tiled);
  EXPECT_EQ(parse_hlo_sharding("{devices=[2,2]0,1,2,3}").devices, (std::vector<std::int64_t>{4}));
  EXPECT_TRUE(parse_hlo_sharding("{devices=[2,1,4]<=[8] last_tile_dim_replicate}").is_tiled);
  std::string text = "{devices=[2,1,4]<=[2,4]T(1,0) last_tile_dim_replicate}";
  for (std::size_t n = 0; n < text.size(); ++n)
    EXPECT_THROW(parse_hlo_sharding(text.substr(0, n)), Error) << text.substr(0, n);
  for (const char* wrong :
       {"{devices=[2,2]0,2,1,3}", "{manual}", "{devices=[2]<=[3]}", "{devices=[4]<=[2,2]T(0,0)}",
        "{devices=[0]<=[0]}", "{devices=[9999999,9999999]<=[9999999,9999999]}",
        "{devices=[2,2]<=[4] last_tile_dims={manual}}"})
    EXPECT_THROW(parse_hlo_sharding(wrong), Error) << wrong;
}

/// Mesh a, b, c, d of 2 each: P(None, ('d', 'b'), 'c') at rank 4.
TEST(Gspmd, finds_the_mesh) {
  auto module = parsed(
      "func.func @main(%a: tensor<2x4x2x2xf32> {mhlo.sharding = "
      "\"{devices=[1,4,2,1,2]<=[2,2,2,2]T(3,1,2,0) last_tile_dim_replicate}\"}) -> "
      "tensor<2x4x2x2xf32> {\n  return %a : tensor<2x4x2x2xf32>\n}");
  EXPECT_THAT(ir::print(*module),
              ::testing::HasSubstr("#sdy.sharding<@gspmd, [{}, {\"_3\", \"_1\"}, {\"_2\"}, {}]>"));
}

TEST(PartitionProgram, explains) {
  auto module = parsed(R"(
sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %v: tensor<32x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
})");
  PartitionedProgram p = partition_program(*module->entry(), *module);
  EXPECT_EQ(p.explanation,
            R"(@main on @mesh: mesh <["data"=2, "model"=2]>, 4 devices
values
  argument 0 : tensor<8x16xf32> [{"data"}, {}]  by its own annotation
  argument 1 : tensor<16x32xf32> [{}, {"model"}]  by its own annotation
  argument 2 : tensor<32x16xf32> [{"model", ?}, {?}]  by model from argument 1
  stablehlo.dot_general at program.mlir:4:8 : tensor<8x32xf32> [{"data", ?}, {"model", ?}]  by data from argument 0; model from argument 1
  stablehlo.dot_general at program.mlir:5:8 : tensor<8x16xf32> [{"data", ?}, {?}]  by data from argument 0
  result 0 : tensor<8x16xf32> [{"data", ?}, {?}]  by data from argument 0
collectives, with the bytes that each device receives
  all_reduce over model 256  for stablehlo.dot_general at program.mlir:5:8  by model from argument 1
  256 bytes in all
what each annotation asks for
  argument 0 : 0 bytes in 0 collectives
  argument 1 : 256 bytes in 1 collective
each device holds 2304 bytes of arguments and 256 of results
)");
}

TEST(PartitionProgram, reducesOneElementOfEachDeviceWhereNoBitDependsOnOrder) {
  const auto explained = [](const std::string& type, const std::string& start,
                            const std::string& combiner) {
    auto module =
        parsed("sdy.mesh @mesh = <[\"x\"=2]>\nfunc.func @main(%x: tensor<4x2x" + type +
               "> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"x\"}]>}) -> tensor<4x" + type +
               "> {\n  %c = stablehlo.constant dense<" + start + "> : tensor<" + type +
               ">\n  %0 = stablehlo.reduce(%x init: %c) applies stablehlo." + combiner +
               " across dimensions = [1] : (tensor<4x2x" + type + ">, tensor<" + type +
               ">) -> tensor<4x" + type + ">\n  return %0 : tensor<4x" + type + ">\n}\n");
    return partition_program(*module->entry(), *module).explanation;
  };
  EXPECT_THAT(explained("i32", "0", "add"), testing::HasSubstr("all_reduce over x"));
  EXPECT_THAT(explained("f32", "0xFF800000", "maximum"), testing::HasSubstr("all_reduce over x"));
  EXPECT_THAT(explained("f32", "0.0", "add"), testing::HasSubstr("all_gather over x"));
}

}  // namespace
}  // namespace strata::spmd
