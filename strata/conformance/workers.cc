#include "strata/conformance/workers.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "strata/base/check.h"

namespace strata::conformance {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool write_all(int fd, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    ssize_t n = ::write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}
bool read_all(int fd, void* bytes, std::size_t size) {
  char* at = static_cast<char*>(bytes);
  while (size > 0) {
    ssize_t n = ::read(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

/// What a worker says of a job: whether it ended well, and a text.
struct Answer {
  std::uint8_t out_of_memory = 0;
  std::uint32_t size = 0;
};

/// A worker's life: reads numbers of jobs, answers each.
[[noreturn]] void work_until_closed(int in, int out, const WorkerLimits& limits,
                                    const std::function<std::string(std::size_t)>& work) {
  rlimit memory{limits.bytes, limits.bytes};
  ::setrlimit(RLIMIT_DATA, &memory);
  rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::uint64_t job;
  while (read_all(in, &job, sizeof job)) {
    std::string text;
    Answer answer;
    try {
      text = work(job);
    } catch (const std::bad_alloc&) {
      answer.out_of_memory = 1;
    }
    answer.size = static_cast<std::uint32_t>(text.size());
    if (!write_all(out, &answer, sizeof answer) || !write_all(out, text.data(), text.size())) break;
    if (answer.out_of_memory) break;
  }
  std::_Exit(0);
}

class Worker {
 public:
  Worker(const WorkerLimits& limits, const std::function<std::string(std::size_t)>& work,
         const std::vector<Worker>& others) {
    int to[2], from[2];
    STRATA_CHECK(::pipe(to) == 0 && ::pipe(from) == 0, "no pipes: {}", std::strerror(errno));
    pid_ = ::fork();
    STRATA_CHECK(pid_ >= 0, "no process: {}", std::strerror(errno));
    if (pid_ == 0) {
      for (const Worker& w : others) w.close_ends();
      ::close(to[1]);
      ::close(from[0]);
      work_until_closed(to[0], from[1], limits, work);
    }
    ::close(to[0]);
    ::close(from[1]);
    in_ = to[1];
    out_ = from[0];
  }
  Worker(Worker&& other) noexcept { *this = std::move(other); }
  Worker& operator=(Worker&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(in_, other.in_);
    std::swap(out_, other.out_);
    std::swap(job, other.job);
    std::swap(started, other.started);
    std::swap(jobs_done, other.jobs_done);
    return *this;
  }
  ~Worker() {
    if (pid_ <= 0) return;
    close_ends();
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  bool give(std::size_t next) {
    job = next;
    started = now();
    std::uint64_t number = next;
    return write_all(in_, &number, sizeof number);
  }
  /// The answer to the job under way; nothing when the worker has ended.
  std::optional<std::pair<Answer, std::string>> answer() {
    Answer a;
    if (!read_all(out_, &a, sizeof a)) return std::nullopt;
    std::string text(a.size, '\0');
    if (!read_all(out_, text.data(), text.size())) return std::nullopt;
    return std::pair(a, std::move(text));
  }
  /// Why a worker that has ended did so.
  std::string end() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    close_ends();
    in_ = out_ = -1;
    if (WIFSIGNALED(status))
      return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return fmt::format("ended with exit status {}", WEXITSTATUS(status));
  }
  int out() const { return out_; }

  std::optional<std::size_t> job;
  double started = 0;
  int jobs_done = 0;

 private:
  void close_ends() const {
    if (in_ >= 0) ::close(in_);
    if (out_ >= 0) ::close(out_);
  }
  pid_t pid_ = 0;
  int in_ = -1, out_ = -1;
};

constexpr int kJobsOfOneWorker =
    200;  // then a fresh one, so that what code and caches hold does not add up

}  // namespace

void run_in_workers(std::size_t count, const WorkerLimits& limits,
                    const std::function<std::string(std::size_t)>& work,
                    const std::function<void(std::size_t, const std::string&)>& done,
                    const std::function<void(std::size_t, const std::string&)>& ended) {
  ::signal(SIGPIPE, SIG_IGN);
  std::vector<Worker> workers;
  std::size_t next = 0;
  auto give_next = [&](Worker& w) {
    w.job.reset();
    if (next >= count) return;
    if (w.jobs_done >= kJobsOfOneWorker) {
      Worker fresh(limits, work, workers);
      w = std::move(fresh);
    }
    ++w.jobs_done;
    w.give(next++);
  };
  for (int i = 0; i < limits.jobs && static_cast<std::size_t>(i) < count; ++i) {
    workers.emplace_back(limits, work, workers);
    give_next(workers.back());
  }
  auto replace = [&](Worker& w) {
    Worker fresh(limits, work, workers);
    w = std::move(fresh);
    give_next(w);
  };
  for (;;) {
    std::vector<pollfd> waiting;
    std::vector<Worker*> busy;
    for (Worker& w : workers)
      if (w.job) {
        waiting.push_back({w.out(), POLLIN, 0});
        busy.push_back(&w);
      }
    if (busy.empty()) break;
    ::poll(waiting.data(), waiting.size(), 200);
    for (std::size_t i = 0; i < busy.size(); ++i) {
      Worker& w = *busy[i];
      std::size_t job = *w.job;
      if (waiting[i].revents != 0) {
        auto answer = w.answer();
        if (answer && !answer->first.out_of_memory) {
          done(job, answer->second);
          give_next(w);
          continue;
        }
        std::string sentence = w.end();
        ended(job,
              answer ? fmt::format("more than {} MB of memory", limits.bytes >> 20) : sentence);
        replace(w);
      } else if (now() - w.started > limits.seconds) {
        ended(job, fmt::format("no end after {} s", limits.seconds));
        replace(w);
      }
    }
  }
}

}  // namespace strata::conformance
