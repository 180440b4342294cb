// Files of which only parts are read: mapped in place; of an object in a bucket, those ranges
// are fetched that somebody needs, each once.
//
//   auto file = PartialFile::open("gs://bucket/train.array_record");
//   if (Status s = (*file)->need(1 << 20, 4096); !s.ok()) return s;
//   use((*file)->bytes().substr(1 << 20, 4096));
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/large_file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/result.h"

namespace strata {

/// Any threads may need parts at once.
class PartialFile {
 public:
  struct Range {
    std::uint64_t offset = 0, length = 0;
  };
  /// Maps a file; of an object only its size is asked for. Fails as MappedFile::open does.
  static Result<std::shared_ptr<const PartialFile>> open(const std::string& path);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  /// As long as the file. Those of an object that were never needed are zeros.
  std::string_view bytes() const { return bytes_; }
  /// Makes parts of `bytes` those of the file; what reaches behind its end is left out. A file on
  /// disk has them already. Ranges of an object that are less than 4 KiB apart are fetched by one
  /// request, several requests at once by a few threads; all are of the generation that `open`
  /// found: Code::not_found where the object was written since.
  Status need(std::span<const Range> ranges) const;
  Status need(std::uint64_t offset, std::uint64_t length) const {
    const Range range{offset, length};
    return need(std::span(&range, 1));
  }
  /// Whether parts must be needed before they are read.
  bool remote() const { return store_ != nullptr; }
  /// As MappedFile's: their pages stop counting as this process's memory.
  void release(std::string_view part) const;

 private:
  PartialFile() = default;
  Status open_object(const std::string& path);
  std::vector<Range> missing(std::span<const Range> ranges) const;
  Status fetch(const Range& range) const;
  void note(const Range& range) const;

  std::string_view bytes_;
  std::shared_ptr<const MappedFile> mapped_;  // of a file on disk
  std::string path_, key_, generation_;
  std::shared_ptr<ObjectStore> store_;
  int fd_ = -1;  // of a nameless file with holes, which is mapped
  mutable std::mutex mutex_;
  mutable std::map<std::uint64_t, std::uint64_t> there_;  // parts that were fetched: begin to end
};

}  // namespace strata
