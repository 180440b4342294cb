// An order of its own for every epoch.
#include "strata/data/shuffle.h"

#include "strata/data/pipeline/node.h"
#include "strata/data/pipeline/shuffle.h"

namespace strata::data {
namespace pipeline {

std::int64_t shuffled(std::int64_t index, std::int64_t size, std::uint64_t seed, Mode mode) {
  const auto i = static_cast<std::uint64_t>(index), n = static_cast<std::uint64_t>(size);
  const auto s = static_cast<std::uint32_t>(seed);
  return static_cast<std::int64_t>(mode == Mode::compat ? index_shuffle(i, n - 1, s)
                                                        : permute(i, n, s));
}

ShuffleNode::ShuffleNode(std::shared_ptr<const MapNode> parent, std::optional<std::uint64_t> seed)
    : ReindexNode(std::move(parent)),
      shuffle_seed_(seed_or_default(seed, parents(), "shuffle")),
      size_(parent_->size()) {
  if (shuffle_seed_ >> 32)
    throw Error("shuffle", "the seed is {}; allowed are 0 to 4294967295", shuffle_seed_);
}

std::int64_t ShuffleNode::reindex(std::int64_t index) const {
  check_index(*this, index);
  const auto [epoch, i] = divmod(index, size_);
  return epoch * size_ +
         shuffled(i, size_, shuffle_seed_ + static_cast<std::uint64_t>(epoch), mode());
}

}  // namespace pipeline

MapDataset MapDataset::shuffle(std::optional<std::uint64_t> seed) const {
  return MapDataset(std::make_shared<pipeline::ShuffleNode>(node_, seed));
}

}  // namespace strata::data
