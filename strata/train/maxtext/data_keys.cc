#include "strata/train/maxtext/data_keys.h"

#include <fmt/format.h>

#include <filesystem>

#include "strata/train/maxtext/keys.h"

namespace strata::train::maxtext {
namespace {

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

/// The key that a tokenizer of Hugging Face's comes of, as a person gave it.
std::string cause_of_huggingface(const Resolved& resolved, const Keys& k) {
  for (const char* key : {"tokenizer_path", "tokenizer_type", "model_name"})
    if (resolved.given.contains(key)) return shown(key, k[key]);
  return shown("tokenizer_type", k["tokenizer_type"]);
}

/// A folder or file on this machine: MaxText would ask the hub for anything else.
void add_huggingface(const Resolved& resolved, const Keys& k, Translation& out) {
  const std::string path = k.text("tokenizer_path");
  const std::string sentencepiece =
      fmt::format("tokenizer_type=sentencepiece tokenizer_path=FILE.model{}",
                  resolved.given.contains("tokenizer_type") || !k.on("model_name") ||
                          k.text("model_name") == "default"
                      ? ""
                      : " (with override_model_config=true where the model's file names the type)");
  if (path.ends_with(".model"))
    throw ConfigError(fmt::format(
        "tokenizer_path={}: tokenizer_type=huggingface ({}) reads a folder or a tokenizer.json; a "
        "SentencePiece model is given by {}",
        path,
        resolved.given.contains("tokenizer_type") ? "as given"
                                                  : "as of " + shown("model_name", k["model_name"]),
        sentencepiece));
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw ConfigError(fmt::format(
        "{}: the tokenizer {} is not on this machine, and nothing is fetched from the hub: "
        "download it (`hf download {} --include 'tokenizer*' --local-dir FOLDER`) and give "
        "tokenizer_path=FOLDER, or {}",
        cause_of_huggingface(resolved, k), path, path, sentencepiece));
  out.keys.push_back("tokenizer_type=huggingface");
  out.keys.push_back("tokenizer_path=" + path);
}

void add_tokenizer(const Resolved& resolved, const Keys& k, Translation& out) {
  const bool given =
      resolved.given.contains("tokenizer_path") || resolved.given.contains("tokenizer_type");
  // A published model brings its own.
  if (!given && !out.keys.empty() && out.keys.front().starts_with("init=")) return;
  if (k.text("tokenizer_type") == "huggingface") return add_huggingface(resolved, k, out);
  require(k.text("tokenizer_type") == "sentencepiece", "tokenizer_type", k,
          "training reads SentencePiece's .model files, and tokenizer.json by "
          "tokenizer_type=huggingface");
  if (std::error_code ignored; !resolved.given.contains("tokenizer_path") &&
                               !std::filesystem::exists(k.text("tokenizer_path"), ignored))
    throw ConfigError(fmt::format(
        "tokenizer_path is not set, and MaxText's {} is not here: give tokenizer_path=FILE.model, "
        "or tokenizer_type=huggingface tokenizer_path=FOLDER",
        k.text("tokenizer_path")));
  out.keys.push_back("tokenizer_type=sentencepiece");
  out.keys.push_back("tokenizer_path=" + k.text("tokenizer_path"));
}

void add_files(const Resolved& resolved, const Keys& k, Translation& out) {
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
  add_tokenizer(resolved, k, out);
}

}  // namespace

void add_data(const Resolved& resolved, Translation& out) {
  const Keys k(resolved);
  if (k.text("dataset_type") != "synthetic") return add_files(resolved, k, out);
  const std::string path =
      k.text("base_output_directory") + "/" + k.text("run_name") + "/synthetic.txt";
  out.synthetic = {path, synthetic_text(k)};
  out.keys.push_back("train_files=" + path);
  out.keys.push_back("eval_fraction=0");
}

}  // namespace strata::train::maxtext
