// Grain's DataLoader: a sampler says which record comes next, operations change records.
//
//   DataLoader loader({.source = source, .sampler = IndexSampler(n, {}, true, 2, 42),
//                      .operations = {Batch{8}}});
//   auto it = loader.iterate();
#pragma once

#include <variant>

#include "strata/data/pipeline/pipeline.h"

namespace strata::data {

/// What comes at a global index: the record, and the seed of its random numbers.
struct RecordMetadata {
  std::int64_t index = 0, record_key = 0;
  std::optional<std::uint64_t> rng_key = {};  // Philox(key = seed + index)
};

/// Records in an order, for all shards together.
class Sampler {
 public:
  virtual ~Sampler();
  virtual std::int64_t size() const = 0;
  /// Throws Error for an index outside 0 .. size() - 1.
  virtual RecordMetadata at(std::int64_t index) const = 0;
  /// As Python prints it, which states compare.
  virtual std::string repr() const = 0;
  virtual ShardOptions shard_options() const = 0;
};

/// 0, 1 ... once.
class SequentialSampler : public Sampler {
 public:
  explicit SequentialSampler(std::int64_t num_records, std::optional<ShardOptions> shard = {},
                             std::optional<std::uint64_t> seed = {});
  std::int64_t size() const override { return most_; }
  RecordMetadata at(std::int64_t index) const override;
  std::string repr() const override;
  ShardOptions shard_options() const override { return shard_.value_or(ShardOptions{}); }

 private:
  std::int64_t records_, most_;
  std::optional<ShardOptions> shard_;
  std::optional<std::uint64_t> seed_;
};

/// Each shard a contiguous part, shuffled within, epoch after epoch (without end where num_epochs
/// is none). Throws Error for no records and for a shuffle without a seed of 32 bits.
class IndexSampler : public Sampler {
 public:
  explicit IndexSampler(std::int64_t num_records, std::optional<ShardOptions> shard = {},
                        bool shuffle = false, std::optional<std::int64_t> num_epochs = {},
                        std::optional<std::uint64_t> seed = {}, Mode mode = Mode::native);
  std::int64_t size() const override { return most_; }
  RecordMetadata at(std::int64_t index) const override;
  std::string repr() const override;
  ShardOptions shard_options() const override { return shard_.value_or(ShardOptions{}); }

 private:
  std::int64_t records_, most_ = kInfinite, begin_ = 0, end_ = 0;
  std::optional<ShardOptions> shard_;
  bool shuffle_;
  std::optional<std::int64_t> epochs_;
  std::optional<std::uint64_t> seed_;
  Mode mode_;
};

namespace transforms {
struct Map {
  MapFn map;
};
struct RandomMap {
  RandomMapFn random_map;
};
struct Filter {
  FilterFn filter;
};
struct Batch {
  std::int64_t batch_size;
  bool drop_remainder = false;
  BatchFn batch_fn = {};
};
}  // namespace transforms
using Transformation =
    std::variant<transforms::Map, transforms::RandomMap, transforms::Filter, transforms::Batch>;

struct DataLoaderOptions {
  MapDataset source;
  std::shared_ptr<const Sampler> sampler;
  std::vector<Transformation> operations = {};
  /// Logical workers, part of the order; 0 for none.
  int worker_count = 0;
  std::int64_t worker_buffer_size = 1;
  /// The sampler's where none is given.
  std::optional<ShardOptions> shard_options = {};
  ReadOptions read_options = {};
  /// repr of the source, which states compare; the source node's name where none is given.
  std::string source_repr = {};
};

/// An iterator whose states are those of Grain's DataLoaderIterator.
class DataLoaderIterator {
 public:
  Result<bool> next(Element& out) { return iterator_.next(out); }
  std::vector<Element> take(std::int64_t most = kInfinite) { return iterator_.take(most); }
  /// Begins to read ahead before the first next().
  void start_prefetch() { iterator_.start_prefetch(); }
  /// {"version": 2, "last_seen_indices": ...} as Grain writes it.
  std::string state() const;
  /// Code::invalid, naming the difference, for a state of other workers, sampler or source.
  Status set_state(const std::string& state);

 private:
  friend class DataLoader;
  DataLoaderIterator(DatasetIterator iterator, Mode mode, ShardOptions shard, int workers,
                     std::string sampler, std::string source);
  DatasetIterator iterator_;
  Mode mode_;
  ShardOptions shard_;
  std::int64_t workers_;
  std::string sampler_, source_;
};

class DataLoader {
 public:
  explicit DataLoader(DataLoaderOptions options);
  DataLoaderIterator iterate() const;
  /// Its workers: none where worker_count is 0.
  MultiprocessingOptions multiprocessing_options() const {
    return {options_.worker_count, options_.worker_buffer_size};
  }

 private:
  DataLoaderOptions options_;
};

/// grain.load: an IndexSampler over the source, the transformations, a batch at the end.
struct LoadOptions {
  std::optional<std::int64_t> num_epochs = {};
  bool shuffle = false;
  std::optional<std::uint64_t> seed = {};
  std::optional<ShardOptions> shard_options = {};
  std::vector<Transformation> transformations = {};
  std::optional<std::int64_t> batch_size = {};
  bool drop_remainder = false;
  int worker_count = 0;
  ReadOptions read_options = {};
  std::string source_repr = {};
};
DataLoader load(MapDataset source, LoadOptions options = {});

}  // namespace strata::data
