// Every step-th element from one place to another, as Python slices.
#include "strata/data/pipeline/node.h"
#include "strata/data/pipeline/shuffle.h"

namespace strata::data {
namespace pipeline {
namespace {

/// Python's slice.indices for one bound.
std::int64_t bound(std::optional<std::int64_t> given, std::int64_t size, std::int64_t step,
                   bool is_start) {
  const std::int64_t least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size;
  if (!given) return (step < 0) == is_start ? most : least;
  if (*given < 0) return std::max(*given + size, least);
  return std::min(*given, most);
}

/// The seed of the nearest shuffle above, through operations that keep places.
std::optional<std::uint64_t> shuffle_above(const Node& node) {
  if (const auto* shuffle = dynamic_cast<const ShuffleNode*>(&node)) return shuffle->shuffle_seed();
  for (const auto& p : node.parents())
    if (auto seed = shuffle_above(*p)) return seed;
  return {};
}

/// compat: in later epochs the places of the slice in that epoch's order, so behind a shuffle other
/// records than in the first (google/grain#1200). native: behind a shuffle the records of the
/// first epoch's slice in every epoch, each time in an order of its own.
class SliceNode : public ReindexNode {
 public:
  SliceNode(std::shared_ptr<const MapNode> parent, std::optional<std::int64_t> start,
            std::optional<std::int64_t> stop, std::int64_t step)
      : ReindexNode(std::move(parent)), step_(step) {
    if (step == 0) throw Error("slice", "the step is {}", step);
    parent_size_ = parent_->size();
    start_ = bound(start, parent_size_, step, true);
    stop_ = bound(stop, parent_size_, step, false);
    if (step > 0 && stop_ > start_) size_ = (stop_ - start_ - 1) / step + 1;
    if (step < 0 && stop_ < start_) size_ = (start_ - stop_ - 1) / -step + 1;
    if (mode() == Mode::native) shuffle_ = shuffle_above(*parent_);
  }
  std::string name() const override {
    return fmt::format("SliceMapDataset[{}:{}:{}]", start_, stop_, step_);
  }
  std::int64_t size() const override { return size_; }

 protected:
  std::int64_t reindex(std::int64_t index) const override {
    check_index(*this, index);
    const auto [epoch, i] = divmod(index, size_);
    if (shuffle_ && epoch > 0)
      return start_ +
             step_ * shuffled(i, size_, *shuffle_ + static_cast<std::uint64_t>(epoch), mode());
    return start_ + i * step_ + epoch * parent_size_;
  }

 private:
  std::int64_t step_, start_ = 0, stop_ = 0, parent_size_ = 0, size_ = 0;
  std::optional<std::uint64_t> shuffle_;
};

}  // namespace

std::shared_ptr<const MapNode> slice_node(std::shared_ptr<const MapNode> parent,
                                          std::optional<std::int64_t> start,
                                          std::optional<std::int64_t> stop, std::int64_t step) {
  return std::make_shared<SliceNode>(std::move(parent), start, stop, step);
}

}  // namespace pipeline

MapDataset MapDataset::slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                             std::int64_t step) const {
  return MapDataset(pipeline::slice_node(node_, start, stop, step));
}

}  // namespace strata::data
