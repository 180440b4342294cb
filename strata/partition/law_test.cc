// The law of partitioning, for every operation and sample: on any grid, however operands and
// results are cut, the devices together give what the program gives on one. Bits are equal; in the
// default mode sums of floats that were cut are within the rounding of adding in another order.
#include <algorithm>
#include <cstdlib>
#include <random>

#include "strata/base/error.h"
#include "strata/op/law_support.h"
#include "strata/op/rules.h"
#include "strata/partition/partition_testing.h"

namespace strata::spmd {
namespace {

using op::Sample;

class PartitionLaw : public ::testing::TestWithParam<const op::OpDef*> {};

const std::vector<Grid>& grids() {
  static const std::vector<Grid> all{Grid({{"x", 2}}), Grid({{"x", 4}}),
                                     Grid({{"x", 2}, {"y", 2}}, {0, 2, 1, 3}),
                                     Grid({{"x", 2}, {"y", 2}, {"z", 2}}), Grid({{"x", 8}})};
  return all;
}

Layout random_layout(const Grid& grid, const Type& type, std::mt19937_64& random) {
  if (!type.is_tensor() || !type.shape().is_static() || type.is_quantized())
    return Layout::whole(type.is_tensor() ? type.rank() : 0);
  Layout out = Layout::whole(type.rank());
  if (type.rank() == 0) return out;
  Axes axes;
  for (int a = 0; a < static_cast<int>(grid.axes().size()); ++a) axes.push_back(a);
  std::shuffle(axes.begin(), axes.end(), random);
  for (int a : axes)
    if (random() % 4 != 0) out.dims[random() % out.dims.size()].push_back(a);
  return out;
}

/// One factor cut over all axes wherever it is the first of a dimension.
Layout factor_layout(const Grid& grid, const std::vector<std::vector<int>>& dims, int factor) {
  Layout out = Layout::whole(static_cast<int>(dims.size()));
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (!dims[d].empty() && dims[d][0] == factor) {
      for (int a = 0; a < static_cast<int>(grid.axes().size()); ++a) out.dims[d].push_back(a);
      break;
    }
  return out;
}

struct Tried {
  int runs = 0, unsupported = 0;
};

std::string check(const Sample& sample, const op::Block& whole, const op::Literals& want,
                  const Grid& grid, const Plan& plan, bool exact, Tried& tried) {
  try {
    Partitioned p = partition(whole, grid, plan, {.exact = exact});
    op::World world;
    for (std::int64_t i = 0; i < grid.devices(); ++i)
      if (sample.world) sample.world(world);
    op::Literals got = run_on_devices(whole, p, grid, sample.operands, world);
    ++tried.runs;
    bool sums = std::any_of(p.moves.begin(), p.moves.end(), [](const Move& m) {
      return m.kind == "all_reduce" || m.kind == "reduce_scatter";
    });
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (!want[i].type().is_tensor()) continue;
      double tolerance = sums && !exact ? 16 * op::laws::epsilon(want[i].dtype()) : 0;
      std::string wrong = op::laws::difference(got[i], want[i], tolerance);
      if (!wrong.empty()) return fmt::format("result {}: {}", i, wrong);
    }
    return "";
  } catch (const Error& e) {
    if (e.is_unsupported()) {
      ++tried.unsupported;
      return "";
    }
    return e.what();
  }
}

bool is_static(const op::Block& block) {
  bool out = true;
  ir::walk(block, [&](const op::Op& op) {
    for (const op::Value* v : op.results())
      out = out && (!v->type().is_tensor() || v->shape().is_static());
  });
  for (const auto& a : block.arguments())
    out = out && (!a->type().is_tensor() || a->shape().is_static());
  return out;
}

TEST_P(PartitionLaw, sharded_is_whole) {
  const op::OpDef& def = *GetParam();
  std::mt19937_64 random(7);
  Tried tried;
  std::size_t number = 0;  // each sample takes two of the grids, with STRATA_ALL_GRIDS all
  for (const Sample& sample : op::registered_samples_of(def.info.name)) {
    SCOPED_TRACE(sample.what);
    auto f = op::laws::program_of(def, sample);
    if (!is_static(f->body)) continue;
    op::Literals want;
    try {
      want = op::laws::evaluate_in(sample, f->body, sample.operands);
    } catch (const Error&) {
      continue;  // what needs processes of its own, op/collective/world_test.cc
    }
    const op::Op& op = *f->body.ops().back();
    const std::size_t all = grids().size(), first = number++ % all;
    for (std::size_t g = 0; g < (std::getenv("STRATA_ALL_GRIDS") != nullptr ? all : 2); ++g) {
      const Grid& grid = grids()[(first + g) % all];
      std::vector<std::pair<std::string, Plan>> plans;
      if (def.shard) {
        op::Factors t = (*def.shard)(op);
        for (int k = 0; k < static_cast<int>(t.kinds.size()); ++k) {
          Plan plan;
          for (std::size_t i = 0; i < t.operands.size(); ++i)
            plan.values[f->body.argument(static_cast<int>(i))] =
                factor_layout(grid, t.operands[i], k);
          plans.emplace_back(fmt::format("factor {}", k), plan);
        }
      }
      for (int k = 0; k < 2; ++k) {
        Plan plan;
        for (const auto& a : f->body.arguments())
          plan.values[a.get()] = random_layout(grid, a->type(), random);
        for (const op::Value* r : op.results())
          plan.values[r] = random_layout(grid, r->type(), random);
        plans.emplace_back(fmt::format("random {}", k), plan);
      }
      for (const auto& [what, plan] : plans)
        for (bool exact : {false, true}) {
          std::string wrong = check(sample, f->body, want, grid, plan, exact, tried);
          if (wrong.empty()) continue;
          std::string layouts;
          for (const auto& a : f->body.arguments())
            if (auto it = plan.values.find(a.get()); it != plan.values.end())
              layouts += a->type().to_string() + " " + to_string(grid, it->second) + " ";
          ADD_FAILURE() << grid.devices() << " devices, " << what << (exact ? ", exact" : "")
                        << ": " << wrong << "\n  " << layouts;
          return;
        }
    }
  }
  RecordProperty("runs", tried.runs);
  RecordProperty("unsupported", tried.unsupported);
}

std::string test_name(const ::testing::TestParamInfo<const op::OpDef*>& info) {
  std::string out = info.param->info.name;
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return out;
}

INSTANTIATE_TEST_SUITE_P(Op, PartitionLaw, ::testing::ValuesIn(op::catalog()), test_name);

}  // namespace
}  // namespace strata::spmd
