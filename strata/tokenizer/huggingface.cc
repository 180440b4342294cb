#include "strata/tokenizer/huggingface.h"

#include <filesystem>
#include <set>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
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
  auto text = read_file(file.string());
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
