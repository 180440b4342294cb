// Parquet and Arrow files by Arrow's own library, which is optional.
//
//   auto file = ArrowFile::open("train.parquet");      // Code::unsupported where there is no Arrow
//   file->type();                                      // a structure: the columns
//   auto batch = (*file)->next();                      // null at the end
//   (*batch)->row(0);                                  // an Element: a dict
//
// libstrata_arrow.so (door.h) is looked for where STRATA_ARROW says, else beside the program and in
// ../lib of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/partial_file.h"
#include "strata/base/result.h"
#include "strata/data/arrow/columns.h"
#include "strata/data/arrow/door.h"
#include "strata/data/element.h"

namespace strata::data {

/// The library's functions, opened once. Code::unsupported says how to get it.
Result<const StrataArrowDoor*> arrow_library();

/// Rows in columns. Any threads may read at once; elements share its memory and keep it alive.
class ArrowBatch : public std::enable_shared_from_this<ArrowBatch> {
 public:
  /// Takes the array over; `keep` lives as long as the batch.
  ArrowBatch(std::shared_ptr<const ArrowType> type, ArrowArray array,
             std::shared_ptr<const void> keep);
  ~ArrowBatch();
  ArrowBatch(const ArrowBatch&) = delete;
  ArrowBatch& operator=(const ArrowBatch&) = delete;
  std::int64_t rows() const { return array_.length; }
  Result<Element> row(std::int64_t index) const;

 private:
  std::shared_ptr<const ArrowType> type_;
  ArrowArray array_;
  std::shared_ptr<const void> keep_;
};

/// A file that is open to read; one thread at a time. Values are checked as they are read: offsets,
/// UTF-8, and Parquet's checksums of pages where the file has them.
class ArrowFile : public std::enable_shared_from_this<ArrowFile> {
 public:
  /// Parquet, Arrow's file or Arrow's stream, told by how the file begins. Of an object in a bucket
  /// its metadata is fetched here, and columns and batches when they are read.
  static Result<std::shared_ptr<ArrowFile>> open(const std::string& path);
  ~ArrowFile();
  ArrowFile(const ArrowFile&) = delete;
  ArrowFile& operator=(const ArrowFile&) = delete;
  const std::string& path() const { return path_; }
  const ArrowType& type() const { return *type_; }
  StrataArrowKind kind() const { return kind_; }
  /// Row groups of Parquet, batches of Arrow's file; -1 for a stream.
  std::int64_t groups() const { return groups_; }
  Result<std::int64_t> rows(std::int64_t group);
  Result<std::shared_ptr<const ArrowBatch>> read_group(std::int64_t group);
  /// The next batch in order (of Parquet a part of a row group); null at the end. After
  /// Code::corrupt it goes on with the next group.
  Result<std::shared_ptr<const ArrowBatch>> next();
  /// The next batch is the first of this group; not of streams.
  Status seek(std::int64_t group);

 private:
  ArrowFile(const StrataArrowDoor* door, std::string path, StrataArrowKind kind)
      : door_(door), path_(std::move(path)), kind_(kind) {}
  Result<std::shared_ptr<const ArrowBatch>> batch(std::int32_t code, ArrowArray array,
                                                  char* message);
  Status failed(std::int32_t code, char* message) const;
  const StrataArrowDoor* door_;
  std::string path_;
  StrataArrowKind kind_;
  std::shared_ptr<const PartialFile> file_;
  StrataArrowSource source_ = {};  // of an object's
  void* reader_ = nullptr;
  std::shared_ptr<const ArrowType> type_;
  std::int64_t groups_ = -1;
};

/// Writes a file that is whole or not there. Columns are those of the first records: until
/// `batch_rows` records or 64 MiB of values have come, members may still appear and integers turn
/// into real numbers; from then on records must fit.
class ArrowWriter {
 public:
  static Result<std::unique_ptr<ArrowWriter>> create(const std::string& path, StrataArrowKind kind,
                                                     const std::string& compression,
                                                     std::int64_t batch_rows);
  ~ArrowWriter();
  ArrowWriter(const ArrowWriter&) = delete;
  ArrowWriter& operator=(const ArrowWriter&) = delete;
  /// Fixes the columns before the first record.
  Status begin(const ArrowType& type);
  /// A dict; Code::invalid for one that does not fit.
  Status add(const Element& record);
  Status close();
  /// The columns; known once the first batch is written, and after `close`.
  const ArrowType& type() const { return type_; }
  std::int64_t rows() const { return rows_; }
  /// Memory of the values added so far.
  std::int64_t bytes() const { return bytes_; }

 private:
  ArrowWriter(const StrataArrowDoor* door, std::string path, StrataArrowKind kind,
              std::string compression, std::int64_t batch_rows)
      : door_(door),
        path_(std::move(path)),
        kind_(kind),
        compression_(std::move(compression)),
        batch_rows_(batch_rows) {}
  Status flush();
  Status failed(std::int32_t code, char* message) const;
  const StrataArrowDoor* door_;
  std::string path_;
  StrataArrowKind kind_;
  std::string compression_;
  std::int64_t batch_rows_;
  void* writer_ = nullptr;
  bool closed_ = false;
  ArrowType type_;
  /// Records before the columns are known, and the batch that is being filled after.
  std::vector<Element> waiting_;
  std::optional<ArrowColumn> columns_;
  std::int64_t rows_ = 0, written_ = 0, bytes_ = 0, waiting_bytes_ = 0;
};

}  // namespace strata::data
