#include "strata/model/convert/gguf_tokenizer.h"

#include <nlohmann/json.hpp>

#include "strata/base/error.h"

namespace strata::model::conversion {

using checkpoint::find;
using checkpoint::GgufMetadata;
using checkpoint::GgufValue;
using json = nlohmann::ordered_json;

namespace {

// Kinds of tokens in tokenizer.ggml.token_type.
constexpr std::int32_t kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5;

json byte_level(bool by_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", by_regex}};
}
json split(const char* pattern) {
  return {{"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "Split"},
             {"pattern", {{"Regex", pattern}}},
             {"behavior", "Isolated"},
             {"invert", false}},
            byte_level(false)}}};
}

/// How text is cut before merging, by GGUF's name of it.
struct Cut {
  const char* name;
  json pre_tokenizer;
  bool composes;  // NFC
};
const std::vector<Cut>& cuts() {
  static const std::vector<Cut> all = {
      {"gpt-2", byte_level(true), false},
      {"smollm",
       {{"type", "Sequence"},
        {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, byte_level(true)}}},
       false},
      {"llama-bpe",
       split(
           R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"),
       false},
      {"qwen2",
       split(
           R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"),
       true},
  };
  return all;
}

template <class T>
const T* value(const GgufMetadata& m, const char* key) {
  const GgufValue* v = find(m, key);
  return v ? std::get_if<T>(v) : nullptr;
}
std::string text(const GgufMetadata& m, const char* key) {
  const auto* v = value<std::string>(m, key);
  return v ? *v : "";
}

struct Special {
  const char *key, *name;  // tokenizer.ggml.KEY, and in tokenizer_config.json
};
constexpr Special kSpecials[] = {{"bos_token_id", "bos_token"},
                                 {"eos_token_id", "eos_token"},
                                 {"unknown_token_id", "unk_token"},
                                 {"padding_token_id", "pad_token"}};

std::int64_t id_of(const GgufMetadata& m, const Special& s, std::size_t tokens) {
  const GgufValue* v = find(m, fmt::format("tokenizer.ggml.{}", s.key));
  const auto id = v ? checkpoint::as_integer(*v) : std::nullopt;
  return id && *id >= 0 && *id < static_cast<std::int64_t>(tokens) ? *id : -1;
}

json added_token(std::int64_t id, const std::string& content, bool special) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

json tokenizer_json(const GgufMetadata& m, const Cut& cut, const std::vector<std::string>& tokens) {
  const auto* types = value<std::vector<std::int32_t>>(m, "tokenizer.ggml.token_type");
  const auto* merges = value<std::vector<std::string>>(m, "tokenizer.ggml.merges");
  json added = json::array(), vocab = json::object(), pairs = json::array();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int32_t type = types && i < types->size() ? (*types)[i] : kNormal;
    if (type == kUnused) continue;
    vocab[tokens[i]] = i;
    if (type == kControl || type == kUserDefined)
      added.push_back(added_token(static_cast<std::int64_t>(i), tokens[i], type == kControl));
  }
  if (merges)
    for (const std::string& merge : *merges) {
      const std::size_t blank = merge.find(' ', 1);
      pairs.push_back(
          {merge.substr(0, blank), blank == std::string::npos ? "" : merge.substr(blank + 1)});
    }
  json post = nullptr;
  const auto* add_bos = value<bool>(m, "tokenizer.ggml.add_bos_token");
  const std::int64_t bos = id_of(m, kSpecials[0], tokens.size());
  if (add_bos && *add_bos && bos >= 0) {
    const std::string token = tokens[static_cast<std::size_t>(bos)];
    const json first = {{"SpecialToken", {{"id", token}, {"type_id", 0}}}};
    const json a = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
               b = {{"Sequence", {{"id", "B"}, {"type_id", 1}}}};
    post = {{"type", "TemplateProcessing"},
            {"single", {first, a}},
            {"pair", {first, a, first, b}},
            {"special_tokens", {{token, {{"id", token}, {"ids", {bos}}, {"tokens", {token}}}}}}};
  }
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer", cut.composes ? json{{"type", "NFC"}} : json(nullptr)},
          {"pre_tokenizer", cut.pre_tokenizer},
          {"post_processor", post},
          {"decoder", byte_level(true)},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"ignore_merges", std::string_view(cut.name) == "llama-bpe"},
            {"vocab", vocab},
            {"merges", pairs}}}};
}

json parsed(const std::string& file, const std::string& bytes) {
  json out = json::parse(bytes, nullptr, false);
  if (!out.is_object()) throw Error("convert", "{} is no JSON object", file);
  return out;
}

/// A token as tokenizer_config.json has it: a text, or an object with it.
std::string token_text(const json& config, const char* name) {
  if (!config.contains(name)) return "";
  const json& t = config[name];
  if (t.is_string()) return t.get<std::string>();
  return t.is_object() && t.contains("content") && t["content"].is_string()
             ? t["content"].get<std::string>()
             : "";
}

const Cut& cut_of(const json& tokenizer) {
  const json pre = tokenizer.value("pre_tokenizer", json(nullptr));
  const json norm = tokenizer.value("normalizer", json(nullptr));
  for (const Cut& cut : cuts())
    if (nlohmann::json(cut.pre_tokenizer) == nlohmann::json(pre) && norm.is_null() == !cut.composes)
      return cut;
  throw Error("convert",
              "tokenizer.json has a pre_tokenizer for which GGUF has no name that Strata knows: {}",
              pre.dump(-1, ' ', true).substr(0, 300))
      .unsupported();
}

}  // namespace

std::map<std::string, std::string> tokenizer_files(const GgufMetadata& m, std::string& why) {
  std::map<std::string, std::string> out;
  const auto* tokens = value<std::vector<std::string>>(m, "tokenizer.ggml.tokens");
  const std::string model = text(m, "tokenizer.ggml.model"), pre = text(m, "tokenizer.ggml.pre");
  if (!tokens) {
    why = "there are no tokens";
    return out;
  }
  json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}}, generation = json::object();
  for (const Special& s : kSpecials) {
    const std::int64_t id = id_of(m, s, tokens->size());
    if (id < 0) continue;
    config[s.name] = (*tokens)[static_cast<std::size_t>(id)];
    const std::string_view name = s.name;
    if (name != "unk_token") generation[name.substr(0, 3) == "pad" ? "pad_token_id" : s.key] = id;
  }
  if (const auto* bos = value<bool>(m, "tokenizer.ggml.add_bos_token"))
    config["add_bos_token"] = *bos;
  if (find(m, "tokenizer.chat_template"))
    config["chat_template"] = text(m, "tokenizer.chat_template");
  config["clean_up_tokenization_spaces"] = false;
  const auto replace = json::error_handler_t::replace;
  out["tokenizer_config.json"] = config.dump(1, ' ', false, replace) + "\n";
  out["generation_config.json"] = generation.dump(1, ' ', false, replace) + "\n";
  if (model != "gpt2") {
    why = fmt::format("tokenizer.ggml.model is '{}', not byte-level BPE (gpt2)", model);
    return out;
  }
  for (const Cut& cut : cuts())
    if (pre == cut.name)
      out["tokenizer.json"] = tokenizer_json(m, cut, *tokens).dump(1, ' ', false, replace) + "\n";
  if (!out.contains("tokenizer.json"))
    why = fmt::format("tokenizer.ggml.pre is '{}', for which there is no pre_tokenizer", pre);
  return out;
}

GgufMetadata tokenizer_keys(const std::map<std::string, std::string>& files) {
  const json tokenizer = parsed("tokenizer.json", files.at("tokenizer.json"));
  const auto found = files.find("tokenizer_config.json");
  const json config =
      found == files.end() ? json::object() : parsed("tokenizer_config.json", found->second);
  const json model = tokenizer.value("model", json::object());
  const bool is_bpe = model.value("type", "") == "BPE" && !model.value("byte_fallback", false) &&
                      model.contains("vocab") && model["vocab"].is_object();
  if (!is_bpe)
    throw Error("convert", "tokenizer.json has a model of type {}; byte-level BPE is converted",
                model.value("type", "(none)"))
        .unsupported();
  const Cut& cut = cut_of(tokenizer);
  std::map<std::int64_t, std::pair<std::string, std::int32_t>> by_id;
  auto put = [&](const json& id, const std::string& token, std::int32_t type) {
    constexpr std::int64_t kMost = 1 << 21;
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= static_cast<std::uint64_t>(kMost))
      throw Error("convert", "tokenizer.json: token '{}' has the id {}", token, id.dump());
    by_id[id.get<std::int64_t>()] = {token, type};
  };
  for (const auto& [token, id] : model["vocab"].items()) put(id, token, kNormal);
  for (const json& added : tokenizer.value("added_tokens", json::array()))
    put(added.value("id", json(nullptr)), added.value("content", ""),
        added.value("special", false) ? kControl : kUserDefined);
  std::vector<std::string> tokens, merges;
  std::vector<std::int32_t> types;
  std::map<std::string, std::int64_t> ids;
  for (const auto& [id, token] : by_id) {
    for (; static_cast<std::int64_t>(tokens.size()) < id; types.push_back(kUnused))
      tokens.push_back(fmt::format("[PAD{}]", tokens.size()));
    tokens.push_back(token.first), types.push_back(token.second);
    ids[token.first] = id;
  }
  for (const json& merge : model.value("merges", json::array())) {
    if (merge.is_string())
      merges.push_back(merge.get<std::string>());
    else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
      merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
    else
      throw Error("convert", "tokenizer.json has a merge {}", merge.dump(-1, ' ', true));
  }
  GgufMetadata out = {{"tokenizer.ggml.model", std::string("gpt2")},
                      {"tokenizer.ggml.pre", std::string(cut.name)},
                      {"tokenizer.ggml.tokens", tokens},
                      {"tokenizer.ggml.token_type", types},
                      {"tokenizer.ggml.merges", merges}};
  for (const Special& s : kSpecials)
    if (const std::string token = token_text(config, s.name); ids.contains(token))
      out.emplace_back(fmt::format("tokenizer.ggml.{}", s.key),
                       static_cast<std::uint32_t>(ids[token]));
  const json post = tokenizer.value("post_processor", json(nullptr));
  const bool adds = config.value("add_bos_token", false) ||
                    (post.is_object() && post.value("type", "") == "TemplateProcessing");
  out.emplace_back("tokenizer.ggml.add_bos_token", adds);
  if (config.contains("chat_template") && config["chat_template"].is_string())
    out.emplace_back("tokenizer.chat_template", config["chat_template"].get<std::string>());
  return out;
}

}  // namespace strata::model::conversion
