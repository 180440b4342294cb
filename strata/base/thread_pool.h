// One pool of threads for the whole process, with work cut by shape.
//
//   parallel_for(rows, 64, [](void* ctx, std::int64_t begin, std::int64_t end) { ... }, &work);
//
// The points 0 .. points-1 are cut into chunks [0, grain), [grain, 2 grain) ... whatever the number
// of threads. Each thread has its share of them, neighbours and in order, and takes others' when it
// is done with its own: what it wrote in one call it finds in its own cache in the next. So a
// function whose chunks do not depend on each other gives the same bits on any number of threads.
//
// The pool is made at its first use, with STRATA_NUM_THREADS threads (default: the processors this
// process may run on), the caller among them. It is made anew in a forked child, and its threads
// are never joined: they sleep at exit.
#pragma once

#include <cstdint>

namespace strata {

/// Calls f(ctx, begin, end) once for each chunk and returns when all are done.
///
/// The caller works along. A call from inside a chunk, or while another thread uses the pool, runs
/// all chunks in order on the caller. Every chunk runs with the default floating-point environment
/// (nearest, no flush to zero); the caller's own comes back afterwards. If chunks throw, one of the
/// exceptions is rethrown here; other chunks may or may not have run. Needs points >= 0 and grain
/// >= 1.
void parallel_for(std::int64_t points, std::int64_t grain,
                  void (*f)(void* ctx, std::int64_t begin, std::int64_t end), void* ctx);
/// The same for calls of a few microseconds, one soon after another. Where the caller had to wait
/// for a thread that the system did not let run, it works alone for some time: on a busy machine
/// waiting takes at most an eighth of the time.
void parallel_for_brief(std::int64_t points, std::int64_t grain,
                        void (*f)(void* ctx, std::int64_t begin, std::int64_t end), void* ctx);

/// Threads that work together, the caller included.
int num_threads();
/// From now on n threads; n = 0 goes back to the default.
void set_num_threads(int n);

/// While one lives, threads read a clock before and after each chunk of parallel_for. One at a
/// time.
class BusyClock {
 public:
  BusyClock();
  ~BusyClock();
  BusyClock(const BusyClock&) = delete;
  BusyClock& operator=(const BusyClock&) = delete;
  /// What all threads together have spent in chunks of calls that have returned, in nanoseconds.
  /// Chunks within chunks count once.
  std::int64_t ns() const;
};

/// The default floating-point environment while it lives.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment();
  ~DefaultFloatEnvironment();
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  unsigned saved_;
};

namespace testing_hooks {
/// Makes threads yield at random moments between chunks, to shake the order in which they run; 0
/// stops that.
void inject_yields(std::uint64_t seed);
}  // namespace testing_hooks

}  // namespace strata
