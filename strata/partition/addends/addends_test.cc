// Programs whose values are addends on each device, as JAX lowers them in explicit mode
// (tools/goldens/unreduced.py): what each of eight devices holds is what it holds by XLA, and
// nothing is combined before it must be.
#include "strata/partition/addends/addends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "strata/base/error.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/op/catalog.h"
#include "strata/op/collective/world.h"
#include "strata/op/evaluate.h"
#include "strata/op/law_support.h"
#include "strata/partition/program.h"

namespace strata::spmd {
namespace {

namespace fs = std::filesystem;
using Kinds = std::map<std::string, std::int64_t>;

std::string read(const std::string& name) {
  std::ifstream in(fs::path(__FILE__).parent_path().parent_path() / "testdata/jax/unreduced" /
                   name);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::unique_ptr<ir::Module> parsed(const std::string& text) {
  op::catalog();
  Result<std::unique_ptr<ir::Module>> module = ir::parse(text, "program.mlir");
  if (!module) throw Error("test", "{}", module.status().message());
  ir::inline_calls(**module);
  normalize(**module);
  return std::move(*module);
}

/// As `filled` of tools/goldens/unreduced.py.
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

/// What each device gives, and how often each kind of collective runs.
struct Ran {
  std::vector<op::Literals> devices;
  Kinds kinds;
  PartitionedProgram program;
};
Ran run(const ir::Module& module, bool exact) {
  const ir::Function& f = *module.entry();
  Ran out;
  out.program = partition_program(f, module, {.exact = exact});
  const PartitionedProgram& p = out.program;
  for (const Move& m : p.moves) out.kinds[m.kind] += m.times;
  out.devices.resize(static_cast<std::size_t>(p.grid.devices()));
  op::World world;
  op::run_grid(world, 1, p.grid.devices(), [&](op::Process& process) {
    const std::int64_t device = process.id().partition;
    op::Literals at;
    for (std::size_t i = 0; i < p.arguments.size(); ++i) {
      const Type& type = f.body.argument(static_cast<int>(i))->type();
      Literal mine =
          part_of(p.grid, filled(type, static_cast<std::int64_t>(i)), p.arguments[i], device);
      // Of addends the first device has the value.
      if (p.grid.tile(device, p.argument_addends[i].axes) != 0) mine = Literal(mine.type());
      at.push_back(std::move(mine));
    }
    out.devices[static_cast<std::size_t>(device)] = op::evaluate(p.function->body, at, process);
  });
  return out;
}

struct Case {
  const char* name;
  Kinds kinds;  // of collectives, in the default
};
class Unreduced : public ::testing::TestWithParam<Case> {};

TEST_P(Unreduced, devices_hold_what_they_hold_by_xla) {
  const auto module = parsed(read(std::string(GetParam().name) + ".mlir"));
  const Ran ran = run(*module, false);
  EXPECT_EQ(ran.kinds, GetParam().kinds) << ran.program.explanation;
  std::istringstream lines(read(std::string(GetParam().name) + ".txt"));
  for (std::size_t r = 0; r < ran.program.results.size(); ++r)
    for (std::size_t d = 0; d < ran.devices.size(); ++d) {
      std::string line;
      ASSERT_TRUE(std::getline(lines, line));
      std::istringstream numbers(line);
      const Literal& got = ran.devices[d][r];
      for (std::int64_t i = 0; i < got.count(); ++i) {
        double want = 0;
        ASSERT_TRUE(numbers >> want) << "result " << r << " on device " << d;
        const double have =
            is_float(got.dtype()) ? got.number(i) : static_cast<double>(got.integer(i));
        EXPECT_NEAR(have, want, 2e-6 * std::max(1.0, std::fabs(want)))
            << "element " << i << " of result " << r << " on device " << d;
      }
    }
}

/// In `exact` no sum is cut: devices' values combined have the bits of the whole program.
TEST_P(Unreduced, exact_has_the_bits_of_one_device) {
  if (std::string(GetParam().name) == "by_hand") return;  // written for one device
  const auto module = parsed(read(std::string(GetParam().name) + ".mlir"));
  const ir::Function& f = *module->entry();
  const Ran ran = run(*module, true);
  op::Literals at;
  for (int i = 0; i < f.body.num_arguments(); ++i)
    at.push_back(filled(f.body.argument(i)->type(), i));
  const op::Literals whole = op::evaluate(f.body, at);
  for (std::size_t r = 0; r < whole.size(); ++r) {
    // Of addends one device has the value and the others nothing, element by element.
    std::vector<Literal> parts;
    for (const op::Literals& d : ran.devices) parts.push_back(d[r]);
    for (const auto& group : ran.program.grid.groups(ran.program.result_addends[r].axes)) {
      Literal sum = parts[static_cast<std::size_t>(group[0])];
      for (std::size_t i = 1; i < group.size(); ++i)
        for (std::int64_t e = 0; e < sum.count(); ++e) {
          const Literal& more = parts[static_cast<std::size_t>(group[i])];
          if (is_float(sum.dtype()))
            sum.set_number(e, sum.number(e) + more.number(e));
          else
            sum.set_integer(e, sum.integer(e) + more.integer(e));
        }
      for (std::int64_t d : group) parts[static_cast<std::size_t>(d)] = sum;
    }
    const Literal got = assemble(ran.program.grid, whole[r].type(), ran.program.results[r], parts);
    EXPECT_EQ(op::laws::difference(got, whole[r]), "") << "result " << r;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Unreduced,
    ::testing::Values(Case{"product", {}},
                      // The sum of two products, once as it is and once in parts.
                      Case{"sums", {{"all_reduce", 1}, {"reduce_scatter", 1}}},
                      Case{"reductions", {}}, Case{"made", {}},
                      Case{"given", {{"reduce_scatter", 1}}}, Case{"segments", {}},
                      // Behind the loop, not in each of its iterations.
                      Case{"accumulated", {{"all_reduce", 1}}}, Case{"layers", {{"all_reduce", 1}}},
                      Case{"by_hand", {{"all_reduce", 1}}}, Case{"cotangent", {}}),
    [](const auto& info) { return std::string(info.param.name); });

/// What addends do not allow is computed of what they are together.
TEST(Addends, are_combined_where_they_must_be) {
  const char* program = R"(
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  %2 = stablehlo.tanh %1 : tensor<8x8xf32>
  %3 = stablehlo.multiply %1, %1 : tensor<8x8xf32>
  %4 = sdy.sharding_constraint %3 <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  return %2, %4 : tensor<8x8xf32>, tensor<8x8xf32>
})";
  const auto module = parsed(program);
  const Ran ran = run(*module, false);
  EXPECT_EQ(ran.kinds, (Kinds{{"all_reduce", 1}})) << ran.program.explanation;
  const ir::Function& f = *module->entry();
  const op::Literals at = {filled(f.body.argument(0)->type(), 0),
                           filled(f.body.argument(1)->type(), 1)};
  const op::Literals whole = op::evaluate(f.body, at);
  for (std::size_t r = 0; r < 2; ++r)
    for (std::int64_t i = 0; i < 32; ++i)
      EXPECT_NEAR(ran.devices[0][r].number(i), whole[r].number(i), 1e-6);
}

}  // namespace
}  // namespace strata::spmd
