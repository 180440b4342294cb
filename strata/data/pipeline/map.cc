// A function of each element.
#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

class MapMapNode : public MapNode {
 public:
  MapMapNode(std::shared_ptr<const MapNode> parent, MapFn f)
      : MapNode(Parents{parent}), parent_(std::move(parent)), f_(std::move(f)) {}
  std::string name() const override { return "MapMapDataset"; }
  std::int64_t size() const override { return parent_->size(); }

 protected:
  Element do_get(std::int64_t index) const override {
    Element e = parent_->get(index);
    return e.is_none() ? e : f_(e);
  }
  void do_get_many(std::span<const std::int64_t> indices, std::span<Element> out) const override {
    parent_->get_many(indices, out);
    for (Element& e : out)
      if (!e.is_none()) e = f_(e);
  }

 private:
  std::shared_ptr<const MapNode> parent_;
  MapFn f_;
};

class MapIterator : public PassingIterator {
 public:
  MapIterator(const Node& node, std::unique_ptr<Iterator> parent, const MapFn& f)
      : PassingIterator(node, std::move(parent)), f_(f) {}
  std::int64_t next_index() override { return parent_->next_index(); }
  void set_next_index(std::int64_t index) override { parent_->set_next_index(index); }

 protected:
  bool do_next(Element& out) override {
    if (!parent_->next(out)) return false;
    if (!out.is_none()) out = f_(out);
    return true;
  }
  std::size_t do_next_many(std::span<Element> out) override {
    const std::size_t n = parent_->next_many(out);
    for (Element& e : out.first(n))
      if (!e.is_none()) e = f_(e);
    return n;
  }

 private:
  const MapFn& f_;
};

class MapIterNode : public IterOperation {
 public:
  MapIterNode(std::shared_ptr<const IterNode> parent, MapFn f)
      : IterOperation(std::move(parent)), f_(std::move(f)) {}
  std::string name() const override { return "MapIterDataset"; }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<MapIterator>(*this, parent_->iterate(context), f_);
  }

 private:
  MapFn f_;
};

}  // namespace

MapDataset MapDataset::map(MapFn f) const {
  return MapDataset(std::make_shared<MapMapNode>(node_, std::move(f)));
}
IterDataset IterDataset::map(MapFn f) const {
  return IterDataset(std::make_shared<MapIterNode>(node_, std::move(f)));
}

}  // namespace strata::data
