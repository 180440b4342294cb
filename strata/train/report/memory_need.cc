#include "strata/train/report/memory_need.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "strata/base/memory/out_of_memory.h"
#include "strata/base/text.h"
#include "strata/runtime/client.h"
#include "strata/runtime/distributed/devices.h"
#include "strata/runtime/plugin/sharded.h"
#include "strata/runtime/sharded.h"

namespace strata::train {
namespace {

std::int64_t held_bytes(const StepValue& a) {
  const Type part =
      a.sharding ? a.type.with(Shape::of(a.sharding->shard_shape(a.type.shape().sizes()))) : a.type;
  return static_cast<std::int64_t>(part.bytes());
}

bool on_plugin(const StepProgram& p) {
  const runtime::Device* device =
      p.devices() > 1 ? runtime::mesh_devices().front() : runtime::default_client().device();
  return device != nullptr && runtime::plugin::is_of_plugin(*device);
}

std::int64_t bytes_of_weights(const Base& base) {
  std::int64_t out = 0;
  if (base.weights)
    for (const Array& w : base.weights->values())
      out += static_cast<std::int64_t>(w.type().bytes());
  return out;
}

/// The power of two by which a step has to shrink, of what it takes and what there is; 2 where that
/// is not known.
std::int64_t times_smaller(std::int64_t needed, std::int64_t available) {
  std::int64_t out = 2;
  while (available > 0 && needed / out > available && out < needed) out *= 2;
  return out;
}

/// What makes weights and moments smaller.
std::string smaller_state(const Config& c, std::int64_t state_bytes, Room room) {
  if (room == Room::chip)
    return fmt::format(
        "a larger ici_fsdp_parallelism or ici_tensor_parallelism (more chips), since weights and "
        "moments alone are {}",
        size_text(state_bytes));
  std::vector<std::string> keys;
  if (c.weight_dtype == "float32") keys.emplace_back("weight_dtype=bfloat16");
  if (c.opt_type != "sgd") keys.emplace_back("opt_type=sgd, which remembers nothing of a weight");
  keys.emplace_back(c.init.empty() && c.decoder_block != "published"
                        ? "a smaller base_emb_dim or base_num_decoder_layers"
                        : "a smaller model");
  return fmt::format("{}, since weights and moments alone are {}", fmt::join(keys, "; or "),
                     size_text(state_bytes));
}

Status too_large(const Config& c, const StepProgram& p, const MemoryNeed& need,
                 std::int64_t available) {
  return Status(Code::no_space,
                "the run takes {}{} of memory, and {} are available: {}; {}; {}; "
                "STRATA_MEMORY_LIMIT=none goes on anyway",
                need.between ? "" : "at least ", size_text(need.total()), size_text(available),
                need.parts(), largest_arguments(p),
                memory_advice(c, p.length, need.weights + need.optimizer, need.total(), available,
                              Room::machine));
}

}  // namespace

std::string size_text(std::int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  return fmt::format("{}B", human_count(static_cast<double>(bytes)));
}

std::string MemoryNeed::parts() const {
  std::string out =
      fmt::format("weights {}, optimizer {}", size_text(weights), size_text(optimizer));
  if (between) out += fmt::format(", gradients and activations {}", size_text(*between));
  return out + fmt::format(", batch {}", size_text(batch));
}

MemoryNeed arguments_need(const StepProgram& p, std::int64_t local) {
  MemoryNeed out;
  for (const StepValue& a : p.arguments) {
    const bool state = a.donated_to >= 0;
    std::int64_t& part = !state                            ? out.batch
                         : a.name.starts_with("optimizer") ? out.optimizer
                                                           : out.weights;
    part += held_bytes(a) * local;
  }
  return out;
}

std::int64_t between_bytes(const StepProgram& p) {
  runtime::CompileOptions options;
  options.name = "train_step";
  for (const StepValue& a : p.arguments) options.donated.push_back(a.donated_to >= 0);
  const auto executable = runtime::default_client().compile(p.module->entry()->body, options);
  return static_cast<std::int64_t>(executable->temporary_bytes());
}

std::string largest_arguments(const StepProgram& p) {
  std::vector<std::pair<std::int64_t, std::string>> all;
  for (const StepValue& a : p.arguments) all.emplace_back(held_bytes(a), a.name);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, all.size()); ++i)
    out += fmt::format("{}{} {}", i == 0 ? "" : ", ", all[i].second, size_text(all[i].first));
  return "the largest arguments: " + out;
}

std::string memory_advice(const Config& c, std::int64_t length, std::int64_t state_bytes,
                          std::int64_t needed, std::int64_t available, Room room) {
  const std::int64_t times = times_smaller(needed, available);
  if (available > 0 && state_bytes > available / 2)
    return "what would mend it: " + smaller_state(c, state_bytes, room);
  std::vector<std::string> keys;
  const auto policy = c.model.find("remat_policy");
  if (policy == c.model.end() || policy->second != "full")
    keys.emplace_back("remat_policy=full, which keeps only what enters each layer");
  if (c.per_device_batch_size > 1) {
    const std::int64_t part = std::max<std::int64_t>(c.per_device_batch_size / times, 1);
    keys.push_back(
        fmt::format("per_device_batch_size={} with gradient_accumulation_steps={}", part,
                    c.gradient_accumulation_steps * (c.per_device_batch_size + part - 1) / part));
  } else {
    keys.push_back(fmt::format("max_target_length={}", std::max<std::int64_t>(length / times, 1)));
    if (room == Room::chip)
      keys.push_back(
          fmt::format("ici_context_parallelism={}, which cuts sequences, with as much less of "
                      "ici_fsdp_parallelism",
                      times));
  }
  return fmt::format("what would mend it: {}", fmt::join(keys, "; or "));
}

std::optional<std::int64_t> memory_limit() {
  const char* given = std::getenv("STRATA_MEMORY_LIMIT");
  if (given == nullptr || *given == '\0')
    return static_cast<std::int64_t>(
        std::min<std::size_t>(available_memory(), std::numeric_limits<std::int64_t>::max()));
  const std::string_view text = given;
  if (text == "none") return {};
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 1)
    throw ConfigError(fmt::format("STRATA_MEMORY_LIMIT={}: a number of bytes, or none", text));
  return out;
}

Status check_memory(const Config& c, const Base& base, const StepProgram& p, Progress& progress) {
  if (on_plugin(p)) return {};
  const std::optional<std::int64_t> limit = memory_limit();
  const std::int64_t available = limit ? *limit + bytes_of_weights(base) : 0;
  const auto fits = [&](const MemoryNeed& need) { return !limit || need.total() <= available; };
  const std::int64_t local =
      p.devices() == 1 ? 1 : p.devices() / std::max(runtime::distributed::process_count(), 1);
  MemoryNeed need = arguments_need(p, local);
  if (fits(need)) progress.show("compiling the first step");
  if (fits(need) && p.devices() == 1) need.between = between_bytes(p);
  if (!fits(need)) return too_large(c, p, need, available);
  progress.line(fmt::format("memory: {}{} ({}){}", need.between ? "" : "at least ",
                            size_text(need.total()), need.parts(),
                            limit ? fmt::format(" of {}", size_text(available)) : ""));
  return {};
}

}  // namespace strata::train
