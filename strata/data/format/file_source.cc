#include "strata/data/format/file_source.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/data/format/array_record.h"
#include "strata/data/format/arrow_rows.h"
#include "strata/data/format/bagz.h"
#include "strata/data/format/hugging_face.h"
#include "strata/data/format/json.h"
#include "strata/data/format/mds.h"
#include "strata/data/format/megatron.h"
#include "strata/data/format/tf_record.h"

namespace strata::data {
namespace {

/// What a policy does about damaged records; any threads at once.
class Damage {
 public:
  explicit Damage(ReadPolicy policy) : policy_(std::move(policy)) {}
  /// Whether the failure may be passed over; it is then counted, and noted where that is asked.
  Result<bool> passes(const Status& s) const {
    if (s.code() != Code::corrupt || policy_.damage == DamagePolicy::fail) return false;
    ++count_;
    if (policy_.damage == DamagePolicy::skip) return true;
    const std::lock_guard lock(mutex_);
    if (Status made = make_folders(policy_.quarantine_folder); !made.ok()) return made;
    auto out = LineWriter::open(policy_.quarantine_folder + "/damaged.jsonl");
    if (!out) return out.status();
    Status added = out->add(json_of(Element::dict({{"error", Element(s.message())}})));
    return added.ok() ? Result<bool>(true) : added;
  }
  std::int64_t count() const { return count_; }

 private:
  ReadPolicy policy_;
  mutable std::atomic<std::int64_t> count_ = 0;
  mutable std::mutex mutex_;
};

class FileSource : public RecordSource {
 public:
  using Read = std::function<Result<Element>(std::int64_t)>;
  FileSource(std::int64_t size, Read read, std::string name, std::string path, ReadPolicy policy)
      : size_(size),
        read_(std::move(read)),
        name_(std::move(name)),
        path_(std::move(path)),
        damage_(std::move(policy)) {}
  std::int64_t size() const override { return size_; }
  Result<Element> read(std::int64_t index) const override {
    auto element = read_(index);
    if (element) return element;
    auto passes = damage_.passes(element.status());
    if (!passes) return passes.status();
    return *passes ? Result<Element>(Element()) : element;
  }
  std::string name() const override { return name_; }
  RecordOrigin origin(std::int64_t index) const override {
    return {.file = path_, .record = index};
  }
  std::int64_t skipped() const override { return damage_.count(); }

 private:
  std::int64_t size_;
  Read read_;
  std::string name_, path_;
  Damage damage_;
};

/// Records that are bytes.
class BytesSource : public FileSource {
 public:
  BytesSource(std::shared_ptr<const RecordFile> file, std::string name, const std::string& path,
              ReadPolicy policy)
      : FileSource(
            file->size(),
            [file](std::int64_t i) -> Result<Element> {
              Element out;
              const Status s = file->read_many({&i, 1}, {&out, 1});
              return s.ok() ? Result<Element>(std::move(out)) : s;
            },
            std::move(name), path, std::move(policy)),
        file_(std::move(file)) {}
  Status read_many(std::span<const std::int64_t> indices, std::span<Element> out) const override {
    if (file_->read_many(indices, out).ok()) return {};
    return RecordSource::read_many(indices, out);  // applies the read policy
  }

 private:
  std::shared_ptr<const RecordFile> file_;
};

/// Rows of Parquet and Arrow, which know their files.
class RowSource : public FileSource {
 public:
  RowSource(std::shared_ptr<const ArrowRows> rows, const std::string& path, ReadPolicy policy)
      : FileSource(
            rows->size(), [rows](std::int64_t i) { return rows->read(i); },
            "ArrowDataSource(paths=['" + path + "'])", path, std::move(policy)),
        rows_(rows) {}
  RecordOrigin origin(std::int64_t index) const override {
    const auto [file, record] = rows_->place(index);
    return {.file = file, .record = record};
  }

 private:
  std::shared_ptr<const ArrowRows> rows_;
};

/// The number under `key` of a state; -1 for a text that is none.
std::int64_t number_of(const std::string& state, const char* key) {
  const auto j = nlohmann::json::parse(state, nullptr, false);
  if (!j.is_object() || !j.contains(key) || !j[key].is_number_integer()) return -1;
  return j[key].get<std::int64_t>();
}

/// Elements of any format; the state counts them, damaged ones among them.
class ElementReader : public RecordReader {
 public:
  ElementReader(std::string path, std::string format, ElementOptions options, ReadPolicy policy)
      : path_(std::move(path)),
        format_(std::move(format)),
        options_(std::move(options)),
        damage_(std::move(policy)) {}
  Status begin() {
    auto scanner = open_elements(path_, format_, options_);
    if (!scanner) return scanner.status();
    scanner_ = std::move(*scanner);
    index_ = 0;
    failed_ = {};
    return {};
  }
  Result<bool> next(Element& out) override {
    while (failed_.ok()) {
      auto more = scanner_->next(out);
      if (more && !*more) return false;
      ++index_;
      if (more) return true;
      auto passes = damage_.passes(more.status());
      if (!passes || !*passes) failed_ = passes ? more.status() : passes.status();
    }
    return failed_;
  }
  std::string state() const override { return fmt::format("{{\"next_index\": {}}}", index_); }
  Status set_state(const std::string& state) override {
    const std::int64_t n = number_of(state, "next_index");
    auto invalid = [&] { return Status(Code::invalid, "{}: no state of it: {}", path_, state); };
    if (n < 0) return invalid();
    if (Status s = begin(); !s.ok()) return s;
    for (Element passed; index_ < n; ++index_) {
      auto more = scanner_->next(passed);
      if (more && !*more) return invalid();
      if (!more && more.status().code() != Code::corrupt) return more.status();
    }
    return {};
  }
  RecordOrigin origin() const override { return {.file = path_, .record = index_ - 1}; }

 private:
  std::string path_, format_;
  ElementOptions options_;
  Damage damage_;
  std::unique_ptr<ElementScanner> scanner_;
  std::int64_t index_ = 0;
  Status failed_;
};

class TfRecordElements : public RecordReader {
 public:
  TfRecordElements(std::string path, ReadPolicy policy)
      : path_(std::move(path)), damage_(std::move(policy)) {}
  Status begin(std::uint64_t offset) {
    auto records = TfRecordReader::open(path_);
    if (!records) return records.status();
    // TfRecordReader::open makes no other.
    records_.reset(static_cast<TfRecordReader*>(records->release()));
    failed_ = {};
    return records_->skip(offset);
  }
  Result<bool> next(Element& out) override {
    while (failed_.ok()) {
      std::string_view record;
      place_ = records_->position();
      auto more = records_->next(record);
      if (more && !*more) return false;
      ++index_;
      if (more) {
        out = Element::bytes(std::string(record));
        return true;
      }
      auto passes = damage_.passes(more.status());
      if (!passes || !*passes) failed_ = passes ? more.status() : passes.status();
    }
    return failed_;
  }
  std::string state() const override {
    return fmt::format("{{\"reader_offset\": {}}}", records_->position());
  }
  Status set_state(const std::string& state) override {
    const std::int64_t n = number_of(state, "reader_offset");
    if (n < 0) return Status(Code::invalid, "{}: no state of it: {}", path_, state);
    return begin(static_cast<std::uint64_t>(n));
  }
  RecordOrigin origin() const override {
    return {.file = path_,
            .record = index_ - 1,
            .offset = static_cast<std::int64_t>(place_),
            .bytes = static_cast<std::int64_t>(records_->position() - place_)};
  }

 private:
  std::string path_;
  Damage damage_;
  std::unique_ptr<TfRecordReader> records_;
  std::uint64_t place_ = 0;
  std::int64_t index_ = 0;
  Status failed_;
};

/// Parquet's rows, with the state of Grain's ParquetIterDataset: a row group, and the next row in
/// it.
class ParquetElements : public RecordReader {
 public:
  ParquetElements(std::string path, ReadPolicy policy)
      : path_(std::move(path)), damage_(std::move(policy)) {}
  Status begin(std::int64_t group, std::int64_t index) {
    auto file = ArrowFile::open(path_);
    if (!file) return file.status();
    if ((*file)->kind() != kStrataArrowParquet)
      return Status(Code::invalid, "{}: no Parquet file", path_);
    if (group < 0 || (group > 0 && group >= (*file)->groups()))
      return Status(Code::invalid, "{}: no row group {}", path_, group);
    file_ = std::move(*file);
    failed_ = {};
    origin_ = 0;
    for (std::int64_t g = 0; g < group; ++g) {
      auto rows = file_->rows(g);
      if (!rows) return rows.status();
      origin_ += *rows;
    }
    if (Status s = enter(group); !s.ok()) return s;
    if (index < 0 || index > rows_)
      return Status(Code::invalid, "{}: no row {} in row group {}", path_, index, group);
    index_ = index;
    return {};
  }
  Result<bool> next(Element& out) override {
    while (failed_.ok()) {
      if (index_ >= rows_) {
        if (group_ + 1 >= file_->groups()) return false;
        origin_ += rows_;
        failed_ = enter(group_ + 1);
        continue;
      }
      auto row = at(index_);
      if (row) {
        ++index_;
        out = std::move(*row);
        return true;
      }
      // What is left of a damaged row group is one record that is passed over.
      auto passes = damage_.passes(row.status());
      if (passes && *passes)
        index_ = rows_;
      else
        failed_ = passes ? row.status() : passes.status();
    }
    return failed_;
  }
  std::string state() const override {
    return fmt::format("{{\"row_group\": {}, \"index_within_row_group\": {}}}", group_, index_);
  }
  Status set_state(const std::string& state) override {
    const std::int64_t group = number_of(state, "row_group");
    const std::int64_t index = number_of(state, "index_within_row_group");
    if (group < 0 || index < 0)
      return Status(Code::invalid, "{}: no state of it: {}", path_, state);
    return begin(group, index);
  }
  RecordOrigin origin() const override { return {.file = path_, .record = origin_ + index_ - 1}; }

 private:
  Status enter(std::int64_t group) {
    group_ = group;
    index_ = rows_ = batch_begin_ = 0;
    batch_ = nullptr;
    if (file_->groups() == 0) return {};
    auto rows = file_->rows(group);
    if (!rows) return rows.status();
    rows_ = *rows;
    return file_->seek(group);
  }
  Result<Element> at(std::int64_t index) {
    while (!batch_ || index >= batch_begin_ + batch_->rows()) {
      if (batch_) batch_begin_ += batch_->rows();
      auto batch = file_->next();
      if (!batch) return batch.status();
      batch_ = *batch;
      if (!batch_)
        return Status(Code::corrupt, "{}: row group {} ends before row {}", path_, group_, index);
    }
    return batch_->row(index - batch_begin_);
  }
  std::string path_;
  Damage damage_;
  std::shared_ptr<ArrowFile> file_;
  std::shared_ptr<const ArrowBatch> batch_;
  std::int64_t group_ = 0, index_ = 0, rows_ = 0, batch_begin_ = 0, origin_ = 0;
  Status failed_;
};

class FileStream : public RecordStream {
 public:
  FileStream(std::string path, std::string format, ElementOptions options, ReadPolicy policy)
      : path_(std::move(path)),
        format_(std::move(format)),
        options_(std::move(options)),
        policy_(std::move(policy)) {}
  Result<std::unique_ptr<RecordReader>> open() const override {
    if (format_ == "tfrecord") {
      auto out = std::make_unique<TfRecordElements>(path_, policy_);
      if (Status s = out->begin(0); !s.ok()) return s;
      return std::unique_ptr<RecordReader>(std::move(out));
    }
    if (format_ == "parquet") {
      auto out = std::make_unique<ParquetElements>(path_, policy_);
      if (Status s = out->begin(0, 0); !s.ok()) return s;
      return std::unique_ptr<RecordReader>(std::move(out));
    }
    auto out = std::make_unique<ElementReader>(path_, format_, options_, policy_);
    if (Status s = out->begin(); !s.ok()) return s;
    return std::unique_ptr<RecordReader>(std::move(out));
  }
  std::string name() const override {
    return format_ == "tfrecord"  ? "TFRecordIterDataset(path='" + path_ + "')"
           : format_ == "parquet" ? "ParquetIterDataset(path='" + path_ + "')"
                                  : fmt::format("{}('{}')", format_, path_);
  }

 private:
  std::string path_, format_;
  ElementOptions options_;
  ReadPolicy policy_;
};

Result<std::string> format_of(const std::string& path, const std::string& format) {
  const ElementFormat* found =
      format.empty() ? element_format_of(path) : element_format_named(format);
  if (found) return std::string(found->name);
  return Status(Code::invalid, "{}: no format {} that is known", path, format);
}

}  // namespace

Result<std::shared_ptr<const RecordSource>> open_source(const std::string& path,
                                                        const ReadPolicy& policy,
                                                        const std::string& format) {
  auto kind = format_of(path, format);
  if (!kind) return kind.status();
  auto made = [&](std::int64_t size, FileSource::Read read, const std::string& name) {
    return std::shared_ptr<const RecordSource>(std::make_shared<FileSource>(
        size, std::move(read), name + "(paths=['" + path + "'])", path, policy));
  };
  auto of_records = [&](std::shared_ptr<const RecordFile> file, const std::string& name) {
    return std::shared_ptr<const RecordSource>(std::make_shared<BytesSource>(
        std::move(file), name + "(paths=['" + path + "'])", path, policy));
  };
  if (*kind == "array_record") {
    auto file = ArrayRecordFile::open(path);
    if (!file) return file.status();
    return of_records(*file, "ArrayRecordDataSource");
  }
  if (*kind == "bagz") {
    auto file = BagzFile::open(path);
    if (!file) return file.status();
    return of_records(*file, "BagzDataSource");
  }
  if (*kind == "mds") {
    auto folder = MdsFolder::open(path);
    if (!folder) return folder.status();
    return made((*folder)->size(), [f = *folder](std::int64_t i) { return f->read(i); },
                "MdsDataSource");
  }
  if (*kind == "megatron") {
    auto file = MegatronFile::open(path);
    if (!file) return file.status();
    const std::int64_t size = file->size();
    auto read = [f = std::make_shared<const MegatronFile>(std::move(*file))](std::int64_t i) {
      return Result<Element>(Element(f->sequence(i)));
    };
    return made(size, read, "MegatronDataSource");
  }
  if (*kind == "parquet" || *kind == "arrow" || *kind == "hugging_face") {
    std::vector<std::string> files = {path};
    if (*kind == "hugging_face") {
      auto found = hugging_face_files(path, "");
      if (!found) return found.status();
      files = std::move(*found);
    }
    auto rows = ArrowRows::open(files);
    if (!rows) return rows.status();
    return std::shared_ptr<const RecordSource>(std::make_shared<RowSource>(*rows, path, policy));
  }
  return Status(Code::unsupported,
                "{}: records of {} are found one after the other only: convert it to "
                "array_record, or read it as a stream",
                path, *kind);
}

Result<std::shared_ptr<const RecordStream>> open_stream(const std::string& path,
                                                        const ReadPolicy& policy,
                                                        const std::string& format,
                                                        const ElementOptions& options) {
  auto kind = format_of(path, format);
  if (!kind) return kind.status();
  return std::shared_ptr<const RecordStream>(
      std::make_shared<FileStream>(path, *kind, options, policy));
}

}  // namespace strata::data
