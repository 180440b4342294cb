// Tensors that stay as they are from step to step, written once for all steps of a run.
//
//   checkpoint::save(root, c, {.newest = 3}, {{"params", {"base.w"}}});   // base.w does not change
//   checkpoint::collect_chunks(root);   // removes those that no step names any more
//
// ROOT/chunks/NAME holds the bytes of one tensor, and NAME is their SHA-256. A manifest names the
// chunk in place of a tensor in the step's own file. A tensor becomes a chunk when the program says
// that it stays, or when its bytes are those that the newest step has under its name; one below
// `kLeastChunk` bytes never does. So a run whose tensors all change has no chunks, and its
// checkpoints are of format 1.
//
// Order makes it safe: a chunk is durable before the manifest that names it, and is removed only
// after the last one that named it. A crash leaves chunks that nobody names, which the next save
// removes. While a manifest cannot be read nothing is removed, since it may name any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "strata/base/file.h"
#include "strata/base/result.h"

namespace strata::checkpoint {

/// Tensors that the program does not change, by part.
using Still = std::map<std::string, std::set<std::string>>;

/// The step's own file stores smaller tensors: a file of their own would cost more than they do.
inline constexpr std::uint64_t kLeastChunk = 16 << 10;
/// Where chunks are below a root, and the file that locks them.
inline constexpr const char *kChunkFolder = "/chunks", *kChunkLock = "lock";

/// Removes the chunks below a root that no step names. Removes nothing while a step's manifest
/// cannot be read, or another process saves there (the next save removes them). A root without
/// chunks is left alone.
Status collect_chunks(const std::string& root);

/// The SHA-256 of bytes in 64 hexadecimal digits: a chunk's name. Source: FIPS 180-4, by libcrypto.
std::string chunk_name(std::string_view bytes);
/// Whether a name can be a chunk's: nothing in it leads out of the folder.
bool is_chunk_name(std::string_view name);
/// ROOT/chunks/NAME, where ROOT is the folder above a step's.
std::string chunk_path(const std::string& root, const std::string& name);
/// Makes a chunk durable; one of that name and size stays as it is.
Status write_chunk(const std::string& root, const std::string& name, std::string_view bytes);

/// Held by who writes or removes chunks below a root; not in buckets, where one process writes.
class ChunkLock {
 public:
  /// Makes the folder of chunks. Waits up to a minute for another process.
  static Result<ChunkLock> wait(const std::string& root);

 private:
  std::optional<FileLock> lock_;
};

}  // namespace strata::checkpoint
