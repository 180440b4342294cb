#include "strata/base/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "strata/base/check.h"
#include "strata/base/thread_share.h"

namespace strata {
namespace {

using Function = void (*)(void*, std::int64_t, std::int64_t);
using Word = std::atomic<std::uint32_t>;

constexpr unsigned kDefaultMxcsr = 0x1f80;
using Clock = std::chrono::steady_clock;
constexpr auto kSpin = std::chrono::microseconds(30);
constexpr auto kLate = std::chrono::microseconds(
    15);  // no thread that runs takes as long over what is left of a brief call
constexpr auto kLeastAlone = std::chrono::milliseconds(1),
               kMostAlone = std::chrono::milliseconds(64);
constexpr int kForgiven = 1000;  // calls on time after which a late one counts as the first
constexpr std::int64_t kMaxChunks = 1 << 30;

std::atomic<std::uint64_t> yield_seed{0};
std::atomic<bool> busy_is_counted{false};
std::atomic<std::int64_t> busy_ns{0};
thread_local bool inside_chunk = false;

void futex_wait(Word& word, std::uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr,
          nullptr, 0);
}
void futex_wake(Word& word, int threads) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, threads, nullptr,
          nullptr, 0);
}

/// Spins for a moment; true when `ready` came true in that time.
template <class Ready>
bool spin_until(Ready ready) {
  auto end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      _mm_pause();
    }
  } while (Clock::now() < end);
  return ready();
}

void maybe_yield() {
  std::uint64_t seed = yield_seed.load(std::memory_order_relaxed);
  if (seed == 0) return;
  thread_local std::uint64_t state =
      seed ^ static_cast<std::uint64_t>(gettid()) * 0x9e3779b97f4a7c15u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  for (std::uint64_t n = state % 4; n > 0; --n) sched_yield();
}

int default_threads() {
  if (const char* text = std::getenv("STRATA_NUM_THREADS")) {
    if (int n = std::atoi(text); n >= 1) return std::min(n, 1024);
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

/// One run of parallel_for.
struct Job {
  Function f = nullptr;
  void* ctx = nullptr;
  std::int64_t points = 0, grain = 1;

  std::uint32_t chunks() const { return static_cast<std::uint32_t>((points - 1) / grain + 1); }
  void run(std::uint32_t chunk) const {
    std::int64_t begin = chunk * grain;
    f(ctx, begin, std::min(points, begin + grain));
  }
};

/// Adds the time of its life to what the BusyClock tells, unless it is within another's.
class Busy {
 public:
  Busy() : counts_(busy_is_counted.load(std::memory_order_relaxed) && !within_) {
    if (!counts_) return;
    within_ = true;
    began_ = std::chrono::steady_clock::now();
  }
  ~Busy() {
    if (!counts_) return;
    within_ = false;
    busy_ns.fetch_add(std::chrono::nanoseconds(std::chrono::steady_clock::now() - began_).count(),
                      std::memory_order_relaxed);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  static thread_local bool within_;
  bool counts_;
  std::chrono::steady_clock::time_point began_;
};
thread_local bool Busy::within_ = false;

/// Each thread has a share of a run's chunks, neighbours, the same in every run of as many: what a
/// thread wrote in one run it mostly reads in the next, from its own cache. Then it helps others
/// with theirs. Threads claim chunks by counting a share's ticket up. A ticket is the number of the
/// run in its high half and the next chunk in its low half; between runs the low half is `kClosed`.
/// A thread that is late by a run therefore fails to claim, and one that has claimed knows that
/// `job_` stays as it is until the chunk is counted in `done_`.
class Pool {
 public:
  explicit Pool(int threads) : threads_(threads), shares_(static_cast<std::size_t>(threads)) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's own threads
    for (int i = 1; i < threads; ++i) std::thread([this, i] { work(i); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  int threads() const { return threads_; }

  /// False when another thread uses the pool.
  bool run(const Job& job, bool brief = false) {
    const std::uint32_t chunks = job.chunks();
    std::unique_lock lock(users_, std::try_to_lock);
    if (!lock) return false;
    const std::uint64_t run = (shares_[0].ticket.load(std::memory_order_relaxed) >> 32) + 1;
    error_ = nullptr;
    done_.store(0, std::memory_order_relaxed);
    for (Share& s : shares_) s.ticket.store(run << 32 | kClosed, std::memory_order_relaxed);
    job_ = job;
    chunks_.store(
        chunks,
        std::memory_order_release);  // who sees the new number sees that the last run is closed
    for (int i = 0; i < threads_; ++i)
      shares_[static_cast<std::size_t>(i)].ticket.store(run << 32 | begin_of(i, chunks),
                                                        std::memory_order_release);
    signal_.fetch_add(1);
    if (sleepers_.load() > 0)
      futex_wake(signal_, static_cast<int>(std::min<std::uint32_t>(chunks - 1, INT_MAX)));
    claim_all(0);
    if (brief)
      await_brief(chunks);
    else
      await_done(chunks);
    if (error_) std::rethrow_exception(error_);
    return true;
  }

  /// As run; false also while the caller is better off alone.
  bool run_brief(const Job& job) {
    if (alone_until_.load(std::memory_order_relaxed) != Clock::time_point::min()) {
      if (Clock::now() < alone_until_.load(std::memory_order_relaxed)) return false;
      alone_until_.store(Clock::time_point::min(), std::memory_order_relaxed);
    }
    return run(job, true);
  }

  /// The threads end by themselves; the object stays, for a thread may still look at it.
  void retire() {
    retired_.store(true);
    signal_.fetch_add(1);
    futex_wake(signal_, INT_MAX);
  }

 private:
  static constexpr std::uint32_t kClosed = 0xffffffff;

  /// The first chunk of thread i's share of so many.
  std::uint32_t begin_of(int i, std::uint32_t chunks) const {
    return static_cast<std::uint32_t>(std::uint64_t{chunks} * static_cast<std::uint64_t>(i) /
                                      static_cast<std::uint64_t>(threads_));
  }

  /// Its own share first.
  void claim_all(int thread) {
    inside_chunk = true;
    for (int i = 0; i < threads_; ++i) claim_share((thread + i) % threads_);
    inside_chunk = false;
  }

  void claim_share(int share) {
    std::atomic<std::uint64_t>& shared = shares_[static_cast<std::size_t>(share)].ticket;
    std::uint64_t ticket = shared.load();
    while (true) {
      auto chunk = static_cast<std::uint32_t>(ticket);
      if (chunk == kClosed || chunk >= begin_of(share + 1, chunks_.load()))
        break;  // a run being written: then the claim fails
      if (!shared.compare_exchange_weak(ticket, ticket + 1)) continue;
      maybe_yield();
      try {
        Busy busy;
        job_.run(chunk);
      } catch (...) {
        std::lock_guard lock(error_mutex_);
        error_ = std::current_exception();
      }
      finish_chunk();
      ticket = shared.load();
    }
  }

  void finish_chunk() {
    std::uint32_t total = chunks_.load();
    if (done_.fetch_add(1) + 1 == total && caller_sleeps_.load()) futex_wake(done_, 1);
  }

  /// Waits as for any call. After a wait for a thread that did not run the caller is alone for
  /// eight times as long, and for twice as long as the last time if that was not long ago.
  void await_brief(std::uint32_t chunks) {
    for (int i = 0; i < 64; ++i) {
      if (done_.load() == chunks) {
        if (++on_time_ > kForgiven) alone_for_ = kLeastAlone;
        return;
      }
      _mm_pause();
    }
    auto began = Clock::now();
    await_done(chunks);
    auto end = Clock::now();
    if (end - began < kLate) return;
    on_time_ = 0;
    alone_for_ = std::min<Clock::duration>(
        std::max<Clock::duration>(2 * alone_for_, 8 * (end - began)), kMostAlone);
    alone_until_.store(end + alone_for_, std::memory_order_relaxed);
  }

  void await_done(std::uint32_t chunks) {
    if (spin_until([&] { return done_.load() == chunks; })) return;
    caller_sleeps_.store(true);
    for (std::uint32_t seen = done_.load(); seen != chunks; seen = done_.load())
      futex_wait(done_, seen);
    caller_sleeps_.store(false);
  }

  void work(int thread) {
    pthread_setname_np(pthread_self(), "strata");
    _mm_setcsr(kDefaultMxcsr);
    std::uint32_t seen = 0;
    while (!retired_.load()) {
      claim_all(thread);
      if (!spin_until([&] { return signal_.load() != seen; })) {
        sleepers_.fetch_add(1);
        futex_wait(signal_, seen);
        sleepers_.fetch_sub(1);
      }
      seen = signal_.load();
    }
  }

  struct alignas(64) Share {
    std::atomic<std::uint64_t> ticket{kClosed};
  };

  const int threads_;
  std::vector<Share> shares_;  // of each thread, the caller's first
  std::mutex users_, error_mutex_;
  std::exception_ptr error_;
  // What a thread has to see of a new run is in one cache line beside its ticket, which moves
  // between cores once.
  alignas(64) Word signal_{0};
  std::atomic<std::uint32_t> chunks_{0};
  Job job_;
  alignas(64) Word done_{0};
  alignas(64) std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<bool> caller_sleeps_{false}, retired_{false};
  alignas(64) std::atomic<Clock::time_point> alone_until_{
      Clock::time_point::min()};  // this line is the caller's
  Clock::duration alone_for_ = kLeastAlone;
  int on_time_ = 0;
};

std::atomic<Pool*> current{nullptr};
thread_local Pool* own_share = nullptr;  // of a thread with a ThreadShare

void replace_pool(Pool* next) {
  if (Pool* old = current.exchange(next)) old->retire();
}

Pool& pool() {
  if (Pool* p = current.load(std::memory_order_acquire)) return *p;
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    current.store(nullptr);
    inside_chunk = false;
  });
  (void)registered;
  Pool* mine = new Pool(default_threads());
  Pool* expected = nullptr;
  if (current.compare_exchange_strong(expected, mine)) return *mine;
  mine->retire();
  return *expected;
}

/// One run on the pool, on the caller alone where `on_pool` is false.
template <class OnPool>
void run_chunks(Job job, OnPool on_pool) {
  STRATA_CHECK(job.points >= 0 && job.grain >= 1, "parallel_for over {} points by {}", job.points,
               job.grain);
  if (job.points == 0) return;
  while ((job.points - 1) / job.grain >= kMaxChunks) job.grain *= 2;
  DefaultFloatEnvironment environment;
  if (job.grain < job.points && !inside_chunk) {
    Pool& p = own_share != nullptr ? *own_share : pool();
    if (p.threads() > 1 && on_pool(p, job)) return;
  }
  Busy busy;
  for (std::uint32_t chunk = 0; chunk < job.chunks(); ++chunk) job.run(chunk);
}

}  // namespace

DefaultFloatEnvironment::DefaultFloatEnvironment() : saved_(_mm_getcsr()) {
  _mm_setcsr(kDefaultMxcsr);
}
DefaultFloatEnvironment::~DefaultFloatEnvironment() { _mm_setcsr(saved_); }

void parallel_for(std::int64_t points, std::int64_t grain, Function f, void* ctx) {
  run_chunks({f, ctx, points, grain}, [](Pool& p, const Job& job) { return p.run(job); });
}

void parallel_for_brief(std::int64_t points, std::int64_t grain, Function f, void* ctx) {
  run_chunks({f, ctx, points, grain}, [](Pool& p, Job job) {
    job.grain = std::max(job.grain, (job.points + p.threads() - 1) / p.threads());
    return p.run_brief(job);
  });
}

int num_threads() { return (own_share != nullptr ? *own_share : pool()).threads(); }
void set_num_threads(int n) {
  STRATA_CHECK(n >= 0, "{} threads", n);
  pool();  // so that the handler of fork is there
  replace_pool(new Pool(n == 0 ? default_threads() : n));
}

ThreadShare::ThreadShare(int threads) {
  STRATA_CHECK(threads >= 1 && own_share == nullptr, "a share of {} threads", threads);
  own_share = new Pool(threads);
}
ThreadShare::~ThreadShare() { std::exchange(own_share, nullptr)->retire(); }

BusyClock::BusyClock() {
  busy_ns.store(0);
  busy_is_counted.store(true);
}
BusyClock::~BusyClock() { busy_is_counted.store(false); }
std::int64_t BusyClock::ns() const { return busy_ns.load(); }

namespace testing_hooks {
void inject_yields(std::uint64_t seed) { yield_seed.store(seed); }
}  // namespace testing_hooks

}  // namespace strata
