// Work on many chunks by all threads, with results that do not depend on how many there are.
#pragma once

#include <cstdint>
#include <functional>

#include "strata/base/result.h"
#include "strata/checkpoint/store/payload.h"

namespace strata::checkpoint {

/// Calls f(0) .. f(n-1) on all threads. The failure of the lowest number is returned; numbers above
/// one that failed may be left out. `f` may be called by several threads at once.
Status for_each(std::int64_t n, const std::function<Status(std::int64_t)>& f);

/// What `in_order` does with each number.
struct Stages {
  /// An upper bound of the bytes that `make` returns, about; what it needs besides counts too.
  std::function<std::uint64_t(std::int64_t)> bytes;
  /// Makes the bytes of a number, on any thread.
  std::function<Payload(std::int64_t)> make;
  /// Takes them, one number after the other from 0 on.
  std::function<Status(std::int64_t, Payload)> take;
};

/// Makes the bytes of 0 .. n-1 on all threads, and takes them in order while the next ones are
/// made. At any time at most `most` bytes are held, or those of two numbers where one has more than
/// half of them. The first failure of `take` ends it; an exception of `make` is rethrown.
Status in_order(std::int64_t n, const Stages& stages,
                std::uint64_t most = std::uint64_t{256} << 20);

}  // namespace strata::checkpoint
