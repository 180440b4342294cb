#include "strata/model/convert/own_run.h"

#include "strata/model/convert/json.h"
#include "strata/model/registry.h"

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

}  // namespace

std::optional<OwnRun> own_run(const std::string& configuration) {
  const json c = parse_json(configuration);
  if (!c.is_object() || c.value("decoder_block", json()) != "llama2") return {};
  const Family& llama = family("llama2");
  Settings settings;
  for (const Key& key : llama.keys)
    if (const auto it = c.find(std::string(key.name)); it != c.end())
      settings[std::string(key.name)] = it->is_string() ? it->get<std::string>() : it->dump();
  const auto whole = [&](const char* key) { return integer(llama, settings, key); };
  const std::string type = c.value("tokenizer_type", "byte");
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
  if (type == "byte" && whole("vocab_size") >= 256) {
    out["eos_token_id"] = 0;
    run.files = byte_tokenizer();
  } else {
    run.notes.push_back("no tokenizer.json is written: the run's tokenizer is " + type + " " +
                        c.value("tokenizer_path", ""));
  }
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
