#include "strata/train/maxtext/translate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "strata/base/file.h"
#include "strata/base/text.h"
#include "strata/train/maxtext/effects.h"
#include "strata/train/maxtext/upstream.h"
#include "strata/train/maxtext/yaml.h"
#include "strata/train/parallelism.h"

namespace strata::train::maxtext {
namespace {

using Json = nlohmann::ordered_json;

/// Keys of one configuration by name.
class Keys {
 public:
  explicit Keys(const Resolved& resolved) : values_(resolved.values) {}
  const Value& operator[](const std::string& key) const { return values_.at(key); }
  std::string text(const std::string& key) const {
    return (*this)[key].is_none() ? "" : str((*this)[key]);
  }
  std::int64_t whole(const std::string& key) const { return integer((*this)[key]); }
  double real(const std::string& key) const { return number((*this)[key]); }
  bool on(const std::string& key) const { return truth((*this)[key]); }

 private:
  const Dict& values_;
};

std::string shown(const std::string& key, const Value& value) {
  return fmt::format("{}={}", key, value.is_none() ? "null" : str(value));
}

[[noreturn]] void not_yet(const std::string& key, const Keys& k, const std::string& why) {
  throw ConfigError(fmt::format("{} is not supported yet: {}", shown(key, k[key]), why));
}

void require(bool holds, const std::string& key, const Keys& k, const std::string& why) {
  if (!holds) not_yet(key, k, why);
}

// -- The model ---------------------------------------------------------------------------------

/// Names decide mathematics upstream: these have Llama 3.1's rotary positions.
bool has_llama3_rope(const Keys& k) {
  const std::string name = k.text("model_name");
  return k.text("rope_type") == "llama3.1" || name.starts_with("llama3.1") ||
         name.starts_with("llama3.3");
}

Json sizes(const Keys& k) {
  return {{"vocab_size", k.whole("vocab_size")},
          {"hidden_size", k.whole("emb_dim")},
          {"intermediate_size", k.whole("mlp_dim")},
          {"num_hidden_layers", k.whole("num_decoder_layers")},
          {"num_attention_heads", k.whole("num_query_heads")},
          {"num_key_value_heads", k.whole("num_kv_heads")},
          {"head_dim", k.whole("head_dim")},
          {"rms_norm_eps", k.real("normalization_layer_epsilon")},
          {"rope_theta", k.real("rope_max_timescale")},
          {"tie_word_embeddings", k.on("logits_via_embedding")},
          {"max_position_embeddings", k.whole("max_target_length")}};
}

void require_activation(const Keys& k, const char* name) {
  const Value wanted = List{name, "linear"};
  require(k["mlp_activations"] == wanted, "mlp_activations", k,
          fmt::format("decoder_block={} has [{}, linear]", k.text("decoder_block"), name));
}
void require_flag(const Keys& k, const std::string& key, bool wanted) {
  require(k.on(key) == wanted, key, k,
          fmt::format("decoder_block={} has {}={}", k.text("decoder_block"), key, wanted));
}
/// Of families without norms of heads, caps and norms behind the branches.
void require_plain(const Keys& k) {
  for (const char* key : {"use_qk_norm", "use_post_attn_norm", "use_post_ffw_norm",
                          "attn_logits_soft_cap", "final_logits_soft_cap", "sliding_window_size"})
    require_flag(k, key, false);
}

Json llama_config(const Keys& k) {
  require_plain(k);
  require_activation(k, "silu");
  Json out = sizes(k);
  out["model_type"] = "llama";
  out["attention_bias"] = false;
  require_flag(k, "attention_bias", false);
  if (has_llama3_rope(k))
    out["rope_scaling"] = {{"rope_type", "llama3"},
                           {"factor", 8.0},
                           {"low_freq_factor", 1.0},
                           {"high_freq_factor", 4.0},
                           {"original_max_position_embeddings", 8192}};
  return out;
}

Json mistral_config(const Keys& k) {
  require_plain(k);
  require_activation(k, "silu");
  require_flag(k, "attention_bias", false);
  Json out = sizes(k);
  out["model_type"] = "mistral";
  out["sliding_window"] = nullptr;
  return out;
}

Json qwen2_config(const Keys& k) {
  require_plain(k);
  require_activation(k, "silu");
  require_flag(k, "attention_bias", true);
  Json out = sizes(k);
  out["model_type"] = "qwen2";
  return out;
}

Json qwen3_config(const Keys& k) {
  for (const char* key : {"use_post_attn_norm", "use_post_ffw_norm", "attn_logits_soft_cap",
                          "final_logits_soft_cap", "sliding_window_size", "attention_bias"})
    require_flag(k, key, false);
  require_activation(k, "silu");
  require_flag(k, "use_qk_norm", true);
  Json out = sizes(k);
  out["model_type"] = "qwen3";
  return out;
}

/// Of blocks without experts.
void require_dense(const Keys& k) {
  require(k.whole("num_experts") == 1, "num_experts", k,
          fmt::format("decoder_block={} has no experts", k.text("decoder_block")));
}

void require_wide_sums(const Keys& k) {
  const bool wide = k.text("dtype") == "float32";
  require(wide || !k.on("float32_gate_logits"), "float32_gate_logits", k,
          "the router's product has the dtype of activations");
  require(wide || k.on("float32_weight_sum"), "float32_weight_sum", k,
          "the sum over experts is float32");
}

/// The sparse path drops nothing upstream, whatever the factor.
void add_capacity(Json& out, const Keys& k) {
  if (!k.on("sparse_matmul") && k.real("capacity_factor") > 0)
    out["capacity_factor"] = k.real("capacity_factor");
}

/// Experts of blocks whose weights are a softmax over the chosen ones. Upstream's norm_topk_prob
/// divides by their sum, which is 1, once more.
Json with_experts(Json out, const Keys& k) {
  for (const auto& [key, usual] :
       std::initializer_list<std::pair<const char*, double>>{{"shared_experts", 0},
                                                             {"first_num_dense_layers", 0},
                                                             {"n_routing_groups", -1},
                                                             {"topk_routing_group", -1},
                                                             {"routed_scaling_factor", 1}})
    require(k.real(key) == usual, key, k,
            fmt::format("decoder_block={} has none", k.text("decoder_block")));
  require(k.text("routed_score_func").empty(), "routed_score_func", k,
          fmt::format("decoder_block={} has a softmax", k.text("decoder_block")));
  require(!k.on("routed_bias"), "routed_bias", k,
          fmt::format("decoder_block={} has none", k.text("decoder_block")));
  require_wide_sums(k);
  out["num_experts"] = out["num_local_experts"] = k.whole("num_experts");
  out["num_experts_per_tok"] = k.whole("num_experts_per_tok");
  out["norm_topk_prob"] = true;
  add_capacity(out, k);
  return out;
}

Json mixtral_config(const Keys& k) {
  require_plain(k);
  require_activation(k, "silu");
  require_flag(k, "attention_bias", false);
  Json out = with_experts(sizes(k), k);
  out["model_type"] = "mixtral";
  out["intermediate_size"] = k.whole("moe_mlp_dim");
  out["sliding_window"] = nullptr;
  return out;
}

Json qwen3_moe_config(const Keys& k) {
  Json out = with_experts(qwen3_config(k), k);
  out["model_type"] = "qwen3_moe";
  out["moe_intermediate_size"] = k.whole("moe_mlp_dim");
  return out;
}

/// V3 where experts are scored by sigmoids and chosen with a bias, V2 where by a softmax without.
Json deepseek_config(const Keys& k) {
  require_plain(k);
  require_activation(k, "silu");
  require_flag(k, "attention_bias", false);
  require(k.text("attention_type") == "mla", "attention_type", k, "decoder_block=deepseek has mla");
  require(k.whole("interleave_moe_layer_step") == 1, "interleave_moe_layer_step", k,
          "decoder_block=deepseek has 1");
  const bool v3 = k.text("routed_score_func") == "sigmoid";
  require(v3 || k.text("routed_score_func") == "softmax", "routed_score_func", k,
          "decoder_block=deepseek has sigmoid or softmax");
  require(k.on("routed_bias") == v3, "routed_bias", k,
          fmt::format("decoder_block=deepseek has it with routed_score_func=sigmoid alone"));
  require(v3 || k.whole("n_routing_groups") < 1, "n_routing_groups", k,
          "there are groups with routed_score_func=sigmoid alone");
  require(k.whole("first_num_dense_layers") < k.whole("num_decoder_layers"),
          "first_num_dense_layers", k, "one layer with experts must be left");
  const std::int64_t least = 1;
  Json out = sizes(k);
  out.erase("head_dim");
  require_wide_sums(k);
  out.update({{"model_type", v3 ? "deepseek_v3" : "deepseek_v2"},
              {"q_lora_rank", k.whole("q_lora_rank") > 0 ? Json(k.whole("q_lora_rank")) : Json()},
              {"kv_lora_rank", k.whole("kv_lora_rank")},
              {"qk_nope_head_dim", k.whole("qk_nope_head_dim")},
              {"qk_rope_head_dim", k.whole("qk_rope_head_dim")},
              {"v_head_dim", k.whole("v_head_dim")},
              {"rope_interleave", k.on("rope_interleave")},
              {"n_routed_experts", k.whole("num_experts")},
              {"num_experts_per_tok", k.whole("num_experts_per_tok")},
              {"moe_intermediate_size", k.whole("moe_mlp_dim")},
              {"n_shared_experts", k.whole("shared_experts")},
              {"first_k_dense_replace", k.whole("first_num_dense_layers")},
              {"routed_scaling_factor", k.real("routed_scaling_factor")},
              {"norm_topk_prob", v3}});
  add_capacity(out, k);
  if (v3) {
    out["n_group"] = std::max(k.whole("n_routing_groups"), least);
    out["topk_group"] = std::max(k.whole("topk_routing_group"), least);
  }
  if (k.text("rope_type") != "yarn") return out;
  require(k.on("rope_truncate"), "rope_truncate", k, "yarn of decoder_block=deepseek has true");
  require_flag(k, "rope_attention_scaling", false);
  out["max_position_embeddings"] = k.whole("max_position_embeddings");
  const bool stretched =
      k.whole("max_position_embeddings") > k.whole("original_max_position_embeddings");
  const double mscale = stretched ? k.real("mscale") : 0;
  out["rope_scaling"] = {
      {"rope_type", "yarn"},
      {"factor", k.real("rope_factor")},
      {"beta_fast", k.real("beta_fast")},
      {"beta_slow", k.real("beta_slow")},
      {"mscale", mscale},
      {"mscale_all_dim", mscale},
      {"attention_factor", 1.0},
      {"original_max_position_embeddings", k.whole("original_max_position_embeddings")}};
  return out;
}

Json gemma_config(const Keys& k) {
  require_activation(k, "gelu");
  require_flag(k, "logits_via_embedding", true);
  require_flag(k, "attention_bias", false);
  Json out = sizes(k);
  out["model_type"] = "gemma";
  out["hidden_activation"] = "gelu_pytorch_tanh";
  out["hidden_act"] = "gelu_pytorch_tanh";
  // Norms of the block have this one upstream, whatever the key says.
  out["rms_norm_eps"] = 1e-6;
  return out;
}

Json gemma1_config(const Keys& k) {
  require_plain(k);
  return gemma_config(k);
}

Json caps_and_window(Json out, const Keys& k) {
  const auto cap = [&](const char* key) { return k.on(key) ? Json(k.real(key)) : Json(nullptr); };
  out["attn_logit_softcapping"] = cap("attn_logits_soft_cap");
  out["final_logit_softcapping"] = cap("final_logits_soft_cap");
  out["sliding_window"] = k.whole("sliding_window_size");
  for (const char* key : {"use_post_attn_norm", "use_post_ffw_norm"}) require_flag(k, key, true);
  return out;
}

/// A layer of MaxText's is two: one with a window, one without.
Json gemma2_config(const Keys& k) {
  require_flag(k, "use_qk_norm", false);
  Json out = caps_and_window(gemma_config(k), k);
  out["model_type"] = "gemma2";
  out["num_hidden_layers"] = 2 * k.whole("num_decoder_layers");
  out["query_pre_attn_scalar"] = k.whole("head_dim");
  return out;
}

Json gemma3_config(const Keys& k) {
  Json out = caps_and_window(gemma_config(k), k);
  out["model_type"] = "gemma3_text";
  const bool largest = k.text("model_name") == "gemma3-27b";
  out["query_pre_attn_scalar"] =
      largest ? k.whole("emb_dim") / k.whole("num_query_heads") : k.whole("head_dim");
  if (k.real("local_rope_max_timescale") > 0)
    out["rope_local_base_freq"] = k.real("local_rope_max_timescale");
  if (k.real("rope_linear_scaling_factor") != 1)
    out["rope_scaling"] = {{"rope_type", "linear"},
                           {"factor", k.real("rope_linear_scaling_factor")}};
  return out;
}

struct FamilyOf {
  std::string_view decoder_block;
  Json (*config)(const Keys& keys);
  bool has_experts = false;
};
constexpr FamilyOf kFamilies[] = {
    {"llama2", &llama_config},
    {"mistral", &mistral_config},
    {"qwen2", &qwen2_config},
    {"qwen3", &qwen3_config},
    {"gemma", &gemma1_config},
    {"gemma2", &gemma2_config},
    {"gemma3", &gemma3_config},
    {"mixtral", &mixtral_config, true},
    {"qwen3_moe", &qwen3_moe_config, true},
    {"deepseek", &deepseek_config, true},
};

bool has_experts(const Keys& k) {
  return std::any_of(std::begin(kFamilies), std::end(kFamilies), [&](const FamilyOf& f) {
    return f.has_experts && f.decoder_block == k.text("decoder_block");
  });
}

// -- The run -----------------------------------------------------------------------------------

/// Keys that have the same name and meaning here.
constexpr std::string_view kSame[] = {"run_name",
                                      "base_output_directory",
                                      "steps",
                                      "init_weights_seed",
                                      "data_shuffle_seed",
                                      "gradient_accumulation_steps",
                                      "max_target_length",
                                      "learning_rate",
                                      "lr_schedule_type",
                                      "warmup_steps_fraction",
                                      "learning_rate_final_fraction",
                                      "learning_rate_schedule_steps",
                                      "wsd_decay_steps_fraction",
                                      "wsd_decay_style",
                                      "opt_type",
                                      "adam_b1",
                                      "adam_b2",
                                      "adam_eps",
                                      "adam_weight_decay",
                                      "gradient_clipping_threshold",
                                      "skip_step_on_spikes",
                                      "skip_step_interval",
                                      "skip_step_scaling_factor",
                                      "enable_checkpointing",
                                      "async_checkpointing",
                                      "checkpoint_period",
                                      "eval_interval",
                                      "eval_steps",
                                      "metrics_file",
                                      "weight_dtype"};

/// The same of blocks with experts.
constexpr std::string_view kSameOfExperts[] = {
    "load_balance_loss_weight", "moe_use_megatron_seq_aux_loss", "routed_bias_update_rate"};

std::string key_value(const std::string& key, const Value& value) {
  if (const auto* b = value.as<bool>()) return key + (*b ? "=true" : "=false");
  return key + "=" + (value.is_none() ? "" : str(value));
}

/// Values of acting keys that are not built.
void require_built(const Keys& k) {
  require(k.text("opt_type") == "adamw" || k.text("opt_type") == "sgd", "opt_type", k,
          "there are adamw and sgd; other rules are there by their keys in this trainer's own "
          "configuration");
  for (const char* key : {"dtype", "weight_dtype"})
    require(k.text(key) == "float32" || k.text(key) == "bfloat16", key, k,
            "there are float32 and bfloat16");
  require(k.text("mu_dtype") == "float32", "mu_dtype", k, "moments are float32");
  const double batch = k.real("per_device_batch_size");
  require(batch >= 1 && batch == std::floor(batch), "per_device_batch_size", k,
          "a sequence is not divided");
  const bool latent = k.text("decoder_block") == "deepseek";
  require(k.text("rope_type") == "default" || k.text("rope_type") == "llama3.1" ||
              (latent && k.text("rope_type") == "yarn"),
          "rope_type", k, "there are default and llama3.1, and yarn with decoder_block=deepseek");
  require(latent || k.text("attention_type") == "global", "attention_type", k,
          "there are global, and mla with decoder_block=deepseek");
  for (const char* key : {"abort_on_nan_loss", "abort_on_inf_loss"})
    require(k.on(key), key, k, "such a loss always ends the run");
}

std::string remat_policy(const Keys& k) {
  const std::string policy = k.text("remat_policy");
  if (policy == "none" || policy.empty()) return "full_save";  // YAML's none is no value
  if (policy == "full") return "full";
  require(policy.starts_with("minimal") && policy.find("offload") == std::string::npos,
          "remat_policy", k, "there are none, minimal and full");
  return "minimal";
}

/// As many random letters as a step reads, so that each step reads them again.
std::string synthetic_text(const Keys& k) {
  const auto sequences = static_cast<std::int64_t>(k.real("per_device_batch_size")) *
                         k.whole("gradient_accumulation_steps") * k.whole("num_target_devices");
  const std::int64_t length = sequences * k.whole("max_target_length") + 1;
  std::string out;
  std::uint64_t state = 0x9e3779b97f4a7c15;
  for (std::int64_t i = 0; i < length; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    out += static_cast<char>(' ' + state % 95);
  }
  return out;
}

/// What MaxText makes of an empty command line.
const Dict& usual_values() {
  static const Dict out = [] {
    const Surroundings nothing = {[](const std::string&) -> const char* { return nullptr; }, 1};
    return resolve({"run_name=usual", "base_output_directory=usual"}, nothing).values;
  }();
  return out;
}

/// "embed: fsdp, tensor"
std::string rule_text(const Value& rule) {
  const List* parts = rule.list();
  if (parts == nullptr || parts->size() != 2)
    throw ConfigError(
        fmt::format("logical_axis_rules: {} is no rule: a rule is [DIMENSION, AXES]", repr(rule)));
  std::vector<std::string> axes;
  if (const List* several = parts->back().list())
    for (const Value& axis : *several) axes.push_back(str(axis));
  else if (!parts->back().is_none())
    axes.push_back(str(parts->back()));
  return fmt::format("{}: {}", str(parts->front()), fmt::join(axes, ", "));
}

/// What stages go through.
void add_stages(const Keys& k, Translation& out) {
  require(!k.on("pipeline_delay_activation_forwarding"), "pipeline_delay_activation_forwarding", k,
          "what a stage gives is handed on at once");
  for (const char* key : {"num_layers_per_pipeline_stage", "num_pipeline_repeats",
                          "num_pipeline_microbatches", "pipeline_parallel_layers"})
    out.keys.push_back(fmt::format("{}={}", key, k.whole(key)));
}

/// Sizes of the mesh for the devices at hand, or those of compile_topology; rules where they are
/// not MaxText's usual ones.
void add_mesh(const Resolved& resolved, const Keys& k, Translation& out) {
  const std::int64_t devices = k.whole("num_target_devices");
  const std::int64_t slices = std::max<std::int64_t>(
      k.text("compile_topology").empty() ? 1 : k.whole("compile_topology_num_slices"), 1);
  Config sizes;
  for (const ParallelAxis& a : parallel_axes()) {
    sizes.*a.ici = k.whole(fmt::format("ici_{}_parallelism", a.key));
    sizes.*a.dcn = k.whole(fmt::format("dcn_{}_parallelism", a.key));
  }
  sizes = with_devices(std::move(sizes), devices, slices);
  for (const ParallelAxis& a : parallel_axes()) {
    if (sizes.*a.ici != 1)
      out.keys.push_back(fmt::format("ici_{}_parallelism={}", a.key, sizes.*a.ici));
    if (sizes.*a.dcn != 1)
      out.keys.push_back(fmt::format("dcn_{}_parallelism={}", a.key, sizes.*a.dcn));
  }
  if (sizes.ici_pipeline_parallelism * sizes.dcn_pipeline_parallelism > 1) add_stages(k, out);
  const Value& rules = resolved.values.at("logical_axis_rules");
  if (rules == usual_values().at("logical_axis_rules") || rules.list() == nullptr) return;
  std::vector<std::string> texts;
  for (const Value& rule : *rules.list()) texts.push_back(rule_text(rule));
  out.keys.push_back(fmt::format("logical_axis_rules={}", fmt::join(texts, ";")));
}

void add_tokenizer(const Keys& k, Translation& out) {
  require(k.text("tokenizer_type") == "sentencepiece", "tokenizer_type", k,
          "training reads SentencePiece's .model files");
  out.keys.push_back("tokenizer_type=sentencepiece");
  out.keys.push_back("tokenizer_path=" + k.text("tokenizer_path"));
}

void add_files(const Keys& k, Translation& out) {
  const std::string type = k.text("dataset_type");
  const bool hf = type == "hf";
  if (hf)
    require(k.text("hf_path") == "text" || k.text("hf_path") == "json", "hf_path", k,
            "files of text or JSON lines are read, by hf_path=text or json with hf_train_files");
  else
    require(type == "grain", "dataset_type", k, "there are synthetic, hf and grain");
  const std::string key = hf ? "hf_train_files" : "grain_train_files";
  require(k.on(key) && k[key].text(), key, k, "files are needed");
  out.keys.push_back("train_files=" + k.text(key));
  const List* columns = k["train_data_columns"].list();
  require(columns && columns->size() == 1, "train_data_columns", k, "one column is read");
  out.keys.push_back("train_data_columns=" + str(columns->front()));
  add_tokenizer(k, out);
}

void add_data(const Keys& k, Translation& out) {
  if (k.text("dataset_type") != "synthetic") return add_files(k, out);
  const std::string path =
      k.text("base_output_directory") + "/" + k.text("run_name") + "/synthetic.txt";
  out.synthetic = {path, synthetic_text(k)};
  out.keys.push_back("train_files=" + path);
  out.keys.push_back("eval_fraction=0");
}

/// Refuses what is not built, and says what has no effect.
void sort_keys(const Resolved& resolved, const Keys& k, Translation& out) {
  std::vector<std::string> refused;
  for (const std::string& key : key_names()) {
    const KeyEffect effect = effect_of(key);
    const Value& value = k[key];
    if (effect.effect == Effect::acting || effect.effect == Effect::derived) continue;
    if (value == usual_values().at(key)) continue;
    if (effect.effect == Effect::refused)
      refused.push_back(shown(key, value) + " is not supported yet");
    else if (resolved.given.contains(key) && key != "hf_access_token")
      out.notes.push_back(fmt::format("{} accepted, no effect here, because {}", shown(key, value),
                                      effect.sentence));
  }
  if (!refused.empty()) throw ConfigError(fmt::format("{}", fmt::join(refused, "; ")));
}

std::vector<std::string_view> names_of_keys() {
  std::vector<std::string_view> out;
  for (const auto& [name, unused] : upstream()["keys"].items()) out.push_back(name);
  return out;
}

std::string type_text(const Json& type) {
  if (type.is_string()) return type.get<std::string>();
  const std::string kind = type[0].get<std::string>();
  std::vector<std::string> parts;
  if (kind == "enum") {
    for (const Json& row : upstream()["enums"].at(type[1].get<std::string>()))
      parts.push_back(repr(from_json(row[0])));
    return fmt::format("one of {}", fmt::join(parts, ", "));
  }
  if (kind == "model") return "a table";
  if (kind == "bound") return type_text(type[1]);
  for (std::size_t i = 1; i < type.size(); ++i)
    parts.push_back(kind == "literal" ? repr(from_json(type[i])) : type_text(type[i]));
  if (kind == "list") return "list of " + parts.front();
  return fmt::format("{}{}", kind == "literal" ? "one of " : "",
                     fmt::join(parts, kind == "literal" ? ", " : " or "));
}

}  // namespace

std::string model_config(const Resolved& resolved) {
  const Keys k(resolved);
  for (const FamilyOf& family : kFamilies)
    if (family.decoder_block == k.text("decoder_block")) {
      if (!family.has_experts) require_dense(k);
      return family.config(k).dump();
    }
  not_yet("decoder_block", k,
          "there are llama2, mistral, gemma, gemma2, gemma3, qwen2, qwen3, mixtral, "
          "qwen3_moe and deepseek");
}

Translation translate(const Resolved& resolved, bool train) {
  const Keys k(resolved);
  Translation out;
  sort_keys(resolved, k, out);
  require_built(k);
  if (train && k.on("load_parameters_path"))
    out.keys = {"init=" + k.text("load_parameters_path")};
  else
    out.keys = {"decoder_block=published", "config=" + model_config(resolved)};
  for (const std::string& key : {"dtype=" + k.text("dtype"), "remat_policy=" + remat_policy(k),
                                 std::string("log_period=1"), std::string("log_goodput=true")})
    out.keys.push_back(key);
  for (const std::string_view key : kSame)
    if (const std::string name(key); !k[name].is_none())
      out.keys.push_back(key_value(name, k[name]));
  if (has_experts(k))
    for (const std::string_view key : kSameOfExperts)
      out.keys.push_back(key_value(std::string(key), k[std::string(key)]));
  out.keys.push_back(fmt::format("per_device_batch_size={}", k.real("per_device_batch_size")));
  add_mesh(resolved, k, out);
  const Value& kept = k["max_num_checkpoints_to_keep"];
  out.keys.push_back(key_value("max_num_checkpoints_to_keep", kept.is_none() ? Value(0) : kept));
  if (train) add_data(k, out);
  return out;
}

std::vector<std::string> config_lines(const Resolved& resolved) {
  std::vector<std::string> out;
  for (const auto& [key, value] : resolved.values)
    if (key != "hf_access_token")
      out.push_back(fmt::format("Config param {}: {}", key, str(value)));
  return out;
}

std::string explain(const std::string& key, const Resolved& resolved) {
  const Json& keys = upstream()["keys"];
  if (!keys.contains(key))
    throw ConfigError(
        fmt::format("MaxText has no key '{}'{}", key, did_you_mean(key, names_of_keys())));
  const KeyEffect effect = effect_of(key);
  const auto source = resolved.sources.find(key);
  const Value& value = resolved.values.at(key);
  const bool secret = key == "hf_access_token" && truth(value);
  std::string out = fmt::format("{}: {}\n", key, type_text(keys[key][0]));
  if (keys[key].size() > 2) out += fmt::format("range: {}\n", keys[key][2].dump());
  out += fmt::format("default: {}\n", repr(default_of(key)));
  out += fmt::format("value: {} ({})\n", secret ? "set" : repr(value),
                     source != resolved.sources.end()   ? source->second
                     : effect.effect == Effect::derived ? "derived"
                     : value == default_of(key)         ? "default"
                                                        : "derived from other keys");
  return out + fmt::format("effect: {}: {}\n", to_string(effect.effect), effect.sentence);
}

bool is_maxtext(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return false;
  const std::string& first = arguments.front();
  if (first.ends_with(".yml")) {
    if (const auto text = read_file(first)) {
      try {
        const Value file = read_yaml(*text);
        if (file.dict() && file.dict()->contains("base_config")) return true;
      } catch (const Refused&) {
        return false;
      }
    } else {
      for (const std::string_view prefix :
           {"src/maxtext/configs/", "src/MaxText/configs/", "MaxText/configs/", "configs/"})
        if (first.starts_with(prefix) && upstream()["files"].contains(first.substr(prefix.size())))
          return true;
    }
  }
  for (const std::string& argument : arguments) {
    const std::string key = argument.substr(0, argument.find('='));
    const auto ours = fields();
    const bool known =
        std::any_of(ours.begin(), ours.end(), [&](const Field& f) { return f.name == key; });
    if (argument.find('=') != std::string::npos && !known && upstream()["keys"].contains(key))
      return true;
  }
  return false;
}

}  // namespace strata::train::maxtext
