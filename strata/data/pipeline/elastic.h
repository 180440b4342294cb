// Iteration that goes on from a checkpoint on another number of hosts.
//
//   ElasticIterator it(ds, 8, {.shard_index = 1, .shard_count = 2});   // 4 rows of each global
//   batch
//   it.next(batch); it.state();                                     // the same on every shard
#pragma once

#include "strata/data/pipeline/pipeline.h"

namespace strata::data {

/// Of each global batch of `global_batch_size` elements, shard s of c takes elements s, s + c ...
/// A last global batch that is not full is left out; in compat each shard leaves out its own, so
/// the first shards may have one more, as in Grain. States are {"global_next_index": n} on all
/// shards, so a state of any shard restores every shard of any other number. With workers each
/// shard's batches come from theirs in turn, as `mp_prefetch` gives them. Workers deal anew what is
/// left at a restore, so on a shard of several workers a place is one that `next` came to. Source:
/// grain elastic_iterator.py. Grain 0.2.18 has it of MapDataset alone.
class ElasticIterator {
 public:
  /// Throws Error behind filters, and when the batch cannot be dealt evenly.
  ElasticIterator(MapDataset dataset, std::int64_t global_batch_size, ShardOptions shard,
                  ReadOptions read_options = {},
                  std::optional<MultiprocessingOptions> multiprocessing_options = {});
  Result<bool> next(Element& out);
  std::string state() const;
  Status set_state(const std::string& state);

 private:
  DatasetIterator open() const;
  MapDataset dataset_;
  std::int64_t batch_;
  ShardOptions shard_;
  ReadOptions read_;
  std::optional<MultiprocessingOptions> workers_;
  std::int64_t next_ = 0;
  std::optional<DatasetIterator> iterator_;
};

}  // namespace strata::data
