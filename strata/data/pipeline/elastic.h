// Iteration that goes on from a checkpoint on another number of hosts.
//
//   ElasticIterator it(ds, 8, {.shard_index = 1, .shard_count = 2});   // 4 rows of each global
//   batch it.next(batch); it.state();                                        // the same on every
//   shard
#pragma once

#include "strata/data/pipeline/pipeline.h"

namespace strata::data {

/// Of each global batch of `global_batch_size` elements, shard s of c takes elements s, s + c ...
/// A last batch that is not full is left out. States are {"global_next_index": n} on all shards,
/// so a state of any shard restores every shard of any other number. Source: grain
/// elastic_iterator.py.
class ElasticIterator {
 public:
  /// Throws Error behind filters, and when the batch cannot be dealt evenly.
  ElasticIterator(MapDataset dataset, std::int64_t global_batch_size, ShardOptions shard,
                  ReadOptions read_options = {});
  Result<bool> next(Element& out);
  std::string state() const;
  Status set_state(const std::string& state);

 private:
  DatasetIterator open() const;
  MapDataset dataset_;
  std::int64_t batch_;
  ShardOptions shard_;
  ReadOptions read_;
  std::int64_t next_ = 0;
  std::optional<DatasetIterator> iterator_;
};

}  // namespace strata::data
