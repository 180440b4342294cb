// How the bytes of arrays go between processes: the door to Gloo's transports, which stand in a
// library of their own (gloo_inside.cc), so that what never starts several processes does not need
// them. Without that library bytes go behind the messages that announce them (wire.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace strata::runtime::distributed {

/// Bytes on their way.
class Move {
 public:
  virtual ~Move() = default;
  /// Returns when they have arrived, or have been taken: what failed, or "".
  virtual std::string wait() = 0;
  /// Ends a wait in another thread.
  virtual void abort() = 0;
};

/// A connection to every other process. Thread-safe. What is sent in a slot, a number that is used
/// once, comes to who receives in it from there, in any order of slots.
class Bulk {
 public:
  virtual ~Bulk() = default;
  virtual std::unique_ptr<Move> send(int process, std::uint64_t slot, std::byte* data,
                                     std::size_t bytes) = 0;
  virtual std::unique_ptr<Move> receive(int process, std::uint64_t slot, std::byte* data,
                                        std::size_t bytes) = 0;
};

/// What processes tell each other to connect. Both throw what failed.
struct Exchange {
  std::function<void(const std::string& key, const std::string& value)> set;
  std::function<std::string(const std::string& key)> get;
};

/// Of the library: `strata_gloo`. The message of a failure is put into `*failed`, and null is
/// given.
using MakeBulk = Bulk* (*)(const char* own_address, int process, int processes,
                           const Exchange& exchange, std::string* failed);

/// Connects by Gloo; null where its library is not here, which is no failure. STRATA_GLOO names the
/// library, "off" says not to look for it.
std::unique_ptr<Bulk> make_gloo(const std::string& own_address, int process, int processes,
                                const Exchange& exchange, std::string* failed);

}  // namespace strata::runtime::distributed
