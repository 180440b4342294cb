// Files of records that are bytes (ArrayRecord, Bagz, TFRecord), as elements: how the bytes stand
// for more than bytes.
#include "strata/data/format/array_record.h"
#include "strata/data/format/bagz.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/example.h"
#include "strata/data/format/json.h"
#include "strata/data/format/tf_record.h"

namespace strata::data {
namespace {

enum class Form { raw, json, example };

Result<Form> form_named(const std::string& name) {
  if (name == "raw") return Form::raw;
  if (name == "json") return Form::json;
  if (name == "example") return Form::example;
  return Status(Code::invalid, "records are auto, raw, json or example, not {}", name);
}

Form form_of(std::string_view record, bool may_be_example) {
  if (record.starts_with('{') && element_of_json(record, "")) return Form::json;
  return may_be_example && is_example(record) ? Form::example : Form::raw;
}

class Scanner : public ElementScanner {
 public:
  Scanner(std::unique_ptr<RecordScanner> records, std::string name, std::optional<Form> form,
          bool may_be_example)
      : records_(std::move(records)),
        name_(std::move(name)),
        form_(form),
        may_be_example_(may_be_example) {}
  Result<bool> next(Element& out) override {
    std::string_view record;
    damaged_.clear();
    auto more = records_->next(record);
    ++index_;
    if (!more || !*more) return more;
    if (!form_) form_ = form_of(record, may_be_example_);
    if (*form_ == Form::raw) {
      out = Element::bytes(std::string(record));
      return true;
    }
    const std::string where = fmt::format("{}: record {}", name_, index_);
    auto element =
        *form_ == Form::json ? element_of_json(record, where) : decode_example(record, where);
    if (!element) {
      damaged_ = record;
      return element.status();
    }
    out = std::move(*element);
    return true;
  }
  std::uint64_t passed() const override { return records_->passed(); }
  std::uint64_t total() const override { return records_->file_bytes(); }
  std::string_view damaged() const override { return damaged_; }

 private:
  std::unique_ptr<RecordScanner> records_;
  std::string name_, damaged_;
  std::optional<Form> form_;
  bool may_be_example_;
  std::int64_t index_ = -1;
};

/// Records by number, one after the other.
class InOrder : public RecordScanner {
 public:
  explicit InOrder(std::shared_ptr<const RecordFile> file) : file_(std::move(file)) {}
  Result<bool> next(std::string_view& record) override {
    constexpr std::int64_t kAhead = 1024;
    if (at_ >= file_->size()) return false;
    if (at_ % kAhead == 0)
      if (Status s = file_->fetch(at_, kAhead); !s.ok()) return ++at_, s;
    auto read = file_->read(at_++);
    if (!read) return read.status();
    record_ = std::move(*read);
    record = record_;
    return true;
  }
  std::uint64_t passed() const override { return static_cast<std::uint64_t>(at_); }
  std::uint64_t file_bytes() const override { return static_cast<std::uint64_t>(file_->size()); }

 private:
  std::shared_ptr<const RecordFile> file_;
  std::string record_;
  std::int64_t at_ = 0;
};

OpenedElements scan(Result<std::unique_ptr<RecordScanner>> records, const std::string& path,
                    const ElementOptions& o, bool may_be_example) {
  if (!records) return records.status();
  std::optional<Form> form;
  if (o.records != "auto") {
    auto named = form_named(o.records);
    if (!named) return named.status();
    form = *named;
  }
  return std::unique_ptr<ElementScanner>(
      std::make_unique<Scanner>(std::move(*records), path, form, may_be_example));
}

class Writer : public ElementWriter {
 public:
  Writer(std::unique_ptr<RecordWriter> records, Form form)
      : records_(std::move(records)), form_(form) {}
  Status add(const Element& e) override {
    if (e.kind() == Element::Kind::bytes || e.kind() == Element::Kind::text)
      return records_->add(e.view());
    if (form_ == Form::raw)
      return Status(Code::invalid, "raw records are bytes or texts, not {}", name(e.kind()));
    if (form_ == Form::json) return records_->add(json_of(e));
    auto record = encode_example(e);
    return record ? records_->add(*record) : record.status();
  }
  Status close() override { return records_->close(); }

 private:
  std::unique_ptr<RecordWriter> records_;
  Form form_;
};

CreatedElements write(Result<std::unique_ptr<RecordWriter>> records, const ElementOptions& o,
                      Form usual) {
  if (!records) return records.status();
  if (o.records != "auto") {
    auto named = form_named(o.records);
    if (!named) return named.status();
    usual = *named;
  }
  return std::unique_ptr<ElementWriter>(std::make_unique<Writer>(std::move(*records), usual));
}

}  // namespace

OpenedElements open_array_record(const std::string& path, const ElementOptions& o) {
  return scan(ArrayRecordReader::open(path), path, o, true);
}

OpenedElements open_bagz(const std::string& path, const ElementOptions& o) {
  auto file = BagzFile::open(path);
  if (!file) return file.status();
  return scan(std::unique_ptr<RecordScanner>(std::make_unique<InOrder>(*file)), path, o, true);
}

OpenedElements open_tf_record(const std::string& path, const ElementOptions& o) {
  return scan(TfRecordReader::open(path), path, o, true);
}

CreatedElements create_array_record(const std::string& path, const ElementOptions& o) {
  ArrayRecordOptions options{.group_size = o.group_size};
  if (o.compression == "none" || o.compression == "uncompressed")
    options.compression = BlockCompression::none;
  else if (o.compression == "brotli")
    options.compression = BlockCompression::brotli;
  else if (o.compression == "snappy")
    options.compression = BlockCompression::snappy;
  else if (o.compression != "zstd" && o.compression != "auto")
    return Status(Code::invalid,
                  "ArrayRecord's compression is none, zstd, brotli or snappy, not {}",
                  o.compression);
  return write(ArrayRecordWriter::create(path, options), o, Form::json);
}

CreatedElements create_bagz(const std::string& path, const ElementOptions& o) {
  return write(BagzWriter::create(path), o, Form::json);
}

CreatedElements create_tf_record(const std::string& path, const ElementOptions& o) {
  return write(TfRecordWriter::create(path), o, Form::example);
}

}  // namespace strata::data
