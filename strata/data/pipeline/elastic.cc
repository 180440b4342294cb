#include "strata/data/pipeline/elastic.h"

#include <algorithm>

#include "strata/data/pipeline/node.h"

namespace strata::data {

using namespace pipeline;

ElasticIterator::ElasticIterator(MapDataset dataset, std::int64_t global_batch_size,
                                 ShardOptions shard, ReadOptions read_options,
                                 std::optional<MultiprocessingOptions> multiprocessing_options)
    : dataset_(std::move(dataset)),
      batch_(global_batch_size),
      shard_(shard),
      read_(read_options),
      workers_(multiprocessing_options) {
  even_split(0, shard_);
  if (any_above(*dataset_.node(), [](const Node& n) { return n.drops_elements(); }))
    throw Error("ElasticIterator", "elements may be dropped in {}, so their numbers say nothing",
                dataset_.node()->name());
  if (batch_ <= 0 || batch_ % shard_.shard_count != 0)
    throw Error("ElasticIterator", "a global batch of {} cannot be dealt to {} shards", batch_,
                shard_.shard_count);
}

DatasetIterator ElasticIterator::open() const {
  // Grain's shards end each for itself, so the first ones may give a batch more than the others.
  std::optional<std::int64_t> stop;
  const std::int64_t size = dataset_.node()->size();
  if (dataset_.mode() == Mode::native && size != kInfinite)
    stop = next_ + std::max<std::int64_t>(size - next_, 0) / batch_ * batch_;
  const IterDataset batches = dataset_.slice(next_ + shard_.shard_index, stop, shard_.shard_count)
                                  .batch(batch_ / shard_.shard_count, {.drop_remainder = true})
                                  .to_iter_dataset(read_);
  return (workers_ ? batches.mp_prefetch(*workers_) : batches).iterate();
}

Result<bool> ElasticIterator::next(Element& out) {
  if (!iterator_) iterator_ = open();
  Result<bool> more = iterator_->next(out);
  if (more && *more) next_ += batch_;
  return more;
}

std::string ElasticIterator::state() const {
  Json out = Json::object();
  out["global_next_index"] = next_;
  return out.dump(4);
}

Status ElasticIterator::set_state(const std::string& text) {
  const Json state = Json::parse(text, nullptr, false);
  try {
    next_ = integer_part(state, "global_next_index");
  } catch (const StateError& error) {
    return Status(Code::invalid, "the state does not fit an elastic iterator: {}", error.message);
  }
  iterator_.reset();
  return {};
}

}  // namespace strata::data
