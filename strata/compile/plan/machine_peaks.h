// What this machine gives small loops: the limits that a roofline (roofline.h) compares launches
// with.
#pragma once

#include <vector>

namespace strata::compile {

/// A second's worth on one thread and on all of the pool.
struct Rate {
  double one = 0, all = 0;
  double of(bool parallel) const { return parallel ? all : one; }
};

struct MachinePeaks {
  /// Bytes a second from, and to, an array of `bytes`.
  struct Traffic {
    double bytes;
    Rate read, written;
  };
  int threads = 1;
  Rate slots, pairs, tiles;      // as LaunchCost counts them; tiles: zero without
  std::vector<Traffic> traffic;  // by their bytes, the smallest first: within a core's cache, the
                                 // shared one, past all
  Rate call;                     // calls of kernels that do nothing, with the clock around them
};

/// Takes about half a second. The best of several tries, so what others do on the machine shows
/// little.
MachinePeaks measure_peaks();

}  // namespace strata::compile
