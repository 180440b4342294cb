// Several data sets in turn, each replaced by the next when it has ended; logical workers.
#include <algorithm>
#include <charconv>
#include <map>

#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

/// A data set to be read, with the context that its iterator gets.
struct Input {
  std::shared_ptr<const IterNode> node;
  std::int64_t worker = 0, workers = 1;
  bool is_map = false;  // needs no thread of its own
};

class InterleaveIterator : public Iterator {
 public:
  InterleaveIterator(const Node& node, std::vector<Input> inputs, std::int64_t cycle,
                     std::int64_t buffer, PipelineOptions options)
      : Iterator(node),
        inputs_(std::move(inputs)),
        buffer_(buffer),
        options_(std::move(options)),
        slots_(std::min(static_cast<std::size_t>(cycle), inputs_.size())) {
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].input = i;
  }
  Json state() override {
    // As upstream, a place that nobody has read yet takes the next data set, to have a state of it.
    for (Slot& slot : slots_) {
      if (slot.iterator || slot.ended) continue;
      if (next_input_ >= inputs_.size()) break;
      open(slot);
    }
    Json indices = Json::array(), states = Json::array(), exhausted = Json::array();
    for (Slot& slot : slots_) {
      indices.push_back(slot.input);
      states.push_back(slot.iterator ? slot.iterator->state() : slot.ended.value_or(Json()));
      exhausted.push_back(slot.ended ? 1 : 0);
    }
    Json out = Json::object();
    out["next_index_in_cycle"] = turn_;
    out["next_index_in_datasets"] = next_input_;
    out["iterators_in_use_indices"] = std::move(indices);
    out["iterators_in_use_states"] = std::move(states);
    out["exhausted"] = std::move(exhausted);
    out["future_states"] = Json::object();
    for (const auto& [input, state] : future_) out["future_states"][std::to_string(input)] = state;
    return out;
  }
  void set_state(const Json& state) override {
    const Json &indices = list(state, "iterators_in_use_indices"),
               &states = list(state, "iterators_in_use_states"),
               &exhausted = list(state, "exhausted");
    const auto inputs = static_cast<std::int64_t>(inputs_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_[i];
      const auto input =
          static_cast<std::size_t>(integer(indices[i], "iterators_in_use_indices", 0, inputs - 1));
      const bool ended = exhausted[i].is_boolean() ? exhausted[i].get<bool>()
                                                   : integer(exhausted[i], "exhausted", 0, 1) != 0;
      if (states[i].is_null()) {
        slot = Slot{input, nullptr, {}};
      } else if (ended && (mode() == Mode::native || !gives(input, states[i]))) {
        slot = Slot{input, nullptr, states[i]};
      } else {
        if (!slot.iterator || slot.input != input) slot.iterator = make(input);
        slot.input = input;
        slot.ended.reset();
        slot.iterator->set_state(states[i]);
      }
    }
    turn_ = static_cast<std::size_t>(
        integer_part(state, "next_index_in_cycle", 0,
                     std::max<std::int64_t>(static_cast<std::int64_t>(slots_.size()) - 1, 0)));
    next_input_ =
        static_cast<std::size_t>(integer_part(state, "next_index_in_datasets", 0, inputs));
    set_future(state);
  }
  std::int64_t next_index() override {
    if (inputs_.size() != 1) return Iterator::next_index();
    return slots_[0].iterator ? slots_[0].iterator->next_index() : 0;
  }
  void set_next_index(std::int64_t index) override {
    if (inputs_.size() != 1) return Iterator::set_next_index(index);
    if (!slots_[0].iterator) {
      next_input_ = 0;
      open(slots_[0]);
    }
    slots_[0].iterator->set_next_index(index);
  }
  void start_prefetch() override {
    for (Slot& slot : slots_)
      if (slot.iterator) slot.iterator->start_prefetch();
  }

 protected:
  bool do_next(Element& out) override {
    if (slots_.empty()) return false;
    for (;;) {
      Slot& slot = slots_[turn_];
      if (slot.iterator) {
        if (slot.iterator->next(out)) {
          turn_ = (turn_ + 1) % slots_.size();
          return true;
        }
        slot.ended = slot.iterator->state();
        slot.iterator.reset();
        turn_ = (turn_ + 1) % slots_.size();
      } else if (next_input_ < inputs_.size()) {
        open(slot);
      } else if (std::none_of(slots_.begin(), slots_.end(),
                              [](const Slot& s) { return s.iterator != nullptr; })) {
        return false;
      } else {
        turn_ = (turn_ + 1) % slots_.size();
      }
    }
  }

 private:
  struct Slot {
    std::size_t input = 0;
    std::unique_ptr<Iterator> iterator;
    std::optional<Json> ended;  // its last state
  };
  const Json& list(const Json& state, const char* key) const {
    const Json& out = part(state, key);
    if (!out.is_array() || out.size() != slots_.size())
      throw StateError{fmt::format("\"{}\" is no list of {}", key, slots_.size())};
    return out;
  }
  /// Where data sets begin that nobody has opened yet: of iterators that Grain dealt anew to
  /// another number of hosts.
  void set_future(const Json& state) {
    future_.clear();
    if (!state.contains("future_states")) return;
    const Json& future = state["future_states"];
    if (!future.is_object()) throw StateError{"\"future_states\" is no object"};
    for (const auto& [key, value] : future.items()) {
      std::size_t input = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), input);
      if (error != std::errc() || end != key.data() + key.size() || input >= inputs_.size())
        throw StateError{
            fmt::format("\"future_states\" names \"{}\" of {} data sets", key, inputs_.size())};
      future_.emplace(input, value);
    }
  }
  Mode mode() const { return node().mode(); }
  /// Whether a data set goes on behind a state. Below a repeat Grain's flags of what has ended are
  /// those of the epoch before, and a restore that believes them loses the rest of those data sets.
  bool gives(std::size_t input, const Json& state) const {
    const Input& in = inputs_[input];
    const auto probe = in.node->iterate({in.worker, in.workers, options_});
    probe->set_state(state);
    Element e;
    return probe->next(e);
  }
  std::unique_ptr<Iterator> make(std::size_t input) const {
    const Input& in = inputs_[input];
    auto out = in.node->iterate({in.worker, in.workers, options_});
    return in.is_map ? std::move(out) : thread_prefetch(*in.node, std::move(out), buffer_);
  }
  void open(Slot& slot) {
    slot.iterator = make(next_input_);
    if (const auto future = future_.find(next_input_); future != future_.end()) {
      slot.iterator->set_state(future->second);
      future_.erase(future);
    }
    slot.input = next_input_++;
    slot.ended.reset();
  }
  std::vector<Input> inputs_;
  std::int64_t buffer_;
  PipelineOptions options_;
  std::vector<Slot> slots_;
  std::size_t turn_ = 0, next_input_ = 0;
  std::map<std::size_t, Json> future_;
};

class InterleaveNode : public IterNode {
 public:
  InterleaveNode(std::vector<Input> inputs, InterleaveOptions options, std::string name)
      : IterNode(inputs.empty() ? Mode::native : inputs[0].node->mode()),
        inputs_(std::move(inputs)),
        options_(options),
        name_(std::move(name)) {
    if (options.cycle_length <= 0 || options.iter_buffer_size < 0)
      throw Error("interleave",
                  "cycle_length is {}, iter_buffer_size is {}: allowed are 1 or more "
                  "and 0 or more",
                  options.cycle_length, options.iter_buffer_size);
    for (const Input& in : inputs_)
      if (in.node->mode() != mode())
        throw Error("interleave", "data sets must be of one mode; {} is not", in.node->name());
  }
  std::string name() const override { return name_; }
  Parents drawn() const override {
    Parents out;
    for (const Input& in : inputs_)
      if (out.empty() || out.back() != in.node) out.push_back(in.node);
    return out;
  }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    std::vector<Input> inputs;
    for (std::size_t i = static_cast<std::size_t>(context.worker); i < inputs_.size();
         i += static_cast<std::size_t>(context.workers))
      inputs.push_back(inputs_[i]);
    return std::make_unique<InterleaveIterator>(*this, std::move(inputs), options_.cycle_length,
                                                options_.iter_buffer_size, context.options);
  }

 private:
  std::vector<Input> inputs_;
  InterleaveOptions options_;
  std::string name_;
};

std::string name_of(std::size_t inputs, std::int64_t cycle) {
  return fmt::format("InterleaveIterDataset([{} datasets], cycle_length={})", inputs, cycle);
}

}  // namespace

IterDataset IterDataset::interleave(const std::vector<IterDataset>& datasets,
                                    InterleaveOptions options) {
  std::vector<Input> inputs;
  for (const IterDataset& d : datasets) inputs.push_back({.node = d.node()});
  std::string name = name_of(inputs.size(), options.cycle_length);
  return IterDataset(std::make_shared<InterleaveNode>(std::move(inputs), options, std::move(name)));
}

IterDataset IterDataset::interleave(const std::vector<MapDataset>& datasets,
                                    InterleaveOptions options) {
  std::vector<Input> inputs;
  for (const MapDataset& d : datasets)
    inputs.push_back({.node = d.to_iter_dataset().node(), .is_map = true});
  std::string name = name_of(inputs.size(), options.cycle_length);
  return IterDataset(std::make_shared<InterleaveNode>(std::move(inputs), options, std::move(name)));
}

IterDataset IterDataset::mp_prefetch(MultiprocessingOptions options) const {
  if (options.num_workers < 0)
    throw Error("mp_prefetch", "num_workers is {}; allowed is 0 or more", options.num_workers);
  if (options.num_workers == 0) return *this;
  std::vector<Input> inputs;
  for (int w = 0; w < options.num_workers; ++w)
    inputs.push_back({.node = node_, .worker = w, .workers = options.num_workers});
  return IterDataset(std::make_shared<InterleaveNode>(
      std::move(inputs),
      InterleaveOptions{.cycle_length = options.num_workers,
                        .iter_buffer_size = options.per_worker_buffer_size},
      fmt::format("MultiprocessPrefetchIterDataset(num_workers={})", options.num_workers)));
}

}  // namespace strata::data
