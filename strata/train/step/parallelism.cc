#include "strata/train/step/parallelism.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "strata/base/text.h"

namespace strata::train {
namespace {

using Names = std::vector<std::string>;

constexpr ParallelAxis kAxes[] = {
    {"stage", &Config::ici_pipeline_parallelism, &Config::dcn_pipeline_parallelism, "pipeline"},
    {"data", &Config::ici_data_parallelism, &Config::dcn_data_parallelism},
    {"fsdp", &Config::ici_fsdp_parallelism, &Config::dcn_fsdp_parallelism},
    {"fsdp_transpose", &Config::ici_fsdp_transpose_parallelism,
     &Config::dcn_fsdp_transpose_parallelism},
    {"context", &Config::ici_context_parallelism, &Config::dcn_context_parallelism},
    {"tensor", &Config::ici_tensor_parallelism, &Config::dcn_tensor_parallelism},
    {"expert", &Config::ici_expert_parallelism, &Config::dcn_expert_parallelism},
};

/// MaxText's names of axes that are not here; rules of its files have them.
constexpr std::string_view kOtherAxes[] = {
    "diloco", "context_usp_ulysses", "context_autoregressive", "tensor_sequence", "autoregressive"};

/// Names of dimensions that MaxText's rules have and models here do not.
constexpr std::string_view kOtherNames[] = {"circular_repeats",
                                            "embed_vocab",
                                            "embed_attn",
                                            "embed_router",
                                            "qkv",
                                            "kv",
                                            "kv_head_dim",
                                            "gdn_head",
                                            "diloco",
                                            "engram_dim",
                                            "dense_layers",
                                            "moe_layers",
                                            "local_layers",
                                            "mhc",
                                            "decode_batch",
                                            "decode_length",
                                            "cache_heads",
                                            "cache_batch",
                                            "cache_batch_prefill",
                                            "cache_heads_none",
                                            "cache_kv",
                                            "cache_sequence",
                                            "num_pages",
                                            "tokens_per_page",
                                            "paged_kv_heads",
                                            "paged_kv_head_dim_size",
                                            "mlp_no_fsdp",
                                            "exp_with_fsdp",
                                            "segment_ids_batch",
                                            "positions",
                                            "types",
                                            "lora_rank"};

/// Those of base.yml that weights and activations here have, in its order.
const std::vector<nn::AxisRule>& usual_rules() {
  static const Names batch = {"data", "fsdp", "fsdp_transpose", "expert"};
  static const std::vector<nn::AxisRule> rules = {
      {"activation_embed_and_logits_batch", {"data", "stage", "fsdp", "fsdp_transpose", "expert"}},
      {"activation_stage", {"stage"}},
      {"activation_vocab", {"tensor"}},
      {"vocab", {"tensor"}},
      {"activation_batch_attn", batch},
      {"activation_heads", {"tensor"}},
      {"activation_kv_heads", {"tensor"}},
      {"activation_length_attn", {"context"}},
      {"activation_kv_length", {}},
      {"activation_kv_batch", batch},
      {"heads", {"tensor"}},
      {"q_heads", {"tensor"}},
      {"kv_heads", {"tensor"}},
      {"q_lora", {"fsdp", "fsdp_transpose", "context", "expert"}},
      {"q_lora", {"fsdp", "context", "expert"}},
      {"q_lora_up_proj", {}},
      {"kv_lora", {"fsdp", "fsdp_transpose", "context", "expert"}},
      {"kv_lora", {"fsdp", "context", "expert"}},
      {"kv_lora_up_proj", {}},
      {"activation_batch_moe", batch},
      {"activation_length_moe", {"context"}},
      {"activation_norm_length_moe", {"context"}},
      {"activation_embed_moe", {"tensor"}},
      {"activation_mlp_moe", {"tensor"}},
      {"activation_exp", {"expert"}},
      {"exp", {"expert"}},
      {"mlp_moe", {"fsdp_transpose", "tensor"}},
      {"embed_moe", {"fsdp", "fsdp_transpose", "context"}},
      {"embed_moe", {"fsdp", "context"}},
      {"activation_mlp", {"tensor"}},
      {"activation_batch", batch},
      {"activation_length", {"context"}},
      {"activation_norm_length", {"context"}},
      {"activation_embed", {"tensor"}},
      {"mlp", {"fsdp_transpose", "tensor"}},
      {"embed", {"fsdp", "fsdp_transpose", "context", "expert"}},
      {"embed", {"fsdp", "context", "expert"}},
      {"norm", {"tensor"}},
      {"layers", {"stage"}},
  };
  return rules;
}

std::string trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t[]'\""),
                    to = text.find_last_not_of(" \t[]'\"");
  return from == text.npos ? "" : std::string(text.substr(from, to - from + 1));
}

/// "embed: fsdp, tensor"
nn::AxisRule rule_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos)
    throw ConfigError(fmt::format(
        "logical_axis_rules: '{}' is no rule: a rule is 'DIMENSION: AXIS, AXIS'", text));
  nn::AxisRule out{trimmed(text.substr(0, colon)), {}};
  std::string_view rest = std::string_view(text).substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    if (std::string axis = trimmed(rest.substr(0, comma)); !axis.empty())
      out.mesh.push_back(std::move(axis));
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  return out;
}

std::int64_t product(const Config& c, bool ici) {
  std::int64_t out = 1;
  for (const ParallelAxis& a : kAxes) out *= std::max<std::int64_t>(c.*(ici ? a.ici : a.dcn), 1);
  return out;
}

std::string keys_text(const Config& c, bool ici) {
  std::string out;
  for (const ParallelAxis& a : kAxes)
    if (const std::int64_t size = c.*(ici ? a.ici : a.dcn); size != 1)
      out += fmt::format("{}{}_{}_parallelism={}", out.empty() ? "" : " x ", ici ? "ici" : "dcn",
                         a.key, size);
  return out.empty() ? fmt::format("all {}_*_parallelism=1", ici ? "ici" : "dcn") : out;
}

/// What stands for -1.
void fill(Config& c, bool ici, std::int64_t target) {
  const char* kind = ici ? "ici" : "dcn";
  const char* things = ici ? "devices" : "slices";
  std::int64_t Config::* open = nullptr;
  for (const ParallelAxis& a : kAxes) {
    const auto member = ici ? a.ici : a.dcn;
    if (c.*member == 0)
      throw ConfigError(
          fmt::format("{}_{}_parallelism=0: allowed is -1 or at least 1", kind, a.key));
    if (c.*member != -1) continue;
    if (open)
      throw ConfigError(fmt::format("{}: one key may be -1, for what is left of the {}",
                                    keys_text(c, ici), things));
    open = member;
  }
  const std::int64_t given = product(c, ici);
  if (open && target % given == 0) {
    c.*open = target / given;
    return;
  }
  if (given != target || open)
    throw ConfigError(
        fmt::format("{}: that is {}{} {}, and there {} {}{}", keys_text(c, ici),
                    open ? "a multiple of " : "", given, things, target == 1 ? "is" : "are", target,
                    ici ? "; STRATA_NUM_CPU_DEVICES says how many a process has" : ""));
}

}  // namespace

std::span<const ParallelAxis> parallel_axes() { return kAxes; }

bool names_mesh(const Config& c) {
  return std::any_of(std::begin(kAxes), std::end(kAxes),
                     [&](const ParallelAxis& a) { return c.*a.ici != 1 || c.*a.dcn != 1; });
}

std::int64_t device_count(const Config& c) { return product(c, true) * product(c, false); }

Config with_devices(Config c, std::int64_t devices, std::int64_t slices) {
  // On one slice, slices that were asked for are parts of it.
  if (slices == 1 && product(c, false) > 1 && devices % product(c, false) == 0)
    slices = product(c, false);
  fill(c, false, slices);
  fill(c, true, devices / slices);
  return c;
}

void check_parallelism(const Config& c) {
  std::set<std::string, std::less<>> names(std::begin(kOtherNames), std::end(kOtherNames));
  for (const nn::AxisRule& rule : usual_rules()) names.insert(rule.logical);
  std::set<std::string, std::less<>> axes(std::begin(kOtherAxes), std::end(kOtherAxes));
  for (const ParallelAxis& a : kAxes) axes.insert(std::string(a.name));
  const auto near = [](const std::string& word, const auto& among) {
    const std::vector<std::string_view> list(among.begin(), among.end());
    return did_you_mean(word, list);
  };
  for (const std::string& text : c.logical_axis_rules) {
    const nn::AxisRule rule = rule_of(text);
    if (!names.contains(rule.logical) && !rule.logical.starts_with("activation_") &&
        !rule.logical.starts_with("prefill_activation_"))
      throw ConfigError(
          fmt::format("logical_axis_rules: '{}': '{}' is no dimension of a weight or activation{}",
                      text, rule.logical, near(rule.logical, names)));
    for (const std::string& axis : rule.mesh)
      if (!axes.contains(axis))
        throw ConfigError(fmt::format("logical_axis_rules: '{}': '{}' is no axis of a mesh{}", text,
                                      axis, near(axis, axes)));
  }
}

std::vector<nn::AxisRule> axis_rules(const Config& c) {
  std::vector<nn::AxisRule> own;
  for (const std::string& text : c.logical_axis_rules) own.push_back(rule_of(text));
  std::vector<nn::AxisRule> out;
  for (const nn::AxisRule& rule : usual_rules())
    if (std::none_of(own.begin(), own.end(),
                     [&](const nn::AxisRule& o) { return o.logical == rule.logical; }))
      out.push_back(rule);
  out.insert(out.end(), own.begin(), own.end());
  return out;
}

std::shared_ptr<const nn::LogicalMesh> mesh_of(const Config& c) {
  std::vector<mesh::MeshAxis> axes;
  std::vector<std::int64_t> slices, chips;
  for (const ParallelAxis& a : kAxes) {
    const std::int64_t dcn = std::max<std::int64_t>(c.*a.dcn, 1),
                       ici = std::max<std::int64_t>(c.*a.ici, 1);
    if (dcn * ici == 1) continue;
    axes.push_back({std::string(a.name), dcn * ici});
    slices.push_back(dcn);
    chips.push_back(ici);
  }
  if (axes.empty()) return nullptr;
  // Along each axis slices are major, and a slice's devices follow each other.
  const mesh::AbstractMesh whole(axes);
  std::int64_t of_slice = 1;
  for (const std::int64_t n : chips) of_slice *= n;
  std::vector<std::int64_t> devices;
  for (std::int64_t i = 0; i < whole.size(); ++i) {
    const std::vector<std::int64_t> at = whole.coordinates(i);
    std::int64_t slice = 0, chip = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      slice = slice * slices[d] + at[d] / chips[d];
      chip = chip * chips[d] + at[d] % chips[d];
    }
    devices.push_back(slice * of_slice + chip);
  }
  return std::make_shared<const nn::LogicalMesh>(mesh::Mesh(std::move(axes), std::move(devices)),
                                                 axis_rules(c));
}

std::string axes_text(const mesh::Mesh& mesh) {
  std::string out;
  for (const mesh::MeshAxis& a : mesh.axes())
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", a.name, a.size);
  return out;
}

}  // namespace strata::train
