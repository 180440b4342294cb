// Files larger than memory: read in place, written piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "strata/base/object_store/object_store.h"
#include "strata/base/result.h"

namespace strata {

/// A file's bytes, mapped: a page is read when somebody looks at it.
class MappedFile {
 public:
  /// Code::not_found, Code::denied, Code::invalid for a folder. Of an object of a bucket, a copy
  /// is kept on disk, without a name, in the system's folder for temporary files.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::string_view bytes() const { return {static_cast<const char*>(at_), size_}; }
  /// Says that these of its bytes are not needed for now: their pages stop counting as this
  /// process's memory, and are read again when they are looked at.
  void release(std::string_view part) const;

 private:
  MappedFile(void* at, std::size_t size) : at_(at), size_(size) {}
  void* at_;
  std::size_t size_;
};

/// A file that is whole or not there, written piece by piece: as PATH.tmp, which `commit` syncs and
/// renames; in a bucket, as an upload that `commit` ends. Without `commit` nothing stays.
class FileWriter {
 public:
  static Result<FileWriter> create(const std::string& path);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  ~FileWriter();
  /// Adds bytes. Code::no_space when the disk is full.
  Status write(std::string_view bytes);
  /// So many bytes were added.
  std::uint64_t written() const { return written_; }
  /// Makes the file durable under its name.
  Status commit();

 private:
  FileWriter(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  std::string aside() const { return path_ + ".tmp"; }
  int fd_ = -1;
  std::string path_;
  std::uint64_t written_ = 0;
  std::unique_ptr<ObjectUpload> upload_;
};

}  // namespace strata
