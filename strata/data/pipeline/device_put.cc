#include "strata/data/pipeline/device_put.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "strata/base/error.h"

namespace strata::data {
namespace {

Literal literal_of(const std::string& path, const Element& leaf) {
  switch (leaf.kind()) {
    case Element::Kind::array: return leaf.array();
    case Element::Kind::boolean: return Literal::of<bool>({}, {leaf.boolean()});
    case Element::Kind::integer: return Literal::of<std::int64_t>({}, {leaf.integer()});
    case Element::Kind::real: return Literal::of<double>({}, {leaf.real()});
    default:
      throw Error("data::device_put", "\"{}\" is {}: a device holds numbers and arrays", path,
                  name(leaf.kind()));
  }
}

DeviceElement move(const Element& e, const Device& device) {
  DeviceElement out;
  e.for_each_leaf([&](const std::string& path, const Element& leaf) {
    out.leaves.emplace_back(path, strata::device_put(Array(literal_of(path, leaf)), device));
  });
  if (out.leaves.empty()) throw Error("data::device_put", "an element without arrays");
  return out;
}

}  // namespace

const Array& DeviceElement::at(const std::string& path) const {
  std::vector<std::string> there;
  for (const auto& [name, array] : leaves) {
    if (name == path) return array;
    there.push_back(name);
  }
  throw Error("data::DeviceElement", "there is no \"{}\"; there are {}", path,
              fmt::join(there, ", "));
}

DeviceIterator::DeviceIterator(DatasetIterator iterator, Device device, std::int64_t buffer)
    : iterator_(std::move(iterator)),
      device_(device),
      buffer_(static_cast<std::size_t>(buffer)),
      state_(iterator_.state()) {}

/// Moves the next element of the host, if there is one.
Result<bool> DeviceIterator::move_one() {
  if (ended_) return false;
  Element e;
  auto more = iterator_.next(e);
  if (!more) return more.status();
  ended_ = !*more;
  if (ended_) return false;
  moved_.push_back({move(e, device_), iterator_.state()});
  return true;
}

Result<bool> DeviceIterator::next(DeviceElement& out) {
  while (failure_.ok() && moved_.size() <= buffer_) {
    const auto more = move_one();
    if (!more) failure_ = more.status();
    if (!more || !*more) break;
  }
  if (moved_.empty()) return failure_.ok() ? Result<bool>(false) : std::exchange(failure_, {});
  out = std::move(moved_.front().element);
  state_ = std::move(moved_.front().state);
  moved_.pop_front();
  return true;
}

Status DeviceIterator::set_state(const std::string& state) {
  moved_.clear();
  failure_ = {};
  ended_ = false;
  Status s = iterator_.set_state(state);
  if (s.ok()) state_ = iterator_.state();
  return s;
}

DeviceDataset::DeviceDataset(IterDataset ds, Device device, DevicePutOptions options)
    : ds_(std::move(ds)), device_(device), options_(options) {
  if (options.cpu_buffer_size < 0 || options.device_buffer_size < 0)
    throw Error("data::device_put", "buffers of {} and {}: allowed is 0 or more",
                options.cpu_buffer_size, options.device_buffer_size);
}

DeviceIterator DeviceDataset::iterate() const {
  return DeviceIterator(ds_.prefetch(options_.cpu_buffer_size).iterate(), device_,
                        options_.device_buffer_size);
}

DeviceDataset device_put(const IterDataset& ds, const Device& device, DevicePutOptions options) {
  return DeviceDataset(ds, device, options);
}

}  // namespace strata::data
