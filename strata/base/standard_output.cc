#include "strata/base/standard_output.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <mutex>
#include <streambuf>

namespace strata {
namespace {

constexpr std::size_t kHeld = 65536;

/// Opens what is closed of the standard descriptors: reading gives nothing, writing to standard
/// output fails, writing to standard error is lost.
void fill_descriptors() {
  constexpr int kModes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
  for (int d = 0; d < 3; ++d)  // the lowest number that is free is the one that is opened
    if (::fcntl(d, F_GETFD) < 0 && errno == EBADF) (void)::open("/dev/null", kModes[d]);
}

}  // namespace

/// Holds text until there is enough of it; at once on a terminal, line by line. For any thread.
class StandardOutput::Buffer : public std::streambuf {
 public:
  int error() const { return error_; }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    std::lock_guard lock(mutex_);
    held_.append(text, static_cast<std::size_t>(size));
    const bool line = terminal_ && held_.find('\n') != std::string::npos;
    return (held_.size() < kHeld && !line) || write() ? size : 0;
  }
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }
  int sync() override {
    std::lock_guard lock(mutex_);
    return write() ? 0 : -1;
  }

 private:
  /// Writes what is held; false from the first failure on.
  bool write() {
    for (std::size_t done = 0; error_ == 0 && done < held_.size();) {
      const ssize_t n = ::write(STDOUT_FILENO, held_.data() + done, held_.size() - done);
      if (n >= 0)
        done += static_cast<std::size_t>(n);
      else if (errno != EINTR)
        error_ = errno;
    }
    held_.clear();
    return error_ == 0;
  }

  std::mutex mutex_;
  std::string held_;
  int error_ = 0;
  const bool terminal_ = ::isatty(STDOUT_FILENO) != 0;
};

StandardOutput::StandardOutput() {
  fill_descriptors();
  ::signal(SIGPIPE, SIG_IGN);
  buffer_ = std::make_unique<Buffer>();
  before_ = std::cout.rdbuf(buffer_.get());
}

StandardOutput::~StandardOutput() {
  std::cout.flush();
  std::cout.rdbuf(before_);
}

int StandardOutput::finish(const std::string& program, int status, int lost) {
  std::cout.flush();
  const int error = buffer_->error();
  if (error == 0) return status;
  std::cerr << program << ": standard output: cannot write: "
            << (error == EBADF ? "it is closed" : std::strerror(error)) << "\n";
  return status == 0 ? lost : status;
}

}  // namespace strata
