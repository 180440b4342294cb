// An OCDBT database, read: TensorStore's keys and values within a folder, as Orbax writes them.
//
//   FolderStore folder("400/state");
//   auto database = ocdbt::Database::open(folder);
//   auto bytes = database->read("params.w/0.0");
//
// Source: google/tensorstore, kvstore/ocdbt. Single and numbered manifests, trees of any height.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "strata/checkpoint/ocdbt/format.h"
#include "strata/checkpoint/store/key_value.h"

namespace strata::checkpoint::ocdbt {

/// The newest version of a database. Nodes are read when they are needed, and kept.
class Database : public KeyValueReader {
 public:
  /// The database whose manifest is FOLDER/manifest.ocdbt; `folder` is empty or ends with `/`.
  /// `store` outlives this. Code::not_found where there is none, else codes of `decode_manifest`.
  static Result<Database> open(const KeyValueReader& store, const std::string& folder = "");

  Result<std::vector<std::string>> list(const std::string& prefix) const override;
  Result<std::string> read(const std::string& key, ByteRange range = {}) const override;
  Status read_to(const std::string& key, std::uint64_t offset, std::span<char> to) const override;
  Result<std::uint64_t> size(const std::string& key) const override;
  std::string name_of(const std::string& key) const override;

  /// All entries in order, with whole keys: what a merge of databases copies by reference.
  Result<std::vector<Entry>> entries() const;
  /// What its writers keep to.
  const Configuration& configuration() const { return manifest_.configuration; }
  /// The generation of the version that is read.
  std::uint64_t generation() const { return manifest_.versions.back().generation; }

 private:
  using Visited = std::set<std::pair<std::string, std::uint64_t>>;  // data files and offsets
  struct Cache {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const Node>> nodes;
  };
  Database(const KeyValueReader& store, std::string folder, Manifest manifest)
      : store_(&store), folder_(std::move(folder)), manifest_(std::move(manifest)) {}
  Result<std::shared_ptr<const Node>> node(const Place& place, std::uint8_t height) const;
  Result<Entry> find(const std::string& key) const;
  /// What a range of a value is: an entry that has it, and its size.
  Result<std::pair<Entry, std::uint64_t>> find(const std::string& key, ByteRange range) const;
  /// The message of a data file that is not there says what is damaged.
  Status whose_file(const std::string& path, const Status& read) const;
  Status collect(const Place& place, std::uint8_t height, const std::string& above,
                 const std::string& prefix, std::vector<Entry>& out, Visited& visited) const;

  const KeyValueReader* store_;
  std::string folder_;
  Manifest manifest_;
  std::shared_ptr<Cache> cache_ = std::make_shared<Cache>();
};

}  // namespace strata::checkpoint::ocdbt
