// What operations are made of. Private to this folder: users see pipeline.h.
#pragma once

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strata/base/error.h"
#include "strata/data/pipeline/pipeline.h"

namespace strata::data::pipeline {

using Json = nlohmann::ordered_json;

/// What a source could not read, on its way to the edge, where it becomes a Status again.
struct ReadFailure {
  Status status;
};
/// A state that is none of this graph's; becomes Code::invalid at the edge.
struct StateError {
  std::string message;
};

/// A part of a state. Throw StateError unless it is there and of its kind.
const Json& part(const Json& state, const char* key);
std::int64_t integer(const Json& value, const char* what, std::int64_t least = 0,
                     std::int64_t most = kInfinite);
inline std::int64_t integer_part(const Json& state, const char* key, std::int64_t least = 0,
                                 std::int64_t most = kInfinite) {
  return integer(part(state, key), key, least, most);
}

/// Elements that came out of an operation and the time it took, parents included. Counted only
/// while a Tracking lives.
struct Stage {
  std::atomic<std::int64_t> elements{0}, nanoseconds{0};
};
class Tracking {
 public:
  Tracking() { ++living_; }
  ~Tracking() { --living_; }
  Tracking(const Tracking&) = delete;
  Tracking& operator=(const Tracking&) = delete;
  static bool on() { return living_.load(std::memory_order_relaxed) > 0; }

 private:
  static inline std::atomic<int> living_{0};
};
/// Adds the time it lives to a stage.
class Timed {
 public:
  explicit Timed(Stage& stage, std::int64_t elements = 1);
  ~Timed();
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Stage& stage_;
  std::int64_t begin_, elements_;
};

/// An operation. `parents` are what it reads from and where seeds are looked for.
class Node {
 public:
  using Parents = std::vector<std::shared_ptr<const Node>>;
  /// Throws Error when the parents' modes differ.
  explicit Node(Parents parents);
  /// A source.
  explicit Node(Mode mode) : mode_(mode) {}
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// As Grain prints it: "BatchMapDataset(batch_size=8, drop_remainder=False)".
  virtual std::string name() const = 0;
  /// Whether what it gives may be none although its parent's is not.
  virtual bool drops_elements() const { return false; }
  /// What is drawn below it; the same as parents() but where seeds must not be found through it.
  virtual Parents drawn() const { return parents_; }
  const Parents& parents() const { return parents_; }
  Mode mode() const { return mode_; }
  std::optional<std::uint64_t> seed_mark() const { return seed_; }
  Stage& stage() const { return stage_; }

 protected:
  std::optional<std::uint64_t> seed_;
  void set_mode(Mode mode) { mode_ = mode; }

 private:
  Parents parents_;
  Mode mode_ = Mode::native;
  mutable Stage stage_;
};

/// The seed that an operation above `parents` derives: breadth-first, each marked node's seed and
/// its distance. Nothing where no node is marked.
std::optional<std::uint64_t> default_seed(const Node::Parents& parents);
/// The given or the derived one; throws Error that names the two ways to give one.
std::uint64_t seed_or_default(std::optional<std::uint64_t> seed, const Node::Parents& parents,
                              const char* operation);
/// Whether a node above (or this one) satisfies a condition.
bool any_above(const Node& node, const std::function<bool(const Node&)>& f);

class MapNode : public Node {
 public:
  using Node::Node;
  virtual std::int64_t size() const = 0;
  /// Element index >= 0, an epoch's number times size() added for later epochs.
  Element get(std::int64_t index) const {
    if (!Tracking::on()) return do_get(index);
    Timed timed(stage());
    return do_get(index);
  }
  /// Several; `out` has as many places.
  void get_many(std::span<const std::int64_t> indices, std::span<Element> out) const {
    if (!Tracking::on()) return do_get_many(indices, out);
    Timed timed(stage(), static_cast<std::int64_t>(indices.size()));
    do_get_many(indices, out);
  }

 protected:
  virtual Element do_get(std::int64_t index) const = 0;
  virtual void do_get_many(std::span<const std::int64_t> indices, std::span<Element> out) const {
    for (std::size_t i = 0; i < indices.size(); ++i) out[i] = do_get(indices[i]);
  }
};

/// One parent, and elements found at other numbers of it: all that reordering operations are.
class ReindexNode : public MapNode {
 public:
  explicit ReindexNode(std::shared_ptr<const MapNode> parent)
      : MapNode(Parents{parent}), parent_(std::move(parent)) {}

 protected:
  virtual std::int64_t reindex(std::int64_t index) const = 0;
  Element do_get(std::int64_t index) const override { return parent_->get(reindex(index)); }
  void do_get_many(std::span<const std::int64_t> indices, std::span<Element> out) const override;
  std::shared_ptr<const MapNode> parent_;
};

/// What an iterator must know of those around it.
struct Context {
  /// Of logical workers: this one and how many.
  std::int64_t worker = 0, workers = 1;
  PipelineOptions options;
};

/// All that changes while a graph is read. One thread at a time.
class Iterator {
 public:
  explicit Iterator(const Node& node) : node_(node) {}
  virtual ~Iterator();
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  /// Puts the next element into `out`; false at the end, and then again and again.
  bool next(Element& out) {
    if (!Tracking::on()) return do_next(out);
    Timed timed(node_.stage());
    return do_next(out);
  }
  /// As many as there are places for; fewer at the end. The places behind them may be written.
  std::size_t next_many(std::span<Element> out) {
    if (!Tracking::on()) return do_next_many(out);
    Timed timed(node_.stage(), static_cast<std::int64_t>(out.size()));
    return do_next_many(out);
  }
  /// Not const: interleaving makes what it must have a state of.
  virtual Json state() = 0;
  virtual void set_state(const Json& state) = 0;
  virtual std::int64_t next_index();
  virtual void set_next_index(std::int64_t index);
  virtual void start_prefetch() {}
  const Node& node() const { return node_; }

 protected:
  virtual bool do_next(Element& out) = 0;
  virtual std::size_t do_next_many(std::span<Element> out) {
    std::size_t n = 0;
    while (n < out.size() && do_next(out[n])) ++n;
    return n;
  }

 private:
  const Node& node_;  // kept alive by the DatasetIterator's graph
};

class IterNode : public Node {
 public:
  using Node::Node;
  virtual std::unique_ptr<Iterator> iterate(const Context& context) const = 0;
  /// The options that it sets for all of the graph.
  virtual const PipelineOptions* options() const { return nullptr; }
};

/// An iterator over one parent whose state adds nothing to the parent's.
class PassingIterator : public Iterator {
 public:
  PassingIterator(const Node& node, std::unique_ptr<Iterator> parent)
      : Iterator(node), parent_(std::move(parent)) {}
  Json state() override { return parent_->state(); }
  void set_state(const Json& state) override { parent_->set_state(state); }
  void start_prefetch() override { parent_->start_prefetch(); }

 protected:
  std::unique_ptr<Iterator> parent_;
};

/// An iteration node over one parent.
class IterOperation : public IterNode {
 public:
  explicit IterOperation(std::shared_ptr<const IterNode> parent)
      : IterNode(Parents{parent}), parent_(std::move(parent)) {}

 protected:
  std::shared_ptr<const IterNode> parent_;
};

/// What holds for a graph whose last node is this one, the nearest to the end winning.
PipelineOptions merged_options(const Node& node);
/// Counts what filters drop and warns or throws as the options say.
class FilterHealth {
 public:
  FilterHealth(std::string name, PipelineOptions options)
      : name_(std::move(name)), options_(std::move(options)) {}
  void count(bool passed);

 private:
  std::string name_;
  PipelineOptions options_;
  std::int64_t passed_ = 0, dropped_ = 0;
  std::int64_t last_warning_ = -1;
};

std::string python_bool(bool value);
/// a // b and a % b for b > 0.
inline std::pair<std::int64_t, std::int64_t> divmod(std::int64_t a, std::int64_t b) {
  return {a / b, a % b};
}
/// Throws Error for an index below 0, and for any index of an empty data set.
void check_index(const MapNode& node, std::int64_t index);
/// a * b, at most kInfinite.
std::int64_t saturating_product(std::int64_t a, std::int64_t b);

/// The iterator of a thread that makes elements of `parent` ahead; its state is the one behind the
/// last element that was taken. A buffer of 0 makes them when asked.
std::unique_ptr<Iterator> thread_prefetch(const Node& node, std::unique_ptr<Iterator> parent,
                                          std::int64_t buffer_size);
/// The node of slices, which workers take too.
std::shared_ptr<const MapNode> slice_node(std::shared_ptr<const MapNode> parent,
                                          std::optional<std::int64_t> start,
                                          std::optional<std::int64_t> stop, std::int64_t step);

}  // namespace strata::data::pipeline
