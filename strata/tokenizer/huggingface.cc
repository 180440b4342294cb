#include "strata/tokenizer/huggingface.h"

#include <filesystem>
#include <set>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/tokenizer/known_patterns.h"
#include "strata/tokenizer/pipeline/pipeline.h"

namespace strata::tokenizer {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20, kMostConfigBytes = std::size_t{16} << 20;
constexpr int kMostDepth = 64;
constexpr std::size_t kLongestAddedToken = 4096;

/// JSON of a bounded depth without repeated keys.
Result<Json> parse(const std::string& text, const std::string& name) {
  std::vector<std::set<std::string>> keys(1);
  std::string problem;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (depth > kMostDepth && problem.empty()) problem = fmt::format("nests beyond {}", kMostDepth);
    if (!problem.empty()) return false;
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(value.get<std::string>()).second)
      problem = fmt::format("has the key '{}' twice", value.get<std::string>());
    return true;
  };
  try {
    Json out = Json::parse(text, watch);
    if (!problem.empty()) return Status(Code::corrupt, "{}: {}", name, problem);
    return out;
  } catch (const Json::exception& e) {
    if (!problem.empty()) return Status(Code::corrupt, "{}: {}", name, problem);
    return Status(Code::corrupt, "{}: no JSON: {}", name, e.what());
  }
}

AddedToken read_added_token(const Json& part) {
  const Fields f(part, "added token");
  AddedToken out;
  out.content = f.text("content");
  if (out.content.size() > kLongestAddedToken)
    f.refuse(fmt::format("has {} bytes: allowed are {}", out.content.size(), kLongestAddedToken));
  out.id = static_cast<std::int32_t>(f.number("id", 0, 1 << 24));
  out.single_word = f.flag("single_word", false);
  out.lstrip = f.flag("lstrip", false);
  out.rstrip = f.flag("rstrip", false);
  out.special = f.flag("special", false);
  out.normalized = f.flag("normalized", !out.special);
  return out;
}

Parts read_parts(const Json& json) {
  const Fields f(json, "tokenizer.json");
  if (f.has("version") && f.text("version") != "1.0")
    f.refuse("version is " + f.text("version") + ": allowed is 1.0");
  Parts out;
  out.model = read_model(f.at("model"));
  if (f.has("normalizer")) out.normalizer = read_normalizer(f.at("normalizer"));
  if (f.has("pre_tokenizer")) out.pre_tokenizer = read_pre_tokenizer(f.at("pre_tokenizer"));
  if (f.has("post_processor")) out.post_processor = read_post_processor(f.at("post_processor"));
  if (f.has("decoder")) out.decoder = read_decoder(f.at("decoder"));
  if (f.has("truncation"))
    out.truncates_left =
        Fields(f.at("truncation"), "truncation").text("direction", "Right") == "Left";
  if (f.has("added_tokens")) {
    for (const Json& part : f.list("added_tokens")) {
      AddedToken token = read_added_token(part);
      if (const auto id = out.model->vocabulary().id_of(token.content)) token.id = *id;
      out.added.push_back(std::move(token));
    }
  }
  return out;
}

// ---- vocab.json and merges.txt
// -------------------------------------------------------------------

Json byte_level(bool prefix_space, bool cuts) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", prefix_space}, {"use_regex", cuts}};
}

/// What the classes of transformers do that have these files: no more of a tokenizer is in them.
void complete(Json& out, const std::string& of, bool prefix_space, const std::string& name) {
  std::string kind = of;
  if (kind.ends_with("Fast")) kind.resize(kind.size() - 4);
  if (kind.empty() || kind == "GPT2Tokenizer") {
    out["pre_tokenizer"] = byte_level(prefix_space, true);
  } else if (kind == "Qwen2Tokenizer") {
    out["normalizer"] = {{"type", "NFC"}};
    const Json cut = {{"type", "Split"},
                      {"pattern", {{"Regex", std::string(expression::kQwen2)}}},
                      {"behavior", "Isolated"}};
    out["pre_tokenizer"] = {{"type", "Sequence"},
                            {"pretokenizers", Json::array({cut, byte_level(prefix_space, false)})}};
  } else {
    throw BadPart{
        fmt::format("{}: tokenizer_class {} is unknown without a tokenizer.json: of "
                    "vocab.json and merges.txt there are GPT2Tokenizer, Qwen2Tokenizer",
                    name, of)};
  }
}

/// Lines of "a b", without those that say the version and empty ones.
Json merges_of(const std::string& text) {
  Json out = Json::array();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && !(at == 0 && line.starts_with("#version"))) out.push_back(line);
    at = end + 1;
  }
  return out;
}

/// Tokens that stand outside the merges: those that tokenizer_config.json describes, those of
/// added_tokens.json, and the names' of special tokens.
Json added_of(const Json& config, const Json& added, const Json& vocabulary) {
  std::map<std::int64_t, Json> tokens;
  std::int64_t next = static_cast<std::int64_t>(vocabulary.size());
  const auto add = [&](const std::string& content, std::int64_t id, bool special) {
    tokens.try_emplace(id, Json{{"id", id}, {"content", content}, {"special", special}});
  };
  if (const auto described = config.find("added_tokens_decoder");
      described != config.end() && described->is_object())
    for (const auto& [id, token] : described->items()) {
      if (!token.is_object() || id.empty() || id.size() > 8 ||
          id.find_first_not_of("0123456789") != id.npos)
        throw BadPart{fmt::format("added_tokens_decoder has '{}', which is no token", id)};
      Json one = token;
      one["id"] = std::stoll(id);
      tokens[std::stoll(id)] = one;
    }
  if (added.is_object())
    for (const auto& [content, id] : added.items())
      if (id.is_number_unsigned() && id.get<std::uint64_t>() < (1u << 24))
        add(content, id.get<std::int64_t>(), content.starts_with("<|"));
  for (const auto& [id, token] : tokens) next = std::max(next, id + 1);
  std::set<std::string> known;
  for (const auto& [id, token] : tokens) known.insert(token.value("content", ""));
  for (const char* key : {"bos_token", "eos_token", "unk_token", "pad_token"}) {
    const Json given = config.value(key, Json("<|endoftext|>"));
    const std::string content = given.is_string()   ? given.get<std::string>()
                                : given.is_object() ? given.value("content", "")
                                                    : "";
    const bool named = config.contains(key);
    if (content.empty() || (!named && !vocabulary.contains(content))) continue;
    if (!known.insert(content).second) continue;
    const auto at = vocabulary.find(content);
    if (at != vocabulary.end() && !at->is_number_unsigned())
      throw BadPart{fmt::format("vocab.json: '{}' has no number", content)};
    add(content, at != vocabulary.end() ? at->get<std::int64_t>() : next++, true);
  }
  Json out = Json::array();
  for (auto& [id, token] : tokens) out.push_back(std::move(token));
  return out;
}

/// The tokenizer.json that a folder's vocab.json and merges.txt amount to.
Result<std::string> joined(const std::filesystem::path& folder) {
  Json files = Json::object();
  for (const char* file : {"vocab.json", "tokenizer_config.json", "added_tokens.json"}) {
    const std::string path = (folder / file).string();
    if (!file_exists(path)) continue;
    auto text = read_file(path);
    if (!text) return text.status();
    if (text->size() > kMostBytes)
      return Status(Code::corrupt, "{}: {} bytes, allowed are {}", path, text->size(), kMostBytes);
    auto json = parse(*text, path);
    if (!json) return json.status();
    if (!json->is_object()) return Status(Code::corrupt, "{}: no object", path);
    files[file] = std::move(*json);
  }
  auto merges = read_file((folder / "merges.txt").string());
  if (!merges) return merges.status();
  const Json config = files.value("tokenizer_config.json", Json::object());
  try {
    Json out = {{"version", "1.0"}, {"decoder", byte_level(false, false)}};
    const Json kind = config.value("tokenizer_class", Json(""));
    const Json prefix = config.value("add_prefix_space", Json(false));
    complete(out, kind.is_string() ? kind.get<std::string>() : kind.dump(), prefix == true,
             folder.string());
    out["added_tokens"] =
        added_of(config, files.value("added_tokens.json", Json()), files["vocab.json"]);
    out["model"] = {{"type", "BPE"}, {"merges", merges_of(*merges)}};
    out["model"]["vocab"] = std::move(files["vocab.json"]);
    return out.dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const BadPart& bad) {
    const bool unknown = bad.message.find("is unknown") != std::string::npos;
    return Status(unknown ? Code::unsupported : Code::corrupt, "{}", bad.message);
  } catch (const Json::exception& e) {
    return Status(Code::corrupt, "{}: a value has another type: {}", folder.string(), e.what());
  }
}

}  // namespace

Result<std::map<std::string, std::string>> read_special_tokens(const std::string& text,
                                                               const std::string& name) {
  if (text.size() > kMostConfigBytes)
    return Status(Code::corrupt, "{}: {} bytes, allowed are {}", name, text.size(),
                  kMostConfigBytes);
  auto json = parse(text, name);
  if (!json) return json.status();
  if (!json->is_object()) return Status(Code::corrupt, "{}: no object", name);
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : json->items()) {
    if (!key.ends_with("_token")) continue;
    if (value.is_string()) out[key] = value.get<std::string>();
    if (value.is_object() && value.contains("content") && value["content"].is_string())
      out[key] = value["content"].get<std::string>();
  }
  return out;
}

Result<std::shared_ptr<const Tokenizer>> make_huggingface(
    std::string text, const std::string& name, std::map<std::string, std::string> special_tokens) {
  if (text.size() > kMostBytes)
    return Status(Code::corrupt, "{}: {} bytes, allowed are {}", name, text.size(), kMostBytes);
  auto json = parse(text, name);
  if (!json) return json.status();
  try {
    Parts parts = read_parts(*json);
    parts.special_tokens = std::move(special_tokens);
    parts.type = "huggingface";
    parts.fingerprint = fmt::format("huggingface:{}:{}", hex32(crc32c(text)), text.size());
    parts.file = std::move(text);
    return make_pipeline(std::move(parts));
  } catch (const BadPart& bad) {
    const bool unknown = bad.message.find("is unknown") != std::string::npos ||
                         bad.message.find("not supported") != std::string::npos;
    return Status(unknown ? Code::unsupported : Code::corrupt, "{}: {}", name, bad.message);
  }
}

Result<std::shared_ptr<const Tokenizer>> load_huggingface(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  const fs::path file = folder ? fs::path(path) / "tokenizer.json" : fs::path(path);
  const bool in_two = folder && !file_exists(file.string()) &&
                      file_exists((fs::path(path) / "vocab.json").string()) &&
                      file_exists((fs::path(path) / "merges.txt").string());
  if (folder && !in_two && !file_exists(file.string())) {
    std::string other;
    for (const char* known : {"tokenizer.model", "tekken.json"})
      if (file_exists((fs::path(path) / known).string()))
        other = fmt::format("; {} is not read in its place", known);
    return Status(
        Code::not_found,
        "{}: no tokenizer: there is neither tokenizer.json nor vocab.json with merges.txt{}", path,
        other);
  }
  auto text = in_two ? joined(path) : read_file(file.string());
  if (!text) return text.status();
  std::map<std::string, std::string> special;
  for (const char* beside : {"special_tokens_map.json", "tokenizer_config.json"}) {
    const std::string other = (file.parent_path() / beside).string();
    if (!file_exists(other)) continue;
    auto config = read_file(other);
    if (!config) return config.status();
    auto names = read_special_tokens(*config, other);
    if (!names) return names.status();
    for (auto& [key, value] : *names) special[key] = value;
  }
  return make_huggingface(std::move(*text), file.string(), std::move(special));
}

}  // namespace strata::tokenizer
