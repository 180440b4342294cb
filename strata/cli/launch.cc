// `strata launch`: several processes of one program on this machine.
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "strata/base/text.h"
#include "strata/cli/command.h"

namespace strata::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int processes = 0, devices = 0, port = 0;
  bool plain = false;
  std::vector<std::string> command;
};

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
/// How long the others may take to end by themselves once one has failed, and once asked to.
constexpr std::chrono::seconds kByThemselves{2}, kOnceAsked{5};

/// Output of a process, given on by whole lines.
struct Stream {
  int from = -1, to = 1;
  std::string prefix = {}, rest = {};
};

struct Process {
  pid_t pid = -1;
  bool running = true;
};

/// A port of this machine at which nobody listens; -1 where there is none.
int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof a;
  const bool bound = fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&a), size) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size) == 0;
  if (fd >= 0) ::close(fd);
  return bound ? ntohs(a.sin_port) : -1;
}

void write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) at += static_cast<std::size_t>(n);
  }
}

/// Gives on what has come, all of it where `all` says so; false at the end of the stream.
bool pass_on(Stream& s, bool all) {
  char bytes[1 << 16];
  const ssize_t n = ::read(s.from, bytes, sizeof bytes);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  s.rest.append(bytes, static_cast<std::size_t>(n));
  if (n == 0 && all && !s.rest.empty() && s.rest.back() != '\n') s.rest += '\n';
  std::string out;
  for (std::size_t end; (end = s.rest.find('\n')) != std::string::npos;) {
    out += s.prefix + s.rest.substr(0, end + 1);
    s.rest.erase(0, end + 1);
  }
  write_all(s.to, out);
  return n > 0;
}

/// The exit status of a process as a shell says it.
int status_of(int waited) {
  return WIFSIGNALED(waited) ? 128 + WTERMSIG(waited) : WEXITSTATUS(waited);
}

class Launch {
 public:
  explicit Launch(const Options& o) : o_(o) {}

  int run() {
    if (Status s = start_all(); !s.ok()) {
      signal_all(SIGKILL);
      for (Process& p : processes_) ::waitpid(p.pid, nullptr, 0);
      return fail(s);
    }
    while (running() > 0 || !streams_.empty()) step();
    return status_;
  }

 private:
  Status start_all() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (int s : kForwarded) ::sigaddset(&signals, s);
    ::sigaddset(&signals, SIGCHLD);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
    signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
    const int port = o_.port > 0 ? o_.port : free_port();
    if (signals_ < 0 || port < 0) return Status(Code::io, "launch: {}", std::strerror(errno));
    for (int rank = 0; rank < o_.processes; ++rank)
      if (Status s = start(rank, port); !s.ok()) return s;
    return Status();
  }

  Status start(int rank, int port) {
    int out[2], err[2], failed[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0 ||
        ::pipe2(failed, O_CLOEXEC) != 0)
      return Status(Code::io, "launch: {}", std::strerror(errno));
    const int threads = std::max(
        1, static_cast<int>(std::thread::hardware_concurrency()) / std::max(1, o_.processes));
    const pid_t launcher = ::getpid(), pid = ::fork();
    if (pid < 0) return Status(Code::io, "launch: {}", std::strerror(errno));
    if (pid == 0) {
      ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // also where the launcher is killed
      if (::getppid() != launcher) ::_exit(1);
      ::setenv("STRATA_COORDINATOR_ADDRESS", fmt::format("127.0.0.1:{}", port).c_str(), 1);
      ::setenv("STRATA_NUM_PROCESSES", std::to_string(o_.processes).c_str(), 1);
      ::setenv("STRATA_PROCESS_ID", std::to_string(rank).c_str(), 1);
      if (o_.devices > 0) ::setenv("STRATA_NUM_CPU_DEVICES", std::to_string(o_.devices).c_str(), 1);
      ::setenv("STRATA_NUM_THREADS", std::to_string(threads).c_str(), 0);
      // The first may read what is given on; a terminal is nobody's.
      if (rank > 0 || ::isatty(0)) ::dup2(::open("/dev/null", O_RDONLY), 0);
      ::dup2(out[1], 1);
      ::dup2(err[1], 2);
      std::vector<char*> arguments;
      for (const std::string& a : o_.command) arguments.push_back(const_cast<char*>(a.c_str()));
      arguments.push_back(nullptr);
      ::execvp(arguments[0], arguments.data());
      const int error = errno;
      (void)!::write(failed[1], &error, sizeof error);
      ::_exit(127);
    }
    ::setpgid(pid, pid);
    for (int fd : {out[1], err[1], failed[1]}) ::close(fd);
    processes_.push_back({pid});
    const std::string prefix = o_.plain ? "" : fmt::format("[{}] ", rank);
    streams_.push_back({out[0], 1, prefix});
    streams_.push_back({err[0], 2, prefix});
    int error = 0;
    const bool ran = ::read(failed[0], &error, sizeof error) != sizeof error;
    ::close(failed[0]);
    if (!ran)
      return Status(Code::invalid, "launch: cannot start {}: {}", o_.command[0],
                    std::strerror(error));
    return Status();
  }

  int running() const {
    return static_cast<int>(std::count_if(processes_.begin(), processes_.end(),
                                          [](const Process& p) { return p.running; }));
  }
  void signal_all(int signal) {
    for (const Process& p : processes_)
      if (p.running) ::kill(-p.pid, signal);
  }

  /// Waits for output, a signal, an end, or the time at which the others are ended.
  void step() {
    std::vector<pollfd> all{{signals_, POLLIN, 0}};
    for (const Stream& s : streams_) all.push_back({s.from, POLLIN, 0});
    ::poll(all.data(), all.size(), ending_ || running() == 0 ? 50 : 1000);
    for (std::size_t i = streams_.size(); i-- > 0;)
      if (all[i + 1].revents != 0 && !pass_on(streams_[i], true)) {
        ::close(streams_[i].from);
        streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    if (all[0].revents != 0) hear();
    const Clock::time_point now = Clock::now();
    if (!ending_ || now < until_) {
      // What a process has left behind may hold its output open: that is not waited for.
      if (running() == 0 && now > ended_ + std::chrono::seconds(1)) streams_.clear();
      return;
    }
    signal_all(asked_ ? SIGKILL : SIGTERM);
    asked_ = true;
    until_ = now + kOnceAsked;
  }

  void hear() {
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) != sizeof info) return;
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal != SIGCHLD) {
      const bool ends = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
      signal_all(ends && interrupted_ ? SIGKILL : signal);
      interrupted_ |= ends;
      return;
    }
    for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
      Process& p = processes_[rank];
      int waited = 0;
      if (!p.running || ::waitpid(p.pid, &waited, WNOHANG) != p.pid) continue;
      p.running = false;
      ended_ = Clock::now();
      const int status = status_of(waited);
      if (status == 0 || status_ != 0) continue;
      status_ = status;
      ending_ = true;
      until_ = Clock::now() + kByThemselves;
      std::cerr << fmt::format("strata: process {} {}{}\n", rank,
                               WIFSIGNALED(waited)
                                   ? fmt::format("was ended by signal {}", WTERMSIG(waited))
                                   : fmt::format("ended with exit status {}", status),
                               running() > 0 ? "; the others are ended" : "");
    }
  }

  const Options& o_;
  std::vector<Process> processes_;
  std::vector<Stream> streams_;
  sigset_t before_{};
  int signals_ = -1, status_ = 0;
  bool ending_ = false, asked_ = false, interrupted_ = false;
  Clock::time_point until_{}, ended_{};
};

}  // namespace

void add_launch(CommandLine& app, std::function<int()>& action) {
  CommandLine& command =
      app.add_subcommand("launch", "starts several processes of one program on this machine");
  command.description(
      "Starts N processes of one program on this machine, which distributed::initialize joins.\n\n"
      "Each hears of the others by STRATA_COORDINATOR_ADDRESS, STRATA_NUM_PROCESSES and "
      "STRATA_PROCESS_ID, and computes on its\nshare of the cores. Lines of output begin with the "
      "number of the process. Signals go to all of them. Once one fails, the\nothers have two "
      "seconds to say what they know, and its exit status is that of the command. On several "
      "machines mpirun\nor srun start the same program.\n\nExamples:\n"
      "  strata launch -n 4 -- ./train --steps 100\n"
      "  strata launch -n 2 --devices-per-process 4 ./train\n");
  auto o = std::make_shared<Options>();
  command.add_option("-n,--processes", o->processes, "how many processes")
      .required()
      .in_range(1, 4096);
  command
      .add_option("--devices-per-process", o->devices,
                  "CPU devices of each (default: STRATA_NUM_CPU_DEVICES, else 1)")
      .in_range(1, 1024);
  command
      .add_option("--port", o->port, "where process 0 listens for the others (default: a free one)")
      .in_range(1, 65535);
  command.add_flag("--plain", o->plain, "give output on as it is, without numbers of processes");
  command.add_option("command", o->command, "the program and its arguments, behind -- or not")
      .required();
  command.callback([o, &action] { action = [o] { return Launch(*o).run(); }; });
}

std::vector<std::string> with_end_of_options(const std::vector<std::string>& arguments) {
  std::vector<std::string> out = arguments;
  if (out.size() < 2 || out[1] != "launch") return out;
  for (std::size_t i = 2; i < out.size(); ++i) {
    if (out[i] == "--") return out;
    if (out[i].empty() || out[i][0] != '-') {
      out.insert(out.begin() + static_cast<std::ptrdiff_t>(i), "--");
      return out;
    }
    // The next one is its value.
    for (const char* name : {"-n", "--processes", "--devices-per-process", "--port"})
      if (out[i] == name) {
        ++i;
        break;
      }
  }
  return out;
}

}  // namespace strata::cli
