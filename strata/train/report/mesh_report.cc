#include "strata/train/report/mesh_report.h"

#include <fmt/format.h>

#include "strata/base/text.h"
#include "strata/ir/pass/pass.h"
#include "strata/partition/addends/exact_sums.h"
#include "strata/partition/program.h"
#include "strata/train/step/parallelism.h"

namespace strata::train {
namespace {

std::string bytes_text(std::int64_t bytes) {
  return fmt::format("{}B", human_count(static_cast<double>(bytes)));
}

}  // namespace

std::string MeshReport::to_string() const {
  std::string out = fmt::format(
      "mesh: {} devices ({})\neach device holds {} of state and {} of a "
      "batch\n",
      devices, axes, bytes_text(state_bytes), bytes_text(batch_bytes));
  std::string moved;
  for (const auto& [kind, m] : collectives)
    moved += fmt::format("{}{} {} times, {}", moved.empty() ? "" : "; ", kind, m.times,
                         bytes_text(m.bytes));
  return out + "collectives of a step, and the bytes that a device receives: " +
         (moved.empty() ? "none" : moved);
}

MeshReport mesh_report(const StepProgram& p) {
  MeshReport out{.devices = p.devices()};
  for (const StepValue& a : p.arguments) {
    const std::vector<std::int64_t> whole = a.type.shape().sizes();
    const Type part = a.sharding ? a.type.with(Shape::of(a.sharding->shard_shape(whole))) : a.type;
    (a.donated_to >= 0 ? out.state_bytes : out.batch_bytes) +=
        static_cast<std::int64_t>(part.bytes());
  }
  if (out.devices == 1) return out;
  out.axes = axes_text(p.arguments[0].sharding->mesh());
  const std::unique_ptr<ir::Module> module = p.copy();
  ir::inline_calls(*module);
  spmd::normalize(*module);
  const spmd::PartitionedProgram parts =
      spmd::partition_program(*module->entry(), *module, {.exact = spmd::exact_sums()});
  for (const spmd::Move& m : parts.moves) {
    MovedBytes& kind = out.collectives[m.kind];
    kind.times += m.times;
    kind.bytes += m.bytes * m.times;
  }
  return out;
}

}  // namespace strata::train
