// From elements by number to elements in order, and threads that make them ahead.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace pipeline {
namespace {

/// Threads that make elements `first`, `first + 1` ... ahead, in slots that are taken in order.
class ReadAhead {
 public:
  ReadAhead(const MapNode& parent, int threads, std::int64_t buffer, std::int64_t first)
      : parent_(parent), buffer_(buffer), begin_(first), next_(first) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~ReadAhead() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
  }
  Element take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !slots_.empty() && slots_.front().done; });
    Slot slot = std::move(slots_.front());
    slots_.pop_front();
    ++begin_;
    lock.unlock();
    changed_.notify_all();
    if (slot.error) std::rethrow_exception(slot.error);
    return std::move(slot.element);
  }

 private:
  struct Slot {
    Element element;
    std::exception_ptr error;
    bool done = false;
  };
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock,
                    [&] { return stop_ || (next_ - begin_ < buffer_ && next_ < parent_.size()); });
      if (stop_) return;
      const std::int64_t index = next_++;
      slots_.emplace_back();
      lock.unlock();
      Slot made;
      made.done = true;
      try {
        made.element = parent_.get(index);
      } catch (...) {
        made.error = std::current_exception();
      }
      lock.lock();
      slots_[static_cast<std::size_t>(index - begin_)] = std::move(made);
      changed_.notify_all();
    }
  }
  const MapNode& parent_;
  const std::int64_t buffer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Slot> slots_;  // of elements begin_ .. next_ - 1
  std::int64_t begin_, next_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

class MapReader : public Iterator {
 public:
  MapReader(const Node& node, std::shared_ptr<const MapNode> parent, ReadOptions options,
            bool allow_nones, const Context& context)
      : Iterator(node),
        parent_(std::move(parent)),
        options_(options),
        allow_nones_(allow_nones),
        health_(node.name(), context.options) {}
  Json state() override {
    Json out = Json::object();
    out["next_index"] = next_;
    return out;
  }
  void set_state(const Json& state) override {
    next_ = integer_part(state, "next_index", 0, parent_->size());
    ahead_.reset();
  }
  std::int64_t next_index() override { return next_; }
  void set_next_index(std::int64_t index) override {
    if (index > parent_->size())
      throw Error("data::DatasetIterator", "next index {} of {} elements", index, parent_->size());
    next_ = index;
    ahead_.reset();
  }
  void start_prefetch() override {
    if (!ahead_ && options_.num_threads > 0 && options_.prefetch_buffer_size > 0)
      ahead_.emplace(*parent_, options_.num_threads, options_.prefetch_buffer_size, next_);
  }

 protected:
  bool do_next(Element& out) override {
    while (next_ < parent_->size()) {
      start_prefetch();
      out = ahead_ ? ahead_->take() : parent_->get(next_);
      ++next_;
      const bool given = allow_nones_ || !out.is_none();
      health_.count(given);
      if (given) return true;
    }
    return false;
  }

  /// Reads what is asked for at once where no thread reads ahead. Elements that fail are read again
  /// one by one, so that the iterator stands behind those before.
  std::size_t do_next_many(std::span<Element> out) override {
    if (options_.num_threads > 0 && options_.prefetch_buffer_size > 0)
      return Iterator::do_next_many(out);
    std::size_t n = 0;
    while (n < out.size() && next_ < parent_->size()) {
      const auto want = std::min<std::int64_t>(std::ssize(out) - static_cast<std::int64_t>(n),
                                               parent_->size() - next_);
      indices_.resize(static_cast<std::size_t>(want));
      std::iota(indices_.begin(), indices_.end(), next_);
      const std::span<Element> got = out.subspan(n, indices_.size());
      try {
        parent_->get_many(indices_, got);
      } catch (...) {
        return n + Iterator::do_next_many(out.subspan(n));
      }
      next_ += want;
      for (Element& e : got) {
        const bool given = allow_nones_ || !e.is_none();
        health_.count(given);
        if (!given) continue;
        if (&e != &out[n]) out[n] = std::move(e);
        ++n;
      }
    }
    return n;
  }

 private:
  std::shared_ptr<const MapNode> parent_;
  ReadOptions options_;
  bool allow_nones_;
  std::vector<std::int64_t> indices_;  // scratch
  FilterHealth health_;
  std::int64_t next_ = 0;
  std::optional<ReadAhead> ahead_;
};

class ToIterNode : public IterNode {
 public:
  ToIterNode(std::shared_ptr<const MapNode> parent, ReadOptions options, bool allow_nones)
      : IterNode(Parents{parent}),
        parent_(std::move(parent)),
        options_(options),
        allow_nones_(allow_nones) {
    if (options.num_threads < 0 || options.prefetch_buffer_size < 0)
      throw Error("to_iter_dataset", "{} threads and a buffer of {}: allowed is 0 or more",
                  options.num_threads, options.prefetch_buffer_size);
  }
  std::string name() const override {
    return fmt::format(
        "PrefetchIterDataset(num_threads={}, prefetch_buffer_size={}, allow_nones={})",
        options_.num_threads, options_.prefetch_buffer_size, python_bool(allow_nones_));
  }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    std::shared_ptr<const MapNode> parent = parent_;
    if (context.workers > 1) parent = slice_node(parent, context.worker, {}, context.workers);
    return std::make_unique<MapReader>(*this, std::move(parent), options_, allow_nones_, context);
  }

 private:
  std::shared_ptr<const MapNode> parent_;
  ReadOptions options_;
  bool allow_nones_;
};

/// Elements of a parent with the parent's state behind each.
class ThreadPrefetch : public Iterator {
 public:
  ThreadPrefetch(const Node& node, std::unique_ptr<Iterator> parent, std::int64_t buffer)
      : Iterator(node), parent_(std::move(parent)), buffer_(buffer), state_(parent_->state()) {}
  ~ThreadPrefetch() override { stop(); }
  Json state() override {
    if (!state_) state_ = parent_->state();
    return *state_;
  }
  void set_state(const Json& state) override {
    stop();
    parent_->set_state(state);
    state_ = parent_->state();
    index_.reset();
  }
  std::int64_t next_index() override {
    if (!index_) {
      const Json here = state();
      stop();
      parent_->set_state(here);
      index_ = parent_->next_index();
    }
    return *index_;
  }
  void set_next_index(std::int64_t index) override {
    stop();
    parent_->set_next_index(index);
    index_ = index;
    state_.reset();
  }
  void start_prefetch() override {
    if (thread_.joinable() || buffer_ == 0) return;
    thread_ = std::thread([this] { run(); });
  }

 protected:
  bool do_next(Element& out) override {
    if (buffer_ == 0) {
      if (!parent_->next(out)) return false;
      state_ = parent_->state();
    } else {
      start_prefetch();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !made_.empty(); });
      Made made = std::move(made_.front());
      made_.pop_front();
      lock.unlock();
      changed_.notify_all();
      if (made.error || made.end) {
        stop();
        if (made.error) std::rethrow_exception(made.error);
        return false;
      }
      out = std::move(made.element);
      state_ = std::move(made.state);
    }
    if (index_) ++*index_;
    return true;
  }

 private:
  struct Made {
    Element element;
    Json state;
    std::exception_ptr error;
    bool end = false;
  };
  void run() {
    for (;;) {
      Made made;
      try {
        made.end = !parent_->next(made.element);
        if (!made.end) made.state = parent_->state();
      } catch (...) {
        made.error = std::current_exception();
      }
      const bool last = made.end || made.error;
      std::unique_lock lock(mutex_);
      changed_.wait(lock,
                    [&] { return stop_ || static_cast<std::int64_t>(made_.size()) < buffer_; });
      if (stop_) return;
      made_.push_back(std::move(made));
      lock.unlock();
      changed_.notify_all();
      if (last) return;
    }
  }
  void stop() {
    if (!thread_.joinable()) return;
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
    made_.clear();
    stop_ = false;
  }
  std::unique_ptr<Iterator> parent_;
  const std::int64_t buffer_;
  std::optional<Json> state_;
  std::optional<std::int64_t> index_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Made> made_;
  bool stop_ = false;
  std::thread thread_;
};

class ThreadPrefetchNode : public IterOperation {
 public:
  ThreadPrefetchNode(std::shared_ptr<const IterNode> parent, std::int64_t buffer)
      : IterOperation(std::move(parent)), buffer_(buffer) {
    if (buffer < 0) throw Error("prefetch", "the buffer is {}; allowed is 0 or more", buffer);
  }
  std::string name() const override {
    return fmt::format("ThreadPrefetchIterDataset(prefetch_buffer_size={})", buffer_);
  }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return thread_prefetch(*this, parent_->iterate(context), buffer_);
  }

 private:
  std::int64_t buffer_;
};

class OptionsNode : public IterOperation {
 public:
  OptionsNode(std::shared_ptr<const IterNode> parent, PipelineOptions options)
      : IterOperation(std::move(parent)), options_(std::move(options)) {}
  std::string name() const override { return "WithOptionsIterDataset"; }
  const PipelineOptions* options() const override { return &options_; }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return parent_->iterate(context);
  }

 private:
  PipelineOptions options_;
};

}  // namespace

std::unique_ptr<Iterator> thread_prefetch(const Node& node, std::unique_ptr<Iterator> parent,
                                          std::int64_t buffer_size) {
  return std::make_unique<ThreadPrefetch>(node, std::move(parent), buffer_size);
}

}  // namespace pipeline

IterDataset MapDataset::to_iter_dataset(ReadOptions options, bool allow_nones) const {
  return IterDataset(std::make_shared<pipeline::ToIterNode>(node_, options, allow_nones));
}
IterDataset IterDataset::prefetch(std::int64_t buffer_size) const {
  return IterDataset(std::make_shared<pipeline::ThreadPrefetchNode>(node_, buffer_size));
}
IterDataset IterDataset::with_options(PipelineOptions options) const {
  return IterDataset(std::make_shared<pipeline::OptionsNode>(node_, std::move(options)));
}

}  // namespace strata::data
