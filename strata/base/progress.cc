#include "strata/base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace strata {
namespace {

constexpr double kLeastSecondsBetween = 0.1;
constexpr const char* kEraseLine = "\r\x1b[K";

std::size_t width(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Progress::Progress(int descriptor) : descriptor_(descriptor), live_(::isatty(descriptor) != 0) {}

Progress::~Progress() {
  if (shown_) write(std::string(kEraseLine) + state_ + "\n");
}

void Progress::write(std::string_view bytes) const {
  // Progress is a courtesy: when nobody can read it, the work goes on.
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void Progress::show(std::string_view state) {
  if (!live_) return;
  state_ = state.substr(0, width(descriptor_) - 1);
  const double now = seconds_now();
  if (shown_ && now - last_ < kLeastSecondsBetween) return;
  last_ = now;
  shown_ = true;
  write(kEraseLine + state_);
}

void Progress::line(std::string_view text) {
  write((shown_ ? kEraseLine : "") + std::string(text) + "\n" + (shown_ ? state_ : ""));
}

void Progress::clear() {
  if (shown_) write(kEraseLine);
  shown_ = false;
}

}  // namespace strata
