// A share of the processors for one thread's loops.
//
//   ThreadShare share(2);           // on a thread that serves one device of several
//   parallel_for(...);              // cut over two threads that nobody else uses
#pragma once

namespace strata {

/// While one lives on a thread, parallel_for called there works on threads of its own, `threads` of
/// them with the caller, and num_threads() is that number. One at a time on each thread.
class ThreadShare {
 public:
  explicit ThreadShare(int threads);
  ~ThreadShare();
  ThreadShare(const ThreadShare&) = delete;
  ThreadShare& operator=(const ThreadShare&) = delete;
};

}  // namespace strata
