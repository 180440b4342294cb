// Epoch after epoch.
#include <algorithm>

#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

void check_epochs(std::optional<std::int64_t> epochs) {
  if (epochs && *epochs <= 0)
    throw Error("repeat", "num_epochs is {}; allowed is 1 or more, or none for no end", *epochs);
}

class RepeatMapNode : public ReindexNode {
 public:
  RepeatMapNode(std::shared_ptr<const MapNode> parent, std::optional<std::int64_t> epochs,
                bool reseed)
      : ReindexNode(std::move(parent)), epochs_(epochs), reseed_(reseed) {
    check_epochs(epochs);
    const std::int64_t n = parent_->size();
    if (n == kInfinite)
      throw Error("repeat", "{} has no end; repeating it does nothing", parent_->name());
    size_ = epochs ? saturating_product(n, *epochs) : n == 0 ? 0 : kInfinite;
  }
  std::string name() const override {
    return fmt::format("RepeatMapDataset(num_epochs={})",
                       epochs_ ? std::to_string(*epochs_) : "None");
  }
  std::int64_t size() const override { return size_; }

 protected:
  std::int64_t reindex(std::int64_t index) const override {
    check_index(*this, index);
    return reseed_ ? index : index % parent_->size();
  }

 private:
  std::optional<std::int64_t> epochs_;
  bool reseed_;
  std::int64_t size_;
};

/// Upstream's interleave keeps the list of the data sets in use that it was restored from, and
/// writes on in it: the first state, which a repeat goes back to, names after the second epoch the
/// data sets that were read last. Does so to the interleaves of `start`, whose end is `end`.
void take_last_in_use(Json& start, const Json& end) {
  if (!start.is_object() || !end.is_object()) return;
  if (start.contains("iterators_in_use_indices") && end.contains("iterators_in_use_indices")) {
    start["iterators_in_use_indices"] = end["iterators_in_use_indices"];
    return;
  }
  for (auto it = start.begin(); it != start.end(); ++it) {
    const auto same = end.find(it.key());
    if (same == end.end()) continue;
    if (!it->is_array() || !same->is_array()) {
      take_last_in_use(*it, *same);
      continue;
    }
    for (std::size_t i = 0; i < std::min(it->size(), same->size()); ++i)
      take_last_in_use((*it)[i], (*same)[i]);
  }
}

class RepeatIterator : public Iterator {
 public:
  RepeatIterator(const Node& node, std::unique_ptr<Iterator> parent,
                 std::optional<std::int64_t> epochs)
      : Iterator(node), parent_(std::move(parent)), epochs_(epochs), start_(parent_->state()) {}
  Json state() override {
    Json out = Json::object();
    out["parent"] = parent_->state();
    out["epoch"] = epoch_;
    return out;
  }
  void set_state(const Json& state) override {
    epoch_ = integer_part(state, "epoch");
    parent_->set_state(part(state, "parent"));
    found_any_ = false;
  }
  void start_prefetch() override { parent_->start_prefetch(); }

 protected:
  bool do_next(Element& out) override {
    if (epochs_ && epoch_ >= *epochs_) return false;
    for (bool again = false;; again = true) {
      if (parent_->next(out)) {
        found_any_ = true;
        return true;
      }
      ++epoch_;
      if (epochs_ && epoch_ == *epochs_) return false;
      if (!epochs_ && again && !found_any_)
        throw Error("repeat", "{} has no elements; repeating it without end gives none",
                    node().parents()[0]->name());
      if (node().mode() == Mode::compat && epoch_ > 1) take_last_in_use(start_, parent_->state());
      parent_->set_state(start_);
    }
  }

 private:
  std::unique_ptr<Iterator> parent_;
  std::optional<std::int64_t> epochs_;
  Json start_;
  std::int64_t epoch_ = 0;
  bool found_any_ = false;
};

class RepeatIterNode : public IterOperation {
 public:
  RepeatIterNode(std::shared_ptr<const IterNode> parent, std::optional<std::int64_t> epochs)
      : IterOperation(std::move(parent)), epochs_(epochs) {
    check_epochs(epochs);
  }
  std::string name() const override {
    return fmt::format("RepeatIterDataset(num_epochs={})",
                       epochs_ ? std::to_string(*epochs_) : "None");
  }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<RepeatIterator>(*this, parent_->iterate(context), epochs_);
  }

 private:
  std::optional<std::int64_t> epochs_;
};

}  // namespace

MapDataset MapDataset::repeat(std::optional<std::int64_t> num_epochs,
                              bool reseed_each_epoch) const {
  return MapDataset(std::make_shared<RepeatMapNode>(node_, num_epochs, reseed_each_epoch));
}
IterDataset IterDataset::repeat(std::optional<std::int64_t> num_epochs) const {
  return IterDataset(std::make_shared<RepeatIterNode>(node_, num_epochs));
}

}  // namespace strata::data
