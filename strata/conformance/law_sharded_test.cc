// Law of partitioning, compiled: what the devices' machine code gives together has the bits of the
// reference evaluator on the same parts. strata/partition/law_test.cc compares that with the whole.
//
// An operation a sample, whose turn it is: they rotate by the day, or by STRATA_SAMPLE=N.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/op/law_support.h"
#include "strata/partition/partition_testing.h"
#include "strata/runtime/cpu_devices.h"
#include "strata/runtime/sharded.h"

namespace strata::conformance {
namespace {

using spmd::Grid;
using spmd::Layout;

class ShardedLaw : public ::testing::TestWithParam<const op::OpDef*> {};

std::size_t today() {
  const char* day = std::getenv("STRATA_SAMPLE");
  return day && *day ? static_cast<std::size_t>(std::atoll(day))
                     : static_cast<std::size_t>(std::time(nullptr) / 86400);
}

bool is_plain(const ir::Block& block) {
  bool out = true;
  const auto look = [&](const ir::Value* v) {
    out = out && v->type().is_tensor() && v->shape().is_static() && !v->type().is_quantized();
  };
  for (const auto& a : block.arguments()) look(a.get());
  ir::walk(block, [&](const ir::Op& op) {
    for (const ir::Value* r : op.results()) look(r);
  });
  return out;
}

/// Operands cut along one factor over all axes, wherever it leads a dimension.
spmd::Plan cut_along(const Grid& grid, const ir::Block& block, const op::Factors& factors,
                     std::size_t factor) {
  spmd::Plan plan;
  for (std::size_t i = 0; i < factors.operands.size(); ++i) {
    Layout layout = Layout::whole(static_cast<int>(factors.operands[i].size()));
    for (std::size_t d = 0; d < layout.dims.size(); ++d) {
      const std::vector<int>& of = factors.operands[i][d];
      if (of.empty() || of[0] != static_cast<int>(factor)) continue;
      for (int a = 0; a < static_cast<int>(grid.axes().size()); ++a) layout.dims[d].push_back(a);
      break;
    }
    plan.values[block.argument(static_cast<int>(i))] = layout;
  }
  return plan;
}

/// What is wrong, or nothing.
std::string failure(const op::OpDef& def, const op::Sample& sample, std::size_t number) {
  const auto f = op::laws::program_of(def, sample);
  if (!is_plain(f->body) || sample.world) return "";
  static const std::vector<Grid> grids{Grid({{"x", 2}}), Grid({{"x", 4}}),
                                       Grid({{"x", 2}, {"y", 2}}, {0, 2, 1, 3}), Grid({{"x", 8}})};
  const Grid& grid = grids[number % grids.size()];
  const op::Factors factors = (*def.shard)(*f->body.ops().back());
  if (factors.kinds.empty()) return "";
  const spmd::Plan plan =
      cut_along(grid, f->body, factors, number / grids.size() % factors.kinds.size());
  const spmd::Partitioned p = spmd::partition(f->body, grid, plan);
  op::World world;
  const op::Literals want = spmd::run_on_devices(f->body, p, grid, sample.operands, world);

  const auto ready = ir::clone(*p.body);
  std::vector<runtime::Device*> devices = runtime::cpu_devices(8);
  devices.resize(static_cast<std::size_t>(grid.devices()));
  runtime::ShardedBuffers parts;
  for (std::int64_t d = 0; d < grid.devices(); ++d) {
    parts.emplace_back();
    for (std::size_t i = 0; i < sample.operands.size(); ++i)
      parts.back().emplace_back(spmd::part_of(grid, sample.operands[i], p.arguments[i], d));
  }
  const runtime::ShardedBuffers got =
      runtime::compile_sharded_body(*ready, devices)->execute(std::move(parts));
  for (std::size_t r = 0; r < want.size(); ++r) {
    op::Literals each;
    for (const auto& of_device : got) each.push_back(of_device[r].literal());
    const Literal have = spmd::assemble(grid, want[r].type(), p.results[r], each);
    if (std::string wrong = op::laws::difference(have, want[r]); !wrong.empty())
      return fmt::format("{} devices, result {}: {}", grid.devices(), r, wrong);
  }
  return "";
}

TEST_P(ShardedLaw, devices_have_the_references_bits) {
  const op::OpDef& def = *GetParam();
  if (def.info.has_effect || !def.shard ||
      (std::holds_alternative<op::None>(def.lowering) && def.decompose == nullptr))
    return;
  compile::register_cpu();
  const std::vector<op::Sample> samples = op::registered_samples_of(def.info.name);
  if (samples.empty()) return;
  std::size_t number = today();
  for (unsigned char c : std::string(def.info.name)) number += c;
  const op::Sample& sample = samples[number % samples.size()];
  SCOPED_TRACE(sample.what);
  try {
    EXPECT_EQ(failure(def, sample, number), "");
  } catch (const Error& e) {
    if (!e.is_unsupported()) ADD_FAILURE() << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, ShardedLaw, ::testing::ValuesIn(op::catalog()),
                         op::laws::test_name);

}  // namespace
}  // namespace strata::conformance
