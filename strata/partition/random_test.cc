// Random programs (loops, branches, derivatives of their own, products, slices) and gradients of
// them with random annotations on random values: the devices together give what one gives.
// STRATA_RANDOM_PROGRAMS=300 is what `make soak` runs.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>

#include "strata/base/error.h"
#include "strata/ir/declaration.h"
#include "strata/op/collective/world.h"
#include "strata/op/evaluate.h"
#include "strata/op/law_support.h"
#include "strata/op/samples.h"
#include "strata/op/testing/block_laws.h"
#include "strata/op/testing/random_program.h"
#include "strata/partition/partition_testing.h"
#include "strata/partition/program.h"
#include "strata/transform/vjp.h"

namespace strata::spmd {
namespace {

/// The program, of every third seed its reverse derivative where it has one, and arguments for it.
std::unique_ptr<op::Block> program_of(const op::testing::RandomProgram& program, std::uint64_t seed,
                                      op::Literals& at) {
  auto block = program.build();
  at = op::testing::random_arguments(seed);
  if (seed % 3 != 2) return block;
  try {
    auto back = transform::vjp(*block, op::testing::inexact_arguments(*block));
    for (std::size_t i = at.size(); i < static_cast<std::size_t>(back->num_arguments()); ++i)
      at.push_back(
          op::random_literal(back->argument(static_cast<int>(i))->type(), seed + i, -1, 1));
    return back;
  } catch (const Error&) {
    return block;  // a while loop has none
  }
}

std::string where_it_differs(const op::testing::RandomProgram& program, std::uint64_t seed,
                             bool exact) {
  std::mt19937_64 random(seed);
  op::Literals at;
  auto block = program_of(program, seed, at);
  op::Literals want = op::evaluate(*block, at);
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

/// The same with annotations in the program's attributes, spread by propagation.
std::string where_it_differs_propagated(const op::testing::RandomProgram& program,
                                        std::uint64_t seed, bool exact) {
  std::mt19937_64 random(seed);
  op::Literals at;
  auto block = program_of(program, seed, at);
  op::Literals want = op::evaluate(*block, at);
  ir::Module module;
  ir::add_mesh(module, {"m", seed % 2 == 0 ? "<[\"x\"=2, \"y\"=2]>" : "<[\"x\"=4, \"y\"=1]>", ""});
  ir::Function& f = module.add("main");
  ir::Values given;
  for (const auto& a : block->arguments()) given.push_back(f.body.add_argument(a->type()));
  ir::Builder b(f.body);
  f.body.results = ir::inline_block(b, *block, given);
  f.arg_attrs.resize(given.size());
  f.result_attrs.resize(f.body.results.size());
  auto sharding = [&](const op::Value* v) {
    std::string dims, used;
    for (int d = 0; d < v->rank(); ++d) {
      std::string axes;
      for (const char* axis : {"x", "y"})
        if (random() % 3 == 0 && used.find(axis) == std::string::npos) {
          used += axis;
          axes += (axes.empty() ? "\"" : ", \"") + std::string(axis) + "\"";
        }
      if (random() % 2 == 0) axes += axes.empty() ? "?" : ", ?";
      dims += fmt::format("{}{{{}}}", d == 0 ? "" : ", ", axes);
    }
    return fmt::format("<@m, [{}]>", dims);
  };
  auto annotate = [&](const op::Value* v, ir::Attrs& attrs) {
    if (random() % 2 == 0 && v->type().is_tensor() && v->rank() > 0)
      attrs.set("sdy.sharding", ir::Opaque{"#sdy.sharding" + sharding(v)});
  };
  for (std::size_t i = 0; i < given.size(); ++i) annotate(given[i], f.arg_attrs[i]);
  for (std::size_t i = 0; i < f.result_attrs.size(); ++i)
    annotate(f.body.results[i], f.result_attrs[i]);
  std::function<void(ir::Block&)> inside = [&](ir::Block& ops) {
    for (const auto& op : ops.ops()) {
      if (op->num_results() == 1 && random() % 4 == 0) annotate(op->result(), op->attrs);
      for (const auto& region : op->regions) inside(*region);
    }
  };
  inside(f.body);
  try {
    PartitionedProgram p = partition_program(f, module, {.exact = exact});
    op::World world;
    op::Literals got = run_on_devices(p.function->body, p.grid, p.arguments, p.results,
                                      f.body.result_types(), at, world);
    for (std::size_t i = 0; i < want.size(); ++i)
      if (std::string d = op::laws::difference(got[i], want[i], exact ? 0 : 1e-9); !d.empty())
        return fmt::format("result {}: {}", i, d);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

/// Tries programs and makes those that fail small.
void try_programs(std::string (*where)(const op::testing::RandomProgram&, std::uint64_t, bool)) {
  const char* count = std::getenv("STRATA_RANDOM_PROGRAMS");
  int programs = count ? std::atoi(count) : 60;
  for (int i = 0; i < programs; ++i) {
    auto seed = static_cast<std::uint64_t>(i);
    for (bool exact : {false, true}) {
      op::testing::RandomProgram p = op::testing::random_program(seed);
      std::string wrong = where(p, seed, exact);
      if (wrong.empty()) continue;
      for (bool smaller = true; smaller;) {
        smaller = false;
        for (const op::testing::RandomProgram& s : op::testing::smaller(p))
          if (std::string w = where(s, seed, exact); !w.empty()) {
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

TEST(RandomPartition, planned) { try_programs(where_it_differs); }
TEST(RandomPartition, propagated) { try_programs(where_it_differs_propagated); }

}  // namespace
}  // namespace strata::spmd
