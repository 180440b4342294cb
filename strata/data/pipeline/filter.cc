// Drops elements that a function refuses.
#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

class FilterMapNode : public MapNode {
 public:
  FilterMapNode(std::shared_ptr<const MapNode> parent, FilterFn f)
      : MapNode(Parents{parent}), parent_(std::move(parent)), f_(std::move(f)) {}
  std::string name() const override { return "FilterMapDataset"; }
  bool drops_elements() const override { return true; }
  std::int64_t size() const override { return parent_->size(); }

 protected:
  Element do_get(std::int64_t index) const override {
    Element e = parent_->get(index);
    return e.is_none() || f_(e) ? e : Element();
  }

 private:
  std::shared_ptr<const MapNode> parent_;
  FilterFn f_;
};

class FilterIterator : public PassingIterator {
 public:
  FilterIterator(const Node& node, std::unique_ptr<Iterator> parent, const FilterFn& f,
                 const Context& context)
      : PassingIterator(node, std::move(parent)), f_(f), health_(node.name(), context.options) {}

 protected:
  bool do_next(Element& out) override {
    while (parent_->next(out)) {
      const bool passed = f_(out);
      health_.count(passed);
      if (passed) return true;
    }
    return false;
  }

 private:
  const FilterFn& f_;
  FilterHealth health_;
};

class FilterIterNode : public IterOperation {
 public:
  FilterIterNode(std::shared_ptr<const IterNode> parent, FilterFn f)
      : IterOperation(std::move(parent)), f_(std::move(f)) {}
  std::string name() const override { return "FilterIterDataset"; }
  bool drops_elements() const override { return true; }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<FilterIterator>(*this, parent_->iterate(context), f_, context);
  }

 private:
  FilterFn f_;
};

}  // namespace

MapDataset MapDataset::filter(FilterFn f) const {
  return MapDataset(std::make_shared<FilterMapNode>(node_, std::move(f)));
}
IterDataset IterDataset::filter(FilterFn f) const {
  return IterDataset(std::make_shared<FilterIterNode>(node_, std::move(f)));
}

}  // namespace strata::data
