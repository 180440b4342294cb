#include "strata/train/run_tokenizer.h"

#include <filesystem>

#include "strata/base/file.h"

namespace strata::train {
namespace {

namespace fs = std::filesystem;

/// The file that a tokenizer of this type is read from.
const char* file_of(const std::string& type) {
  return type == "huggingface" ? "tokenizer.json" : "tokenizer.model";
}

}  // namespace

Result<std::map<std::string, std::string>> tokenizer_files(const Config& config,
                                                           const tokenizer::Tokenizer& tokenizer) {
  std::map<std::string, std::string> out;
  if (!config.init.empty() || tokenizer.model().empty()) return out;
  out[file_of(config.tokenizer_type)] = tokenizer.model();
  if (config.tokenizer_type != "huggingface") return out;
  std::error_code ignored;
  const fs::path path(config.tokenizer_path);
  const fs::path folder = fs::is_directory(path, ignored) ? path : path.parent_path();
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
                           "chat_template.jinja"}) {
    const std::string beside = (folder / name).string();
    if (!file_exists(beside)) continue;
    auto bytes = read_file(beside);
    if (!bytes) return bytes.status();
    out[name] = std::move(*bytes);
  }
  return out;
}

Result<std::shared_ptr<const tokenizer::Tokenizer>> tokenizer_of_run(const std::string& checkpoint,
                                                                     const Config& config) {
  if (config.tokenizer_type == "byte") return tokenizer::load_tokenizer("byte", "");
  for (const std::string& near : {checkpoint, checkpoint + "/../.."})
    if (const std::string file = near + "/" + file_of(config.tokenizer_type); file_exists(file))
      return tokenizer::load_tokenizer(config.tokenizer_type, file);
  return tokenizer::load_tokenizer(config.tokenizer_type, config.tokenizer_path);
}

}  // namespace strata::train
