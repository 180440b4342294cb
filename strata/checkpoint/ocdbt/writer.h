// An OCDBT database, written in one transaction.
//
//   ocdbt::Writer writer(store, "ocdbt.process_0/");
//   writer.write("w/.zarray", metadata);
//   writer.write("w/0.0", chunk);
//   writer.commit();                       // the manifest, last
//
// Values longer than the inline limit go to data files as they come, others into the leaves. The
// rules of TensorStore's writer: google/tensorstore, kvstore/ocdbt/non_distributed.
#pragma once

#include <future>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/checkpoint/ocdbt/database.h"
#include "strata/checkpoint/store/payload.h"

namespace strata::checkpoint::ocdbt {

/// Writes a new database. Nothing of it is there before `commit`.
class Writer {
 public:
  /// `folder` is empty or ends with `/`; `store` outlives this.
  Writer(KeyValueStore& store, std::string folder, Configuration configuration = {});

  /// Adds a value; a later one of the same key replaces it. What the value does not own stays
  /// where it is until `commit`. A failure may be told by a later call.
  Status write(const std::string& key, Payload value);
  /// Adds all entries of another database by reference. Its folder, FOLDER/below, stays needed.
  Status copy(const Database& from, const std::string& below);
  /// Writes the tree and then the manifest. Call once.
  Status commit();

  /// Data of one file at most, before the next is begun.
  static constexpr std::uint64_t kFileBytes = std::uint64_t{32} << 20;
  /// Files that are written at a time while further values come: a disk's own rate needs more
  /// than one thread that copies to it.
  static constexpr std::size_t kFilesAtOnce = 2;

 private:
  std::string new_file();
  /// Adds bytes to the data file that is begun; where they will be.
  Result<Place> append(Payload bytes);
  /// Begins to write the data file that is full.
  Status flush();
  /// Waits until at most so many files are being written; the first failure.
  Status wait(std::size_t most);
  Result<Entry> put(const Node& node, bool root);
  Result<std::vector<Entry>> level(std::vector<Entry> entries, std::uint8_t height);

  KeyValueStore& store_;
  std::string folder_;
  Configuration configuration_;
  std::map<std::string, Entry> entries_;
  /// The data file that is begun, and what goes into it.
  std::string file_;
  std::vector<Payload> pieces_;
  std::uint64_t bytes_ = 0;
  /// The files that are being written: they wait for each, whatever happens.
  std::vector<std::future<Status>> written_;
};

}  // namespace strata::checkpoint::ocdbt
