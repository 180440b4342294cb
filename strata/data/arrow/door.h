// What libstrata_arrow.so gives: Arrow's and Parquet's files as batches of columns in Arrow's C
// data interface. Arrow's own headers are seen in library_inside.cc alone.
//
// The library is optional: it is built where CMake finds Arrow, and opened when a file asks for it
// (library.h).
#pragma once

#include <cstdint>

#include "strata/data/arrow/c_data.h"

extern "C" {

/// The kinds of files, as numbers.
enum StrataArrowKind : std::int32_t {
  kStrataArrowParquet = 0,
  kStrataArrowFile = 1,    // batches by number behind "ARROW1"
  kStrataArrowStream = 2,  // batches one after the other
};

/// What a failure was; 0 is success. A message is allocated by malloc and freed by the caller.
enum StrataArrowCode : std::int32_t {
  kStrataArrowOk = 0,
  kStrataArrowCorrupt = 1,
  kStrataArrowInvalid = 2,
  kStrataArrowUnsupported = 3,
  kStrataArrowIo = 4,
  kStrataArrowNotFound = 5,
};

/// A file that the caller reads in parts. `read` fills `out` with `length` bytes from `offset` on,
/// which are in the file; any thread calls it.
struct StrataArrowSource {
  void* context;
  std::int64_t size;
  std::int32_t (*read)(void* context, std::int64_t offset, std::int64_t length, void* out,
                       char** message);
};

/// The functions, in a table that `strata_arrow_door` returns. A reader or writer is used by one
/// thread at a time.
struct StrataArrowDoor {
  /// Grows whenever a row changes.
  std::int32_t version;
  /// "26.0.1".
  const char* arrow_version;

  /// Opens a file of any kind; says which, and its schema. `groups` becomes -1 for streams. Maps
  /// `path` where `source` is null; else that must live as long as the reader.
  std::int32_t (*open)(const char* path, const struct StrataArrowSource* source, std::int32_t kind,
                       void** reader, struct ArrowSchema* schema, std::int64_t* groups,
                       char** message);
  /// The rows of a group: of a row group of Parquet, of a batch of Arrow's file.
  std::int32_t (*rows)(void* reader, std::int64_t group, std::int64_t* rows, char** message);
  /// All of a group, its values checked (offsets within buffers, UTF-8).
  std::int32_t (*read_group)(void* reader, std::int64_t group, struct ArrowArray* out,
                             char** message);
  /// The next batch; `out->release` is null at the end. After a failure the next call goes on with
  /// the next group; of a stream it is at the end.
  std::int32_t (*next)(void* reader, struct ArrowArray* out, char** message);
  /// The next batch is the first of this group.
  std::int32_t (*seek)(void* reader, std::int64_t group, char** message);
  void (*close_reader)(void* reader);

  /// Makes a file; takes the schema over. `compression` is "none", "zstd", "snappy", "brotli",
  /// "gzip" or "lz4".
  std::int32_t (*create)(const char* path, std::int32_t kind, const char* compression,
                         struct ArrowSchema* schema, void** writer, char** message);
  /// Writes a batch, of Parquet a row group; takes the array over.
  std::int32_t (*write)(void* writer, struct ArrowArray* batch, char** message);
  /// Writes the file's end.
  std::int32_t (*finish)(void* writer, char** message);
  void (*close_writer)(void* writer);
};

/// The one function that the library exports.
typedef const struct StrataArrowDoor* (*StrataArrowDoorFunction)();

}  // extern "C"

inline constexpr std::int32_t kStrataArrowDoorVersion = 2;
