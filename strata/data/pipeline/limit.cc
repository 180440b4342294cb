// The first elements only.
#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

class LimitIterator : public Iterator {
 public:
  LimitIterator(const Node& node, std::unique_ptr<Iterator> parent, std::int64_t count)
      : Iterator(node), parent_(std::move(parent)), count_(count) {}
  Json state() override {
    Json out = Json::object();
    out["parent"] = parent_->state();
    out["count_elements_read"] = read_;
    return out;
  }
  void set_state(const Json& state) override {
    parent_->set_state(part(state, "parent"));
    read_ = integer_part(state, "count_elements_read");
  }
  std::int64_t next_index() override { return read_; }
  void set_next_index(std::int64_t index) override {
    parent_->set_next_index(index);
    read_ = index;
  }
  void start_prefetch() override { parent_->start_prefetch(); }

 protected:
  bool do_next(Element& out) override {
    if (read_ >= count_ || !parent_->next(out)) return false;
    ++read_;
    return true;
  }

 private:
  std::unique_ptr<Iterator> parent_;
  std::int64_t count_, read_ = 0;
};

class LimitNode : public IterOperation {
 public:
  LimitNode(std::shared_ptr<const IterNode> parent, std::int64_t count)
      : IterOperation(std::move(parent)), count_(count) {
    if (count <= 0) throw Error("limit", "the count is {}; allowed is 1 or more", count);
  }
  std::string name() const override { return fmt::format("LimitIterDataset(count={})", count_); }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<LimitIterator>(*this, parent_->iterate(context), count_);
  }

 private:
  std::int64_t count_;
};

}  // namespace

IterDataset IterDataset::limit(std::int64_t count) const {
  return IterDataset(std::make_shared<LimitNode>(node_, count));
}

}  // namespace strata::data
