#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "strata/base/file.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/model/published/tensor_source.h"

namespace strata::model::published {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t kMostIndex = 64u << 20;

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

/// The tensors of one or more safetensors files.
class Directory : public TensorSource {
 public:
  Directory(std::string folder, std::vector<checkpoint::SafetensorsFile> files)
      : folder_(std::move(folder)), files_(std::move(files)) {}
  Convention convention() const override { return Convention::hugging_face; }
  const std::map<std::string, std::vector<std::int64_t>>& shapes() const override {
    return shapes_;
  }
  Result<Literal> read(const std::string& name) const override {
    return files_[file_of_.at(name)].read(name);
  }
  const std::string& name() const override { return folder_; }
  /// Takes a tensor of a file into the list.
  void add(const std::string& name, std::size_t file) {
    file_of_[name] = file;
    shapes_[name] = files_[file].tensors().at(name).type.shape().sizes();
  }
  const std::vector<checkpoint::SafetensorsFile>& files() const { return files_; }

 private:
  std::string folder_;
  std::vector<checkpoint::SafetensorsFile> files_;
  std::map<std::string, std::vector<std::int64_t>> shapes_;
  std::map<std::string, std::size_t> file_of_;
};

Result<TensorSourcePtr> open_single(const std::string& folder) {
  const Result<std::string> path = file_of(folder, "model.safetensors");
  if (!path) return path.status();
  auto file = checkpoint::SafetensorsFile::open(*path);
  if (!file) return file.status();
  std::vector<checkpoint::SafetensorsFile> files;
  files.push_back(std::move(*file));
  auto out = std::make_shared<Directory>(folder, std::move(files));
  for (const auto& [name, at] : out->files()[0].tensors()) out->add(name, 0);
  return TensorSourcePtr(std::move(out));
}

Result<TensorSourcePtr> open_sharded(const std::string& folder, const std::string& index_path) {
  const Result<std::string> text = read_file(index_path);
  if (!text) return text.status();
  if (text->size() > kMostIndex)
    return Status(Code::corrupt, "{}: {} bytes; allowed are {}", index_path, text->size(),
                  kMostIndex);
  const json index = json::parse(*text, nullptr, false);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    return Status(Code::corrupt, "{}: there is no object weight_map", index_path);
  std::map<std::string, std::size_t> number;  // of files
  std::vector<checkpoint::SafetensorsFile> files;
  std::vector<std::pair<std::string, std::size_t>> where;
  for (const auto& [name, file] : index["weight_map"].items()) {
    if (!file.is_string() || !is_plain_name(file.get<std::string>()))
      return Status(Code::corrupt, "{}: tensor '{}' is in {}, which is no plain file name",
                    index_path, name, file.dump(-1, ' ', true).substr(0, 200));
    const auto shard = file.get<std::string>();
    if (!number.contains(shard)) {
      const Result<std::string> path = file_of(folder, shard);
      if (!path) return path.status();
      auto opened = checkpoint::SafetensorsFile::open(*path);
      if (!opened) return opened.status();
      number[shard] = files.size();
      files.push_back(std::move(*opened));
    }
    where.emplace_back(name, number[shard]);
  }
  auto out = std::make_shared<Directory>(folder, std::move(files));
  for (const auto& [name, file] : where) {
    for (std::size_t i = 0; i < out->files().size(); ++i) {
      const bool there = out->files()[i].tensors().contains(name);
      if (there == (i == file)) continue;
      return Status(Code::corrupt, "{}: tensor '{}' should be in {} alone, and is {} {}",
                    index_path, name, out->files()[file].path(), i == file ? "not in" : "also in",
                    out->files()[i].path());
    }
    out->add(name, file);
  }
  return TensorSourcePtr(std::move(out));
}

}  // namespace

Result<std::string> file_of(const std::string& folder, const std::string& file) {
  if (!is_plain_name(file))
    return Status(Code::corrupt, "{}: '{}' is no plain file name", folder, file);
  const fs::path path = fs::path(folder) / file;
  std::error_code error;
  if (!fs::exists(path, error)) return Status(Code::not_found, "{}: not there", path.string());
  if (!fs::is_symlink(path, error)) return path.string();
  // A snapshot's files are links into the blobs of the same cache.
  const fs::path to = fs::canonical(path, error);
  const fs::path own = fs::canonical(folder, error);
  const fs::path blobs = fs::canonical(own / ".." / ".." / "blobs", error);
  if (to.parent_path() == own || (!blobs.empty() && to.parent_path() == blobs))
    return path.string();
  return Status(Code::denied, "{}: a link out of its folder, to {}", path.string(), to.string());
}

Result<std::string> snapshot_of(const std::string& folder) {
  const fs::path root(folder);
  std::error_code error;
  if (!fs::is_directory(root, error))
    return Status(Code::not_found, "{}: there is no such file or folder", folder);
  if (!fs::exists(root / "config.json", error) && fs::is_directory(root / "checkpoints", error) &&
      fs::exists(root / "model" / "config.json", error)) {
    if (fs::exists(root / "model" / "model.safetensors", error)) return (root / "model").string();
    return Status(Code::not_found,
                  "{}: the run has not ended yet; `strata convert {} OUT` makes a model of its "
                  "newest checkpoint",
                  folder, folder);
  }
  if (fs::exists(root / "config.json", error) || !fs::is_directory(root / "snapshots", error))
    return folder;
  Result<std::string> hash = read_file((root / "refs" / "main").string());
  if (!hash) return hash.status();
  while (!hash->empty() && (hash->back() == '\n' || hash->back() == '\r' || hash->back() == ' '))
    hash->pop_back();
  if (!is_plain_name(*hash))
    return Status(Code::corrupt, "{}: refs/main holds '{}', which is no name of a snapshot", folder,
                  hash->substr(0, 100));
  const fs::path snapshot = root / "snapshots" / *hash;
  if (!fs::is_directory(snapshot, error))
    return Status(Code::not_found, "{}: refs/main names a snapshot that is not there",
                  snapshot.string());
  return snapshot.string();
}

Result<TensorSourcePtr> open_directory(const std::string& folder) {
  const fs::path root(folder);
  std::error_code error;
  if (fs::exists(root / "model.safetensors", error)) return open_single(folder);
  const Result<std::string> index = file_of(folder, "model.safetensors.index.json");
  if (index) return open_sharded(folder, *index);
  if (index.status().code() != Code::not_found) return index.status();
  if (fs::exists(root / "pytorch_model.bin", error) ||
      fs::exists(root / "pytorch_model.bin.index.json", error))
    return Status(Code::unsupported,
                  "{}: weights are pickles (pytorch_model.bin), which run code when they are read; "
                  "safetensors files are needed",
                  folder);
  return Status(Code::not_found,
                "{}: there is neither model.safetensors nor model.safetensors.index.json", folder);
}

}  // namespace strata::model::published
