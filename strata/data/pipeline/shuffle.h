// The node of a global shuffle, which slices look for. Private to this folder.
#pragma once

#include "strata/data/pipeline/node.h"

namespace strata::data::pipeline {

/// The image of `index` among 0 .. size-1: Grain's index_shuffle, or its repair in native mode.
std::int64_t shuffled(std::int64_t index, std::int64_t size, std::uint64_t seed, Mode mode);

class ShuffleNode : public ReindexNode {
 public:
  ShuffleNode(std::shared_ptr<const MapNode> parent, std::optional<std::uint64_t> seed);
  std::string name() const override { return "ShuffleMapDataset"; }
  std::int64_t size() const override { return size_; }
  std::uint64_t shuffle_seed() const { return shuffle_seed_; }

 protected:
  std::int64_t reindex(std::int64_t index) const override;

 private:
  std::uint64_t shuffle_seed_;
  std::int64_t size_;
};

}  // namespace strata::data::pipeline
