// Elements kept in memory from the first pass on.
#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

class CacheIterator : public Iterator {
 public:
  CacheIterator(const Node& node, std::unique_ptr<Iterator> parent)
      : Iterator(node), parent_(std::move(parent)), start_(parent_->state()) {}
  Json state() override {
    Json out = Json::object();
    out["parent"] = parent_->state();
    out["position"] = position_;
    out["cache_filled"] = filled_;
    return out;
  }
  void set_state(const Json& state) override {
    const Json& filled = part(state, "cache_filled");
    if (!filled.is_boolean()) throw StateError{"\"cache_filled\" is neither true nor false"};
    rebuild_ = rebuild_ || (filled.get<bool>() && !filled_);
    parent_->set_state(part(state, "parent"));
    position_ = integer_part(state, "position");
    if (position_ > static_cast<std::int64_t>(cache_.size()) && !filled_) rebuild_ = true;
  }
  void start_prefetch() override { parent_->start_prefetch(); }

 protected:
  bool do_next(Element& out) override {
    if (filled_) {
      if (position_ >= static_cast<std::int64_t>(cache_.size())) return false;
      out = cache_[static_cast<std::size_t>(position_++)];
      return true;
    }
    if (rebuild_) {
      parent_->set_state(start_);
      cache_.clear();
      rebuild_ = false;
      while (static_cast<std::int64_t>(cache_.size()) < position_ && parent_->next(out))
        cache_.push_back(out);
    }
    if (!parent_->next(out)) {
      filled_ = true;
      return false;
    }
    if (static_cast<std::int64_t>(cache_.size()) == position_) cache_.push_back(out);
    ++position_;
    return true;
  }

 private:
  std::unique_ptr<Iterator> parent_;
  Json start_;
  std::vector<Element> cache_;
  std::int64_t position_ = 0;
  bool filled_ = false, rebuild_ = false;
};

class CacheNode : public IterOperation {
 public:
  using IterOperation::IterOperation;
  std::string name() const override { return "CacheIterDataset"; }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<CacheIterator>(*this, parent_->iterate(context));
  }
};

}  // namespace

IterDataset IterDataset::cache() const { return IterDataset(std::make_shared<CacheNode>(node_)); }

}  // namespace strata::data
