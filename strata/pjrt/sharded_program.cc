#include "strata/pjrt/sharded_program.h"

#include <algorithm>

#include "strata/base/error.h"
#include "strata/base/format/protobuf.h"
#include "strata/mesh/sharding.h"
#include "strata/op/collective/collective_calls.h"
#include "strata/partition/addends/join_reduces.h"
#include "strata/partition/program.h"

namespace strata::pjrt {
namespace {

/// xla.OpSharding of type OTHER: tile dimensions, then copies and addends, and the device of each
/// tile. Source: openxla/xla, xla/xla_data.proto.
std::string proto(const spmd::Layout& layout, const spmd::Addends& addends,
                  const spmd::Grid& grid) {
  constexpr int kType = 1, kTileDims = 3, kDevices = 4, kLastIsCopies = 6, kLastTypes = 8;
  constexpr std::int64_t kReplicated = 0, kOther = 3, kUnreduced = 6;
  if (layout.is_whole() && addends.axes.empty()) return "";
  const std::int64_t n = grid.devices(), sums = grid.product(addends.axes);
  std::vector<std::int64_t> tiles;
  std::int64_t pieces = 1;
  for (const spmd::Axes& axes : layout.dims) {
    tiles.push_back(grid.product(axes));
    pieces *= tiles.back();
  }
  const std::int64_t copies = n / pieces / sums;
  if (copies > 1) tiles.push_back(copies);
  if (sums > 1) tiles.push_back(sums);
  // Devices by the tile that they hold; those of one tile in the order of the axes that cut
  // nothing.
  spmd::Axes rest;
  for (int a = 0; a < static_cast<int>(grid.axes().size()); ++a)
    if (!layout.uses(a) &&
        std::find(addends.axes.begin(), addends.axes.end(), a) == addends.axes.end())
      rest.push_back(a);
  std::vector<std::int64_t> devices(static_cast<std::size_t>(n));
  for (std::int64_t d = 0; d < n; ++d) {
    std::int64_t tile = 0;
    for (const spmd::Axes& axes : layout.dims)
      tile = tile * grid.product(axes) + grid.tile(d, axes);
    tile = (tile * copies + grid.tile(d, rest)) * sums + grid.tile(d, addends.axes);
    devices[static_cast<std::size_t>(tile)] = d;
  }
  protobuf::Writer out;
  out.integer(kType, kOther);
  for (std::int64_t t : tiles) out.integer(kTileDims, t);
  for (std::int64_t d : devices) out.integer(kDevices, d);
  if (sums > 1) {
    if (copies > 1) out.integer(kLastTypes, kReplicated);
    out.integer(kLastTypes, kUnreduced);
  } else if (copies > 1) {
    out.integer(kLastIsCopies, 1);
  }
  return std::move(out).take();
}

std::vector<std::string> protos(const std::vector<spmd::Layout>& layouts,
                                const std::vector<spmd::Addends>& addends, const spmd::Grid& grid) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < layouts.size(); ++i)
    out.push_back(proto(layouts[i], addends[i], grid));
  return out;
}

}  // namespace

DeviceProgram device_program(ir::Module& module, std::int64_t replicas, std::int64_t partitions) {
  ir::Function& f = *module.entry();
  DeviceProgram out;
  if (partitions == 1) {
    out.body = ir::clone(f.body);
    out.arguments.resize(static_cast<std::size_t>(f.body.num_arguments()));
    out.results.resize(f.body.results.size());
  } else {
    spmd::normalize(module);
    spmd::PartitionedProgram p = spmd::partition_program(f, module);
    if (p.grid.devices() != 1 && p.grid.devices() != partitions)
      throw Error("compile", "shardings are over {} devices, the program over {}", p.grid.devices(),
                  partitions);
    spmd::join_all_reduces(p.function->body);
    out.body = ir::clone(p.function->body);
    out.function = std::move(p.function);
    out.arguments = protos(p.arguments, p.argument_addends, p.grid);
    out.results = protos(p.results, p.result_addends, p.grid);
  }
  op::collective::to_calls(*out.body, replicas, partitions);
  return out;
}

}  // namespace strata::pjrt
