// Parquet and Arrow files as elements in their order.
#include "strata/base/result.h"
#include "strata/data/arrow/library.h"
#include "strata/data/format/elements.h"

namespace strata::data {
namespace {

constexpr std::int64_t kRowsOfGroup = 65536, kRowsOfBatch = 8192;

class Scanner : public ElementScanner {
 public:
  explicit Scanner(std::shared_ptr<ArrowFile> file) : file_(std::move(file)) {
    for (std::int64_t g = 0; g < file_->groups(); ++g)
      if (auto rows = file_->rows(g)) total_ += static_cast<std::uint64_t>(*rows);
  }
  Result<bool> next(Element& out) override {
    while (!batch_ || at_ == batch_->rows()) {
      auto batch = file_->next();
      at_ = 0;
      batch_ = batch ? *batch : nullptr;
      if (!batch) return batch.status();
      if (!batch_) return false;
    }
    auto row = batch_->row(at_++);
    if (!row) return row.status();
    ++passed_;
    out = std::move(*row);
    return true;
  }
  std::uint64_t passed() const override { return passed_; }
  std::uint64_t total() const override { return total_; }

 private:
  std::shared_ptr<ArrowFile> file_;
  std::shared_ptr<const ArrowBatch> batch_;
  std::int64_t at_ = 0;
  std::uint64_t passed_ = 0, total_ = 0;
};

class Writer : public ElementWriter {
 public:
  explicit Writer(std::unique_ptr<ArrowWriter> writer) : writer_(std::move(writer)) {}
  Status add(const Element& e) override {
    // A record that is no dict is a column of its own.
    return writer_->add(e.kind() == Element::Kind::dict ? e : Element::dict({{"record", e}}));
  }
  Status close() override { return writer_->close(); }

 private:
  std::unique_ptr<ArrowWriter> writer_;
};

CreatedElements create(const std::string& path, StrataArrowKind kind,
                       const std::string& compression, std::int64_t rows) {
  auto writer = ArrowWriter::create(path, kind, compression, rows);
  if (!writer) return writer.status();
  return std::unique_ptr<ElementWriter>(std::make_unique<Writer>(std::move(*writer)));
}

}  // namespace

OpenedElements open_arrow(const std::string& path, const ElementOptions&) {
  auto file = ArrowFile::open(path);
  if (!file) return file.status();
  return std::unique_ptr<ElementScanner>(std::make_unique<Scanner>(std::move(*file)));
}

OpenedElements open_parquet(const std::string& path, const ElementOptions& o) {
  return open_arrow(path, o);
}

CreatedElements create_arrow(const std::string& path, const ElementOptions& o) {
  if (o.compression != "auto" && o.compression != "none" && o.compression != "zstd" &&
      o.compression != "lz4")
    return Status(Code::invalid, "Arrow's compression is none, zstd or lz4, not {}", o.compression);
  return create(path, path.ends_with(".arrows") ? kStrataArrowStream : kStrataArrowFile,
                o.compression == "auto" ? "none" : o.compression, kRowsOfBatch);
}

CreatedElements create_parquet(const std::string& path, const ElementOptions& o) {
  return create(path, kStrataArrowParquet, o.compression == "auto" ? "zstd" : o.compression,
                kRowsOfGroup);
}

}  // namespace strata::data
