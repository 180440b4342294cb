// Marks from which operations behind derive their seeds.
#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

class SeedMapNode : public ReindexNode {
 public:
  SeedMapNode(std::shared_ptr<const MapNode> parent, std::uint64_t seed)
      : ReindexNode(std::move(parent)) {
    seed_ = seed;
  }
  std::string name() const override { return fmt::format("WithSeedMapDataset(seed={})", *seed_); }
  std::int64_t size() const override { return parent_->size(); }

 protected:
  std::int64_t reindex(std::int64_t index) const override { return index; }
};

class SeedIterNode : public IterOperation {
 public:
  SeedIterNode(std::shared_ptr<const IterNode> parent, std::uint64_t seed)
      : IterOperation(std::move(parent)) {
    seed_ = seed;
  }
  std::string name() const override { return fmt::format("WithSeedIterDataset(seed={})", *seed_); }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return parent_->iterate(context);
  }
};

}  // namespace

MapDataset MapDataset::seed(std::uint64_t seed) const {
  return MapDataset(std::make_shared<SeedMapNode>(node_, seed));
}
IterDataset IterDataset::seed(std::uint64_t seed) const {
  return IterDataset(std::make_shared<SeedIterNode>(node_, seed));
}

}  // namespace strata::data
