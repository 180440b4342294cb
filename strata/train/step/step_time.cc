#include "strata/train/step/step_time.h"

#include <fmt/format.h>

namespace strata::train {
namespace {

constexpr ChipSpeed kChips[] = {
    {"v4", 2.75e14, 1.2e12, 9e10, 3},
    {"v5e", 1.97e14, 8.2e11, 9e10, 2},
    {"v5p", 4.59e14, 2.8e12, 1.8e11, 3},
    {"v6e", 9.2e14, 1.6e12, 1.8e11, 2},
};

}  // namespace

std::optional<ChipSpeed> chip_named(std::string_view target) {
  if (target.starts_with("tpu:")) target.remove_prefix(4);
  const std::string_view kind = target.substr(0, target.find_first_of(":-"));
  for (const ChipSpeed& chip : kChips)
    if (kind == chip.kind || (kind == "v5" && chip.kind == "v5p")) return chip;
  return std::nullopt;
}

std::string_view StepTime::bound() const {
  if (overlapped() == arithmetic) return "arithmetic";
  return overlapped() == links ? "links" : "memory";
}

std::string StepTime::to_string() const {
  return fmt::format(
      "predicted step time: {:.3g} s where all overlaps ({} bounds it), {:.3g} s where nothing "
      "does "
      "(arithmetic {:.3g} s, memory {:.3g} s, links {:.3g} s)",
      overlapped(), bound(), apart(), arithmetic, memory, links);
}

StepTime step_time(const ChipSpeed& chip, const StepWork& work) {
  return {.arithmetic = work.flops / chip.flops,
          .memory = work.memory / chip.memory,
          .links = work.links / (chip.link * std::min(work.dimensions, chip.dimensions))};
}

StepWork step_work(const Config& config, double flops, const MeshReport& mesh,
                   const std::map<std::string, MovedBytes>& moved) {
  StepWork out;
  const auto policy = config.model.find("remat_policy");
  const bool again = policy != config.model.end() && policy->second == "full";
  out.flops = again ? flops * 4 / 3 : flops;
  for (const auto& [kind, m] : moved) out.links += static_cast<double>(m.bytes);
  out.memory = 2 * static_cast<double>(mesh.state_bytes) + 2 * out.links;
  out.dimensions = mesh.axes.find(',') == mesh.axes.npos ? 3 : 1;
  return out;
}

double received(std::string_view kind, double bytes, std::int64_t devices) {
  if (devices < 2) return 0;
  const double share = static_cast<double>(devices - 1) / static_cast<double>(devices);
  if (kind == "all_reduce") return 2 * share * bytes;
  if (kind == "collective_permute" || kind == "permute" || kind == "send") return bytes;
  return share * bytes;
}

}  // namespace strata::train
