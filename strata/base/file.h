// Whole files. Failures name the path and the system's reason.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"

namespace strata {

/// The bytes of a file.
Result<std::string> read_file(const std::string& path);

/// Writes `path` so that after a crash at any moment either the old file or the whole new one is
/// there: written beside as PATH.tmp, synced, renamed, and the folder synced. Code::no_space when
/// the disk is full; PATH.tmp is removed then. A link stays, and what it names is written so; owner
/// and permissions stay. What is no regular file (a pipe, a device, /dev/stdout) is written
/// through.
Status write_file_atomic(const std::string& path, std::string_view bytes);

/// Makes a folder and those above it; it may exist.
Status make_folders(const std::string& path);

/// Syncs a folder's entries to disk.
Status sync_folder(const std::string& path);

/// Writes a new file, or over an old one, and syncs its bytes. For files inside a folder that is
/// renamed later: a crash may leave a part. Code::no_space when the disk is full; the file is
/// removed then.
Status write_file_synced(const std::string& path, std::string_view bytes);
/// The same for bytes in several places, one after the other.
Status write_file_synced(const std::string& path, std::span<const std::string_view> pieces);

/// Gives a file or folder its final name, which nothing has yet or a file has, and syncs the folder
/// above.
Status rename_synced(const std::string& from, const std::string& to);

/// The same when `to` may be a folder with contents: the two change places at one moment where the
/// file system can do that, and `from` is then the old one.
Status exchange_synced(const std::string& from, const std::string& to);

/// Removes a file, or a folder with all below it; nothing there is no failure.
Status remove_all(const std::string& path);

/// Names in a folder, sorted.
Result<std::vector<std::string>> list_folder(const std::string& path);

bool file_exists(const std::string& path);

/// Lines or records added to the end of a file, each by one write.
class LineWriter {
 public:
  /// Opens for adding; makes the file when there is none.
  static Result<LineWriter> open(const std::string& path);
  LineWriter(LineWriter&& other) noexcept;
  LineWriter& operator=(LineWriter&& other) noexcept;
  ~LineWriter();
  /// Adds `line` and a line end.
  Status add(std::string_view line);
  /// Adds bytes as they are: a record of a format that has its own ends.
  Status add_bytes(std::string_view bytes);
  /// What was added so far survives a crash of the machine from here on.
  Status sync();

 private:
  LineWriter(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_ = -1;
  std::string path_;
};

/// Held while it lives, given up when the process ends in any way.
class FileLock {
 public:
  /// Code::exists when another process holds it.
  static Result<FileLock> take(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

namespace testing_hooks {
/// Called before every write, sync and rename of the functions above, with a word for it; may end
/// the process.
void set_before_io(std::function<void(const char*)> hook);
}  // namespace testing_hooks

}  // namespace strata
