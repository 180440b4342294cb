#include "strata/engine/language_model.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/checkpoint/gguf.h"
#include "strata/model/int8_activations.h"
#include "strata/model/pretrained.h"
#include "strata/tokenizer/gguf.h"
#include "strata/tokenizer/huggingface.h"

namespace strata::engine {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

/// Tokens that end an answer in some family's chats, besides those that a file names.
constexpr const char* kEndsOfTurns[] = {"<|im_end|>",    "<|eot_id|>", "<|eom_id|>",
                                        "<end_of_turn>", "<|end|>",    "<|endoftext|>",
                                        "<|return|>",    "<|eos|>"};

void add_eos(LanguageModel& lm, std::optional<std::int32_t> token) {
  std::vector<std::int32_t>& eos = lm.generation.eos;
  if (token && *token < lm.model->vocab_size() &&
      std::find(eos.begin(), eos.end(), *token) == eos.end())
    eos.push_back(*token);
}

/// A template that is damaged is a note: the model goes on with texts all the same.
void set_template(LanguageModel& lm, std::string_view text) {
  auto parsed = tokenizer::ChatTemplate::parse(text);
  if (parsed)
    lm.chat_template = std::move(*parsed);
  else
    lm.notes.push_back(parsed.status().message());
}

/// The longest sequence that a config.json names.
std::int64_t max_length(const std::string& config) {
  const ordered_json json = ordered_json::parse(config, nullptr, false);
  for (const char* key : {"max_position_embeddings", "n_positions", "n_ctx"})
    if (json.is_object() && json.contains(key) && json[key].is_number_integer())
      return json[key].get<std::int64_t>();
  return 0;
}

void finish(LanguageModel& lm) {
  add_eos(lm, lm.tokenizer->special_id("eos_token"));
  for (const char* token : kEndsOfTurns)
    if (const auto id = lm.tokenizer->id_of(token); id && lm.tokenizer->is_special(*id))
      add_eos(lm, id);
  for (const std::string& key : lm.generation.ignored)
    lm.notes.push_back("generation_config.json: " + key + " is not followed");
}

/// The text of a file of a folder; empty where there is none.
Result<std::string> text_of(const std::string& folder, const char* file) {
  const std::string path = folder + "/" + file;
  if (!fs::exists(path)) return std::string();
  return read_file(path);
}

Status read_folder(LanguageModel& lm, const std::string& folder) {
  auto tokenizer = tokenizer::load_huggingface(folder);
  if (!tokenizer) return tokenizer.status();
  lm.tokenizer = std::move(*tokenizer);
  auto generation = text_of(folder, "generation_config.json");
  if (!generation) return generation.status();
  if (!generation->empty()) {
    auto config = read_generation_config(*generation, folder + "/generation_config.json");
    if (!config) return config.status();
    lm.generation = std::move(*config);
  }
  auto jinja = text_of(folder, "chat_template.jinja");
  if (!jinja) return jinja.status();
  if (!jinja->empty()) {
    set_template(lm, *jinja);
    return Status();
  }
  auto settings = text_of(folder, "tokenizer_config.json");
  if (!settings) return settings.status();
  const ordered_json json = ordered_json::parse(*settings, nullptr, false);
  if (!json.is_object() || !json.contains("chat_template")) return Status();
  const ordered_json& given = json["chat_template"];
  if (given.is_string()) set_template(lm, given.get<std::string>());
  if (given.is_array())
    for (const ordered_json& named : given)
      if (named.is_object() && named.value("name", "") == "default")
        set_template(lm, named.value("template", ""));
  return Status();
}

template <class T>
std::vector<T> list_of(const checkpoint::GgufMetadata& metadata, const char* key) {
  const checkpoint::GgufValue* v = checkpoint::find(metadata, key);
  const auto* list = v == nullptr ? nullptr : std::get_if<std::vector<T>>(v);
  return list == nullptr ? std::vector<T>() : *list;
}

tokenizer::GgufVocabulary vocabulary_of(const checkpoint::GgufMetadata& m) {
  const auto text = [&](const char* key) {
    const checkpoint::GgufValue* v = checkpoint::find(m, key);
    const auto* s = v == nullptr ? nullptr : std::get_if<std::string>(v);
    return s == nullptr ? std::string() : *s;
  };
  const auto token = [&](const char* key) -> std::optional<std::int32_t> {
    const checkpoint::GgufValue* v = checkpoint::find(m, key);
    const auto i = v == nullptr ? std::nullopt : checkpoint::as_integer(*v);
    return i && *i >= 0 && *i <= 0x7fffffff ? std::optional(static_cast<std::int32_t>(*i))
                                            : std::nullopt;
  };
  const auto flag = [&](const char* key) -> std::optional<bool> {
    const checkpoint::GgufValue* v = checkpoint::find(m, key);
    const auto* b = v == nullptr ? nullptr : std::get_if<bool>(v);
    return b == nullptr ? std::nullopt : std::optional(*b);
  };
  tokenizer::GgufVocabulary v;
  v.model = text("tokenizer.ggml.model"), v.pre = text("tokenizer.ggml.pre");
  v.tokens = list_of<std::string>(m, "tokenizer.ggml.tokens");
  v.scores = list_of<float>(m, "tokenizer.ggml.scores");
  v.types = list_of<std::int32_t>(m, "tokenizer.ggml.token_type");
  v.merges = list_of<std::string>(m, "tokenizer.ggml.merges");
  v.bos = token("tokenizer.ggml.bos_token_id"), v.eos = token("tokenizer.ggml.eos_token_id");
  v.eot = token("tokenizer.ggml.eot_token_id"), v.eom = token("tokenizer.ggml.eom_token_id");
  v.unknown = token("tokenizer.ggml.unknown_token_id");
  v.separator = token("tokenizer.ggml.seperator_token_id");  // as ggml spells it
  v.padding = token("tokenizer.ggml.padding_token_id");
  v.mask = token("tokenizer.ggml.mask_token_id");
  v.add_bos = flag("tokenizer.ggml.add_bos_token"),
  v.add_eos = flag("tokenizer.ggml.add_eos_token");
  v.add_space_prefix = flag("tokenizer.ggml.add_space_prefix");
  v.remove_extra_whitespaces = flag("tokenizer.ggml.remove_extra_whitespaces");
  const std::vector<std::uint8_t> map =
      list_of<std::uint8_t>(m, "tokenizer.ggml.precompiled_charsmap");
  v.precompiled_charsmap.assign(map.begin(), map.end());
  v.huggingface_json = text("tokenizer.huggingface.json");
  return v;
}

bool is_gguf(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  char begins[4] = {};
  std::ifstream in(path, std::ios::binary);
  return in.read(begins, sizeof begins) && std::string_view(begins, sizeof begins) == "GGUF";
}

Status read_gguf(LanguageModel& lm, const std::string& path) {
  auto file = checkpoint::Gguf::open(path);
  if (!file) return file.status();
  const tokenizer::GgufVocabulary vocabulary = vocabulary_of(file->metadata());
  auto tokenizer = tokenizer::make_gguf(vocabulary, path);
  if (!tokenizer) return tokenizer.status();
  lm.tokenizer = std::move(*tokenizer);
  for (const auto& token : {vocabulary.eos, vocabulary.eot, vocabulary.eom}) add_eos(lm, token);
  lm.generation.bos = vocabulary.bos;
  if (auto text = file->text("tokenizer.chat_template")) set_template(lm, *text);
  return Status();
}

}  // namespace

std::optional<std::int32_t> LanguageModel::first_token() const {
  if (generation.bos) return generation.bos;
  if (const auto bos = tokenizer->special_id("bos_token")) return bos;
  if (!generation.eos.empty()) return generation.eos[0];
  return std::nullopt;
}

std::int64_t LanguageModel::at_most(std::int64_t length) const {
  return max_length > 0 ? std::min(length, max_length) : length;
}

std::vector<std::int32_t> LanguageModel::prompt(std::string_view text) const {
  std::vector<std::int32_t> out = tokenizer->encode_with(text, {.add_special = true});
  if (!out.empty()) return out;
  if (const auto first = first_token()) return {*first};
  throw Error("generate", "the prompt is empty, and {} has no token that begins a text", name);
}

Result<std::vector<std::int32_t>> LanguageModel::chat(std::string_view messages,
                                                      std::string_view more, ChatEnd end) const {
  auto rendered = render_chat(messages, more, end);
  if (!rendered) return rendered.status();
  return tokenizer->encode_with(rendered->text, {.literal = rendered->input});
}

Result<tokenizer::RenderedChat> LanguageModel::render_chat(std::string_view messages,
                                                           std::string_view more,
                                                           ChatEnd end) const {
  if (!chat_template)
    return Status(Code::invalid,
                  "{} has no chat template: it was not made for conversations; strata generate "
                  "--prompt goes on with a text",
                  name);
  const ordered_json said = ordered_json::parse(messages, nullptr, false);
  const ordered_json names = ordered_json::parse(more, nullptr, false);
  if (!said.is_array()) return Status(Code::invalid, "chat: messages are no JSON list");
  if (!names.is_object()) return Status(Code::invalid, "chat: further names are no JSON object");
  tokenizer::ChatOptions options{.add_generation_prompt = end == ChatEnd::answer,
                                 .continue_final_message = end == ChatEnd::open_message};
  options.special_tokens = tokenizer->special_tokens();
  const std::time_t now = std::time(nullptr);
  ::localtime_r(&now, &options.now);
  return chat_template->apply(said, options, names);
}

Result<std::shared_ptr<const tokenizer::Tokenizer>> load_tokenizer(const std::string& path) {
  if (is_gguf(path)) {
    auto file = checkpoint::Gguf::open(path);
    if (!file) return file.status();
    return tokenizer::make_gguf(vocabulary_of(file->metadata()), path);
  }
  if (!fs::is_directory(path)) return tokenizer::load_huggingface(path);
  auto folder = model::published::snapshot_of(path);
  if (!folder) return folder.status();
  return tokenizer::load_huggingface(*folder);
}

Result<LanguageModel> load_language_model(const std::string& path, const LanguageModelOptions& o) {
  auto loaded = model::load(path, {.dtype = o.dtype,
                                   .weights = o.weights,
                                   .packed = o.packed,
                                   .max_length = o.length,
                                   .remat_policy = o.remat_policy,
                                   .adapter = o.adapter,
                                   .mtp_layers = o.mtp_layers});
  if (!loaded) return loaded.status();
  LanguageModel lm;
  lm.name = path;
  lm.model = o.int8_activations ? model::with_int8_activations(loaded->model) : loaded->model;
  lm.params = std::move(loaded->params);
  lm.max_length = max_length(loaded->config);
  lm.config = std::move(loaded->config);
  if (fs::is_directory(path)) {
    auto folder = model::published::snapshot_of(path);
    if (!folder) return folder.status();
    if (Status s = read_folder(lm, *folder); !s.ok()) return s;
  } else if (Status s = read_gguf(lm, path); !s.ok()) {
    return s;
  }
  finish(lm);
  return lm;
}

}  // namespace strata::engine
