// Trees of arrays as Orbax stores them: one item of a checkpoint.
//
//   auto tree = orbax::PyTree::open(std::make_shared<FolderStore>("run/400"), "state/");
//   for (const orbax::Leaf& leaf : tree->leaves()) ... leaf.name(), leaf.kind
//   auto w = tree->read(*tree->find("params/w"));
//   auto rows = tree->read(leaf, {4, 0}, {4, 8});       // what a shard needs, and no more
//
// Source: google/orbax, checkpoint/orbax/checkpoint/_src/metadata/tree.py and
// _src/serialization. With and without OCDBT, Zarr 2 and 3.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/checkpoint/ocdbt/database.h"
#include "strata/checkpoint/store/key_value.h"
#include "strata/checkpoint/zarr/array.h"
#include "strata/type/literal.h"

namespace strata::checkpoint::orbax {

/// A step from a node of a tree to one below: an index of a sequence, or a key or attribute.
struct Key {
  std::string name;
  bool sequence = false;
  bool operator==(const Key&) const = default;
};

/// What a leaf is in Python. Those from `none` on have no value: empty containers are leaves.
enum class Kind { jax_array, numpy_array, scalar, string, none, dict, list, tuple, named_tuple };

/// A leaf of a tree. A tree that is one leaf has it at the empty path.
struct Leaf {
  std::vector<Key> path;
  Kind kind = Kind::jax_array;
  /// Of a string.
  std::string text;
  /// Of one that is to be written: its value, and the sizes of its chunks; empty: one chunk.
  std::optional<Literal> value;
  std::vector<std::int64_t> chunk;
  /// JSON that says how devices held it; empty where nothing is known: Orbax then restores a
  /// `jax_array` only onto a sharding that its caller names.
  std::string sharding;
  /// Further members of its entries in `_METADATA` and in `array_metadatas`, each a JSON object or
  /// empty: how a typed key's random numbers are made, say.
  std::string tree_entry, array_entry;

  /// The keys joined by `/`.
  std::string name() const;
  /// Whether it has elements.
  bool is_array() const { return kind <= Kind::scalar; }
};

/// A stored tree that is open for reading.
class PyTree {
 public:
  /// The item below `folder`, which is empty or ends with `/`. Code::not_found where there is no
  /// `_METADATA`, Code::corrupt for one that is damaged.
  static Result<PyTree> open(std::shared_ptr<const KeyValueReader> store,
                             const std::string& folder = "");
  /// All leaves, as stored, without values.
  const std::vector<Leaf>& leaves() const { return leaves_; }
  /// The same with the entries of `array_metadatas`, which values do not need. Code::corrupt where
  /// these are not what Orbax writes.
  Result<std::vector<Leaf>> leaves_with_entries() const;
  /// Members of `_METADATA` that say neither leaves nor formats, a JSON object: its caller's.
  const std::string& metadata() const { return metadata_; }
  /// Names of stored arrays that no leaf has. Codes of KeyValueReader::list.
  Result<std::vector<std::string>> strays() const;
  /// The leaf of a name.
  const Leaf* find(std::string_view name) const;
  /// The array of a leaf that has one; it lives as long as this. Code::corrupt where it is missing.
  Result<zarr::Array> array(const Leaf& leaf) const;
  /// Its elements. Code::corrupt also where a chunk is missing.
  Result<Literal> read(const Leaf& leaf) const;
  /// Those of several leaves: chunks are read and decoded by all threads, of which each holds one.
  Result<std::vector<Literal>> read(std::span<const Leaf* const> leaves) const;
  /// A box of its elements, of which only the chunks that it meets are read, and of shards only
  /// their inner chunks. Codes of the above. Throws Error for a box that is not within the array.
  Result<Literal> read(const Leaf& leaf, const std::vector<std::int64_t>& begin,
                       const std::vector<std::int64_t>& sizes) const;
  /// Whether arrays are in a database, and Zarr's format.
  bool ocdbt() const { return ocdbt_ != nullptr; }
  bool zarr3() const { return zarr3_; }

 private:
  PyTree() = default;
  /// Elements of an array that are wanted.
  struct Box {
    zarr::Array array;
    std::vector<std::int64_t> begin, sizes;
  };
  /// Where the keys of arrays are found.
  const KeyValueReader& arrays() const;
  Result<std::vector<Literal>> read_boxes(std::span<const Box> boxes) const;
  std::shared_ptr<const KeyValueReader> store_;
  std::string folder_, metadata_ = "{}";
  std::shared_ptr<const Below> below_;
  std::shared_ptr<const ocdbt::Database> ocdbt_;
  bool zarr3_ = false;
  std::vector<Leaf> leaves_;
};

/// How a tree is written.
struct TreeOptions {
  bool ocdbt = true;
  int zarr_format = 2;
  bool compressed = true;
  /// Databases that the chunks are dealt to, as so many processes would write them.
  int processes = 1;
  /// Further members of `_METADATA`: a JSON object.
  std::string metadata = "{}";
};

/// Writes an item below `folder`. Chunks are encoded by all threads while those before are written,
/// in an order of their own: the bytes do not depend on the threads. Besides the leaves, at most
/// 256 MiB of chunks, or two where they are larger, and a data file are in memory. Throws Error for
/// a dtype that Zarr lacks, for arrays without elements, which Orbax refuses, for two leaves of
/// one parameter name ("a.b" and "a" / "b"), and for an empty path beside other leaves.
Status write_pytree(KeyValueStore& store, const std::string& folder,
                    const std::vector<Leaf>& leaves, const TreeOptions& options = {});

}  // namespace strata::checkpoint::orbax
