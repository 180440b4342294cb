// Rows of Parquet and Arrow files by number.
//
//   auto rows = ArrowRows::open({"a.parquet", "b.parquet"});
//   (*rows)->read(7);                                  // a dict of columns
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/arrow/library.h"
#include "strata/data/element.h"

namespace strata::data {

/// Any threads may read at once. A row group is decoded whole; the last ones stay, so neighbours
/// are found without decoding it again. Streams are read through at opening; what is not
/// compressed in them stays in the file.
class ArrowRows {
 public:
  static Result<std::shared_ptr<const ArrowRows>> open(const std::vector<std::string>& paths);
  std::int64_t size() const { return size_; }
  Result<Element> read(std::int64_t index) const;
  /// The file that a row is in, and its number there.
  std::pair<std::string, std::int64_t> place(std::int64_t index) const;

 private:
  struct Group {
    std::size_t file = 0;
    std::int64_t number = 0, first = 0, rows = 0;
    std::shared_ptr<const ArrowBatch> always;
  };
  std::size_t group_of(std::int64_t index) const;
  std::vector<std::shared_ptr<ArrowFile>> files_;
  std::vector<std::int64_t> file_begins_;
  std::vector<Group> groups_;
  std::int64_t size_ = 0;
  mutable std::mutex mutex_;
  /// Groups and their batches, the last used first.
  mutable std::list<std::pair<std::size_t, std::shared_ptr<const ArrowBatch>>> recent_;
};

}  // namespace strata::data
