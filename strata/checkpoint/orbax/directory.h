// Checkpoints as Orbax lays them out: a folder of items that is whole or not there.
//
//   orbax::save("run/400", {.items = {{"state", leaves}}, .json = {{"meta", "{}"}}});
//   auto directory = orbax::Directory::open("run/400");
//   auto tree = directory->tree("state");
//   auto checkpoint = orbax::load("run");          // the newest step, as tensors by name
//
// Source: google/orbax, checkpoint/orbax/checkpoint/_src/path and _src/handlers. Layouts of the
// first API (v0: named items, or one tree in the folder itself) and of the second (v1).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/checkpoint/contents.h"
#include "strata/checkpoint/orbax/pytree.h"

namespace strata::checkpoint::orbax {

/// The ending of what is not finished.
inline constexpr const char* kTemporary = ".orbax-checkpoint-tmp";

/// What a checkpoint is made of.
struct Contents {
  std::map<std::string, std::vector<Leaf>> items;
  /// The one item is a tree that stands in the folder itself, as StandardCheckpointer and
  /// PyTreeCheckpointer write it: its name is not stored.
  bool in_folder = false;
  /// How items are written that are not as SaveOptions::tree says.
  std::map<std::string, TreeOptions> formats;
  /// Items that are one JSON value.
  std::map<std::string, std::string> json;
  /// Other files by item: of a data iterator, `process_0-of-1.json`.
  std::map<std::string, std::map<std::string, std::string>> files;
  /// JSON objects of the whole checkpoint.
  std::string metrics = "{}", custom = "{}";
  /// Classes of Orbax's that wrote items, by item, where they are not the usual ones; of a tree in
  /// the folder itself by the item's name.
  std::map<std::string, std::string> handlers;
};

/// How a checkpoint is written.
struct SaveOptions {
  /// 1 or 2: the second API's marker, names and Zarr format.
  int api = 1;
  TreeOptions tree;
};

/// Writes PATH.orbax-checkpoint-tmp, every file synced, and gives it its name at the end. Whatever
/// happens, PATH is the old one, the new one, or not there as before.
///
/// In a bucket (gs://, s3://) nothing can be renamed: objects get their final names at once, and
/// `commit_success.txt`, written last, makes them a checkpoint. One that PATH was before is removed
/// first, its mark before all: a failure leaves the new one or none.
///
/// Throws Error as write_pytree, and where more than one tree would stand in the folder itself.
Status save(const std::string& path, const Contents& contents, const SaveOptions& options = {});
/// Removes a checkpoint, whole or not; none there is no failure. A crash in between leaves it or
/// what no reader takes for one.
Status remove(const std::string& path);

/// A checkpoint's folder that is open for reading.
class Directory {
 public:
  /// Code::not_found where there is no checkpoint, Code::corrupt for one that was not finished: the
  /// name of a temporary, or an object store's without `commit_success.txt`.
  static Result<Directory> open(const std::string& path);
  /// The items that are trees, by name; one in the folder itself is called "default".
  const std::vector<std::string>& trees() const { return trees_; }
  /// Whether its one tree stands in the folder itself.
  bool in_folder() const { return in_folder_; }
  Result<PyTree> tree(const std::string& item) const;
  /// The items that are one JSON value, as text.
  const std::map<std::string, std::string>& json() const { return json_; }
  /// When it was finished, in nanoseconds since 1970; 0 where that is not said.
  std::int64_t commit_time() const { return commit_time_; }
  const std::string& path() const { return path_; }

 private:
  Directory() = default;
  std::string path_;
  std::shared_ptr<FolderStore> store_;
  std::vector<std::string> trees_;
  bool in_folder_ = false;
  std::map<std::string, std::string> json_;
  std::int64_t commit_time_ = 0;
};

/// Whether a folder looks as one of Orbax's checkpoints, finished or not. Codes of is_there.
Result<bool> is_checkpoint(const std::string& path);
/// Whether a checkpoint of a bucket lacks its mark, by a listing of its folder, so that a request
/// that fails is an error and no answer. Elsewhere the name says it.
Result<bool> is_unfinished(const std::string& path);
/// The steps below a manager's folder, increasing, with their folders: "12", "000012",
/// "prefix_12". Temporaries do not count, nor what a bucket holds without `commit_success.txt`.
Result<std::vector<std::pair<std::int64_t, std::string>>> steps(const std::string& root);

/// All of a checkpoint, or of the newest step below a root, as tensors by name: a part for each
/// tree, notes for JSON items and texts. Names are keys joined by `/`; where two leaves would have
/// one, a `/` within a key is `~1`. A tree that is one array has it under the empty name.
/// Code::not_found where there is none.
Result<Checkpoint> load(const std::string& path);
/// All that is wrong with a checkpoint; empty for a whole one. An array that is stored and is no
/// leaf of its tree counts: `_METADATA` has lost it. Elements of Zarr 2 without compression have no
/// checksum to be checked, nor have JSON files.
std::vector<Status> verify(const std::string& path);
/// A tree for each part of a checkpoint: `/` in names makes levels; notes are JSON items, but those
/// that `load` made of a tree's texts, which become its leaves again.
Contents contents_of(const Checkpoint& checkpoint);

}  // namespace strata::checkpoint::orbax
