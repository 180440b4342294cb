// Shuffles within windows, of which iterators hold one.
#include "strata/data/pipeline/node.h"
#include "strata/data/pipeline/shuffle.h"

namespace strata::data {
namespace {

using namespace pipeline;

void check_window(std::int64_t window_size) {
  if (window_size <= 0)
    throw Error("window_shuffle", "the window size is {}; allowed is 1 or more", window_size);
}

/// In compat mode the last window is as long as the others, so its elements may be of the next
/// epoch; in native mode windows end with the epoch.
class WindowShuffleMapNode : public ReindexNode {
 public:
  WindowShuffleMapNode(std::shared_ptr<const MapNode> parent, std::int64_t window,
                       std::uint64_t seed)
      : ReindexNode(std::move(parent)), window_(window), shuffle_seed_(seed) {
    check_window(window);
  }
  std::string name() const override { return "WindowShuffleMapDataset"; }
  std::int64_t size() const override { return parent_->size(); }

 protected:
  std::int64_t reindex(std::int64_t index) const override {
    check_index(*this, index);
    if (mode() == Mode::compat) {
      const auto [window, i] = divmod(index, window_);
      return window * window_ +
             shuffled(i, window_, shuffle_seed_ + static_cast<std::uint64_t>(window), mode());
    }
    const auto [epoch, in_epoch] = divmod(index, size());
    const auto [window, i] = divmod(in_epoch, window_);
    const std::int64_t windows = (size() - 1) / window_ + 1,
                       length = std::min(window_, size() - window * window_);
    return epoch * size() + window * window_ +
           shuffled(i, length, shuffle_seed_ + static_cast<std::uint64_t>(epoch * windows + window),
                    mode());
  }

 private:
  std::int64_t window_;
  std::uint64_t shuffle_seed_;
};

class WindowShuffleIterator : public Iterator {
 public:
  WindowShuffleIterator(const Node& node, std::unique_ptr<Iterator> parent, std::int64_t size,
                        std::uint64_t seed)
      : Iterator(node),
        parent_(std::move(parent)),
        size_(size),
        seed_(seed),
        window_start_(parent_->state()) {}
  Json state() override {
    Json out = Json::object();
    out["parent_window_start_state"] = window_start_;
    out["window_index"] = window_index_;
    out["pos_in_window"] = position_;
    return out;
  }
  void set_state(const Json& state) override {
    window_start_ = part(state, "parent_window_start_state");
    window_index_ = integer_part(state, "window_index");
    position_ = integer_part(state, "pos_in_window", 0, size_);
    parent_->set_state(window_start_);
    ended_ = false;
    fill();
    const auto gone = std::min(static_cast<std::size_t>(position_), window_.size());
    window_.resize(window_.size() - gone);
  }
  void start_prefetch() override { parent_->start_prefetch(); }

 protected:
  bool do_next(Element& out) override {
    if (window_.empty()) {
      if (ended_) return false;
      window_start_ = parent_->state();
      fill();
      position_ = 0;
    }
    if (window_.empty()) return false;
    ++position_;
    out = std::move(window_.back());
    window_.pop_back();
    if (window_.empty()) ++window_index_;
    return true;
  }

 private:
  /// The elements leave from the end.
  void fill() {
    std::vector<Element> read;
    Element element;
    while (static_cast<std::int64_t>(read.size()) < size_) {
      if (!parent_->next(element)) {
        ended_ = true;
        break;
      }
      read.push_back(std::move(element));
    }
    window_.clear();
    const auto n = static_cast<std::int64_t>(read.size());
    for (std::int64_t i = 0; i < n; ++i)
      window_.push_back(read[static_cast<std::size_t>(
          shuffled(i, n, seed_ + static_cast<std::uint64_t>(window_index_), node().mode()))]);
  }
  std::unique_ptr<Iterator> parent_;
  std::int64_t size_;
  std::uint64_t seed_;
  Json window_start_;
  std::int64_t window_index_ = 0, position_ = 0;
  std::vector<Element> window_;
  bool ended_ = false;
};

class WindowShuffleIterNode : public IterOperation {
 public:
  WindowShuffleIterNode(std::shared_ptr<const IterNode> parent, std::int64_t window,
                        std::uint64_t seed)
      : IterOperation(std::move(parent)), window_(window), shuffle_seed_(seed) {
    check_window(window);
  }
  std::string name() const override { return "WindowShuffleIterDataset"; }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<WindowShuffleIterator>(*this, parent_->iterate(context), window_,
                                                   shuffle_seed_);
  }

 private:
  std::int64_t window_;
  std::uint64_t shuffle_seed_;
};

}  // namespace

MapDataset MapDataset::window_shuffle(std::int64_t window_size, std::uint64_t seed) const {
  return MapDataset(std::make_shared<WindowShuffleMapNode>(node_, window_size, seed));
}
IterDataset IterDataset::window_shuffle(std::int64_t window_size, std::uint64_t seed) const {
  return IterDataset(std::make_shared<WindowShuffleIterNode>(node_, window_size, seed));
}

}  // namespace strata::data
