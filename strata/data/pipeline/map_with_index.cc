// A function of each element and its number.
#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

class MapWithIndexMapNode : public MapNode {
 public:
  MapWithIndexMapNode(std::shared_ptr<const MapNode> parent, MapWithIndexFn f)
      : MapNode(Parents{parent}), parent_(std::move(parent)), f_(std::move(f)) {}
  std::string name() const override { return "MapWithIndexMapDataset"; }
  std::int64_t size() const override { return parent_->size(); }

 protected:
  Element do_get(std::int64_t index) const override {
    Element e = parent_->get(index);
    return e.is_none() ? e : f_(index, e);
  }

 private:
  std::shared_ptr<const MapNode> parent_;
  MapWithIndexFn f_;
};

class MapWithIndexIterator : public Iterator {
 public:
  MapWithIndexIterator(const Node& node, std::unique_ptr<Iterator> parent, const MapWithIndexFn& f)
      : Iterator(node), parent_(std::move(parent)), f_(f) {}
  Json state() override {
    Json out = Json::object();
    out["parent"] = parent_->state();
    out["counter"] = counter_;
    return out;
  }
  void set_state(const Json& state) override {
    parent_->set_state(part(state, "parent"));
    counter_ = integer_part(state, "counter");
  }
  std::int64_t next_index() override { return counter_; }
  void set_next_index(std::int64_t index) override {
    parent_->set_next_index(index);
    counter_ = index;
  }
  void start_prefetch() override { parent_->start_prefetch(); }

 protected:
  bool do_next(Element& out) override {
    if (!parent_->next(out)) return false;
    if (!out.is_none()) out = f_(counter_, out);
    ++counter_;
    return true;
  }

 private:
  std::unique_ptr<Iterator> parent_;
  const MapWithIndexFn& f_;
  std::int64_t counter_ = 0;
};

class MapWithIndexIterNode : public IterOperation {
 public:
  MapWithIndexIterNode(std::shared_ptr<const IterNode> parent, MapWithIndexFn f)
      : IterOperation(std::move(parent)), f_(std::move(f)) {}
  std::string name() const override { return "MapWithIndexIterDataset"; }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<MapWithIndexIterator>(*this, parent_->iterate(context), f_);
  }

 private:
  MapWithIndexFn f_;
};

}  // namespace

MapDataset MapDataset::map_with_index(MapWithIndexFn f) const {
  return MapDataset(std::make_shared<MapWithIndexMapNode>(node_, std::move(f)));
}
IterDataset IterDataset::map_with_index(MapWithIndexFn f) const {
  return IterDataset(std::make_shared<MapWithIndexIterNode>(node_, std::move(f)));
}

}  // namespace strata::data
