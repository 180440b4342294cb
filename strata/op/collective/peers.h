// The other processes of a launch, as its devices in this process see them: lockstep.h meets them
// through this door, and runtime/distributed moves the bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "strata/base/result.h"

namespace strata::op {

/// Bytes for one process, or from it.
struct Parcel {
  int process = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::unique_ptr<std::byte[]> owned = nullptr;  // what `data` points into, if it is nobody else's
};

/// Thread-safe. One for each launch.
class Peers {
 public:
  virtual ~Peers() = default;
  /// Which process runs the device.
  virtual int process_of(int device) const = 0;
  /// Which process this is.
  virtual int process() const = 0;
  bool here(int device) const { return process_of(device) == process(); }

  /// Meets every other process that has devices of `group`, all of which call this with the same
  /// group and `what`: sends a parcel to each and receives one from each, of the bytes that are
  /// stated, which are set to memory of their own. `out` and `in` hold each such process once.
  /// Codes: cancelled when a process has died, left, or failed in this launch; invalid where one
  /// came for another reason. Messages name the processes.
  virtual Status exchange(const std::vector<int>& group, const std::string& what,
                          const std::vector<Parcel>& out, std::vector<Parcel>& in) = 0;
  /// All devices here have done their part.
  virtual void ended() = 0;
  /// This process's part has failed: whoever waits for it in this launch, or comes to, hears so.
  virtual void failed(const Status& why) = 0;
};

}  // namespace strata::op
