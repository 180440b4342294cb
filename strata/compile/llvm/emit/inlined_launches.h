// Launches that a driver prints where they stand instead of calling a kernel.
//
// A loop of a few small launches takes most of its time for calls, and for what each kernel loads
// of the one before. Printed into the loop they are optimised with it.
#pragma once

#include <unordered_set>
#include <vector>

#include "strata/compile/plan/plan.h"

namespace strata::compile {

class InlinedLaunches {
 public:
  explicit InlinedLaunches(const Plan& plan);

  bool has(const Launch& launch) const { return launches_.count(&launch) != 0; }
  /// Whether a launch that is not printed in place calls the kernel.
  bool is_called(int kernel) const { return called_[static_cast<std::size_t>(kernel)]; }

 private:
  void find(const Steps& steps);
  bool is_small(const Steps& body) const;
  void take(const Steps& body);

  const Plan& plan_;
  std::unordered_set<const Launch*> launches_;  // lookup only
  std::vector<bool> called_;                    // by kernel
};

}  // namespace strata::compile
