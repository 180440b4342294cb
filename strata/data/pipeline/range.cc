// Integers in arithmetic progression.
#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

class RangeNode : public MapNode {
 public:
  RangeNode(std::int64_t start, std::int64_t stop, std::int64_t step, Mode mode)
      : MapNode(mode), start_(start), stop_(stop), step_(step) {
    if (step == 0) throw Error("MapDataset::range", "the step is {}", step);
    if (step > 0 ? stop > start : stop < start)
      size_ = step > 0 ? (stop - start - 1) / step + 1 : (start - stop - 1) / -step + 1;
  }
  std::string name() const override {
    return fmt::format("RangeMapDataset(start={}, stop={}, step={})", start_, stop_, step_);
  }
  std::int64_t size() const override { return size_; }

 protected:
  Element do_get(std::int64_t index) const override {
    check_index(*this, index);
    return start_ + index % size_ * step_;
  }

 private:
  std::int64_t start_, stop_, step_, size_ = 0;
};

}  // namespace

MapDataset MapDataset::range(std::int64_t stop, Mode mode) { return range(0, stop, 1, mode); }
MapDataset MapDataset::range(std::int64_t start, std::int64_t stop, std::int64_t step, Mode mode) {
  return MapDataset(std::make_shared<RangeNode>(start, stop, step, mode));
}

}  // namespace strata::data
