// Tuples of what several give.
#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

template <class D>
Node::Parents parents_of(const std::vector<D>& datasets) {
  if (datasets.empty()) throw Error("zip", "there are {} data sets; at least 1 is needed", 0);
  Node::Parents out;
  for (const D& d : datasets) out.push_back(d.node());
  return out;
}

class ZipMapNode : public MapNode {
 public:
  explicit ZipMapNode(const std::vector<MapDataset>& datasets)
      : MapNode(parents_of(datasets)), datasets_(datasets) {
    for (const MapDataset& d : datasets_)
      if (d.size() != size())
        throw Error("zip", "data sets must have one length; got {} and {}", size(), d.size());
  }
  std::string name() const override {
    return fmt::format("ZipMapDataset[{} parents]", datasets_.size());
  }
  std::int64_t size() const override { return datasets_[0].size(); }

 protected:
  Element do_get(std::int64_t index) const override {
    Element::Items out;
    for (const MapDataset& d : datasets_) out.push_back(d.node()->get(index));
    return Element::tuple(std::move(out));
  }

 private:
  std::vector<MapDataset> datasets_;
};

class ZipIterator : public Iterator {
 public:
  ZipIterator(const Node& node, std::vector<std::unique_ptr<Iterator>> parents, bool strict)
      : Iterator(node), parents_(std::move(parents)), strict_(strict) {}
  Json state() override {
    Json all = Json::array();
    for (auto& p : parents_) all.push_back(p->state());
    Json out = Json::object();
    out["parents"] = std::move(all);
    return out;
  }
  void set_state(const Json& state) override {
    const Json& all = part(state, "parents");
    if (!all.is_array() || all.size() != parents_.size())
      throw StateError{fmt::format("\"parents\" is no list of {}", parents_.size())};
    for (std::size_t i = 0; i < parents_.size(); ++i) parents_[i]->set_state(all[i]);
  }
  std::int64_t next_index() override { return parents_[0]->next_index(); }
  void set_next_index(std::int64_t index) override {
    for (auto& p : parents_) p->set_next_index(index);
  }
  void start_prefetch() override {
    for (auto& p : parents_) p->start_prefetch();
  }

 protected:
  bool do_next(Element& out) override {
    Element::Items items(parents_.size());
    for (std::size_t i = 0; i < parents_.size(); ++i) {
      if (parents_[i]->next(items[i])) continue;
      if (!strict_) return false;
      if (i > 0) throw Error("zip", "data set {} is shorter than those before it", i + 1);
      for (std::size_t j = 1; j < parents_.size(); ++j)
        if (parents_[j]->next(items[j]))
          throw Error("zip", "data set {} is longer than those before it", j + 1);
      return false;
    }
    out = Element::tuple(std::move(items));
    return true;
  }

 private:
  std::vector<std::unique_ptr<Iterator>> parents_;
  bool strict_;
};

class ZipIterNode : public IterNode {
 public:
  ZipIterNode(const std::vector<IterDataset>& datasets, bool strict)
      : IterNode(parents_of(datasets)), datasets_(datasets), strict_(strict) {}
  std::string name() const override {
    return fmt::format("ZipIterDataset[{} parents](strict={})", datasets_.size(),
                       python_bool(strict_));
  }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    std::vector<std::unique_ptr<Iterator>> parents;
    for (const IterDataset& d : datasets_) parents.push_back(d.node()->iterate(context));
    return std::make_unique<ZipIterator>(*this, std::move(parents), strict_);
  }

 private:
  std::vector<IterDataset> datasets_;
  bool strict_;
};

}  // namespace

MapDataset MapDataset::zip(const std::vector<MapDataset>& datasets) {
  return MapDataset(std::make_shared<ZipMapNode>(datasets));
}
IterDataset IterDataset::zip(const std::vector<IterDataset>& datasets, bool strict) {
  return IterDataset(std::make_shared<ZipIterNode>(datasets, strict));
}

}  // namespace strata::data
