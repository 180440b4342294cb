// The edge between users and iterators: failures, states and modes.
#include "strata/data/pipeline/node.h"

namespace strata::data {

using namespace pipeline;

DatasetIterator::DatasetIterator(std::shared_ptr<const IterNode> node)
    : node_(std::move(node)), iterator_(node_->iterate({.options = merged_options(*node_)})) {}
DatasetIterator::DatasetIterator(DatasetIterator&&) noexcept = default;
DatasetIterator& DatasetIterator::operator=(DatasetIterator&& other) noexcept {
  iterator_ = std::move(other.iterator_);  // before the graph that it refers to
  node_ = std::move(other.node_);
  return *this;
}
DatasetIterator::~DatasetIterator() = default;

Result<bool> DatasetIterator::next(Element& out) {
  try {
    return iterator_->next(out);
  } catch (ReadFailure& failure) {
    return std::move(failure.status);
  }
}

std::vector<Element> DatasetIterator::take(std::int64_t most) {
  std::vector<Element> out;
  Element element;
  while (static_cast<std::int64_t>(out.size()) < most && next(element).value())
    out.push_back(std::move(element));
  return out;
}

std::string DatasetIterator::state() const {
  Json state = iterator_->state();
  if (node_->mode() == Mode::native) {
    Json outer = Json::object();
    outer["mode"] = "native";
    outer["state"] = std::move(state);
    state = std::move(outer);
  }
  return state.dump(4, ' ', true, Json::error_handler_t::replace);
}

Status DatasetIterator::set_state(const std::string& text) {
  const Json state = Json::parse(text, nullptr, false);
  if (state.is_discarded()) return Status(Code::invalid, "the state is no JSON");
  const bool native = state.is_object() && state.contains("mode") && state.contains("state");
  if (native != (node_->mode() == Mode::native))
    return Status(Code::invalid,
                  "the state was written by a pipeline in {} mode, this one is in {} mode",
                  native ? "native" : "compat", native ? "compat" : "native");
  try {
    if (native && state["mode"] != "native")
      return Status(Code::invalid, "the state's mode is {}; known is \"native\"",
                    state["mode"].dump(-1, ' ', true, Json::error_handler_t::replace));
    iterator_->set_state(native ? state["state"] : state);
  } catch (const StateError& error) {
    return Status(Code::invalid, "the state does not fit this pipeline: {}", error.message);
  } catch (ReadFailure& failure) {
    return std::move(failure.status);
  }
  return {};
}

std::int64_t DatasetIterator::next_index() const { return iterator_->next_index(); }

void DatasetIterator::set_next_index(std::int64_t index) {
  if (index < 0) throw Error("data::DatasetIterator", "next index {}: allowed is 0 or more", index);
  iterator_->set_next_index(index);
}

void DatasetIterator::start_prefetch() { iterator_->start_prefetch(); }

DatasetIterator IterDataset::iterate() const { return DatasetIterator(node_); }
Mode IterDataset::mode() const { return node_->mode(); }
Mode MapDataset::mode() const { return node_->mode(); }
std::int64_t MapDataset::size() const { return node_->size(); }

Result<Element> MapDataset::read(std::int64_t index) const {
  check_index(*node_, index);
  try {
    return node_->get(index);
  } catch (ReadFailure& failure) {
    return std::move(failure.status);
  }
}

Element MapDataset::operator[](std::int64_t index) const { return read(index).value(); }

}  // namespace strata::data
