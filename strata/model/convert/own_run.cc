#include "strata/model/convert/own_run.h"

#include <fmt/format.h>

#include <cmath>

#include "strata/base/file.h"
#include "strata/model/convert/json.h"
#include "strata/model/convert/pairs.h"
#include "strata/model/convert/plan.h"
#include "strata/model/pretrained.h"
#include "strata/model/registry.h"
#include "strata/tokenizer/huggingface.h"
#include "strata/tokenizer/sentencepiece_json.h"

namespace strata::model::conversion {

using json = nlohmann::ordered_json;

namespace {

/// U+0000 .. U+07FF as UTF-8.
std::string utf8(unsigned code) {
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
}

/// Tokens that are bytes, as GPT-2 writes bytes; byte 0, which no text has, ends a document.
std::map<std::string, std::string> byte_tokenizer() {
  const char* const end = "<|endoftext|>";
  json vocabulary = json::object();
  vocabulary[end] = 0;
  for (unsigned byte = 1, next = 257; byte < 256; ++byte) {
    const bool shown = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
    vocabulary[utf8(shown ? byte : next++)] = byte;
  }
  const json bytes = {{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"trim_offsets", true},
                      {"use_regex", false}};
  const json tokenizer = {{"version", "1.0"},
                          {"truncation", nullptr},
                          {"padding", nullptr},
                          {"added_tokens",
                           {{{"id", 0},
                             {"content", end},
                             {"single_word", false},
                             {"lstrip", false},
                             {"rstrip", false},
                             {"normalized", false},
                             {"special", true}}}},
                          {"normalizer", nullptr},
                          {"pre_tokenizer", bytes},
                          {"post_processor", nullptr},
                          {"decoder", bytes},
                          {"model",
                           {{"type", "BPE"},
                            {"dropout", nullptr},
                            {"unk_token", nullptr},
                            {"continuing_subword_prefix", nullptr},
                            {"end_of_word_suffix", nullptr},
                            {"fuse_unk", false},
                            {"byte_fallback", false},
                            {"vocab", vocabulary},
                            {"merges", json::array()}}}};
  const json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}, {"eos_token", end}};
  return {{"tokenizer.json", tokenizer.dump(2) + "\n"},
          {"tokenizer_config.json", config.dump(2) + "\n"}};
}

/// A file of the run, beside the checkpoint or in the run's folder; none where there is none.
std::optional<std::string> file_of_run(const std::string& folder, const char* name) {
  for (const std::string& near : {folder, folder + "/../.."})
    if (const std::string path = near + "/" + name; file_exists(path))
      if (auto bytes = read_file(path)) return std::move(*bytes);
  return {};
}

/// The run's own copy of its tokenizer, or the file that its configuration names.
std::map<std::string, std::string> kept_tokenizer(const json& configuration,
                                                  const std::string& folder,
                                                  const std::string& type) {
  std::map<std::string, std::string> out;
  if (type == "huggingface") {
    for (const char* name : {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
                             "added_tokens.json", "chat_template.jinja"})
      if (auto bytes = file_of_run(folder, name)) out[name] = std::move(*bytes);
    return out.contains("tokenizer.json") ? out : std::map<std::string, std::string>();
  }
  auto model = file_of_run(folder, "tokenizer.model");
  const std::string named = configuration.value("tokenizer_path", "");
  if (!model && !named.empty() && file_exists(named))
    if (auto bytes = read_file(named)) model = std::move(*bytes);
  if (model) out["tokenizer.model"] = std::move(*model);
  return out;
}

/// Numbers of the tokens that begin and end a text.
void add_special_ids(const std::map<std::string, std::string>& files, json& config) {
  const auto names = files.find("tokenizer_config.json");
  if (names == files.end()) return;
  auto special = tokenizer::read_special_tokens(names->second, names->first);
  if (!special) return;
  auto known = tokenizer::make_huggingface(files.at("tokenizer.json"), "tokenizer.json", *special);
  if (!known) return;
  for (const char* name : {"bos", "eos"})
    if (const auto id = (*known)->special_id(fmt::format("{}_token", name)))
      config[fmt::format("{}_token_id", name)] = *id;
}

/// The tokenizer comes along, as what transformers reads.
void add_tokenizer(const json& configuration, const std::string& folder, json& config,
                   std::int64_t vocabulary, OwnRun& run) {
  const std::string type = configuration.value("tokenizer_type", "byte");
  if (type == "byte" && vocabulary >= 256) {
    config["eos_token_id"] = 0;
    run.files = byte_tokenizer();
    return;
  }
  if (type != "byte") run.files = kept_tokenizer(configuration, folder, type);
  if (const auto model = run.files.find("tokenizer.model"); model != run.files.end()) {
    auto others = tokenizer::huggingface_files(model->second, "tokenizer.model");
    if (others)
      run.files.insert(others->begin(), others->end());
    else
      run.notes.push_back("no tokenizer.json is written: " + others.status().message());
  }
  if (run.files.empty())
    run.notes.push_back("no tokenizer.json is written: the run's tokenizer is " + type + " " +
                        configuration.value("tokenizer_path", ""));
  if (run.files.contains("tokenizer.json")) add_special_ids(run.files, config);
}

/// A run on a published architecture, from first weights.
std::optional<OwnRun> published_run(const json& c, const std::string& folder) {
  const auto stated = c.find("config"), further = c.find("mtp_num_layers");
  if (stated == c.end() || !stated->is_string()) return {};
  std::string text = stated->get<std::string>();
  if (!parse_json(text).is_object()) return {};
  if (further != c.end() && further->is_number_integer() && *further > 0)
    text = with_further_layers(text, further->get<std::int64_t>());
  const bool narrow = c.value("weight_dtype", json()) == "bfloat16";
  json config = parse_json(completed(text, narrow ? DType::bf16 : DType::f32));
  const json vocabulary = config.value("vocab_size", json());
  OwnRun run;
  if (config.value("model_type", json()) == "deepseek_v2" &&
      config.value("rope_interleave", json()) == false)
    run.notes.push_back(
        "rope_interleave=false, which transformers does not read for deepseek_v2: there the "
        "model is another one");
  add_tokenizer(c, folder, config, vocabulary.is_number() ? vocabulary.get<std::int64_t>() : 0,
                run);
  run.config = config.dump(2) + "\n";
  return run;
}

}  // namespace

UsualScores with_usual_scores(const std::string& config) {
  json c = parse_json(config);
  if (!c.is_object() || !c.contains("query_pre_attn_scalar")) return {config};
  const json type = c.value("model_type", json());
  const bool others_lack_it =
      type == "llama" || type == "mistral" || type == "mixtral" || type == "gemma";
  if (!others_lack_it) return {config};
  const Described model = described(config);
  const double scalar = c["query_pre_attn_scalar"].get<double>();
  c.erase("query_pre_attn_scalar");
  return {c.dump(2) + "\n",
          static_cast<float>(std::sqrt(scalar / static_cast<double>(model.options.head_dim)))};
}

std::string note_of_queries(float factor) {
  return fmt::format(
      "queries, which hold the factor of scores as MaxText stores them, are divided by {:.6g}",
      factor);
}

bool is_query(const std::string& path) {
  return path.ends_with("attention/query/kernel") || path.ends_with("attention/query/bias");
}

std::optional<OwnRun> own_run(const std::string& configuration, const std::string& folder) {
  const json c = parse_json(configuration);
  if (!c.is_object()) return {};
  const json block = c.value("decoder_block", json());
  if (block == "published") return published_run(c, folder);
  if (block != "llama2") return {};
  const Family& llama = family("llama2");
  Settings settings;
  for (const Key& key : llama.keys)
    if (const auto it = c.find(std::string(key.name)); it != c.end())
      settings[std::string(key.name)] = it->is_string() ? it->get<std::string>() : it->dump();
  const auto whole = [&](const char* key) { return integer(llama, settings, key); };
  json out = {{"architectures", {"LlamaForCausalLM"}},
              {"model_type", "llama"},
              {"vocab_size", whole("vocab_size")},
              {"hidden_size", whole("base_emb_dim")},
              {"intermediate_size", whole("base_mlp_dim")},
              {"num_hidden_layers", whole("base_num_decoder_layers")},
              {"num_attention_heads", whole("base_num_query_heads")},
              {"num_key_value_heads", whole("base_num_kv_heads")},
              {"head_dim", whole("head_dim")},
              {"hidden_act", "silu"},
              {"rms_norm_eps", number(llama, settings, "normalization_layer_epsilon")},
              {"rope_theta", number(llama, settings, "rope_max_timescale")},
              {"max_position_embeddings", c.value("max_target_length", 2048)},
              {"tie_word_embeddings", false},
              {"attention_bias", false},
              {"mlp_bias", false},
              {"dtype", "float32"}};
  OwnRun run;
  add_tokenizer(c, folder, out, whole("vocab_size"), run);
  run.config = out.dump(2) + "\n";
  return run;
}

std::string published_path(const std::string& path) {
  static const std::map<std::string, std::string> paths = {
      {"token_embedder", "embedder/embedding"},
      {"layers/attention_norm", "layers/attention_norm/scale"},
      {"layers/query", "layers/attention/query/kernel"},
      {"layers/key", "layers/attention/key/kernel"},
      {"layers/value", "layers/attention/value/kernel"},
      {"layers/out", "layers/attention/out/kernel"},
      {"layers/mlp_norm", "layers/mlp_norm/scale"},
      {"layers/gate", "layers/mlp/gate/kernel"},
      {"layers/up", "layers/mlp/up/kernel"},
      {"layers/down", "layers/mlp/down/kernel"},
      {"decoder_norm", "final_norm/scale"},
      {"logits_dense", "logits/kernel"}};
  const auto it = paths.find(path);
  return it == paths.end() ? path : it->second;
}

}  // namespace strata::model::conversion
