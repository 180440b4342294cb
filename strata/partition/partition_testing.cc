#include "strata/partition/partition_testing.h"

#include "strata/base/error.h"
#include "strata/op/collective/world.h"
#include "strata/op/evaluate.h"

namespace strata::spmd {

op::Literals run_on_devices(const op::Block& body, const Grid& grid,
                            const std::vector<Layout>& argument_layouts,
                            const std::vector<Layout>& result_layouts,
                            const std::vector<Type>& types, const op::Literals& arguments,
                            op::World& world) {
  std::vector<op::Literals> each(static_cast<std::size_t>(grid.devices()));
  op::run_grid(world, 1, grid.devices(), [&](op::Process& process) {
    std::int64_t device = process.id().partition;
    op::Literals parts;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      parts.push_back(part_of(grid, arguments[i], argument_layouts[i], device));
    each[static_cast<std::size_t>(device)] = op::evaluate(body, parts, process);
  });
  op::Literals out;
  for (std::size_t i = 0; i < types.size(); ++i) {
    op::Literals parts;
    for (op::Literals& results : each) parts.push_back(std::move(results[i]));
    std::string wrong = disagreement(grid, types[i], result_layouts[i], parts);
    if (!wrong.empty()) throw Error("partition", "result {}: {}", i, wrong);
    out.push_back(assemble(grid, types[i], result_layouts[i], parts));
  }
  return out;
}

op::Literals run_on_devices(const op::Block& whole, const Partitioned& program, const Grid& grid,
                            const op::Literals& arguments, op::World& world) {
  return run_on_devices(*program.body, grid, program.arguments, program.results,
                        whole.result_types(), arguments, world);
}

}  // namespace strata::spmd
