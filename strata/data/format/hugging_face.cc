#include "strata/data/format/hugging_face.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "strata/base/file.h"
#include "strata/data/arrow/library.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/shallow_json.h"

namespace strata::data {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
using Splits = std::vector<std::pair<std::string, std::vector<std::string>>>;

constexpr std::int64_t kRowsOfBatch = 1000;  // as datasets' ArrowWriter
constexpr int kMostDeep = 4;
constexpr std::size_t kMostFiles = std::size_t{1} << 20;

Result<json> read_json(const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.status();
  json j = shallow_json<json>(*text);
  if (!j.is_object()) return Status(Code::corrupt, "{}: no JSON object", path);
  return j;
}

/// A name inside the folder, so that no file elsewhere is read.
bool is_plain(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name != "." && name != "..";
}

Result<std::vector<std::string>> saved_files(const std::string& folder) {
  auto state = read_json(folder + "/state.json");
  if (!state) return state.status();
  std::vector<std::string> out;
  const json files = state->value("_data_files", json());
  if (!files.is_array()) return Status(Code::corrupt, "{}/state.json: no _data_files", folder);
  for (const json& file : files) {
    const json name = file.is_object() ? file.value("filename", json()) : json();
    if (!name.is_string() || !is_plain(name.get<std::string>()))
      return Status(Code::corrupt, "{}/state.json: a file without a name", folder);
    out.push_back(folder + "/" + name.get<std::string>());
  }
  return out;
}

struct Keyword {
  std::string_view word, split;
};
constexpr Keyword kKeywords[] = {
    {"train", "train"},      {"training", "train"}, {"validation", "validation"},
    {"valid", "validation"}, {"dev", "validation"}, {"val", "validation"},
    {"test", "test"},        {"testing", "test"},   {"eval", "test"},
    {"evaluation", "test"},
};

/// The split that a word of a name says.
std::optional<std::string> split_in(std::string_view name) {
  std::size_t begin = 0;
  while (begin < name.size()) {
    std::size_t end = begin;
    while (end < name.size() && std::string_view(" ._-").find(name[end]) == std::string_view::npos)
      ++end;
    for (const Keyword& k : kKeywords)
      if (name.substr(begin, end - begin) == k.word) return std::string(k.split);
    begin = end + 1;
  }
  return std::nullopt;
}

/// "NAME" of "NAME-00000-of-00002.parquet".
std::optional<std::string> sharded_split(std::string_view name) {
  const std::size_t of = name.find("-of-");
  if (of == std::string_view::npos || of < 7 || name[of - 6] != '-') return std::nullopt;
  for (std::size_t i = of - 5; i < of; ++i)
    if (name[i] < '0' || name[i] > '9') return std::nullopt;
  return std::string(name.substr(0, of - 6));
}

std::string split_of(const fs::path& relative) {
  const std::string file = relative.filename().string();
  if (relative.parent_path() == "data")
    if (auto split = sharded_split(file)) return *split;
  if (auto split = split_in(file)) return *split;
  for (const fs::path& part : relative.parent_path())
    if (auto split = split_in(part.string())) return *split;
  return "train";
}

Result<Splits> hub_splits(const std::string& folder) {
  std::map<std::string, std::vector<std::string>> of_format;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error), end;
  std::size_t files = 0;
  for (; !error && at != end; at.increment(error)) {
    if (at.depth() >= kMostDeep) at.disable_recursion_pending();
    const std::string name = at->path().filename().string();
    if (name.starts_with('.') || name.starts_with('_')) {
      at.disable_recursion_pending();
      continue;
    }
    if (at->is_directory() || ++files > kMostFiles) continue;
    const ElementFormat* f = element_format_of(at->path().string());
    for (const char* known : {"parquet", "arrow", "jsonl", "csv", "text"})
      if (f && f->name == known && name != "requirements.txt" && name != "LICENSE.txt")
        of_format[known].push_back(at->path().lexically_relative(folder).string());
  }
  // As upstream: the format of which there are most.
  const auto most = std::max_element(
      of_format.begin(), of_format.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == of_format.end())
    return Status(Code::not_found, "{}: no data set of Hugging Face", folder);
  std::sort(most->second.begin(), most->second.end());
  Splits out;
  for (const std::string& file : most->second) {
    const std::string split = split_of(file);
    auto place =
        std::find_if(out.begin(), out.end(), [&](const auto& s) { return s.first == split; });
    if (place == out.end()) place = out.insert(out.end(), {split, {}});
    place->second.push_back(folder + "/" + file);
  }
  return out;
}

/// One file after the other.
class Scanner : public ElementScanner {
 public:
  Scanner(std::vector<std::string> files, ElementOptions options)
      : files_(std::move(files)), options_(std::move(options)) {}
  Result<bool> next(Element& out) override {
    for (;;) {
      if (!current_ && at_ == files_.size()) return false;
      if (!current_) {
        // Arrow's files of a data set may have any name.
        const bool saved = !element_format_of(files_[at_]);
        auto opened = open_elements(files_[at_++], saved ? "arrow" : "", options_);
        if (!opened) return opened.status();
        current_ = std::move(*opened);
      }
      auto more = current_->next(out);
      if (!more || *more) return more;
      current_ = nullptr;
    }
  }
  std::uint64_t passed() const override { return at_; }
  std::uint64_t total() const override { return files_.size(); }
  std::string_view damaged() const override {
    return current_ ? current_->damaged() : std::string_view();
  }

 private:
  std::vector<std::string> files_;
  ElementOptions options_;
  std::size_t at_ = 0;
  std::unique_ptr<ElementScanner> current_;
};

const char* dtype_of(DType dtype) {
  switch (dtype) {
    case DType::i8: return "int8";
    case DType::ui8: return "uint8";
    case DType::i16: return "int16";
    case DType::ui16: return "uint16";
    case DType::i32: return "int32";
    case DType::ui32: return "uint32";
    case DType::i64: return "int64";
    case DType::ui64: return "uint64";
    case DType::f16: return "float16";
    case DType::f32: return "float32";
    default: return "float64";
  }
}

json feature_of(const ArrowType& t) {
  const auto value = [](const char* dtype) { return json{{"dtype", dtype}, {"_type", "Value"}}; };
  switch (t.kind) {
    case ArrowKind::boolean: return value("bool");
    case ArrowKind::number: return value(dtype_of(t.dtype));
    case ArrowKind::text: return value("string");
    case ArrowKind::bytes: return value("binary");
    case ArrowKind::list: return {{"feature", feature_of(t.parts[0])}, {"_type", "List"}};
    case ArrowKind::fixed_list:
      return {{"feature", feature_of(t.parts[0])}, {"length", t.size}, {"_type", "List"}};
    case ArrowKind::structure: {
      json out = json::object();
      for (const ArrowType& part : t.parts) out[part.name] = feature_of(part);
      return out;
    }
    default: return value("null");
  }
}

class Writer : public ElementWriter {
 public:
  Writer(std::string path, std::int64_t shard_bytes)
      : path_(std::move(path)), aside_(path_ + ".tmp"), shard_bytes_(shard_bytes) {}
  ~Writer() override {
    if (!closed_) shard_ = nullptr, (void)remove_all(aside_);
  }
  Status begin() {
    if (Status s = remove_all(aside_); !s.ok()) return s;
    if (Status s = make_folders(aside_); !s.ok()) return s;
    return open_shard();
  }
  Status add(const Element& e) override {
    const Element record = e.kind() == Element::Kind::dict ? e : Element::dict({{"record", e}});
    if (Status s = shard_->add(record); !s.ok()) return s;
    ++rows_;
    if (shard_->bytes() < shard_bytes_) return {};
    if (Status s = close_shard(); !s.ok()) return s;
    return open_shard();
  }
  Status close() override {
    if (shard_->rows() > 0 || sizes_.empty())
      if (Status s = close_shard(); !s.ok()) return s;
    shard_ = nullptr;
    json files = json::array();
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const std::string name = fmt::format("data-{:05}-of-{:05}.arrow", i, sizes_.size());
      if (Status s = rename_synced(shard_path(i), aside_ + "/" + name); !s.ok()) return s;
      files.push_back({{"filename", name}});
    }
    const json info = {{"citation", ""},
                       {"description", ""},
                       {"features", feature_of(type_)},
                       {"homepage", ""},
                       {"license", ""}};
    const json state = {
        {"_data_files", files},       {"_fingerprint", fmt::format("{:016x}", rows_)},
        {"_format_columns", nullptr}, {"_format_kwargs", json::object()},
        {"_format_type", nullptr},    {"_output_all_columns", false},
        {"_split", nullptr}};
    for (const auto& [name, j] : {std::pair{"dataset_info.json", &info}, {"state.json", &state}})
      if (Status s = write_file_synced(aside_ + "/" + name, j->dump(2)); !s.ok()) return s;
    std::error_code error;
    const bool replaces = fs::is_directory(path_, error);
    if (Status s = replaces ? exchange_synced(aside_, path_) : rename_synced(aside_, path_);
        !s.ok())
      return s;
    closed_ = true;
    return replaces ? remove_all(aside_) : Status();
  }

 private:
  std::string shard_path(std::size_t i) const { return fmt::format("{}/shard-{:05}", aside_, i); }
  Status open_shard() {
    auto shard =
        ArrowWriter::create(shard_path(sizes_.size()), kStrataArrowStream, "none", kRowsOfBatch);
    if (!shard) return shard.status();
    shard_ = std::move(*shard);
    // All shards have the columns of the first.
    return sizes_.empty() ? Status() : shard_->begin(type_);
  }
  Status close_shard() {
    if (Status s = shard_->close(); !s.ok()) return s;
    type_ = shard_->type();
    sizes_.push_back(shard_->rows());
    return {};
  }
  std::string path_, aside_;
  std::int64_t shard_bytes_, rows_ = 0;
  std::unique_ptr<ArrowWriter> shard_;
  ArrowType type_;
  std::vector<std::int64_t> sizes_;
  bool closed_ = false;
};

}  // namespace

Result<Splits> hugging_face_splits(const std::string& folder) {
  if (file_exists(folder + "/state.json")) {
    auto files = saved_files(folder);
    if (!files) return files.status();
    return Splits{{"", std::move(*files)}};
  }
  if (!file_exists(folder + "/dataset_dict.json")) return hub_splits(folder);
  auto dict = read_json(folder + "/dataset_dict.json");
  if (!dict) return dict.status();
  const json names = dict->value("splits", json());
  if (!names.is_array()) return Status(Code::corrupt, "{}/dataset_dict.json: no splits", folder);
  Splits out;
  for (const json& name : names) {
    if (!name.is_string() || !is_plain(name.get<std::string>()))
      return Status(Code::corrupt, "{}/dataset_dict.json: a split without a name", folder);
    auto files = saved_files(folder + "/" + name.get<std::string>());
    if (!files) return files.status();
    out.emplace_back(name.get<std::string>(), std::move(*files));
  }
  return out;
}

Result<std::vector<std::string>> hugging_face_files(const std::string& folder,
                                                    const std::string& split) {
  auto splits = hugging_face_splits(folder);
  if (!splits) return splits.status();
  if (split.empty() && splits->size() == 1) return splits->front().second;
  std::string names;
  for (const auto& [name, files] : *splits) {
    if (name == split) return files;
    names += (names.empty() ? "" : ", ") + name;
  }
  return Status(Code::invalid, "{}: {}; there are {}", folder,
                split.empty() ? "say which split" : "no split " + split,
                names.empty() ? "none" : names);
}

OpenedElements open_hugging_face(const std::string& path, const ElementOptions& o) {
  auto files = hugging_face_files(path, o.split);
  if (!files) return files.status();
  return std::unique_ptr<ElementScanner>(std::make_unique<Scanner>(std::move(*files), o));
}

CreatedElements create_hugging_face(const std::string& path, const ElementOptions& o) {
  auto writer = std::make_unique<Writer>(path, o.shard_bytes);
  if (Status s = writer->begin(); !s.ok()) return s;
  return std::unique_ptr<ElementWriter>(std::move(writer));
}

}  // namespace strata::data
