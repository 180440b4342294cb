// Random programs (loops, branches, derivatives of their own, products, slices) with random
// annotations on random values: the devices together give what one gives.
// STRATA_RANDOM_PROGRAMS=300 is what `make soak` runs.
#include <algorithm>
#include <cstdlib>
#include <random>

#include "strata/base/error.h"
#include "strata/op/evaluate.h"
#include "strata/op/law_support.h"
#include "strata/op/testing/random_program.h"
#include "strata/op/world.h"
#include "strata/partition/partition_testing.h"

namespace strata::spmd {
namespace {

std::string where_it_differs(const op::testing::RandomProgram& program, std::uint64_t seed,
                             bool exact) {
  std::mt19937_64 random(seed);
  auto block = program.build();
  op::Literals at = op::testing::random_arguments(seed), want = op::evaluate(*block, at);
  Grid grid = seed % 3 == 0   ? Grid({{"x", 2}})
              : seed % 3 == 1 ? Grid({{"x", 2}, {"y", 2}})
                              : Grid({{"x", 4}});
  Plan plan;
  auto annotate = [&](const op::Value* v) {
    if (random() % 2 == 0 || !v->type().is_tensor() || v->rank() == 0) return;
    Layout layout = Layout::whole(v->rank());
    for (int a = 0; a < static_cast<int>(grid.axes().size()); ++a)
      if (random() % 3 != 0) layout.dims[random() % layout.dims.size()].push_back(a);
    plan.values[v] = layout;
  };
  for (const auto& a : block->arguments()) annotate(a.get());
  ir::walk(*block, [&](const op::Op& op) {
    for (const op::Value* r : op.results()) annotate(r);
  });
  try {
    Partitioned p = partition(*block, grid, plan, {.exact = exact});
    op::World world;
    op::Literals got = run_on_devices(*block, p, grid, at, world);
    for (std::size_t i = 0; i < want.size(); ++i)
      if (std::string d = op::laws::difference(got[i], want[i], exact ? 0 : 1e-9); !d.empty())
        return fmt::format("result {}: {}", i, d);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(RandomPartition, sharded_is_whole) {
  const char* count = std::getenv("STRATA_RANDOM_PROGRAMS");
  int programs = count ? std::atoi(count) : 60;
  for (int i = 0; i < programs; ++i) {
    auto seed = static_cast<std::uint64_t>(i);
    for (bool exact : {false, true}) {
      op::testing::RandomProgram p = op::testing::random_program(seed);
      std::string wrong = where_it_differs(p, seed, exact);
      if (wrong.empty()) continue;
      for (bool smaller = true; smaller;) {
        smaller = false;
        for (const op::testing::RandomProgram& s : op::testing::smaller(p))
          if (std::string w = where_it_differs(s, seed, exact); !w.empty()) {
            p = s;
            wrong = w;
            smaller = true;
            break;
          }
      }
      ADD_FAILURE() << "seed " << seed << (exact ? ", exact: " : ": ") << wrong << "\n"
                    << p.to_text();
    }
  }
}

}  // namespace
}  // namespace strata::spmd
