// Several elements of one.
#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

class FlatMapMapNode : public MapNode {
 public:
  FlatMapMapNode(std::shared_ptr<const MapNode> parent, FlatMapFn f, std::int64_t fan_out)
      : MapNode(Parents{parent}), parent_(std::move(parent)), f_(std::move(f)), fan_out_(fan_out) {
    if (fan_out <= 0) throw Error("flat_map", "max_fan_out is {}; allowed is 1 or more", fan_out);
  }
  std::string name() const override { return "FlatMapMapDataset"; }
  bool drops_elements() const override { return true; }
  std::int64_t size() const override { return saturating_product(parent_->size(), fan_out_); }

 protected:
  Element do_get(std::int64_t index) const override {
    const auto [element, at] = divmod(index, fan_out_);
    const Element e = parent_->get(element);
    if (e.is_none()) return e;
    std::vector<Element> parts = f_(e);
    if (static_cast<std::int64_t>(parts.size()) > fan_out_)
      throw Error("flat_map", "an element became {} parts, max_fan_out is {}", parts.size(),
                  fan_out_);
    if (at >= static_cast<std::int64_t>(parts.size())) return {};
    return std::move(parts[static_cast<std::size_t>(at)]);
  }

 private:
  std::shared_ptr<const MapNode> parent_;
  FlatMapFn f_;
  std::int64_t fan_out_;
};

class FlatMapIterator : public Iterator {
 public:
  FlatMapIterator(const Node& node, std::unique_ptr<Iterator> parent, const FlatMapFn& f)
      : Iterator(node), parent_(std::move(parent)), f_(f), before_(parent_->state()) {}
  Json state() override {
    Json out = Json::object();
    out["parent"] = before_;
    out["next_index_in_buffer"] = next_;
    return out;
  }
  void set_state(const Json& state) override {
    before_ = part(state, "parent");
    next_ = integer_part(state, "next_index_in_buffer");
    parent_->set_state(before_);
    Element element;
    parts_.clear();
    if (parent_->next(element))
      parts_ = f_(element);
    else
      next_ = 0;
  }
  void start_prefetch() override { parent_->start_prefetch(); }

 protected:
  bool do_next(Element& out) override {
    while (next_ >= static_cast<std::int64_t>(parts_.size())) {
      before_ = parent_->state();
      Element element;
      if (!parent_->next(element)) return false;
      next_ = 0;
      parts_ = f_(element);
    }
    out = parts_[static_cast<std::size_t>(next_++)];
    return true;
  }

 private:
  std::unique_ptr<Iterator> parent_;
  const FlatMapFn& f_;
  Json before_;
  std::vector<Element> parts_;
  std::int64_t next_ = 0;
};

class FlatMapIterNode : public IterOperation {
 public:
  FlatMapIterNode(std::shared_ptr<const IterNode> parent, FlatMapFn f)
      : IterOperation(std::move(parent)), f_(std::move(f)) {}
  std::string name() const override { return "FlatMapIterDataset"; }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<FlatMapIterator>(*this, parent_->iterate(context), f_);
  }

 private:
  FlatMapFn f_;
};

}  // namespace

MapDataset MapDataset::flat_map(FlatMapFn f, std::int64_t max_fan_out) const {
  return MapDataset(std::make_shared<FlatMapMapNode>(node_, std::move(f), max_fan_out));
}
IterDataset IterDataset::flat_map(FlatMapFn f) const {
  return IterDataset(std::make_shared<FlatMapIterNode>(node_, std::move(f)));
}

}  // namespace strata::data
