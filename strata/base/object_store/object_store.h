// Buckets of object stores (gs://, s3://) behind the functions of files.
//
//   net::register_object_stores();                           // gs:// and s3:// work from here on
//   auto text = read_file("gs://bucket/runs/7/config.yml");
//   auto names = list_folder("s3://bucket/data");
//
// A room above this one says how a scheme's buckets are reached; `read_file`, `write_file_atomic`,
// `list_folder`, `MappedFile`, `FileWriter` and their kin then take such paths. An object appears
// whole or not at all. Nothing can be renamed, and folders are only prefixes that end in '/'.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"

namespace strata {

/// What a store knows of an object. `generation` changes with every write: a number of Google's,
/// an ETag of S3.
struct ObjectInfo {
  std::string key;
  std::uint64_t size = 0;
  std::string generation;
};

/// What is below a prefix, sorted by key; `folders` end in '/' and are empty in a recursive
/// listing.
struct ObjectListing {
  std::vector<ObjectInfo> objects;
  std::vector<std::string> folders;
};

/// A part of an object, and optionally the generation that is meant.
struct ObjectRange {
  /// The first byte.
  std::uint64_t offset = 0;
  /// So many bytes, or fewer where the object ends.
  std::uint64_t length = std::numeric_limits<std::uint64_t>::max();
  /// Code::not_found where the object has another generation by now; empty: any.
  std::string generation = {};
};

/// An object that is written piece by piece, and appears at `commit`. Destroyed before, nothing
/// appears and the store is told to forget the pieces.
class ObjectUpload {
 public:
  virtual ~ObjectUpload() = default;
  /// Adds bytes.
  virtual Status write(std::string_view bytes) = 0;
  /// Makes the object; its generation.
  virtual Result<std::string> commit() = 0;
};

/// One bucket. Failed and lost requests are repeated inside; what is returned is final. Functions
/// may be called by any thread.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  /// Code::not_found where there is none.
  virtual Result<ObjectInfo> stat(const std::string& key) = 0;
  /// Bytes of a range, all of one generation. Code::not_found, Code::denied, Code::corrupt for
  /// bytes whose checksum is another than the store's.
  virtual Result<std::string> read(const std::string& key, const ObjectRange& range) = 0;
  /// Writes a whole object; its generation. `expected` is the generation that it has before, empty
  /// for none: Code::exists where it is another. A repeated request that finds its own bytes there
  /// has succeeded; so what locks writes bytes that nobody else writes.
  virtual Result<std::string> write(const std::string& key, std::string_view bytes,
                                    const std::optional<std::string>& expected) = 0;
  /// Begins a large object.
  virtual Result<std::unique_ptr<ObjectUpload>> upload(const std::string& key) = 0;
  /// Removes an object; none there is no failure.
  virtual Status remove(const std::string& key) = 0;
  /// Keys that begin with `prefix`: all, or those without a further '/', with folders.
  virtual Result<ObjectListing> list(const std::string& prefix, bool recursive) = 0;
};

/// Opens a bucket by its name; does not ask whether it exists.
using OpenBucket = std::function<Result<std::shared_ptr<ObjectStore>>(const std::string& bucket)>;

/// Says how buckets of `scheme` ("gs") are reached, in place of what was said before.
void register_object_store(const std::string& scheme, OpenBucket open);

/// Whether the path names an object: SCHEME://... with letters and digits before it.
bool is_object_path(std::string_view path);

/// A bucket and the key inside of it.
struct ObjectPath {
  std::shared_ptr<ObjectStore> store;
  std::string key;
};

/// Takes "gs://bucket/a/b" apart. A bucket is opened once in a process. Code::unsupported for a
/// scheme that nobody registered, Code::invalid for a path without a bucket.
Result<ObjectPath> find_object(const std::string& path);

}  // namespace strata
