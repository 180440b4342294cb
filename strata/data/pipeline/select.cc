// Data sets joined by a map from numbers to (data set, number there): select and concatenate.
#include <algorithm>

#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

class SelectNode : public MapNode {
 public:
  SelectNode(std::string name, const std::vector<MapDataset>& datasets, SelectionMap selection)
      : MapNode(parents_of(datasets)),
        name_(std::move(name)),
        datasets_(datasets),
        selection_(std::move(selection)) {}
  std::string name() const override { return name_; }
  std::int64_t size() const override { return selection_.size; }

 protected:
  Element do_get(std::int64_t index) const override {
    check_index(*this, index);
    const auto [dataset, at] = selection_.at(index);
    if (dataset < 0 || dataset >= static_cast<std::int64_t>(datasets_.size()) || at < 0)
      throw Error("select_from_datasets",
                  "element {} is element {} of data set {}; there are data sets 0 to {}", index, at,
                  dataset, datasets_.size() - 1);
    return datasets_[static_cast<std::size_t>(dataset)].node()->get(at);
  }

 private:
  static Parents parents_of(const std::vector<MapDataset>& datasets) {
    if (datasets.empty()) throw Error("select_from_datasets", "there are {} data sets", 0);
    Parents out;
    for (const MapDataset& d : datasets) out.push_back(d.node());
    return out;
  }
  std::string name_;
  std::vector<MapDataset> datasets_;
  SelectionMap selection_;
};

}  // namespace

MapDataset MapDataset::select_from_datasets(const std::vector<MapDataset>& datasets,
                                            SelectionMap selection) {
  return MapDataset(std::make_shared<SelectNode>(
      fmt::format("MixedMapDataset[{} parents]", datasets.size()), datasets, std::move(selection)));
}

MapDataset MapDataset::concatenate(const std::vector<MapDataset>& datasets) {
  std::vector<std::int64_t> ends = {0};
  for (const MapDataset& d : datasets) {
    if (d.size() == kInfinite) throw Error("concatenate", "{} has no end", d.node()->name());
    ends.push_back(ends.back() + d.size());
  }
  const std::int64_t all = ends.back();
  auto at = [ends, all](std::int64_t index) {
    const auto [epoch, i] = divmod(index, all);
    const auto d = std::upper_bound(ends.begin(), ends.end(), i) - ends.begin() - 1;
    const std::int64_t begin = ends[static_cast<std::size_t>(d)],
                       size = ends[static_cast<std::size_t>(d) + 1] - begin;
    return std::pair<std::int64_t, std::int64_t>(d, i - begin + epoch * size);
  };
  return MapDataset(std::make_shared<SelectNode>(
      fmt::format("ConcatenateMapDataset[{} parents]", datasets.size()), datasets,
      SelectionMap{all, std::move(at)}));
}

}  // namespace strata::data
