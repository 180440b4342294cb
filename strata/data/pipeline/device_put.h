// Elements as arrays on a device, moved there ahead of use.
//
//   DeviceIterator it = device_put(batches, cpu_devices(2)[1]).iterate();
//   for (DeviceElement e; *it.next(e);) step(e.at("tokens"), e.at("targets"));
//   it.state();                                  // of the batches: what was taken, not what is
//   ahead
//
// Source: grain/_src/python/experimental/device_put/device_put.py.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "strata/api/sharding/devices.h"
#include "strata/data/pipeline/pipeline.h"

namespace strata::data {

/// An element's leaves, each an array under its path ("tokens", "parts/0"; "" for an element that
/// is a leaf itself), in the order of Element::for_each_leaf.
struct DeviceElement {
  std::vector<std::pair<std::string, Array>> leaves;
  /// Throws Error that names the leaves there are.
  const Array& at(const std::string& path) const;
};

struct DevicePutOptions {
  /// Elements that a thread makes ahead on the host; 0 for none.
  std::int64_t cpu_buffer_size = 4;
  /// Elements whose arrays are on the device, or on their way, before they are asked for; 0 moves
  /// each when it is.
  std::int64_t device_buffer_size = 2;
};

/// One thread at a time.
class DeviceIterator {
 public:
  DeviceIterator(DatasetIterator iterator, Device device, std::int64_t buffer);
  /// Puts the next element into `out`; false at the end. Numbers become arrays of rank 0. Throws
  /// Error for an element that holds a text, bytes or nothing at all.
  Result<bool> next(DeviceElement& out);
  /// As DatasetIterator's, of the elements that `next` gave.
  std::string state() const { return state_; }
  Status set_state(const std::string& state);

 private:
  struct Moved {
    DeviceElement element;
    std::string state;  // behind it
  };
  Result<bool> move_one();
  DatasetIterator iterator_;
  Device device_;
  std::size_t buffer_;
  std::deque<Moved> moved_;
  std::string state_;
  Status failure_;  // of the host, behind what was moved
  bool ended_ = false;
};

class DeviceDataset {
 public:
  DeviceDataset(IterDataset ds, Device device, DevicePutOptions options);
  DeviceIterator iterate() const;

 private:
  IterDataset ds_;
  Device device_;
  DevicePutOptions options_;
};

/// Throws Error for a buffer below 0.
DeviceDataset device_put(const IterDataset& ds, const Device& device,
                         DevicePutOptions options = {});

}  // namespace strata::data
