// The files beside a published model's weights, of a directory or of a GGUF file.
#include <filesystem>

#include "strata/base/file.h"
#include "strata/model/convert/plan.h"
#include "strata/model/published/tensor_source.h"

namespace strata::model {

namespace fs = std::filesystem;

Result<std::map<std::string, std::string>> files_beside_weights(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    auto plan = conversion::plan_to_hugging_face(path, {});
    if (!plan) return plan.status();
    return std::move(plan->files);
  }
  const auto folder = published::snapshot_of(path);
  if (!folder) return folder.status();
  std::map<std::string, std::string> out;
  // Texts that belong to a model; other files there are not the model's.
  for (const char* name :
       {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json",
        "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt",
        "tokenizer.model", "chat_template.jinja", conversion::kSidecar}) {
    auto file = published::file_of(*folder, name);
    if (!file && file.status().code() == Code::not_found) continue;
    if (!file) return file.status();
    auto bytes = read_file(*file);
    if (!bytes) return bytes.status();
    out[name] = std::move(*bytes);
  }
  return out;
}

}  // namespace strata::model
