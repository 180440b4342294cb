#include "strata/train/maxtext/data_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "strata/base/file.h"
#include "strata/train/maxtext/keys.h"

namespace strata::train::maxtext {
namespace {

/// As many random letters as a step reads, so that each step reads them again.
std::string synthetic_text(const Keys& k) {
  const std::int64_t sequences = k.whole("global_batch_size_to_train_on");
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

/// Whether a tokenizer's file or folder is the one that a model's folder holds.
bool is_tokenizer_of(const std::string& path, const std::string& model) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::is_directory(model, ignored)) return false;
  if (fs::equivalent(path, model, ignored)) return true;
  const bool folder = fs::is_directory(path, ignored);
  for (const char* name : {"tokenizer.json", "tokenizer.model"}) {
    const std::string mine = folder ? path + "/" + name : path, theirs = model + "/" + name;
    if (!fs::is_regular_file(mine, ignored) || !fs::is_regular_file(theirs, ignored)) continue;
    const auto a = read_file(mine), b = read_file(theirs);
    if (a && b && *a == *b) return true;
  }
  return false;
}

void add_tokenizer(const Resolved& resolved, const Keys& k, Translation& out) {
  // A published model brings its own; MaxText's lines name it all the same.
  constexpr std::string_view kInit = "init=";
  if (!out.keys.empty() && out.keys.front().starts_with(kInit)) {
    const bool given = resolved.given.contains("tokenizer_path");
    const std::string model = out.keys.front().substr(kInit.size());
    if (!given || is_tokenizer_of(k.text("tokenizer_path"), model)) return;
  }
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

/// A list of one.
std::string column_of(const std::string& key, const Keys& k) {
  const List* columns = k[key].list();
  require(columns && columns->size() == 1, key, k, "one column is read");
  return str(columns->front());
}

/// When evaluations are, and of how much: MaxText counts steps from 0 and evaluates behind the
/// first.
void add_evaluation(const Keys& k, const std::string& files, std::int64_t most, Translation& out) {
  if (k.whole("eval_interval") <= 0) return;
  for (const std::string& key :
       {fmt::format("eval_interval={}", k.whole("eval_interval")),
        fmt::format("eval_steps={}", most > 0 ? most : -1),
        fmt::format("eval_start_step={}", std::max<std::int64_t>(k.whole("eval_start_step"), 0)),
        fmt::format("eval_per_device_batch_size={}", k.real("eval_per_device_batch_size")),
        fmt::format("target_eval_loss={}", k.real("target_eval_loss"))})
    out.keys.push_back(key);
  if (!files.empty()) out.keys.push_back("eval_files=" + files);
}

void add_files(const Resolved& resolved, const Keys& k, Translation& out) {
  const std::string type = k.text("dataset_type");
  const bool hf = type == "hf";
  if (hf)
    require(k.text("hf_path") == "text" || k.text("hf_path") == "json" ||
                k.text("hf_path") == "parquet",
            "hf_path", k, "files are read, by hf_path=text, json or parquet with hf_train_files");
  else
    require(type == "grain", "dataset_type", k, "there are synthetic, hf and grain");
  const std::string key = hf ? "hf_train_files" : "grain_train_files";
  require(k.on(key) && k[key].text(), key, k, "files are needed");
  out.keys.push_back("train_files=" + k.text(key));
  out.keys.push_back(fmt::format("enable_data_shuffling={}", k.on("enable_data_shuffling")));
  out.keys.push_back(fmt::format("reuse_example_batch={}", k.on("reuse_example_batch")));
  out.keys.push_back("train_data_columns=" + column_of("train_data_columns", k));
  const std::string eval_key = hf ? "hf_eval_files" : "grain_eval_files";
  add_evaluation(k, k.text(eval_key), k.whole("eval_steps"), out);
  if (k.whole("eval_interval") > 0 && k.on(eval_key))
    out.keys.push_back("eval_data_columns=" + column_of("eval_data_columns", k));
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
  // MaxText evaluates on the batch that it trains on, eval_steps times.
  add_evaluation(k, path, 1, out);
}

}  // namespace strata::train::maxtext
